# SPDX-License-Identifier: GPL-2.0
# Cache states proved by effect, through the knob `after`, natively on x86. Needs
# measure KNOB=VALUE…, which runs quietly, and column NAME FILTER, of that run.
# shellcheck shell=sh disable=SC2154

# of COLUMN METHOD
of() {
	column "$1" "c[\"method\"] == \"$2\""
}

# slower NAME A B TIMES: A is more than TIMES as long as B
slower() {
	check "$1" awk "BEGIN { print \"$2 ns, $3 ns\"; exit !($2 > $4 * $3 && $3 > 0) }"
}

# figures COLUMN TITLE: of every method, behind a #
figures() {
	echo "# $2 in ns: $(column method | tr '\n' ' ')$(column "$1" | tr '\n' ' ')"
}

# What no CPU must have may still be looked at.
others=stosb
grep -qw clzero /proc/cpuinfo && others=stosb,clzero

# The first read of 64 KiB: larger than an L1, smaller than an L2. test_empty
# clears nothing, so its read sees what the state step has left, though mov has
# stored to the same extent in the same round. Memory is further than any cache.
touch_laws() {
	measure after=touch cache=cold orders=4 samples=200 verify=0 batches=full \
		"methods=test_empty,mov,movnti,$others"
	figures p50_ns "cold, first read of 64 KiB after"
	cold=$(of p50_ns test_empty)
	slower "cold: the first read after the state step is slower than after cached stores" \
		"$cold" "$(of p50_ns mov)" 1.5
	slower "cold: stores past the caches leave it there" "$(of p50_ns movnti)" "$(of p50_ns mov)" 1.5
	measure after=touch cache=warm orders=4 samples=200 verify=0 batches=full \
		"methods=test_empty,mov,movnti,$others"
	figures p50_ns "warm, first read of 64 KiB after"
	slower "a cold extent is read slower than a warm one" "$cold" "$(of p50_ns test_empty)" 1.5
	slower "warm: stores past the caches drive it out" "$(of p50_ns movnti)" "$(of p50_ns mov)" 1.5
}

# Before nearly every mov stands a movnti, of which there are two in a round with
# the hidden copy: warm is what the state step makes, and not what ran before.
warm_law() {
	measure after=none cache=cold orders=4 samples=200 verify=0 batches=full methods=movnti,mov
	cold=$(of p50_ns mov)
	measure after=none cache=warm orders=4 samples=200 verify=0 batches=full methods=movnti,mov
	slower "a warm extent is warm, though movnti ran before" "$cold" "$(of p50_ns mov)" 1.3
}

# 256 KiB read again after a clear of 64 MiB, which is larger than any L2. The
# clear takes milliseconds, in which others that share a cache may drive out
# what it has left: so the clears past the caches are printed, and not judged.
victim_laws() {
	measure after=victim victim_kib=256 cache=cold orders=14 samples=60 verify=0 batches=full \
		"methods=test_empty,mov,movnti,$others"
	figures min_ns "256 KiB again, at best, after 64 MiB by"
	figures p50_ns "256 KiB again, median, after 64 MiB by"
	slower "a buffer is read slower after a clear by cached stores than after none" \
		"$(of min_ns mov)" "$(of min_ns test_empty)" 1.2
	slower "... and than with no clear between, as the note has it" "$(of p50_ns mov)" \
		"$(of note mov | sed -n 's/.*; \([0-9]*\) ns with no clear between.*/\1/p')" 1.2
}

after_laws() {
	settles touch_laws
	settles warm_law
	settles victim_laws
}
