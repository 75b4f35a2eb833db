# SPDX-License-Identifier: GPL-2.0
# The tracepoints of a run, through tracefs alone.
# shellcheck shell=sh disable=SC2154

T=/sys/kernel/tracing
E=$T/events/clearbench

events() {
	grep -c " $1: " $T/trace
}

check "loads" insmod $KO
check "there are three events" [ "$(cd $E && echo */enable)" = \
	"clearbench_run_end/enable clearbench_run_start/enable clearbench_sample/enable" ]
check "they are off" [ "$(cat $E/enable)" = 0 ]
run_with orders=0-1 samples=3 methods=legacy,batched contexts=process > /dev/null
check "off, they leave nothing" [ "$(events 'clearbench_.*')" = 0 ]

echo 1 > $E/enable
check "runs with them on" run_with orders=0,4 samples=40 warmup=3 batches=2,full contexts=process,softirq,hardirq
n=$(column n | awk '{ n += $1 } END { print n }')
check "one event a counted sample" [ "$(events clearbench_sample)" = "$n" ]
check "... of each cell" [ "$(grep -c 'context=softirq order=4 method=batched batch=2 ' $T/trace)" = 40 ]
check "... a method without a batch has 0" [ "$(grep -c 'context=hardirq order=0 method=legacy batch=0 ' $T/trace)" = 40 ]
check "its times are those of the results" [ "$(sed -n 's/.*=process order=4 method=legacy .*ns=\([0-9]*\).*/\1/p' $T/trace | sort -n | head -n 1)" = \
	"$(column min_ns 'c["context"] == "process" && c["order"] == 4 && c["method"] == "legacy"')" ]
check "one run begins" [ "$(events clearbench_run_start)" = 1 ]
check "... and ends, without an error" [ "$(grep -c 'clearbench_run_end: done=\([0-9]*\) cells=\1 error=0' $T/trace)" = 1 ]
check "the first event is the start, the last the end" [ \
	"$(grep -o 'clearbench_[a-z_]*:' $T/trace | sed -n '1p;$p' | tr '\n' ' ')" = "clearbench_run_start: clearbench_run_end: " ]

echo 'order == 4 && method == "legacy"' > $E/clearbench_sample/filter
echo > $T/trace
run_with > /dev/null
check "a filter takes names and numbers" [ "$(events clearbench_sample)" = 120 ]

echo 0 > $E/enable
echo > $T/trace
run_with > /dev/null
check "off again, they leave nothing" [ "$(events 'clearbench_.*')" = 0 ]
check "unloads" rmmod clearbench
check "the events are gone" sh -c "! [ -e $E ]"
