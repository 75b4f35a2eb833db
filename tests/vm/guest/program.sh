# SPDX-License-Identifier: GPL-2.0
# build/clearbench and collect.sh against the module. Runs in /out.
# shellcheck shell=sh disable=SC2154,SC2016

loaded() {
	grep -q '^clearbench ' /proc/modules
}

check "info works without the module" sh -c "clearbench info | grep -q '[Kk]ernel'"
check "run loads, sweeps and unloads" clearbench run --orders 0-3 --samples 60 --warmup 2 -o full.jsonl
check "what it loaded is gone" sh -c "! grep -q '^clearbench ' /proc/modules"
check "a cell is a line: header, cells, footer" [ "$(wc -l < full.jsonl)" = $((1 + 3 * 4 * 2 + 1)) ]

check "an existing file is refused" said 1 "full.jsonl.*exist.*--force" clearbench run -o full.jsonl
check "... and stays as it was" [ "$(wc -l < full.jsonl)" = 26 ]
check "--force replaces it" clearbench run --force --orders 0-3 --samples 60 -o full.jsonl
check "run without -o is usage" said 2 "-o" clearbench run
check "an unknown option lists the legal ones" said 2 "samples" clearbench run --smaples 3 -o x.jsonl
check "an unknown verb lists the legal ones" said 2 "show" clearbench shwo
check "a refused knob says what is legal" said 2 "legal is.*from 1 to" clearbench run --samples 0 -o x.jsonl
check "an order that no machine has is refused" said 2 "order" clearbench run --orders 99 -o x.jsonl
check "... and no file is left" sh -c "! [ -e x.jsonl ]"
check "... nor the module" sh -c "! grep -q '^clearbench ' /proc/modules"
check "a module that is not there is named" said 1 "nowhere.ko" clearbench run --module /nowhere.ko -o x.jsonl
check "a folder that is not there is named" said 1 "nowhere" clearbench run -o /nowhere/x.jsonl

# What was loaded stays, and its knobs are as they were
insmod $KO
echo 7 > $D/samples
echo 0-1 > $D/orders
check "run on a loaded module" clearbench run -q --samples 3 --orders 2 -o loaded.jsonl
check "its knobs are restored" [ "$(cat $D/samples $D/orders | tr '\n' ' ')" = "7 0-1 " ]
check "it stays loaded" loaded

# Ctrl-C
said 130 . timeout -s INT 3 clearbench run --orders 0-4 --samples 200000 --contexts process -o stopped.jsonl > /tmp/said
result "Ctrl-C ends with 130" $? "$(tr '\n' ' ' < /tmp/said)"
check "the run in the kernel is stopped" [ "$(cat $D/status)" = stopped ]
check "the knobs are restored after it" [ "$(cat $D/samples $D/orders | tr '\n' ' ')" = "7 0-1 " ]
check "what was done is kept" grep -q '"type":"cell"\|"type": *"cell"' stopped.jsonl
(
	while ! grep -q running $D/status; do :; done
	kill -TERM "$(pidof clearbench)"
) &
clearbench run --orders 4 --samples 1000000 -o term.jsonl 2> /dev/null
result "TERM ends with 130" $(($? != 130))
wait
rmmod clearbench
clearbench run --orders 0 --samples 1000000 -o killed.jsonl 2> /dev/null &
while ! grep -q running $D/status 2> /dev/null; do :; done
kill -INT "$(pidof clearbench)"
wait $!
check "a stopped run unloads what it loaded" sh -c "! grep -q '^clearbench ' /proc/modules"

# Models compared on one boot
check "an unknown model is usage, with the legal ones" said 2 "none voluntary full lazy" \
	clearbench run --preempt foo -o m.jsonl
P=/sys/kernel/debug/sched/preempt
if [ -e $P ]; then
	found=$(cat $P)
	check "refused models are named, the others run" said 0 "refuses the model none: --force-preempt" \
		clearbench run -q --preempt none,full,lazy --orders 0-1 --contexts process --samples 3 -o m.jsonl
	check "... and are in the file" sh -c "[ \$(grep -c '\"model\": *\"full\"' m.jsonl) = 4 ] && [ \$(grep -c '\"model\": *\"lazy\"' m.jsonl) = 4 ]"
	check "only refused models: nothing is run" said 1 "there are: full" clearbench run -q --preempt none -o n.jsonl
	check "... and no file is left" sh -c "! [ -e n.jsonl ]"
	check "--force-preempt lets them in" clearbench run -q --force-preempt --preempt none,voluntary,full,lazy \
		--orders 0-1 --contexts process --samples 3 --force -o m.jsonl
	check "... and marks them" [ "$(grep -c '"model": *"none!"\|"model": *"voluntary!"' m.jsonl)" = 8 ]
	check "a comparison of models is not resumed" said 1 "cannot be resumed" clearbench run --resume m.jsonl
	timeout -s INT 3 clearbench run -q --force-preempt --preempt none,full --samples 100000 -o n.jsonl 2> /dev/null
	result "Ctrl-C ends it with 130" $(($? != 130))
	check "the model that was found is back" [ "$(cat $P)" = "$found" ]
	check "nothing of it is in the module's way" sh -c "! grep -q '^clearbench ' /proc/modules"
else
	check "no model to switch is one line" said 1 "PREEMPT_DYNAMIC" clearbench run --preempt full -o m.jsonl
fi

# By shell alone
insmod $KO
echo 9 > $D/samples
check "collect.sh collects" sh /clearbench/collect.sh samples=5 orders=0-2 collected
check "it saves info, results, histograms" sh -c \
	"[ -s collected/info ] && [ -s collected/results ] && [ -s collected/histograms ]"
check "it restores the knobs" [ "$(cat $D/samples)" = 9 ]
check "it refuses a bad knob" said 2 "legal is" sh /clearbench/collect.sh samples=0 collected2
check "... and an unknown one" said 2 . sh /clearbench/collect.sh smaples=1 collected3
check "... and a folder that holds something" said 1 . sh /clearbench/collect.sh collected
check "it wants a folder" said 2 . sh /clearbench/collect.sh
timeout -s INT 2 sh /clearbench/collect.sh samples=1000000 orders=4 stopped
result "Ctrl-C ends collect.sh with 130" $(($? != 130))
check "... and stops the run" [ "$(cat $D/status)" = stopped ]
check "... and restores the knobs" [ "$(cat $D/samples)" = 9 ]
check "... and keeps what was done" grep -q legacy stopped/results
rmmod clearbench
