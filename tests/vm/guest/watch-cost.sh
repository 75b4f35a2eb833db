# SPDX-License-Identifier: GPL-2.0
# What a watch costs, beside ftrace's histogram triggers that find out much the same:
# a loop of order-0 allocations with __GFP_ZERO in the module, unwatched, under a
# watch, and under the triggers, in turn; medians over the rounds.
# shellcheck shell=sh disable=SC2154

P=/sys/module/clearbench/parameters
T=/sys/kernel/tracing
ALLOC=$T/events/kmem/mm_page_alloc/trigger
ROUNDS=${ROUNDS:-15}

insmod $KO || exit 1
if grep -q ' clear_highpages_kasan_tagged$' /proc/kallsyms; then
	F=clear_highpages_kasan_tagged
fi

# once NAME: the module gives the best of its passes, for what an emulator or a
# neighbour adds is never negative
once() {
	echo "$1 $(cat $P/test_alloc_ns)" >> loop
}

# triggers FILE TRIGGER…: one each, in the sequence given
triggers_on() {
	file=$1
	shift
	for t; do
		echo "$t" >> "$file" || exit 1
	done
}

triggers_off() {
	file=$1
	shift
	for t; do
		echo "!$t" >> "$file"
	done
}

# By order and whether it was asked for: zeroed or not is in the flags
COUNT=hist:keys=order,gfp_flags
CALLER=hist:keys=common_stacktrace
# Time by order needs both ends of the function and an event made of the two
IN='hist:keys=common_pid:n=numpages,ts=common_timestamp.usecs'
OUT='hist:keys=common_pid:n1=$n,lat=common_timestamp.usecs-$ts:onmatch(cb.clear_in).trace(cb_clear,$n1,$lat)'
SHOW='hist:keys=n,lat.log2'
if [ -n "$F" ]; then
	echo "f:cb/clear_in $F numpages=\$arg2:u64" > $T/dynamic_events || exit 1
	echo "f:cb/clear_out $F%return" >> $T/dynamic_events || exit 1
	echo 's:cb_clear u64 n; u64 lat' >> $T/dynamic_events || exit 1
fi

time_on() {
	triggers_on $T/events/cb/clear_in/trigger "$IN"
	triggers_on $T/events/cb/clear_out/trigger "$OUT"
	triggers_on $T/events/synthetic/cb_clear/trigger "$SHOW"
}

time_off() {
	[ "$round" != 1 ] || grep -q '^{ n: ' $T/events/synthetic/cb_clear/hist ||
		echo "not ok - the triggers time the clear"
	triggers_off $T/events/synthetic/cb_clear/trigger "$SHOW"
	triggers_off $T/events/cb/clear_out/trigger "$OUT"
	triggers_off $T/events/cb/clear_in/trigger "$IN"
}

for round in $(seq "$ROUNDS"); do
	once off
	echo 0 > $P/watch_time
	echo all > $D/watch
	once watch_count
	echo 0 > $D/watch
	echo 1 > $P/watch_time
	echo all > $D/watch
	once watch_all
	echo 0 > $D/watch

	triggers_on $ALLOC $COUNT
	once hist_count
	if [ -n "$F" ]; then
		time_on
		once hist_count_time
		time_off
	fi
	triggers_on $ALLOC $CALLER
	once hist_count_callers
	triggers_off $ALLOC $CALLER $COUNT
done
check "no trigger is left" sh -c "! grep -v '^#' $ALLOC"

median() {	# NAME
	sed -n "s/^$1 //p" loop | sort -n | sed -n "$(((ROUNDS + 1) / 2))p"
}

off=$(median off)
echo "# an allocation of order 0, cleared and freed: $off ns; added, medians of $ROUNDS rounds:"
for way in watch_count watch_all hist_count hist_count_time hist_count_callers; do
	ns=$(median $way)
	[ -z "$ns" ] || echo "# $way: $(awk "BEGIN { printf \"%.0f\", $ns - $off }") ns"
done

# less NAME WATCH HIST: what it adds is less than what they do
less() {
	ratio=$(awk "BEGIN { printf \"%.2f\", ($(median "$2") - $off) / ($(median "$3") - $off) }")
	echo "# $2 / $3: $ratio"
	result "$1" "$(awk "BEGIN { print !($ratio < 1) }")" "$ratio"
}

# A watch looks at callers as well, at some; the trigger at each.
less "a watch that counts adds less than the trigger that counts" watch_count hist_count
less "... than the triggers that count and look at callers" watch_count hist_count_callers
[ -z "$F" ] || less "a watch that times adds less than the triggers that time" watch_all hist_count_time
rmmod clearbench
