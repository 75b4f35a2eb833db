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
# A thread cannot be woken before the interrupt, which a busy host may delay.
returns() {
	late=0
	[ "$2" = irq_p50_ns ] || late='c["irq_p50_ns"]'
	check "$1" every "$3" "c[\"$2\"] != \"-\" && c[\"$2\"] - $late < 0.1 * c[\"p50_ns\"]"
}

set_knobs orders=10 samples=64 warmup=2 latency=1 verify=0 batches=1,full methods=batched,v1 \
	contexts=process,softirq,spinlock,irqoff,hardirq
laws() {
	check "$model: runs" run_with
	check "$model: is what the results say" every 1 "c[\"model\"] == \"$model$mark\""
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
}

found=$(tr -d '()' < $PREEMPT)
for model in none voluntary full lazy; do
	case " $found " in
	*" $model "*)
		mark=
		echo "$model" > $PREEMPT
		;;
	*" lazy "*)	# contained and not admitted: none and voluntary of 7.x
		mark='!'
		check "$model: is let in by force_preempt" sh -c \
			"echo 1 > $D/force_preempt && echo $model > $PREEMPT"
		;;
	*)		# 6.x has no lazy
		continue
		;;
	esac
	settles laws
done
check "a word that is no model stays one" sh -c "! echo foo 2> /dev/null > $PREEMPT"
check "the last model holds, unforced" sh -c "grep -q '^preempt: [a-z]*\$' $D/info"
if [ "$(cat $D/force_preempt)" = 1 ]; then
	echo none > $PREEMPT
	check "info says that it is forced" grep -q '^marks:.* forced' $D/info
	echo 0 > $D/force_preempt
	check "without force_preempt the kernel refuses it again" sh -c "! echo voluntary 2> /dev/null > $PREEMPT"
	check "a forced model is left by writing another" sh -c "echo full > $PREEMPT && grep -q '^preempt: full\$' $D/info"
fi
rmmod clearbench
check "the kernel is as it was" [ "$(tr -d '()' < $PREEMPT)" = "$found" ]
