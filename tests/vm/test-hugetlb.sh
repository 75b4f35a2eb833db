#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
#   tests/vm/test-hugetlb.sh
#
# clearbench hugetlb on stock 7.3: figures of the run time and of the boot,
# restoring, refusals, nodes; and what it makes of files with known numbers.

cd "$(dirname "$0")/../.." || exit 2
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT

scripts/vm exec 7.3 --mem 512M --append "hugepages=8 hugepage_alloc_threads=2 numa=fake=2" \
	--out "$out" -- \
	"$(cat tests/vm/guest/lib.sh tests/vm/guest/hugetlb.sh)"
status=$?

# From here on in the host
# shellcheck source=tests/vm/guest/lib.sh
. tests/vm/guest/lib.sh

show() {
	build/clearbench hugetlb --show "$@"
}

# made INIT PAGES SECONDS…: a result of one boot
made() {
	init=$1
	pages=$2
	shift 2
	printf '{"type":"hugetlb","format":1,"marks":["guest"],"environment":{"kernel":"7.3"},"init_on_alloc":"%s"}\n' "$init"
	printf '{"type":"row","row":"run time","size":2097152.0,"node":-1,"threads":0,"asked":%s,"pages":%s,"left_out":0,"stalled":0,"tick":0.0,"seconds":[%s]}\n' \
		"$pages" "$pages" "$(echo "$*" | tr ' ' ,)"
	printf '{"type":"footer","complete":true}\n'
}

check "what the guest left is shown" sh -c "build/clearbench hugetlb --show '$out/hugetlb.jsonl' | grep -q '^run time'"
check "no absolute path and no host name is in it" \
	sh -c "[ -s '$out/hugetlb.jsonl' ] && ! grep -qE '\"(/[a-z]+/|/tmp)|$(uname -n)' '$out/hugetlb.jsonl'"
check "the table fits a mail" sh -c "build/clearbench hugetlb --show '$out/hugetlb.jsonl' | awk 'length > 75 { bad = 1 } END { exit bad || !NR }'"
made on 8192 0.9 0.445 0.2 0.5 0.3 0.45 0.446 > "$out/on"
check "the median of seven and the ranks 1 and 7 enclose it" \
	sh -c "build/clearbench hugetlb --show '$out/on' | grep -q '^run time .* 8192 .*100 %  *0.446  *\[0.200, 0.900\]  *38.5  *7$'"
made on 8192 0.1 0.2 0.4 0.5 > "$out/even"
check "the median of four lies between the middle two, without an interval" \
	sh -c "build/clearbench hugetlb --show '$out/even' | grep -q '^run time .* 0.300  *-  *57.3  *4$'"
made off 8192 0.0446 > "$out/off"
check "with init_on_alloc off there is no bandwidth" \
	sh -c "build/clearbench hugetlb --show '$out/off' | grep -q '^run time  *off .* 0.0446  *-  *-  *1$'"
check "of two files, each boot counts once" \
	sh -c "build/clearbench hugetlb --show '$out/on' '$out/even' | grep -q '^run time  *on .* 0.373  *-  *46.1  *2$'"
check "with and without clearing, the share is told" \
	sh -c "build/clearbench hugetlb --show '$out/on' '$out/off' | grep -q '^Not clearing: 0.0446 of 0.446 s, 10 %'"
head -n 2 "$out/on" > "$out/cut"
show "$out/cut" > "$out/table" 2> "$out/said"
result "a cut file is shown, with a warning, and ends with 1" $(($? != 1)) "$(cat "$out/said")"
check "... its row is there" grep -q '^run time' "$out/table"
show results/demo.jsonl > /dev/null 2>&1
result "another kind of result is refused with 2" $(($? != 2))
sed 's/"kernel":"7.3"/"kernel":"7.2"/' "$out/on" > "$out/other"
show "$out/on" "$out/other" > /dev/null 2> "$out/said"
result "files of two kernels are not mixed" $(($? != 1)) "$(cat "$out/said")"

# No HugeTLB at all
scripts/vm exec um -- 'clearbench hugetlb' > "$out/said" 2>&1
result "without HugeTLB it ends with 1 and one line" \
	$(($? != 1 || $(grep -c 'has no HugeTLB' "$out/said") != 1)) "$(cat "$out/said")"

# Boots in turn
scripts/hugetlb-boot 7.3 --threads 2 --pages 16 --boots 1 --pairs 1 -o "$out/boots" > "$out/table" 2> "$out/said"
result "hugetlb-boot boots and prints a table" $? "$(tail -n 3 "$out/said")"
check "... with a row of the boot" grep -qE '^boot, 2 threads  *on ' "$out/table"
check "... and one without clearing" grep -qE '^boot, 2 threads  *off ' "$out/table"
check "... and says what of the time is not clearing" grep -q '^Not clearing: ' "$out/table"
scripts/hugetlb-boot > /dev/null 2>&1
result "hugetlb-boot without KERNEL is usage" $(($? != 2))
exit $status
