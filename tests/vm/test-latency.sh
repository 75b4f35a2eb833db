#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
#   tests/vm/test-latency.sh KERNEL
#
# What a clear does to others on its CPU, under each model that the kernel has.

cd "$(dirname "$0")/../.." || exit 2
kernel=${1:?usage: tests/vm/test-latency.sh KERNEL}
scripts/vm exec "$kernel" --timeout 900 -- "$(cat tests/vm/guest/lib.sh tests/vm/guest/latency.sh)"
