#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# plot, on the results of this tree and what can be made of them. TAP.

cd "$(dirname "$0")/.." || exit 2
# shellcheck source=tests/vm/guest/lib.sh
. tests/vm/guest/lib.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cold=results/native-cold.jsonl
warm=results/native-warm.jsonl
models=results/models.jsonl

plot() {
	build/clearbench plot "$@"
}

# holds FILE TEXT…: each of the texts, as they stand
holds() {
	file=$1
	shift
	for text; do
		grep -qF -e "$text" "$file" || { echo "not in $file: $text"; return 1; }
	done
}

# Nothing but the named files is in the folder.
only() {
	left=$(ls -A "$work/out")
	[ "$left" = "$*" ] || { echo "there: $left"; return 1; }
}

whole_xml() {
	if command -v xmllint > /dev/null; then
		xmllint --noout "$1"
	else
		python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$1"
	fi
}

# What a page may fetch: nothing. Namespaces are names.
self_contained() {
	! sed 's/xmlns\(:xlink\)\{0,1\}="[^"]*"//g' "$1" |
		grep -nE 'https?:|<(script|link|img|iframe|object|embed)|@import|url\((.?)[^#]|href=.[^#]'
}

mkdir "$work/out"
check "an SVG" plot $cold $warm -o "$work/n.svg"
check "... begins as one" sh -c "head -n 1 '$work/n.svg' | grep -q '^<?xml'"
check "... is well formed" whole_xml "$work/n.svg"
check "... has a picture of each kind for which there is data" \
	holds "$work/n.svg" 'share of samples that took longer' 'Bandwidth by size' 'Gain over the baseline by size'
check "... and no other" sh -c "! grep -qE 'does to others|Gain over the baseline by batch' '$work/n.svg'"
check "... names marks, CPU, kernel, n, clock" \
	holds "$work/n.svg" 'USER SPACE, GUEST' 'AMD EPYC' '6.18.44-fc-v857' 'n 60' 'n 100' 'clock tsc'
check "... and sizes, cache states and the last level cache" \
	holds "$work/n.svg" '>1 GiB<' '>4 KiB<' 'process, cold' 'process, warm' 'LLC 32 MiB'
check "a PNG" plot $cold -o "$work/n.png"
check "... begins as one" sh -c "head -c 8 '$work/n.png' | od -An -tx1 | grep -q '89 50 4e 47 0d 0a 1a 0a'"
check "a page" plot $models -o "$work/m.html"
check "... begins as one" sh -c "head -n 1 '$work/m.html' | grep -q '^<!DOCTYPE html>'"
check "... is well formed" whole_xml "$work/m.html"
check "... has no id twice" sh -c "! grep -oE ' id=.[A-Za-z0-9_-]+' '$work/m.html' | sort | uniq -d | grep ."
check "... refers to nothing outside" self_contained "$work/m.html"
check "... has every mark in words, and in each picture" \
	holds "$work/m.html" 'EMULATED (TCG): proves' 'FORCED: a preemption model' 'EMULATED (TCG), FORCED'
check "... says how it was measured, and its noise" \
	holds "$work/m.html" 'How it was measured' 'Noise floor' 'extent before another is taken'
check "... has the tables, refused cells with their reason" \
	holds "$work/m.html" '<th>p99.9</th>' 'cond_resched() in atomic context'
check "... has latencies by model" holds "$work/m.html" 'does to others' 'batched full, none!' 'batched full, lazy'
check "one picture" plot $models --picture latency -o "$work/l.svg"
check "... is only that" sh -c "grep -q 'does to others' '$work/l.svg' && ! grep -q Bandwidth '$work/l.svg'"
check "chosen orders" plot $cold --picture distribution --orders 3,5 -o "$work/o.svg"
check "... are drawn, and no other" \
	sh -c "grep -q '(order 3)' '$work/o.svg' && grep -q '(order 5)' '$work/o.svg' && ! grep -qE '[(]order [^35]' '$work/o.svg'"

# What differs is in the labels, and nothing else
sed 's/"kernel":"[^ ]*/"kernel":"7.9.9-other/' $cold > "$work/kernel.jsonl"
check "two kernels" plot $cold "$work/kernel.jsonl" --picture gbps -o "$work/k.svg"
check "... are told apart by their releases" \
	holds "$work/k.svg" 'stosb full, 6.18.44-fc-v857' 'stosb full, 7.9.9-other'
cp $cold "$work/again.jsonl"
check "two runs on one kernel" plot $cold "$work/again.jsonl" --picture gbps -o "$work/a.svg"
check "... by their files" holds "$work/a.svg" 'stosb full, again.jsonl' 'stosb full, native-cold.jsonl'
check "one file: by variant alone" sh -c "grep -q '>stosb full<' '$work/n.svg'"

# hugetlb has a format of its own
all=$(find results -maxdepth 1 -name '*.jsonl' ! -name 'hugetlb*' | sort)
# shellcheck disable=SC2086 # words
check "times of a read are said to be that" sh -c \
	"build/clearbench plot results/native-touch-cold.jsonl -o '$work/touch.svg' &&
	 grep -q 'FIRST READ AFTER THE CLEAR' '$work/touch.svg' && ! grep -q 'AFTER THE CLEAR' '$work/n.svg'"
check "all results of this tree at once" plot $all -o "$work/all.png"
check "... no panel is empty where series are left out" \
	said 0 'choose by' plot $all -o "$work/all.svg"

# The knee, on a sweep whose answer is known: the gain rises up to 8 pages
python3 - $cold "$work/sweep.jsonl" << 'EOF'
import json, sys
lines = open(sys.argv[1]).read().splitlines()
cell = json.loads(lines[-2])
gains = {"1": None, "2": 1.5, "4": 1.8, "8": 1.99, "32": 2.0, "full": 2.005}
with open(sys.argv[2], "w") as out:
    print(lines[0], file=out)
    for batch, gain in gains.items():
        c = dict(cell, method="stosb", batch=batch, order=9, ratio=gain, floor_lo=0.99, floor_hi=1.01,
                 ratio_lo=gain and gain - .01, ratio_hi=gain and gain + .01)
        print(json.dumps(c), file=out)
    print(json.dumps({"type": "footer", "complete": True, "cells": 6}), file=out)
EOF
check "a sweep of batches" plot "$work/sweep.jsonl" --picture gain -o "$work/b.svg"
# Tics are 10 px, and so is the label of the knee, in the colour of its series.
check "... has its knee at the smallest within the noise of the best" sh -c \
	"grep -A1 'fill=\"#0072b2\"' '$work/b.svg' | sed -n 's/.*<text>\(.*\)<.text>/\1/p' | grep -qx 8"

# A hand-edited file must not inject
evil="</text><script>alert(1)</script>'; set output 'pwned'; system('touch pwned') # \`touch pwned\` @x %s %n {/Bold x}"
python3 - $cold "$work/evil.jsonl" "$evil" << 'EOF'
import json, sys
evil, out = sys.argv[3], open(sys.argv[2], "w")
for line in open(sys.argv[1]):
    o = json.loads(line)
    if o["type"] == "header":
        o["environment"].update(cpu_model=evil[:60], kernel="k`touch pwned`'", clock=evil, governor=evil, cmdline=evil)
        o["marks"] = ["guest", evil]
        o["knobs"]["samples"] = evil
        o["knobs"]["cache"] = "\x01\x1b[31m" + evil
    elif o["type"] == "cell":
        o["context"] = evil
        o["method"] = evil + o["method"] + "\n!touch pwned\nEOD\n"
        o["note"] = evil
        o["cache"] = "\x01\x1b[31m" + evil
    print(json.dumps(o), file=out)
EOF
mkdir "$work/evil"
program=$PWD/build/clearbench
check "a hostile file as a page" sh -c "cd '$work/evil' && '$program' plot ../evil.jsonl -o e.html"
check "... as SVG" sh -c "cd '$work/evil' && '$program' plot ../evil.jsonl -o e.svg"
check "... as PNG" sh -c "cd '$work/evil' && '$program' plot ../evil.jsonl -o e.png"
check "... runs nothing" sh -c "[ \"\$(ls '$work/evil' | tr '\n' ' ')\" = 'e.html e.png e.svg ' ]"
check "... brings no element of its own" \
	sh -c "! grep -il '<script' '$work/evil/e.html' '$work/evil/e.svg'"
check "... is well formed, page and SVG" \
	sh -c "xmllint --noout '$work/evil/e.html' '$work/evil/e.svg'"
check "... its text stands as it is" holds "$work/evil/e.svg" '`touch pwned`'
sed 's/"cpu_model":"[^"]*"/"cpu_model":"bad \xff\xfe \xc3"/; s/"stosb"/"st\xffsb"/' $cold > "$work/bytes.jsonl"
check "bytes that are no UTF-8 are refused, or come out as ?" sh -c "
	build/clearbench plot '$work/bytes.jsonl' -o '$work/bytes.svg'
	status=\$?
	[ \$status -eq 2 ] || { [ \$status -le 1 ] && xmllint --noout '$work/bytes.svg'; }"

# Numbers that no machine gives
python3 - $cold "$work/wild.jsonl" << 'EOF'
import json, sys
out = open(sys.argv[2], "w")
for i, line in enumerate(open(sys.argv[1])):
    o = json.loads(line)
    if o["type"] == "cell":
        t = [0, 0.001, 8e13][i % 3]
        for k in ("min_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns"):
            o[k] = t
        o["ratio"], o["ratio_lo"], o["ratio_hi"] = [(0, 0, 0), (1e-300, 0, 8e13), (8e12, 8e11, 8e13)][i % 3]
        o["floor_lo"], o["floor_hi"] = [(0, 0), (1e-300, 8e13), (1, 5)][i % 3]
        o["irq_p50_ns"], o["irq_p99_ns"], o["irq_max_ns"] = [(0, 0, 0), (8e13, 8e13, 8e13), (5, 4, 3)][i % 3]
        o["hist"] = {"clear": [[0, 1e300, o["n"]]]}
    print(json.dumps(o), file=out)
EOF
check "figures at the edge of what is read are drawn" timeout 60 build/clearbench plot "$work/wild.jsonl" -o "$work/wild.html"
check "... well formed" whole_xml "$work/wild.html"
sed 's/"max_ns": 80000000000000.0/"max_ns": 1e300/' "$work/wild.jsonl" > "$work/wilder.jsonl"
check "those beyond it are refused, with line and reason" \
	said 1 'wilder.jsonl:[0-9]*: max_ns is larger than can be' plot "$work/wilder.jsonl" -o "$work/wilder.svg"

# Bad input
head -c 30000 $cold > "$work/cut.jsonl"
check "a cut file is exit 1, with a warning" said 1 'cut' plot "$work/cut.jsonl" -o "$work/cut.svg"
check "... once" sh -c "[ \"\$(build/clearbench plot '$work/cut.jsonl' -o '$work/cut.svg' 2>&1 | wc -l)\" = 1 ]"
check "... and what is whole is drawn, and says so" holds "$work/cut.svg" 'INCOMPLETE' 'Bandwidth'
check "what is no result is exit 2" said 2 'no clearbench result' plot README.md -o "$work/out/x.svg"
check "... and draws nothing" only
check "a wrong suffix names the legal ones" said 2 '\.svg, \.png or \.html' plot $cold -o "$work/out/x.pdf"
check "an unknown picture names them" said 2 'distribution, gbps, gain, latency' plot $cold --picture x -o "$work/out/x.svg"
check "no latencies says what to run" said 1 '\-\-latency 1' plot $cold --picture latency -o "$work/out/x.svg"
check "a bad list of orders is usage" said 2 'no list of orders' plot $cold --orders 5-3 -o "$work/out/x.svg"
check "a context that is not there is said" said 1 'nothing to draw' plot $cold --contexts hardirq -o "$work/out/x.svg"
check "nowhere to draw to is usage" said 2 'where to' plot $cold
check "no file is usage" said 2 'which FILE' plot -o "$work/out/x.svg"
check "a folder that is not there is one line" said 1 'nothing was written' plot $cold -o "$work/none/x.svg"
check "none of these left anything" only

# gnuplot that is not there, fails, writes a half, dies
mkdir "$work/empty" "$work/bin"
check "no gnuplot: the package is named" said 1 'apt install gnuplot-nox' \
	env PATH="$work/empty" build/clearbench plot $cold -o "$work/out/x.svg"
check "... in one line" sh -c \
	"[ \"\$(PATH='$work/empty' build/clearbench plot $cold -o '$work/out/x.html' 2>&1 | /usr/bin/wc -l)\" = 1 ]"
fake() {
	printf '#!/bin/sh\n%s\n' "$1" > "$work/bin/gnuplot"
	chmod +x "$work/bin/gnuplot"
	said 1 "$2" env PATH="$work/bin:$PATH" build/clearbench plot $cold -o "$work/out/x.svg"
}
check "one that fails is quoted" fake 'echo "line 3: it hurts" >&2; exit 1' 'it hurts'
check "one that writes a half is a failure" fake 'printf "<?xml version=\"1.0\"?><svg>%0100d" 0' 'no whole picture'
check "one that dies is a failure" fake 'kill -9 $$' 'signal 9'
check "nothing is left of these" only
echo old > "$work/out/x.svg"
check "and what was there before stays" sh -c \
	"PATH='$work/bin:$PATH' build/clearbench plot $cold -o '$work/out/x.svg' 2> /dev/null; grep -qx old '$work/out/x.svg'"
check "a picture replaces it" plot $cold -o "$work/out/x.svg"
check "... whole, and leaves nothing beside it" only x.svg

# Too much for a picture
python3 - $cold "$work/wide.jsonl" << 'EOF'
import json, sys
lines = open(sys.argv[1]).read().splitlines()
cell = json.loads(lines[3])
with open(sys.argv[2], "w") as out:
    print(lines[0], file=out)
    for i in range(5000):
        print(json.dumps(dict(cell, method="m%d" % i, ratio=1 if i else None, ratio_lo=None, ratio_hi=None)), file=out)
    print(json.dumps({"type": "footer", "complete": True, "cells": 5000}), file=out)
EOF
check "5,000 variants are told that most are left out" \
	said 0 'choose by --orders, --contexts, --methods' timeout 60 build/clearbench plot "$work/wide.jsonl" -o "$work/wide.svg"
check "... in the picture as well" holds "$work/wide.svg" 'Not drawn: 4980 more cells'
check "... and are drawn when chosen" plot "$work/wide.jsonl" --methods m4001 --picture gbps -o "$work/one.svg"
check "... those and no other" sh -c "grep -q '>m4001 ' '$work/one.svg' && ! grep -q 'Not drawn' '$work/one.svg'"
# A pass over all for each of them takes minutes, one over all a moment.
check "a mail of 5,000 variants is made in linear time" \
	sh -c "timeout 60 build/clearbench show --format mail '$work/wide.jsonl' > '$work/mail'"
check "... and has them all" sh -c "[ \"\$(grep -c -- '-> m' '$work/mail')\" = 4999 ]"
