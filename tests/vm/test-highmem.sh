#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
#   tests/vm/test-highmem.sh [option of scripts/vm exec…]
#
# The module on a 32-bit kernel whose memory is mostly highmem: what clears such
# pages through kmap_local_page(), and that nothing else is let near them.

cd "$(dirname "$0")/../.." || exit 2
# An oops in atomic context would leave the run, and this, waiting.
exec scripts/vm exec highmem --mem 2G --timeout 900 --append oops=panic "$@" -- \
	"$(cat tests/vm/guest/lib.sh tests/vm/guest/highmem.sh)"
