#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What figures of the user backend have to fulfil on any machine, and how they
# stand beside those of `perf bench mem memset`, where there is a perf. Prints
# TAP; figures that are to be looked at, not judged, stand behind a #.

set -u
cd "$(dirname "$0")/.." || exit 2
[ -x build/clearbench ] || { echo "not ok - build/clearbench is missing: make program"; exit 1; }

dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cp build/clearbench "$dir/clearbench"
file=$dir/r.jsonl

# shellcheck source=tests/vm/guest/lib.sh
. tests/vm/guest/lib.sh

# A ratio is no different from 1 when it lies within the noise floor of its run
# and a margin for what the floor of a few extents does not show.
MARGIN=0.03
# Two tools on one function
PERF_MARGIN=0.05
# Runs of each, alternating. Others on the machine, and the host below it, only
# ever add time: of runs that do the same the fastest was disturbed the least.
PERF_RUNS=15

# run OPTION…: quietly, into $file
run() {
	"$dir/clearbench" run --backend user -q --force -o "$file" "$@"
}

# column NAME [FILTER]: of every cell that passes FILTER, an awk condition on c[]
column() {
	"$dir/clearbench" show --format csv "$file" | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ for (n in at) c[n] = $at[n] }
		'"${2:-1}"' { print c["'"$1"'"] }'
}

info() {
	"$dir/clearbench" show --format json "$file" |
		sed -n 's/^"environment":.*"'"$1"'":"\([^"]*\)".*/\1/p'
}

larger() {
	printf '%s\n' "$@" | sort -g | tail -n 1
}

# within NAME A B PART: A is B, give or take PART of it
within() {
	check "$1" awk "BEGIN { d = $2 / $3 - 1; print \"$2 $3\"; exit !(d < $4 && d > -$4) }"
}

# Anyone may run it. 65534 is nobody, everywhere.
as_nobody=
if [ "$(id -u)" = 0 ]; then
	chmod 777 "$dir"
	chmod 755 "$dir/clearbench"
	as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
fi
check "a sweep without root" $as_nobody "$dir/clearbench" run --backend user -q --orders 0-10 \
	--samples 20 -o "$dir/nobody.jsonl"

same_work() {
	check "legacy and batched run" run --orders 2-8 --methods legacy,batched --batches 1 --samples 600
	far=$("$dir/clearbench" show --format csv "$file" | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["method"] == "batched" {
			floor = $at["floor_hi"] - 1
			if (1 - $at["floor_lo"] > floor) floor = 1 - $at["floor_lo"]
			off = $at["ratio"] - 1
			if (off < 0) off = -off
			if (off > floor + '$MARGIN')
				print "order " $at["order"] ": ratio " $at["ratio"] ", floor " floor
			seen++
		}
		END { if (seen != 7) print seen " cells" }')
	check "batched at batch 1 is legacy" sh -c "echo '$far'; [ -z '$far' ]"
}
settles same_work

# An order is 64 KiB where a page is 4 KiB.
cold_and_warm() {
	run --orders 4 --methods batched --cache warm --samples 200
	warm=$(column p50_ns)
	run --orders 4 --methods batched --cache cold --samples 200
	cold=$(column p50_ns)
	echo "# 64 KiB: cold $cold ns, warm $warm ns"
	check "a cold extent is slower than a warm one" awk "BEGIN { exit !($cold > 1.3 * $warm) }"
}
settles cold_and_warm

# measure KNOB=VALUE…
measure() {
	local knob options=()

	for knob; do
		options+=("--${knob%%=*}" "${knob#*=}")
	done
	run "${options[@]}"
}
if [ "$(uname -m)" = x86_64 ]; then
	# shellcheck source=tests/vm/guest/after.sh
	. tests/vm/guest/after.sh
	after_laws
else
	skip "what clears leave behind" "the primitives are those of x86"
fi

# On request, each kind of store waits until it is through.
if grep -qw clzero /proc/cpuinfo; then
	for drain in 0 1; do
		run --orders 0 --methods legacy,movnti,clzero --drain $drain --samples 300
		echo "# order 0, cold, drain=$drain: legacy movnti clzero" \
			"$(column p50_ns | tr '\n' ' ')ns"
	done
fi

# Disturbed samples can be left out, and are as many as it says.
check "a run with time slices in it" run --orders 14 --methods batched --samples 100 --verify 0
check "--undisturbed leaves them out" sh -c "'$dir/clearbench' show --undisturbed --format csv '$file' |
	awk -F, -v n=$(column n) -v out=$(column n_disturbed) 'NR == 1 { for (i = 1; i <= NF; i++) at[\$i] = i }
		NR == 2 { print n, out, \$at[\"n\"]; exit \$at[\"n\"] != n - out }'"

# Interrupts in the middle of a clear: there are some in a long one, none can be
# aimed at a short one, and they take a second CPU.
if [ "$(nproc)" -gt 1 ]; then
	check "interrupts are sent into clears" run --latency 1 --orders 0,12 --methods batched \
		--samples 60 --verify 0
	check "delays of a long one" awk "BEGIN { exit !($(column irq_p50_ns 'c["order"] == 12') > 0 &&
		$(column irqoff_max_ns 'c["order"] == 12') <= $(column irq_max_ns 'c["order"] == 12')) }"
	check "not of a short one" sh -c "echo '$(column note 'c["order"] == 0')' |
		grep -q 'shorter than a few interrupts' &&
		[ -z '$(column irq_p50_ns 'c["order"] == 0')' ]"
	check "beside those of a spin" sh -c "'$dir/clearbench' show '$file' |
		grep -qE '^ +12 +16M +batched full .*[0-9]\] us$' &&
		'$dir/clearbench' show --format hist '$file' | grep -q '^ spin, [1-9]'"
fi
said=$(taskset -c "$(taskset -pc $$ | sed 's/.*[^0-9]//')" "$dir/clearbench" run --backend user \
	--latency 1 -o "$dir/one.jsonl" 2>&1)
check "one CPU is too few" sh -c "[ $? = 2 ] && echo '$said' | grep -q 'second CPU' && [ ! -s '$dir/one.jsonl' ]"

# The knee: one rep stosb against one a page, far below the LLC, at its size,
# and far above. On AMD's Zen 4 with 32 MiB it was seen again and again; at the
# very size it depends on what others keep in the LLC.
knee() {
	run --orders 9,13,15 --methods stosb --batches 1,full --samples 60
	llc=$(info llc_bytes)
	for order in 9 13 15; do
		echo "# order $order, cold: stosb full takes 1/$(column ratio \
			"c[\"batch\"] == \"full\" && c[\"order\"] == $order") of the time of batch 1"
	done
	if [ "$llc" = 33554432 ] && grep -q AuthenticAMD /proc/cpuinfo; then
		gain=$(column ratio 'c["batch"] == "full" && c["order"] == 15')
		check "AMD, an LLC of 32 MiB: one long rep stosb wins above it" \
			awk "BEGIN { print \"$gain\"; exit !($gain > 1.5) }"
	else
		skip "one long rep stosb above the LLC" "LLC of $llc bytes, or another CPU"
	fi
}
grep -qw erms /proc/cpuinfo && settles knee

# perf bench mem: one buffer, cleared again and again, so it is `warm`. With
# --format simple it prints bytes a second (its "GB" are 2^30). Loops are chosen
# for about 2 ms: less than a time slice. Its buffer comes from malloc(), which
# takes huge pages when told so (glibc 2.35). Sizes are well inside the usual L2
# caches or well outside: at its very size, how much of a buffer is in the L2 is
# a matter of its placement.
perf=$(command -v perf)
if [ -n "$perf" ] && ! "$perf" bench mem memset -f x86-64-stosb -s 4KB > /dev/null 2>&1; then
	perf=
fi
if [ -z "$perf" ]; then
	skip "perf bench mem memset agrees" "no perf that has x86-64-stosb"
	exit 0
fi

cpu=$(taskset -pc $$ | sed 's/.*[^0-9]//')
agrees() {
	kib=$((4 << $1))
	ours=0 theirs=0
	for ((i = 0; i < PERF_RUNS; i++)); do
		run --cpu "$cpu" --orders "$1" --methods stosb --cache warm --samples 60 \
			--verify 0 || break
		ours=$(larger "$ours" "$(column gb_per_s)")
		bytes=$(GLIBC_TUNABLES=glibc.malloc.hugetlb=1 taskset -c "$cpu" "$perf" bench \
			--format simple mem memset -f x86-64-stosb -s ${kib}KB -l $((131072 / kib)) |
			grep -v '^#')
		theirs=$(larger "$theirs" "$(awk "BEGIN { printf \"%.3f\", $bytes / 1e9 }")")
	done
	echo "# $kib KiB, stosb, warm, best of $PERF_RUNS in GB/s: clearbench $ours, perf $theirs"
	within "$kib KiB: perf bench mem memset agrees within 5 %" "$ours" "$theirs" $PERF_MARGIN
}
for order in 5 6 9 10; do
	settles agrees $order
done
