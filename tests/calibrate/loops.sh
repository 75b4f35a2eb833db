# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# The measured part of `make calibrate`, for the user backend here and for the
# module in a guest: two variants that are the same, and two that differ by 1 %.
# BACKEND is user or module, BASE the baseline, W an empty folder for files.

COMPARISONS=${COMPARISONS:-200}
POWER_RUNS=${POWER_RUNS:-100}
RUNS=5

one() { # FILE SEED OPTION…
	f=$1 seed=$2
	shift 2
	clearbench run --backend "$BACKEND" -q --force --orders 4 --contexts process --cache cold \
		--verify 0 --seed "$seed" "$@" -o "$f"
}

# What compare says of order 4: "no difference" or the change
verdict() {
	clearbench compare "$@" 2>/dev/null | awk '$1 == 4 && $2 == "64K" {
		if ($0 ~ /\|x\| </) print "same"
		else if ($0 ~ / \?/) print "none"
		else { match($0, /[-+][0-9.]+ %/); print substr($0, RSTART, RLENGTH - 2) } }'
}

column() { # NAME FILE: of its first cell
	clearbench show --format csv "$2" | awk -F, -v name="$1" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		NR == 2 { print $at[name] }'
}

count() { # PATTERN FILE
	grep -cE "$1" "$2"
}

# A/A within a run
i=0
: > "$W/within"
while [ $i -lt "$COMPARISONS" ]; do
	i=$((i + 1))
	one "$W/r" $i --methods "$BASE,test_slow" --samples 500 || exit 1
	verdict "$W/r:$BASE" "$W/r:test_slow" >> "$W/within"
done
echo "  A/A within a run: $(count '^[-+]' "$W/within") of $(count . "$W/within") called different"

# A/A between runs: each comparison has runs of its own, taken in turn
i=0
: > "$W/between"
: > "$W/lists"
while [ $i -lt "$COMPARISONS" ]; do
	i=$((i + 1))
	a= b= va= vb= k=0
	while [ $k -lt $RUNS ]; do
		k=$((k + 1))
		one "$W/a$k" $((1000 + i * 10 + k)) --methods "$BASE" --samples 100 || exit 1
		one "$W/b$k" $((5000 + i * 10 + k)) --methods "$BASE" --samples 100 || exit 1
		a="$a${a:+,}$W/a$k"
		b="$b${b:+,}$W/b$k"
	done
	verdict "$a" "$b" >> "$W/between"
	for k in 1 2 3 4 5; do
		va="$va $(column p50_ns "$W/a$k")"
		vb="$vb $(column p50_ns "$W/b$k")"
	done
	echo "$va /$vb" >> "$W/lists"
done
echo "  A/A between runs, $RUNS a side: $(count '^[-+]' "$W/between") of $(count . "$W/between") called different"

# power CACHE ROUNDS: how often is a true difference of 1 % of the median found?
power() {
	one "$W/r" 1 --methods "$BASE" --cache "$1" --samples "$2" || exit 1
	p50=$(column p50_ns "$W/r")
	delay=$(awk "BEGIN { printf \"%.0f\", $p50 / 100 }")
	i=0
	: > "$W/power"
	while [ $i -lt "$POWER_RUNS" ]; do
		i=$((i + 1))
		one "$W/r" $i --methods "$BASE,test_slow" --cache "$1" --samples "$2" \
			--test-delay-ns "$delay" || exit 1
		verdict "$W/r:$BASE" "$W/r:test_slow" >> "$W/power"
	done
	echo "  $delay ns on $p50 ns, 64 KiB, $1, $2 rounds: found in $(count '^[+]' "$W/power") of $(count . "$W/power") runs, taken for faster in $(count '^-' "$W/power")"
}

power cold 1000
power cold 10000
power warm 1000
[ "$(count '^[-+]' "$W/within")" -le 17 ] && [ "$(count '^[-+]' "$W/between")" -le 17 ] &&
	[ "$(count '^[+]' "$W/power")" -ge $((POWER_RUNS * 80 / 100)) ]
