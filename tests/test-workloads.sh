#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The workloads, natively and small; runs of them, and their comparison. TAP.

cd "$(dirname "$0")/.." || exit 2
[ -x build/workloads ] || { echo "not ok - build/workloads is missing: make workloads"; exit 1; }
# shellcheck source=tests/vm/guest/lib.sh
. tests/vm/guest/lib.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
workloads=build/workloads
# Threads that spin keep each other from running on a machine that is busy.
export OMP_WAIT_POLICY=passive

# one_line STATUS TEXT COMMAND…: and nothing else
one_line() {
	said "$@" && [ "$(echo "$out" | wc -l)" -eq 1 ]
}

# value KEY COMMAND…: of a line "KEY: value"
value() {
	local key=$1

	shift
	"$@" | sed -n "s/^$key: //p"
}

# same KEY COMMAND -- COMMAND: both print the same value, and one at all
same() {
	local key=$1 a b

	a=$(value "$key" sh -c "$2")
	b=$(value "$key" sh -c "$3")
	echo "$a, $b"
	[ -n "$a" ] && [ "$a" = "$b" ]
}

differ() {
	! same "$@"
}

# The searches

# shellcheck disable=SC2120 # by check
graph500() {
	$workloads graph500 --scale 12 --roots 8 "$@"
}

check "graph500: every tree is valid" said 0 '^validation: passed: 8 trees$' graph500
keys="workload scale edgefactor vertices edges seed threads needs_bytes roots
	harmonic_mean_teps validation user_s sys_s wall_s minor_faults major_faults max_rss_kib"
for key in $keys; do
	check "graph500: prints $key" test -n "$(value "$key" echo "$(graph500)")"
done
check "graph500: one thread and two find the same trees" \
	same tree_sum "$workloads graph500 --scale 13 --threads 1" "$workloads graph500 --scale 13 --threads 2"
check "graph500: and three, twice" \
	same tree_sum "$workloads graph500 --scale 13 --threads 3" "$workloads graph500 --scale 13 --threads 3"
check "graph500: huge pages change nothing in them" \
	same tree_sum "$workloads graph500 --scale 13" "$workloads graph500 --scale 13 --huge"
check "graph500: another seed, other trees" \
	differ tree_sum "$workloads graph500 --scale 13 --seed 1" "$workloads graph500 --scale 13 --seed 2"
for scale in 1 2 3; do
	check "graph500: scale $scale" said 0 'validation: passed' $workloads graph500 --scale $scale
done
check "graph500: as many roots as have a neighbour, if more are asked for" \
	said 0 '^roots: 2$' $workloads graph500 --scale 1 --roots 64

# The generator against the specification: how many vertices no edge leaves, and
# how many have a neighbour, follows from A, B, C. The bounds are five times the
# square root of their number, which is above their standard deviation.
# expected PROBABILITY: vertices of 2^14 that none of 16 * 2^14 edges meets, where
# an edge meets one of k ones with PROBABILITY
expected() {
	awk "BEGIN {
		s = 14; m = 16 * 2^s; c = 1
		for (k = 0; k <= s; k++) {
			p = $1
			sum += c * exp(m * log(1 - p))
			c = c * (s - k) / (k + 1)
		}
		print sum
	}"
}

near() {
	echo "$1, expected $2"
	awk "BEGIN { d = $1 - $2; exit !(d < 5 * sqrt($2) && d > -5 * sqrt($2)) }"
}

check "the generator: as many vertices without an edge out as A + B makes" \
	near "$(value dangling $workloads pagerank --scale 14)" "$(expected '0.76^(s - k) * 0.24^k')"
alone=$(expected '2 * (0.76^(s - k) * 0.24^k - 0.57^(s - k) * 0.05^k)')
check "the generator: as many without a neighbour as A, B and C make" \
	near "$((16384 - $(value roots $workloads graph500 --scale 14 --roots 100000)))" "$alone"

# The validation, which must see each kind of wrong tree
corrupted() {
	said 1 "^validation: failed: search 5 .*$2" graph500 --corrupt "$1"
}
check "validation: a root that is not its own parent" corrupted root 'is not its own parent'
check "validation: a circle" corrupted circle 'lead in a circle'
check "validation: a parent outside" corrupted outside 'is not in the tree'
check "validation: a level that is not the lowest" corrupted level 'joins levels'
check "validation: a vertex left out" corrupted leaf 'leads out of the tree'
check "validation: a tree edge that the graph has not" corrupted edge 'no edge joins'

# The ranks

pagerank() {
	$workloads pagerank --scale 12 "$@"
}

check "pagerank: the ranks are valid" said 0 '^validation: passed$' pagerank
check "pagerank: they converge" said 0 '^converged: yes$' pagerank
check "pagerank: not in two steps, which is no failure" \
	said 0 '^converged: no$' pagerank --iterations 2 --tolerance 1e-12
check "pagerank: and valid all the same" \
	said 0 '^validation: passed$' pagerank --iterations 2 --tolerance 1e-12
check "pagerank: some vertices are dangling" said 0 '^dangling: [1-9]' pagerank
check "pagerank: one thread and two, every bit the same" \
	same rank_bits "$workloads pagerank --scale 15 --threads 1" "$workloads pagerank --scale 15 --threads 2"
check "pagerank: another seed, other ranks" \
	differ rank_bits "$workloads pagerank --scale 12" "$workloads pagerank --scale 12 --seed 2"
for how in 'nan is -\?nan' 'infinite is inf' 'zero is 0' 'sum sum to' 'swap one more step'; do
	check "validation: ranks: ${how%% *}" \
		said 1 "^validation: failed: .*${how#* }" pagerank --corrupt "${how%% *}"
done

# Memory

check "memory: no more is taken than was said, and no less than half of it" sh -c '
	OMP_NUM_THREADS=2 build/workloads $0 --scale 18 $1 | tee /dev/stderr | awk "
		/^needs_bytes/ { needs = \$2 }
		/^max_rss_kib/ { rss = 1024 * \$2 }
		END { exit !(rss <= needs && rss > needs / 2) }"' graph500 '--roots 2'
check "memory: the same of pagerank" sh -c '
	OMP_NUM_THREADS=2 build/workloads pagerank --scale 18 --iterations 2 | awk "
		/^needs_bytes/ { needs = \$2 }
		/^max_rss_kib/ { rss = 1024 * \$2 }
		END { exit !(rss <= needs && rss > needs / 2) }"'
for name in graph500 pagerank; do
	check "memory: $name: what does not fit is refused, with the sum and the largest that does" \
		one_line 2 "needs [0-9]* bytes, and MemAvailable is [0-9]*: the largest that fits is --scale [0-9]*$" \
		$workloads $name --scale 31 --edgefactor 1024
done
check "memory: a limit on the address space is one line, and no crash" \
	one_line 1 'gives no [0-9]* bytes' sh -c \
	"ulimit -v 200000; $workloads graph500 --scale 20 --threads 1 2>&1 >/dev/null"

# Refusals

check "usage: no verb" said 2 '^usage:' $workloads
check "usage: an unknown verb names those that there are" \
	one_line 2 "no verb 'sssp'; there are: graph500 pagerank run compare" $workloads sssp
for name in graph500 pagerank; do
	for bad in 0 32 -1 +3 x 1.5 4x '' 99999999999999999999; do
		check "usage: $name --scale '$bad'" \
			one_line 2 "scale takes a whole number from 1 to 31, not '$bad'" $workloads $name --scale "$bad"
	done
	check "usage: $name --scale without a number" \
		one_line 2 'scale takes a whole number from 1 to 31 ' $workloads $name --scale
	check "usage: $name --frob" one_line 2 "'--frob' is no option" $workloads $name --frob
	check "usage: $name --edgefactor 0" one_line 2 'from 1 to 1024' $workloads $name --edgefactor 0
	check "usage: $name --threads 0" one_line 2 'from 1 to 4096' $workloads $name --threads 0
	check "usage: help $name" said 0 '--huge' $workloads help $name
done
check "usage: --roots" one_line 2 'from 1 to 100000' $workloads graph500 --roots 0
check "usage: --iterations" one_line 2 'from 1 to 100000' $workloads pagerank --iterations 0
for bad in 0 -1 2 nan x; do
	check "usage: --tolerance $bad" one_line 2 'takes a number above 0' $workloads pagerank --tolerance $bad
done

# Runs

check "run: six give an interval" \
	said 0 'median  95 % interval' $workloads run -n 6 -o "$work/runs" graph500 --scale 8 --roots 2
check "run: five give none, and say so" \
	said 0 'no interval, n = 5' $workloads run -n 5 -o "$work/runs" graph500 --scale 8 --roots 2
check "run: the file was added to" test "$(grep -c 'graph500 --scale 8' "$work/runs")" = 11
check "run: user, sys and real of any command" said 0 '^real  *0m[1-9][0-9.]*s$' $workloads run -n 1 sleep 1.1
check "run: what fails ends it" one_line 1 'run 1 of 9 ended with status 7' \
	$workloads run -n 9 sh -c 'exit 7'
check "run: bad usage of a workload is bad usage" \
	said 2 'run 1 of 9 ended with status 2' $workloads run -n 9 graph500 --scale x
check "run: a validation that fails is in the file" sh -c "
	! $workloads run -n 9 -o '$work/failed' graph500 --scale 8 --corrupt root 2>/dev/null &&
	[ \"\$(awk -F'\t' '\$9 == 1' '$work/failed' | wc -l)\" = 1 ]"
check "run: a command that is not there" said 1 'status 127' $workloads run no-such-command
check "run: another file is not touched" \
	one_line 2 'no whole file of runs' $workloads run -o README.md true
check "run: nothing to run" one_line 2 'what is to be run' $workloads run -n 3
stop_runs() {
	local pid

	$workloads run -n 1000 -o "$work/stopped" sleep 0.2 &
	pid=$!
	until grep -c "sleep 0.2" "$work/stopped" 2>/dev/null | grep -qv "^[01]$"; do
		sleep 0.1
	done
	kill -INT $pid
	wait $pid
}
check "run: Ctrl-C ends with 130, and says how far it came" \
	said 130 'stopped after [2-9][0-9]* of 1000 runs' stop_runs
check "run: and keeps what is done" said 0 '1 boot, [2-9][0-9]* runs' \
	$workloads compare "$work/stopped" "$work/stopped"
check "run: no absolute path is in the file" sh -c "
	$workloads run -n 1 -o '$work/path' test -e '$work' && ! grep -q '$work' '$work/path'"

# Comparison. boots FILE INIT_ON_ALLOC TIMES…: a boot a time, of three runs each,
# whose median is the time
boots() {
	local file=$1 init=$2 n=0 time run

	shift 2
	head -n 2 "$work/runs" > "$work/$file"
	for time; do
		n=$((n + 1))
		for run in 0.5 1 3; do
			echo "boot-$file-$n $init $time $run"
		done
	done | awk -v OFS='\t' '{
		t = $3 * $4
		print $1, "7.3", $2, "always", "CPU", 32, "-", "graph500 --threads 32", 0,
			t / 2, t, 2 * t, 1, 0, 1
	}' >> "$work/$file"
}

compare() {
	$workloads compare "$work/$1" "$work/$2"
}

boots thread-before 1 956.7
boots thread-after 0 583.7
check "compare: the thread's own table" said 0 '^sys   15m56.7s  *9m43.7s  -39.0 %' compare thread-before thread-after
check "compare: one boot a side is no verdict" said 0 '^one boot a side: no verdict$' compare thread-before thread-after
check "compare: conditions are named" said 0 'Before: .* 1 boot, 3 runs; init_on_alloc=1, kernel 7.3' compare thread-before thread-after

boots a3 1 100 101 102
boots b3 0 50 51 52
boots b5 0 50 51 52 53 54
boots a4 1 100 101 102 103
boots b4 0 50 51 52 53
boots c4 0 99 101 100 104
check "compare: three and three are too few" said 0 '^3 and 3 boots: too few for an interval' compare a3 b3
check "compare: three and five are enough" said 0 '^sys .*\[.*\]  differs' compare a3 b5
# 50/103 and 53/100
check "compare: four and four: the outermost ratios" said 0 '^sys .*  -49.3 %  \[-51.5, -47.0\]  differs' compare a4 b4
check "compare: a slowdown" said 0 '^real .*  +9[0-9].* %  \[+88.7, +106\]  differs' compare b4 a4
check "compare: no difference" said 0 '^sys .* \[-[0-9.]*, +[0-9.]*\]  no difference seen' compare a4 c4

# The tables of the Mann-Whitney test (two-sided 5 %): critical values of U, of
# which the rank is one more. The ratios are counted out by sort.
ends() {
	local m=$1 n=$2 k=$(($3 + 1)) i a=() b=()

	for ((i = 0; i < m; i++)); do a+=($((1000 + 37 * i * i % 101))); done
	for ((i = 0; i < n; i++)); do b+=($((1100 + 53 * i * i % 97))); done
	boots a 1 "${a[@]}"
	boots b 0 "${b[@]}"
	awk -v a="${a[*]}" -v b="${b[*]}" 'BEGIN {
		m = split(a, before, " ")
		n = split(b, after, " ")
		for (i = 1; i <= m; i++)
			for (j = 1; j <= n; j++)
				printf "%.9f\n", 100 * (after[j] / before[i] - 1)
	}' | sort -g > "$work/ratios"
	lo=$(sed -n "${k}p" "$work/ratios")
	hi=$(tail -n "$k" "$work/ratios" | head -n 1)
	compare a b | tee "$work/said" | awk -v lo="$lo" -v hi="$hi" '/^sys/ {
		split($0, part, /[][,]/)
		print part[2], part[3], lo, hi
		good = part[2] - lo < 0.051 && lo - part[2] < 0.051 && part[3] - hi < 0.051 && hi - part[3] < 0.051
	} END { exit !good }' || { cat "$work/said"; return 1; }
}
for row in '4 4 0' '5 5 2' '5 8 6' '6 7 6' '8 8 13' '10 10 23' '3 7 1' '20 20 127'; do
	# shellcheck disable=SC2086
	check "compare: interval of m, n by critical U: $row" ends $row
done

sed 's/--threads 32/--threads 16/' "$work/b4" > "$work/other"
check "compare: another command is refused" said 1 "command: 'graph500 --threads 32' before, 'graph500 --threads 16' after" compare a4 other
check "compare: --force compares without a verdict" said 0 'FORCED' $workloads compare --force "$work/a4" "$work/other"
sed 's/\t-\tgraph500/\temulated\tgraph500/' "$work/a4" > "$work/a-tcg"
sed 's/\t-\tgraph500/\temulated\tgraph500/' "$work/b4" > "$work/b-tcg"
check "compare: an emulated difference is none" said 0 'on an emulated CPU: no verdict' compare a-tcg b-tcg
check "compare: and no interval is shown for it" said 0 '^sys .* -49.3 %  *-$' compare a-tcg b-tcg
check "compare: one boot on both sides is no verdict" said 0 'stands on both sides: no verdict' compare a4 a4
cat "$work/a4" > "$work/mixed"
tail -n 1 "$work/b4" >> "$work/mixed"
check "compare: two settings on one side are refused" said 1 "init_on_alloc is '0', and '1' before" compare mixed b4
boots more 1 104
cat "$work/a3" "$work/more" > "$work/joined"
check "compare: files may be put behind each other" said 0 '^Before: joined: 4 boots, 12 runs' compare joined b4
head -c -20 "$work/a4" > "$work/cut"
check "compare: a cut line does not count, and is said" said 0 'last line is cut' compare cut b4
check "compare: what is no file of runs" one_line 2 'is no file of runs' $workloads compare README.md README.md
check "compare: a file that is not there" one_line 1 'No such file' $workloads compare "$work/none" "$work/b4"
check "compare: a file alone" one_line 2 'BEFORE and AFTER are missing' $workloads compare "$work/b4"
sed 's/\t0\t[0-9.]*\t[0-9.]*\t/\t0\tx\ty\t/' "$work/b4" > "$work/bad"
check "compare: what is no time" one_line 1 "line 3: 'x' is no time" compare a4 bad
sed 's/^\(boot-[^\t]*\t.*\tgraph500[^\t]*\t\)0\t/\13\t/' "$work/b4" > "$work/all-failed"
check "compare: runs that failed do not count" one_line 1 'no run in it ended well' compare a4 all-failed
boots zero 1 0 0 0 0
check "compare: no time at all is no change" said 0 'too short to be measured' compare zero b4
check "compare: nor is it after" said 0 'too short to be measured' compare b4 zero

# Boots, as far as nothing is booted
boots=scripts/workloads/boots
check "boots: no kernel" one_line 2 'one KERNEL or two' $boots -o "$work/boots" -- graph500
check "boots: no workload" one_line 2 'what is to be run' $boots -o "$work/boots" um
check "boots: no folder" one_line 2 'o DIR is missing' $boots um -- graph500
check "boots: a folder with something in it" one_line 2 'is not empty' $boots -o "$work" um -- graph500
check "boots: a bad number" one_line 2 'from 1 to 100, not 0' $boots --boots 0 -o "$work/boots" um -- graph500
check "boots: an unknown option" one_line 2 'unknown option' $boots --frob -o "$work/boots" um -- graph500
