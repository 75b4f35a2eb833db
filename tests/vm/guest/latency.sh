# SPDX-License-Identifier: GPL-2.0
# What a clear does to others, where emulation makes it long (about 6 ms at order
# 10): laws, as parts of the clear's own median, in one run. Normal (fair) tasks
# are measured and not asserted: they may wait out a slice under any model.
# shellcheck shell=sh disable=SC2154

PREEMPT=/sys/kernel/debug/sched/preempt

insmod $KO || exit 1

# waits NAME WHAT FILTER / returns NAME WHAT FILTER: the median of the delay WHAT is
# a good part of the clear, its remainder; or next to nothing of it
waits() {
	check "$1" every "$3" "c[\"$2\"] != \"-\" && c[\"$2\"] > 0.2 * c[\"p50_ns\"]"
}
returns() {
	check "$1" every "$3" "c[\"$2\"] != \"-\" && c[\"$2\"] < 0.1 * c[\"p50_ns\"]"
}

set_knobs orders=10 samples=64 warmup=2 latency=1 verify=0 batches=1,full methods=batched,v1 \
	contexts=process,softirq,spinlock,irqoff,hardirq
for model in $(tr -d '()' < $PREEMPT); do
	echo "$model" 2> /dev/null > $PREEMPT || continue	# offered is not allowed: 7.x
	check "$model: runs" run_with
	check "$model: is what the results say" every 1 "c[\"model\"] == \"$model\""
	case $model in
	none | voluntary)
		waits "$model: a FIFO thread waits for the rest of the extent" fifo_p50_ns \
			'c["context"] == "process" && c["method"] == "batched" && c["batch"] == "full"'
		returns "$model: with a resched point a page it does not" fifo_p50_ns \
			'c["context"] == "process" && c["method"] == "v1" && c["batch"] == 1'
		;;
	*)
		returns "$model: a FIFO thread preempts the clear" fifo_p50_ns 'c["context"] == "process"'
		;;
	esac
	for context in softirq spinlock irqoff hardirq; do
		waits "$model: nothing is switched to in $context" fifo_p50_ns \
			"c[\"context\"] == \"$context\" && c[\"state\"] == \"ok\""
	done
	for context in irqoff hardirq; do
		waits "$model: an interrupt waits in $context" irq_p50_ns \
			"c[\"context\"] == \"$context\" && c[\"state\"] == \"ok\""
	done
	for context in process softirq spinlock; do
		returns "$model: an interrupt does not wait in $context" irq_p50_ns \
			"c[\"context\"] == \"$context\" && c[\"state\"] == \"ok\""
	done
done
rmmod clearbench
