#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
#   tests/vm/test-watch-cost.sh KERNEL
#
# What a watch costs, beside ftrace's histogram triggers.

cd "$(dirname "$0")/../.." || exit 2
kernel=${1:?usage: tests/vm/test-watch-cost.sh KERNEL}
scripts/vm exec "$kernel" --timeout 900 -- "$(cat tests/vm/guest/lib.sh tests/vm/guest/watch-cost.sh)"
