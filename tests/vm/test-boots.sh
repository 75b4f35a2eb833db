#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
#   tests/vm/test-boots.sh KERNEL
#
# A pair of alternating boots with init_on_alloc on and off.

cd "$(dirname "$0")/../.." || exit 2
kernel=${1:?usage: tests/vm/test-boots.sh KERNEL}
. tests/vm/vm-tap.sh

# column NAME FILE: what its runs have there, each once
column() {
	awk -F'\t' -v name="$1" '
		/^#/ { next }
		$1 == "boot" { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
		{ print $c }' "$2" | sort -u | tr '\n' ' '
}

# Threads that spin keep an emulated machine from its work.
scripts/workloads/boots -o "$work/d" --boots 1 --runs 2 "$kernel" -- \
	env OMP_WAIT_POLICY=passive workloads graph500 --scale 10 --roots 4 \
	>"$work/out" 2>"$work/err" </dev/null
is "boots: status" $? 0
has "boots: before comes first" "$work/err" "boot 1 of 1, before: $kernel init_on_alloc=1"
has "boots: then after" "$work/err" "boot 1 of 1, after: $kernel init_on_alloc=0"
for side in before after; do
	is "$side: two runs" "$(grep -c 'graph500 --scale 10' "$work/d/$side.runs")" 2
	is "$side: which ended well" "$(column status "$work/d/$side.runs")" '0 '
	is "$side: of one boot" "$(column boot "$work/d/$side.runs" | wc -w)" 1
	is "$side: the kernel's log is there" "$([ -s "$work/d/$side-1.log" ] && echo yes)" yes
done
is 'before: init_on_alloc was on' "$(column init_on_alloc "$work/d/before.runs")" '1 '
is 'after: init_on_alloc was off' "$(column init_on_alloc "$work/d/after.runs")" '0 '
has 'before: the kernel says so' "$work/d/before-1.log" 'heap alloc:on'
has 'after: the kernel says so' "$work/d/after-1.log" 'heap alloc:off'
is 'they were two boots' "$(column boot <(cat "$work/d/before.runs" "$work/d/after.runs") | wc -w)" 2
has 'the table' "$work/out" '95 % interval'
has 'no verdict' "$work/out" 'one boot a side: no verdict'
case $kernel in
um) has 'the mark' "$work/out" UM: ;;
*) has 'the mark' "$work/out" EMULATED ;;
esac

# A workload that fails in the guest
scripts/workloads/boots -o "$work/f" --boots 1 --runs 2 um -- graph500 --scale 8 --corrupt root \
	>"$work/out" 2>"$work/err" </dev/null
is 'a run that fails: status' $? 1
has 'a run that fails: said' "$work/err" 'that boot ended with status 1'
is 'a run that fails: no run is kept' "$([ -e "$work/f/before.runs" ] && echo kept)" ''
