#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# scripts/vm matrix: a file a boot, one table, and what is refused before it boots.

cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/vm/vm-tap.sh
. tests/vm/vm-tap.sh

small=(--orders "0,3" --contexts process --samples 5)

refused() {	# NAME WORDS ARGUMENT…
	local name=$1 words=$2

	shift 2
	vm matrix "$@"
	is "$name: status" $status 2
	has "$name: $words" "$work/err" "$words"
}
refused "without -o" "needs -o DIR" 7.3:lazy
refused "no such model" "is not KERNEL:MODEL" 7.3:idle -o "$work/x"
refused "no such kernel" "unknown kernel" 5.4:none -o "$work/x"
refused "um" "no models" um:none -o "$work/x"
refused "the model stands behind the kernel" "not for matrix" --preempt lazy -o "$work/x"
refused "no boots" "number from 1" --boots 0 -o "$work/x"
is "nothing was made" "$(ls "$work")" "$(printf 'err\nout')"

vm matrix 6.1:full 7.3:none 6.1:lazy --boots 2 "${small[@]}" -o "$work/m"
is "a boot that gave nothing: status" $status 1
has "it is named" "$work/err" "not whole: 6.1-lazy-1"
has "with the reason" "$work/err" "refuses the model lazy"
for f in 6.1-full-1 6.1-full-2 7.3-none-1 7.3-none-2; do
	build/clearbench show "$work/m/$f.jsonl" >/dev/null
	is "$f: a whole result" $? 0
	has "$f: the kernel's log" "$work/m/$f.log" "Linux version"
done
is "boots are interleaved" "$(sed -n 's/^scripts.vm: boot .*: //p' "$work/err" | tr '\n' ' ')" \
	"6.1:full 7.3:none 6.1:lazy 6.1:full 7.3:none 6.1:lazy "
for column in full none!; do
	is "a column $column" "$(grep -c "^context .* $column\$" "$work/out")" 1
done
is "a row a variant" "$(grep -cE '^process +3  batched (1|full) +clear +[0-9]' "$work/out")" 4
is "the table is kept" "$(cat "$work/m/matrix.txt")" "$(cat "$work/out")"
refused "what is there is not overwritten" "exists" 6.1:full "${small[@]}" -o "$work/m"
