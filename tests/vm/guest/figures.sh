# SPDX-License-Identifier: GPL-2.0
# Ratios that must hold. NATIVE is 1 where time is real.
# shellcheck shell=sh disable=SC2154

insmod $KO || exit 1

# A ratio is no different from 1 when it lies within the noise floor of its run
# and a margin for what the floor of a few extents does not show.
MARGIN=0.03

# equal NAME FILTER: no line that passes FILTER differs from the baseline
equal() {
	check "$1" awk -F '\t' '
		NR == 2 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		NR > 2 {
			for (n in at) c[n] = $at[n]
			if (!('"$2"')) next
			seen++
			floor = c["floor_hi"] - 1
			if (1 - c["floor_lo"] > floor) floor = 1 - c["floor_lo"]
			off = c["ratio"] - 1
			if (off < 0) off = -off
			if (off > floor + '$MARGIN') {
				printf "order %s ratio %s floor %s..%s\n", c["order"], c["ratio"], c["floor_lo"], c["floor_hi"]
				bad++
			}
		}
		END { if (!seen) print "no line"; exit bad || !seen }' $D/results
}

set_knobs contexts=process cache=cold samples=300 orders=2-8

same_work() {
	check "runs clear_page and batched at 1" run_with methods=clear_page,batched batches=1
	equal "batched at batch 1 is clear_page" 'c["method"] == "batched"'
}
settles same_work

generic_is_legacy() {
	check "runs legacy and the copies" run_with methods=legacy,upstream,batched batches=full
	grep -qE '^clear_pages: (native|open-coded)' $D/info ||
		equal "where clear_pages() is a loop, batched is legacy" 'c["method"] == "batched"'
}
settles generic_is_legacy

[ "$NATIVE" = 1 ] || exit 0

# From here on time is real.

# ratio_of METHOD ORDER
ratio_of() {
	column ratio "c[\"method\"] == \"$1\" && c[\"order\"] == $2"
}

# alike NAME A B: two ratios that have to be the same, within the noise that runs
# a second apart show
alike() {
	check "$1" awk "BEGIN { d = $3 / $2 - 1; print \"$2 $3\"; exit !(d < 0.04 && d > -0.04) }"
}

# A window that holds nothing costs no more than the two reads in it.
check "an empty window costs no more than two clock reads" awk '
	/^clock_ns_/ { if ($2 > max) max = $2 }
	/^clock_read_ns/ { read = $2 }
	END { print max, read; exit !(max > 0 && max <= 2 * read + 1) }' $D/info

# Cold and warm are what they say: 64 KiB out of the caches, and in them.
cold_and_warm() {
	run_with methods=stosb batches=full orders=4 samples=200 cache=warm > /dev/null
	warm=$(column p50_ns)
	run_with cache=cold > /dev/null
	cold=$(column p50_ns)
	check "a cold extent is slower than a warm one" \
		awk "BEGIN { print \"cold $cold warm $warm\"; exit !($cold > 1.3 * $warm) }"
}
settles cold_and_warm

# The figure of a variant stays when others run before it, which leave the
# extent in the caches (mov) or do not touch it at all (alloc_zero).
set_knobs samples=600 cache=cold
independent() {
	run_with orders=$1 methods=clear_page,stosb > /dev/null
	alone=$(ratio_of stosb $1)
	run_with methods=clear_page,stosb,mov,alloc_zero > /dev/null
	alike "order $1: a ratio does not depend on what else runs" "$alone" "$(ratio_of stosb $1)"
}
for order in 4 5 6; do
	settles independent $order
done

# Every second round of stosb begins with another variant before it; by the
# seed the sequences differ, the figure does not.
seeds() {
	run_with methods=clear_page,stosb orders=5 seed=2 > /dev/null
	one=$(ratio_of stosb 5)
	run_with seed=3 > /dev/null
	alike "nor on the seed" "$one" "$(ratio_of stosb 5)"
}
settles seeds

# Overheads, on extents that a run spends its time on
duty() {
	run_with methods=legacy,batched orders=6-10 cache=warm samples=300 > /dev/null
	check "at order 6 and above 80 % of a run are state steps and windows" awk '
		/^last_run_duty_percent/ { print $2; exit !($2 >= 80) }' $D/info
}
settles duty

# A run takes memory by its cells, not by its samples; the extents that it holds
# meanwhile are bounded too, and are back when it ends: free, or on the lists
# that each CPU keeps of freed pages.
kernel_kb() {
	awk '/^(Slab|VmallocUsed):/ { kb += $2 } END { print kb }' /proc/meminfo
}
free_kb() {
	awk '/^MemFree:/ { kb += $2 } /^ +count: / { kb += 4 * $2 } END { print kb }' \
		/proc/meminfo /proc/zoneinfo
}
set_knobs orders=0 cache=cold contexts=process methods=legacy samples=1000
run_with > /dev/null
kernel=$(kernel_kb)
free=$(free_kb)
run_with samples=200000 > /dev/null
kernel=$(($(kernel_kb) - kernel))
free=$((free - $(free_kb)))
check "200 times the samples take no more memory" \
	sh -c "echo kernel +$kernel kB, free -$free kB; [ $kernel -lt 512 ] && [ $free -lt 2048 ]"

measure() {
	run_with "$@" > /dev/null
}
after_laws
