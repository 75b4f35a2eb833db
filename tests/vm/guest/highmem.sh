# SPDX-License-Identifier: GPL-2.0
# Extents in highmem, on a kernel that has some and on which it is most of the
# memory. That it was used is told by page numbers: the zone's own, of
# /proc/zoneinfo, against the lowest of the extents.
# shellcheck shell=sh

start=$(awk '/^Node/ { high = $4 == "HighMem" } high && $1 == "start_pfn:" { print $2 }' /proc/zoneinfo)
lowest() {
	sed -n 's/^last_run_highmem: .* lowest page //p' $D/info
}

check "this kernel has highmem" [ "${start:-0}" -gt 0 ]
# Warm extents ask for the size of the caches, which not every emulated CPU tells.
check "loads" insmod $KO llc_kib=1024
check "highmem is 0600 and off" [ "$(stat -c %a $D/highmem) $(cat $D/highmem)" = "600 0" ]
check "highmem is 0 or 1" refused highmem 2 "Numerical result out of range"
check "its figures are marked as a guest's" grep -qE '^marks: (.* )?(guest|emulated)' $D/info

# Where it is not asked for, extents have an address, and every method runs.
check "every method runs in lowmem" run_with orders=0-4 samples=6 extent_rounds=2 contexts=process \
	methods="$(grep -v '^#' $D/available_methods | cut -f 1 | grep -v test_empty | tr '\n' ',' | sed 's/,$//')" batches=1,full,auto
check "... and verifies" every 1 'c["state"] == "ok" && c["verify"] == "ok" && c["p50_ns"] > 0'
check "... and has no word on highmem" every 1 'c["note"] !~ /highmem/'
check "... none of them in highmem, says info" grep -qE '^last_run_highmem: 0 of [1-9]' $D/info
check "... and the lowest page is below it" [ "$(lowest)" -lt "$start" ]

BY_PAGE=legacy,upstream,contig,user_highpages,alloc_zero
ALL=process,softirq,spinlock,rcu_spinlock,irqoff,hardirq
RUNS='!(c["context"] != "process" && c["method"] == "contig") && !(c["context"] == "hardirq" && c["method"] == "alloc_zero")'
for cache in cold fresh; do
	contexts=$ALL runs=$RUNS
	[ $cache = cold ] || contexts=process,softirq,spinlock,rcu_spinlock,irqoff
	check "what takes pages clears highmem, $cache, in every context" \
		run_with highmem=1 orders=0-4 samples=20 contexts=$contexts methods=$BY_PAGE batches=full cache=$cache
	check "... legacy and upstream verify and have times" every 'c["method"] == "legacy" || c["method"] == "upstream"' \
		'c["state"] == "ok" && c["verify"] == "ok" && c["n"] == 20 && c["p50_ns"] > 0'
	check "... and the others too, where they may run" every "$runs" \
		'c["state"] == "ok" && c["verify"] == "ok" && c["n"] == 20 && c["p50_ns"] > 0'
	check "... every sample of them in highmem" every "$runs" 'c["note"] ~ /(^|; )20 samples in highmem/'
	n=$(sed -n 's/^last_run_highmem: \([0-9]*\) of \1 samples, .*/\1/p' $D/info)
	check "... info counts the same" [ "${n:-0}" = "$(column n "$runs" | awk '{ n += $1 } END { print n }')" ]
	check "... and no page was below the zone's first" [ "$(lowest)" -ge "$start" ]
done
check "an order above MAX_PAGE_ORDER too" run_with cache=cold contexts=process samples=4 \
	orders=$(($(sed -n 's/^max_page_order: //p' $D/info) + 1)) methods=legacy,upstream
check "... verified, in highmem" every 1 \
	'c["state"] == "ok" && c["verify"] == "ok" && c["note"] ~ /4 samples in highmem/'
check "... by its page numbers" [ "$(lowest)" -ge "$start" ]
check "the latency probe runs on highmem" run_with orders=4 samples=8 latency=1 contexts=process,spinlock
check "... and verifies" every 1 'c["state"] == "ok" && c["verify"] == "ok"'
set_knobs latency=0

# What works by address is refused, and says why.
check "a method that works by address is refused, whatever is unsafe" run_with orders=0,4 samples=4 unsafe=1 \
	contexts=process,softirq methods=legacy,clear_page,batched,v1,test_slow,upstream
check "... with the reason" every 'c["method"] !~ /^(legacy|upstream)$/' \
	'c["state"] == "refused" && c["note"] ~ /by kernel address.*highmem=0/ && c["n"] == 0 && c["min_ns"] == "-"'
check "... and the others run" every 'c["method"] ~ /^(legacy|upstream)$/' 'c["state"] == "ok" && c["verify"] == "ok"'
set_knobs unsafe=0
check "a read after the clear is refused" run_with after=touch methods=legacy,upstream
check "... with the reason" every 1 'c["state"] == "refused" && c["note"] ~ /after=touch reads by kernel address/'
set_knobs after=none
check "warm extents of highmem verify" run_with cache=warm orders=0-4 contexts=process methods=legacy,upstream
check "... all" every 1 'c["state"] == "ok" && c["verify"] == "ok"'
check "nothing of it is kept" run_with highmem=0 cache=cold methods=legacy,batched
check "... batched runs again" every 1 'c["state"] == "ok" && c["note"] !~ /highmem/'

# The last byte of the last page, on which verification must not be blind
rmmod clearbench
check "loads with a method that leaves a byte" insmod $KO test_leave_byte=upstream
run_with highmem=1 orders=0,4 samples=4 contexts=process methods=legacy,upstream > /dev/null
check "a byte left in highmem is found where it is" every 'c["method"] == "upstream"' \
	'c["state"] == "failed" && c["min_ns"] == "-" && c["note"] == sprintf("left byte %d of %d uncleared", 4096 * pow2(c["order"]) - 1, 4096 * pow2(c["order"]))'
check "... and the other is not touched by it" every 'c["method"] == "legacy"' 'c["state"] == "ok" && c["verify"] == "ok"'
rmmod clearbench

# Without the program: by the collector
insmod $KO
check "collect.sh collects, and puts highmem back" sh -c \
	"sh /clearbench/collect.sh highmem=1 samples=5 orders=0-4 contexts=process methods=legacy,upstream /tmp/dir &&
	 grep -q 'samples in highmem' /tmp/dir/results && [ \$(cat $D/highmem) = 0 ]"
check "unloads" rmmod clearbench
