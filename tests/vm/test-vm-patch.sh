#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Kernels that differ by a patch: what is refused, before anything is built. And
# what scripts/before-after and scripts/clears refuse, which use them.

cd "$(dirname "$0")/../.." || exit 2
. tests/vm/vm-tap.sh

scripts/vm fetch um || { is 'the source is there' no yes; exit; }
cache=${CLEARBENCH_CACHE:-${HOME:-/root}/.cache/clearbench}
export CLEARBENCH_CACHE=$work/cache
mkdir -p "$CLEARBENCH_CACHE/built" "$work/tree/scripts"
ln -s "$cache/source" "$CLEARBENCH_CACHE/"
cp -r scripts/vm scripts/vm.d scripts/deps scripts/before-after scripts/clears "$work/tree/scripts/"
cd "$work/tree" || exit 2

# key KERNEL: what its build is known by
key() {
	bash -c 'top=$PWD; . scripts/vm.d/common.sh; . scripts/vm.d/kernels.sh
		kernel_select "$1"; source_prepare; built_key' - "$1"
}

patch=scripts/vm.d/patches/loop.patch
base=$(key 7.3-base) um=$(key um) v1=$(key 7.3-v1) loop=$(key 7.3-loop)
is 'a patch is part of what a build is known by' "$(printf '%s\n' "$base" "$v1" "$loop" | sort -u | wc -l)" 3
sed -i '1s/^/A comment. /' $patch
is 'a changed patch is another build' "$([ "$(key 7.3-loop)" != "$loop" ] && echo yes)" yes
is 'of that kernel alone' "$(key 7.3-base) $(key 7.3-v1) $(key um)" "$base $v1 $um"

# refused NAME STATUS WORDS COMMAND…: in one line
refused() {
	local name=$1 wanted=$2 words=$3

	shift 3
	"$@" >"$work/out" 2>"$work/err" </dev/null
	is "$name: status" $? "$wanted"
	has "$name: says why" "$work/err" "$words"
	is "$name: in one line" "$(wc -l <"$work/err")" 1
}

nothing_built() {
	is "$1: nothing is left half built" "$(ls -A "$CLEARBENCH_CACHE/built")" ''
}

sed -i 's/^ \(.*kasan_disable_current.*\)/ changed since \1/' $patch
refused 'a patch that does not fit' 125 'loop.patch does not fit linux-7.3' scripts/vm exec 7.3-loop -- true
nothing_built 'a patch that does not fit'
sed -i 's|mm/page_alloc.c|include/linux/highmem.h|' $patch
refused 'a patch of a header' 125 'only .c files' scripts/vm exec 7.3-loop -- true
nothing_built 'a patch of a header'
rm $patch
"scripts/vm" exec 7.3-loop -- true >"$work/out" 2>"$work/err"
is 'a patch that is gone: status' $? 125
has 'a patch that is gone: says so' "$work/err" 'loop.patch is missing'
nothing_built 'a patch that is gone'

refused 'folder of a stock kernel' 2 'was not built here' scripts/vm folder 7.3
refused 'folder of nothing' 2 'folder needs a kernel' scripts/vm folder

refused 'before-after without a folder' 2 '-o DIR is missing' scripts/before-after
refused 'before-after of one kernel' 2 'two kernels' scripts/before-after -o "$work/o" 7.3-base
refused 'before-after of no boots' 2 '--boots is a number' scripts/before-after -o "$work/o" --boots 0
refused 'before-after of no orders' 2 '--orders is a list' scripts/before-after -o "$work/o" --orders x
refused 'before-after, unknown option' 2 'unknown option --frob' scripts/before-after --frob
refused 'before-after into a folder in use' 2 'is not empty' scripts/before-after -o "$work"
refused 'before-after without the program' 1 'make program' scripts/before-after -o "$work/o"
refused 'before-after --show of nothing' 2 'holds no result' scripts/before-after --show "$work/none"
is 'before-after: what was refused made no folder' "$([ -e "$work/o" ] && echo yes)" ''
refused 'clears of no file' 1 'cannot read' scripts/clears site "$work/none"
refused 'clears of another file' 1 'no function of the allocator' scripts/clears site /bin/true
