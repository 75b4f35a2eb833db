# SPDX-License-Identifier: GPL-2.0
# A watch: counts, filters, callers, times, exit statuses, and what is left
# behind. Runs in /out.
# shellcheck shell=sh disable=SC2154,SC2016,SC2089,SC2090

P=/sys/module/clearbench/parameters
THP=/sys/kernel/mm/transparent_hugepage/enabled

# sum COLUMN CONDITION: of the records for which it holds
sum() {
	awk -F '\t' '
		NR == 2 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		NR > 2 { for (n in at) c[n] = $at[n]; if ('"$2"') s += c["'"$1"'"] }
		END { print s + 0 }' $D/watch_results
}

CLEARED='c["record"] == "alloc" && (c["cleared"] == "gfp_zero" || c["cleared"] == "init_on_alloc")'

# cleared ORDER: how many clears of it
cleared() {
	sum count "$CLEARED && c[\"order\"] == $1"
}

# touch MIB: allocates that much, by page faults, and gives it back
touch_mib() {
	dd if=/dev/zero of=/dev/null bs="${1}M" count=1 2> /dev/null
}
TOUCH16='dd if=/dev/zero of=/dev/null bs=16M count=1 2> /dev/null'

watch() {
	clearbench watch "$@" 2> report
}

check "loads" insmod $KO
check "watch is 0600, watch_results 0400" [ "$(cd $D && stat -c %a watch watch_results | tr '\n' ' ')" = "600 400 " ]
check "nothing is watched" [ "$(cat $D/watch)" = 0 ]
check "refuses a word" refused watch foo "Invalid argument"
check "refuses a negative number" refused watch -1 "Invalid argument"
check "a process that is not there" sh -c "echo 4000000 2>&1 > $D/watch | cat; [ \$(cat $D/watch) = 0 ]"
case $(uname -r) in
*um | *UML*) um=1 ;;
*) grep -q 'hypervisor: *um\|marks:.*um' $D/info && um=1 ;;
esac
if [ -n "$um" ]; then
	rmmod clearbench
	check "a kernel without tracepoints is one line" said 1 "no tracepoints" clearbench watch true
	check "... the command did not run" sh -c '! clearbench watch touch ran 2> /dev/null && ! [ -e ran ]'
	check "... and nothing is left" sh -c "! grep -q '^clearbench ' /proc/modules"
	exit
fi

# What is counted
[ -e $THP ] && echo never > $THP
watch sh -c "$TOUCH16"
result "watches a command" $? "$(tr '\n' ' ' < report)"
check "16 MiB of faults are 4096 clears of order 0, and few more" \
	awk "BEGIN { print $(cleared 0); exit !($(cleared 0) >= 4096 && $(cleared 0) < 5096) }"
check "... asked for with __GFP_ZERO, in process context" \
	[ "$(sum count 'c["cleared"] == "gfp_zero" && c["order"] == 0 && c["context"] == "process"')" -ge 4096 ]
check "the caller that has most is the page fault" \
	sh -c "sed -n '/on behalf of/{n;p}' report | grep -q 'do_anonymous_page\|handle_mm_fault' || { cat report; false; }"
pages=$(sum pages "$CLEARED")
looked=$(sum pages 'c["record"] == "caller"')
check "callers stand for all cleared pages but the last few" \
	awk "BEGIN { print $pages, $looked; exit !($looked <= $pages && $looked >= $pages - $(nproc) * 4 * 128) }"
timed=$(sum count 'c["record"] == "clear" && c["cleared"] == "allocator"')
if grep -q '^not_timed.*clear_highpages_kasan_tagged: ' $D/watch_results; then
	check "the allocator's clears are not timed here, and why is said" \
		sh -c "[ $timed = 0 ] && grep -q '^not_timed.*kernel_init_pages: ' $D/watch_results"
else
	# alloc_pages_bulk() clears too, past the tracepoint
	check "every clear of the allocator is timed" [ "$timed" -ge "$(sum count "$CLEARED")" ]
	check "... with a time" [ "$(sum p50_ns 'c["record"] == "clear" && c["order"] == 0')" -gt 0 ]
fi
check "the watch's own cost is there" grep -q 'cost_count_ns: [0-9]' $D/watch_results

watch sh -c 'dd if=/dev/zero of=/dev/shm/x bs=1M count=16 2> /dev/null'
rm /dev/shm/x
by=no
grep -q '^init_on_alloc: 1' $D/info && by=init_on_alloc
check "16 MiB into a file of tmpfs: $by" \
	[ "$(sum pages "c[\"record\"] == \"alloc\" && c[\"cleared\"] == \"$by\"")" -ge 4096 ]
check "... by shmem" sh -c "grep -q shmem report || [ $by = no ]"

if [ -e $THP ]; then
	echo always > $THP
	watch sh -c 'dd if=/dev/zero of=/dev/null bs=32M count=1 2> /dev/null'
	huge=$(sum count 'c["record"] == "alloc" && c["order"] == 9 && c["cleared"] != "failed"')
	timed=$(sum count 'c["record"] == "clear" && c["order"] == 9')
	check "32 MiB of huge pages are 15 or 16 allocations of order 9" [ "$huge" -ge 15 ]
	check "... each of which was timed" [ "$timed" -ge "$huge" ]
	check "... and has most of the bytes" awk '$1 == 9 && $8 > 80 { ok = 1 } END { exit !ok }' report
	echo never > $THP
fi

# Who is watched
watch sh -c "($TOUCH16) & wait"
check "children are watched" [ "$(cleared 0)" -ge 4096 ]
mkfifo go done
other() {	# waits, allocates, tells
	sh -c "sh -c 'read x < go; $TOUCH16; echo > done'; :" &
}
COMMAND='echo > go; read x < done'
other
watch sh -c "$COMMAND"
check "another process is not" awk "BEGIN { print $(cleared 0); exit !($(cleared 0) < 1000) }"
other
watch -a sh -c "$COMMAND"
check "with -a it is" [ "$(cleared 0)" -ge 4096 ]
other
watch -p $! sh -c "$COMMAND"
check "with -p it is, by a child that was there before" [ "$(cleared 0)" -ge 4096 ]
other
watch -p $! sh -c "$COMMAND; $TOUCH16"
check "... and COMMAND is not" awk "BEGIN { print $(cleared 0); exit !($(cleared 0) < 6000) }"
wait

# Callers that find no place
echo 1 > $P/watch_callers
echo 1 > $P/watch_period
watch sh -c "$TOUCH16; ls -lR /sys/kernel/debug/clearbench > /dev/null"
lost=$(sum count 'c["record"] == "lost"')
check "callers without a place are counted" [ "$lost" -gt 0 ]
check "... and said" grep -q "lost: $lost callers" report
check "with a period of 1 every clear is looked at, or lost" \
	[ "$(($(sum count 'c["record"] == "caller"') + lost))" -eq "$(sum count "$CLEARED")" ]
echo 256 > $P/watch_callers
echo 64 > $P/watch_period
echo 0 > $P/watch_time
watch true
check "without watch_time nothing is timed" sh -c "! grep -q '^clear	' $D/watch_results"
check "... and that is said" sh -c "tr -s ' \n' '  ' < report | grep -q 'not timed: .*watch_time is 0'"
echo 1 > $P/watch_time

# One thing at a time
echo $$ > $D/watch
check "watch reads the process" [ "$(cat $D/watch)" = $$ ]
check "a run is busy during a watch" said 1 "busy" sh -c "echo 1 > $D/run"
check "a second watch is busy" said 1 "under way" clearbench watch true
check "the first goes on" [ "$(cat $D/watch)" = $$ ]
check "results say that it does" grep -q 'state: watching' $D/watch_results
echo 0 > $D/watch
check "0 ends it" [ "$(cat $D/watch)" = 0 ]
check "0 again is nothing" sh -c "echo 0 > $D/watch"
set_knobs orders=4 samples=10000000
sh -c "echo 1 > $D/run" &
pid=$!
while ! grep -q running $D/status; do :; done
check "a watch is busy during a run" said 1 "under way" clearbench watch true
echo 0 > $D/run
wait $pid

# Beginning and ending while others allocate, on every CPU
touch load
for i in 1 2; do
	(while [ -e load ]; do touch_mib 4; done) &
done
for i in 1 2 3 4 5 6; do
	echo all > $D/watch && echo 0 > $D/watch || break
done
result "begins and ends under load" $?
rm load
wait

echo all > $D/watch
check "unloads during a watch" rmmod clearbench
touch_mib 4
check "... and loads again" insmod $KO
rmmod clearbench

# The program: exit statuses
check "0 is COMMAND's" said 0 "exit status 0" clearbench watch true
check "so is 7" said 7 "exit status 7" clearbench watch -- sh -c 'exit 7'
check "a signal is 128 and its number" said 143 "exit status 143" clearbench watch sh -c 'kill -TERM $$'
check "no such command: 127" said 127 "nonesuch: no such command" clearbench watch nonesuch
check "no command but a file: 126" said 126 "ermission denied" clearbench watch /etc/passwd
check "no command is usage" said 2 "COMMAND is missing" clearbench watch
check "an unknown option is usage" said 2 "no option -x" clearbench watch -x true
check "-p with a word is usage" said 2 "not the number of a process" clearbench watch -p x true
check "-p with -a is usage" said 2 "leave out -p" clearbench watch -a -p 1 true
check "no such process: 1, and nothing is run" said 1 "no such process" clearbench watch -p 4000000 touch ran
check "... indeed" sh -c '! [ -e ran ]'
check "output of COMMAND is its own" [ "$(clearbench watch echo out 2> /dev/null)" = out ]
check "-o keeps it" clearbench watch -o w.json -- sh -c 'exit 0'
check "... as JSON with the records" sh -c 'grep -q "\"type\": *\"watch\".*\"records\": *\[.*\"alloc\"" w.json'
check "-o does not overwrite" said 1 "exists: --force" clearbench watch -o w.json true
check "... but with --force" clearbench watch --force -o w.json true
check "nothing is left loaded" sh -c "! grep -q '^clearbench ' /proc/modules"

# Ctrl-C and its like
# ended_by SIGNAL: by what is sent to clearbench alone, once its command runs
ended_by() {
	(
		while ! pidof sleep > /dev/null; do :; done
		kill "-$1" "$(pidof clearbench)"
	) &
	clearbench watch sleep 100 > /tmp/said 2>&1
	status=$?
	wait
	tail -n 1 /tmp/said
	return $status
}
check "INT is passed on: 130" said 130 "sleep: .*exit status 130" ended_by INT
check "TERM is passed on: 143" said 143 "sleep: .*exit status 143" ended_by TERM
check "nothing is left loaded after that" sh -c "! grep -q '^clearbench ' /proc/modules"
check "... nor probed" sh -c "! grep -q 'clear_\|folio_zero' /sys/kernel/tracing/enabled_functions /sys/kernel/debug/kprobes/list"
touch_mib 4
if [ -e /proc/lockdep_stats ]; then
	check "lockdep still watches" grep -qE 'debug_locks: +1' /proc/lockdep_stats
fi
