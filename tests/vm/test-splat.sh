#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The first posting's rule, cond_resched() before each batch, in the context of
# the splat that it gave: on a kernel that watches (DEBUG_ATOMIC_SLEEP).

cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/vm/guest/lib.sh
. tests/vm/guest/lib.sh
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT

# in_rcu_spinlock METHOD UNSAFE: sweeps there, and leaves the results in $out
in_rcu_spinlock() {
	rm -rf "${out:?}/$1"
	scripts/vm exec debug --out "$out/$1" -- "insmod /clearbench/clearbench.ko
cd /sys/kernel/debug/clearbench
echo rcu_spinlock > contexts; echo $1 > methods; echo $2 > unsafe
echo 9 > orders; echo 5 > samples; echo 1 > run
cat results > /out/results; rmmod clearbench" 2> "$out/stderr"
}

in_rcu_spinlock v1 1
result "v1 with unsafe=1 is a splat: exit status 126" $(($? != 126)) "$(tail -n 3 "$out/stderr")"
check "it is the thread's: sleeping function called from invalid context" \
	grep -q 'BUG: sleeping function called from invalid context' "$out/v1/kernel.log"
in_rcu_spinlock v1 0
result "v1 with unsafe=0 leaves the log clean" $? "$(tail -n 3 "$out/stderr")"
check "it was refused" grep -q 'refused.*cond_resched() in atomic context' "$out/v1/results"
for method in batched upstream user_highpages; do
	in_rcu_spinlock $method 0
	result "$method there leaves the log clean" $? "$(tail -n 3 "$out/stderr")"
	check "$method there ran" grep -q "$method.*ok.*ok" "$out/$method/results"
done
