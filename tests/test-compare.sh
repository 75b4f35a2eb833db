#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# compare, on the results of this tree and what can be made of them. TAP.

cd "$(dirname "$0")/.." || exit 2
# shellcheck source=tests/vm/guest/lib.sh
. tests/vm/guest/lib.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# As it was before there was a boot or an after in it; whoever runs `make demo` has
# another one.
native=$work/native.jsonl
sed -E 's/"(boot|after|victim_kib|victim_cpu)":"[^"]*",//g; s/,"(boot|after|victim_kib|victim_cpu)":"[^"]*"//g' results/demo-native.jsonl > "$native"
emulated=results/demo.jsonl

compare() {
	build/clearbench compare "$@"
}

check "two variants of one file are paired and judged" \
	said 0 ' 13 .*-5[0-9]\.[0-9] %  \[-[0-9.]*, -[0-9.]*\]' compare $native:stosb@1 $native:stosb@full
check "no difference is said with its bound" \
	said 0 ' [1-9] .*|x| < [0-9.]* %' compare $native:stosb@1 $native:stosb@full
check "against one that is no baseline there is no verdict" \
	said 0 ' 13 .*+1[0-9]* % ?  *-' compare $native:stosb@full $native:stosb@1
check "a cell without a partner is counted" \
	said 0 '1 cells of .* nothing to be compared' compare $native:stosb@full $native:stosb@1
check "a mail is at most 75 columns wide" sh -c \
	"build/clearbench compare --format mail $native:stosb@1 $native:stosb@full | awk 'length > 75 { exit 1 }'"
check "md is a table" said 0 '^| order' compare --format md $native:stosb@1 $native:stosb@full
check "a gain is no slowdown" said 0 . compare --fail-above 0 $native:stosb@1 $native:stosb@full

# The same file with the ratios the other way round: a slowdown that is real
awk '{ gsub(/"ratio":[0-9.]+,"ratio_lo":[0-9.]+,"ratio_hi":[0-9.]+/, "\"ratio\":0.5,\"ratio_lo\":0.49,\"ratio_hi\":0.51"); print }' \
	$native > "$work/slow.jsonl"
check "the fixture is a slowdown of 100 %" \
	said 0 '+100 %  \[+96.1, +104\]' compare "$work/slow.jsonl:stosb@1" "$work/slow.jsonl:stosb@full"
check "--fail-above below it is exit 3" \
	said 3 . compare --fail-above 99 "$work/slow.jsonl:stosb@1" "$work/slow.jsonl:stosb@full"
check "--fail-above above it is not" \
	said 0 . compare --fail-above 101 "$work/slow.jsonl:stosb@1" "$work/slow.jsonl:stosb@full"
sed 's/"marks":\[/&"emulated",/' "$work/slow.jsonl" > "$work/tcg.jsonl"
check "an emulated slowdown is none" \
	said 0 'the CPU is emulated' compare --fail-above 0 "$work/tcg.jsonl:stosb@1" "$work/tcg.jsonl:stosb@full"

# Two files
cp $native "$work/again.jsonl"
check "two files give no verdict: one boot a side" \
	said 0 'within one boot only' compare $native "$work/again.jsonl"
sed 's/"kernel":"[^"]*"/"kernel":"7.9.9 other"/' $native > "$work/kernel.jsonl"
check "another kernel is refused" said 1 'kernel: .* before, 7.9.9 other after' compare $native "$work/kernel.jsonl"
check "--vary kernel names it" said 0 'compared on purpose: kernel' compare --vary kernel $native "$work/kernel.jsonl"
check "--force says so in the table" said 0 'FORCED' compare --force $native "$work/kernel.jsonl"
sed 's/"drain":"0"/"drain":"1"/' $native > "$work/drain.jsonl"
check "another knob is refused" said 1 'drain: 0 before, 1 after' compare $native "$work/drain.jsonl"
sed 's/"drain":"0"/"after":"none","victim_kib":"256","victim_cpu":"same",&/' $native > "$work/after.jsonl"
check "a result from before there was after= timed the clear" said 0 . compare $native "$work/after.jsonl"
sed -i 's/"after":"none"/"after":"touch"/' "$work/after.jsonl"
check "a read is not compared with a clear" said 1 'after: none before, touch after' compare $native "$work/after.jsonl"
check "... unless asked for, and then marked" said 0 'after: touch, so a time is that of a read' \
	compare --vary after $native "$work/after.jsonl"
sed 's/"seed":"1"/"seed":"2"/; s/"cpu":[01]/"cpu":7/; s/"samples":"200"/"samples":"300"/' $native > "$work/seed.jsonl"
check "seed, samples and CPU number are no conditions" said 0 . compare $native "$work/seed.jsonl"
sed 's/"clock":"tsc, [0-9]*/"clock":"tsc, 1/' $native > "$work/clock.jsonl"
check "nor is the rate of the same clock" said 0 . compare $native "$work/clock.jsonl"
check "unlike machines are refused, each condition in a line" \
	said 1 '[0-9] conditions differ.*--vary' compare $emulated $native
check "nothing in common is one line" said 1 'no measured cell in common' compare --force $emulated $native

# Several runs a side: figures of the runs are the values, scaled by a percentage
# of the run's own; the second side 5 % slower
runs() { # FOLDER N FACTOR BOOT
	mkdir -p "$1"
	for i in $(seq 1 "$2"); do
		awk -v f="$3" -v d="$i" -v boot="$4" '
			/"type":"header"/ { sub(/"environment":\{/, "&\"boot\":\"b" (boot ? boot : d) "\",") }
			match($0, /"min_ns":[0-9.]+/) {
				gsub(/"p90_ns":[0-9.]+,"p99_ns":[0-9.]+,"p999_ns":[0-9.]+,"max_ns":[0-9.]+/,
					"\"p90_ns\":1e12,\"p99_ns\":1e12,\"p999_ns\":1e12,\"max_ns\":1e12")
				sub(/"min_ns":[0-9.]+/, "\"min_ns\":1")
				if (match($0, /"p50_ns":[0-9.]+/)) {
					v = substr($0, RSTART + 9, RLENGTH - 9) * f * (1 + d / 1000)
					$0 = substr($0, 1, RSTART - 1) "\"p50_ns\":" v substr($0, RSTART + RLENGTH)
				}
			}
			{ print }' $native > "$1/run$i.jsonl"
	done
}
runs "$work/a" 5 1 ""
runs "$work/b" 5 1.05 ""
runs "$work/d" 5 1.0005 one
runs "$work/e" 6 1 ""
check "five runs a side are judged: 5 % more" \
	said 0 ' 9 .*+5\.00 %  \[+4\.69, +5\.31\]  *0\.40  *5+5$' compare "$work/a" "$work/b"
check "the runs and boots are said" said 0 'runs: 5 before, 5 after' compare "$work/a" "$work/b"
check "files may be named one by one" said 0 'runs: 2 before, 5 after' \
	compare "$work/a/run1.jsonl,$work/a/run2.jsonl" "$work/b"
check "three a side are too few for a verdict" said 0 ' 9 .*+4\.[0-9]* % ?  *-  ' compare "$work/a/run3.jsonl,$work/a/run4.jsonl,$work/a/run5.jsonl" "$work/b/run1.jsonl,$work/b/run2.jsonl,$work/b/run3.jsonl"
check "no difference has its bound" said 0 ' 9 .*|x| < 0\.[0-9]* %' compare "$work/a" "$work/d"
check "runs of one boot are said to be that" said 0 'how one boot differs from another is not in the interval' \
	compare "$work/a" "$work/d"
check "a slowdown between runs fails" said 3 . compare --fail-above 4 "$work/a" "$work/b"
check "... not below the limit" said 0 . compare --fail-above 6 "$work/a" "$work/b"
check "two variants of the same six runs" said 0 ' 13 .*-5[0-9]\.[0-9] %  \[-[0-9.]*, -[0-9.]*\].* 6$' \
	compare "$work/e:stosb@1" "$work/e:stosb@full"
check "five of them are too few" said 0 ' 13 .* % ?  *-  ' compare "$work/a:stosb@1" "$work/a:stosb@full"
sed -i 's/"drain":"0"/"drain":"1"/' "$work/b/run3.jsonl"
check "a run unlike the others of its side is refused" said 1 'drain: 0 before, 1 after' compare "$work/a" "$work/b"
mkdir "$work/empty"
check "a folder without results is usage" said 2 'no .jsonl file' compare "$work/empty" "$work/a"

# The batches of one run
check "gain by batch, with the knee" said 0 'knee, .*: batch .* (.*), the smallest within the noise (.*) of ' \
	compare --vary batch results/models.jsonl
check "of one batch there is none" said 1 'no method with several batches' compare --vary batch "$emulated"

# Bad input
head -c 20000 $native > "$work/cut.jsonl"
check "a cut file is refused" said 1 'cut' compare "$work/cut.jsonl" $native
check "... unless forced" said 0 . compare --force "$work/cut.jsonl" $native
check "... nor one with a hand in it, with line and reason" said 1 'hand.jsonl:6: the cell has another cache state' \
	sh -c "sed '6s/\"cache\":\"cold\"/\"cache\":\"warm\"/' $native > '$work/hand.jsonl'; build/clearbench compare $native '$work/hand.jsonl'"
# Three variants with the baseline last: the others' ratios are to it, not to each other
awk '/"order":13,/ && /"batch":"1"/ { kept = $0; next }
	/"order":13,/ { print; sub(/"batch":"full"/, "\"batch\":\"8\""); print; print kept; next }
	{ sub(/"cells":33/, "\"cells\":34"); print }' $native > "$work/turned.jsonl"
check "cells in another order keep their baseline" said 0 ' 13 .*-5[0-9]\.[0-9] %  \[' \
	compare "$work/turned.jsonl:stosb@1" "$work/turned.jsonl:stosb@full"
check "... and none of the others is taken for it" said 0 ' 13 .*+0.00 % ?  *-' \
	compare "$work/turned.jsonl:stosb@full" "$work/turned.jsonl:stosb@8"
check "nothing in common has a next step" said 1 'run both with the same orders' \
	sh -c "sed 's/\"context\":\"process\"/\"context\":\"softirq\"/' $native > '$work/softirq.jsonl'; build/clearbench compare $native '$work/softirq.jsonl'"
check "a --vary that names nothing is usage" said 2 "'kernle' names no condition" compare --vary kernle $native $emulated
check "a result of hugetlb says what reads it" said 2 'clearbench hugetlb --show' \
	compare results/hugetlb-native.jsonl $native
check "what is no result is usage" said 2 . compare README.md $native
check "one file alone is usage" said 2 'missing; of one FILE' compare $native
check "one file twice wants variants" said 2 'which two variants' compare $native $native
check "a batch must be named where there are two" said 2 'name one' compare $native:stosb $native:stosb@1
check "a variant that is not there is said" said 1 'no cell of that variant' compare $native:mov $native:stosb@1
check "a bad percentage is usage" said 2 'percentage' compare --fail-above x $native:stosb@1 $native:stosb@full
check "a bad format lists the legal ones" said 2 'table mail md' compare --format pdf $native:stosb@1 $native:stosb@full
