#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
#   tests/vm/test-watch.sh KERNEL [option of scripts/vm exec…]
#
# What the kernel clears while a command runs.

cd "$(dirname "$0")/../.." || exit 2
kernel=${1:?usage: tests/vm/test-watch.sh KERNEL [OPTION...]}
shift
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
scripts/vm exec "$kernel" --timeout 900 --out "$out" "$@" -- \
	"$(cat tests/vm/guest/lib.sh tests/vm/guest/watch.sh)"
