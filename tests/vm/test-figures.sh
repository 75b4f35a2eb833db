#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
#   tests/vm/test-figures.sh KERNEL
#
# What the figures have to fulfil on any machine, as ratios within one run:
# equal work comes out equal, a state step does what it says, and no variant's
# figure depends on the one before it. On um that is native.

cd "$(dirname "$0")/../.." || exit 2
kernel=${1:?usage: tests/vm/test-figures.sh KERNEL}
native=0
[ "$kernel" = um ] && native=1
scripts/vm exec "$kernel" --timeout 900 -- "NATIVE=$native
$(cat tests/vm/guest/lib.sh tests/vm/guest/after.sh tests/vm/guest/figures.sh)"
