#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
#   tests/vm/test-trace.sh KERNEL
#
# The tracepoints of a run. Not for um, which has no tracing.

cd "$(dirname "$0")/../.." || exit 2
kernel=${1:?usage: tests/vm/test-trace.sh KERNEL}
scripts/vm exec "$kernel" --timeout 300 -- "$(cat tests/vm/guest/lib.sh tests/vm/guest/trace.sh)"
