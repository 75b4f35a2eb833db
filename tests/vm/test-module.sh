#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
#   tests/vm/test-module.sh KERNEL [option of scripts/vm exec…]
#
# The module on one kernel, by shell alone. The log of the kernel must be clean:
# scripts/vm sees to that.

cd "$(dirname "$0")/../.." || exit 2
kernel=${1:?usage: tests/vm/test-module.sh KERNEL [OPTION...]}
shift

# An emulated CPU takes its time, and this machine may have others to serve.
case $kernel in
um*) slack=0.3 ;;
*) slack=2 ;;
esac
scripts/vm exec "$kernel" --timeout 900 "$@" -- "SLACK=$slack
$(cat tests/vm/guest/lib.sh tests/vm/guest/module.sh)"
