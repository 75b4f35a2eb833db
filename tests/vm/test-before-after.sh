#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# scripts/before-after on the kernels with the loop and with the batch: that each
# clears as it is said to, by count. The times are an emulated CPU's, and none is
# asserted.

cd "$(dirname "$0")/../.." || exit 2
. tests/vm/vm-tap.sh

scripts/before-after --boots 1 --samples 10 --orders 0,9 -o "$work/ba" >"$work/out" 2>"$work/err"
status=$?
is 'before-after: status' $status 0
[ $status = 0 ] || exit

# counted PARAMETER SIDE: calls, pages, clears, allocations, calls for them
counted() {
	sed -nE 's/^([0-9]+) calls for ([0-9]+) pages: ([0-9]+) clears, .*; ([0-9]+) allocations of order 9, ([0-9]+) calls for that$/\1 \2 \3 \4 \5/p' \
		"$work/ba/$1/$2-1.clears"
}

for parameter in init_on_alloc=0 init_on_alloc=1 init_on_free=1; do
	for side in before after; do
		read -r calls pages clears allocations big <<<"$(counted $parameter $side)"
		# and what else the thread may have allocated meanwhile, for the kernel's own use
		is "$parameter, $side: 512 pages a call" "$((pages - 512 * big < 512))" 1
		if [ $side = before ]; then
			is "$parameter, the loop: a clear a page" "$clears" "$pages"
		else
			is "$parameter, the batch: a clear a call" "$clears" "$calls"
		fi
		case $parameter in
		init_on_alloc=0)	# 20 samples, each beside a copy, and others without
			is "$parameter, $side: what asks for it, and no other" \
				"$big,$((allocations > big))" 40,1
			;;
		*)
			is "$parameter, $side: every allocation" "$((allocations > 40)),$big" "1,$allocations"
			;;
		esac
	done
done
is 'a table for each parameter, a line for each order and way' \
	"$(grep -cE '^ +[09]  (alloc|free) .* 1$' "$work/out")" 12
is 'all of it said to be emulated' "$(grep -c '^EMULATED' "$work/out")" 3
is 'results: what show reads' "$(for f in "$work"/ba/*/*.jsonl; do
	build/clearbench show "$f" >/dev/null && echo read
done | grep -c read)" 6
is 'the table can be had again' "$(scripts/before-after --show "$work/ba")" "$(cat "$work/out")"
