#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module in a kernel tree by scripts/intree: built in and as a module, under
# User Mode Linux, and built in where the preemption model is chosen at boot.
#
# The tree is the cached one with an overlay upon it, which no one else sees and
# which is gone with the test; what is built starts from a copy of a build.

cd "$(dirname "$0")/../.." || exit 2
. tests/vm/vm-tap.sh

um=$(scripts/vm folder um) && x86=$(scripts/vm folder 7.3-base) || {
	is 'um and 7.3-base are built' no yes
	exit
}
cache=${CLEARBENCH_CACHE:-${HOME:-/root}/.cache/clearbench}
source=$(readlink -f "$cache/source/7.3")
mkdir "$work/upper" "$work/overlay"

# in_tree COMMAND…: sees a tree of its own in $source
in_tree() {
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount sh -c '
		mount -t overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/overlay" clearbench "$1" || exit
		shift 2
		exec "$@"' - "$source" "$work" "$@" >"$work/log" 2>&1
}

if ! in_tree true; then
	echo 'ok - a kernel tree # SKIP needs root, to lay an overlay upon the source'
	exit
fi

# build NAME FROM ARCH VALUE TARGET…: a copy of FROM, with CONFIG_CLEARBENCH=VALUE
build() {
	local name=$1 from=$2 arch=$3 value=$4 dir=$work/$1

	shift 4
	[ -e "$dir" ] || bash -c 'top=$PWD; . scripts/vm.d/common.sh; . scripts/vm.d/kernels.sh
		built_copy "$1" "$2"' - "$from" "$dir" || exit 1
	{
		cat "$from/requested.config"
		echo "CONFIG_CLEARBENCH=$value"
	} >"$dir/requested.config"
	# shellcheck disable=SC2016 # for the inner shell
	in_tree sh -c '
		dir=$1 arch=$2
		shift 2
		KCONFIG_ALLCONFIG=$dir/requested.config make -C "$0" "O=$dir" "ARCH=$arch" allnoconfig &&
			make -C "$0" "O=$dir" "ARCH=$arch" "-j$(nproc)" "$@"' "$source" "$dir" "$arch" "$@"
	is "$name, CONFIG_CLEARBENCH=$value: builds" "$? $(grep -x 'CONFIG_CLEARBENCH=.' "$dir/.config")" "0 CONFIG_CLEARBENCH=$value"
	is "$name, CONFIG_CLEARBENCH=$value: without a warning" "$(grep -i 'warning' "$work/log")" ''
}

# What a sweep has to leave, by shell alone: two methods, three orders, one context
# shellcheck disable=SC2016 # for the guest
sweep='cd /sys/kernel/debug/clearbench && grep -E "^(preempt|init_on_alloc|large_orders_by):" info &&
	for knob in orders=0,4,9 methods=legacy,batched contexts=process samples=20 run=1; do
		echo ${knob#*=} >${knob%%=*} || exit 1
	done
	awk "NR > 2 && /\tok\t/" results | wc -l'

# swept NAME KERNEL MODEL COMMAND: the log is clean, and the result is whole
swept() {
	scripts/vm exec "$2" --append init_on_alloc=1 --out "$work/out-$1" -- "$4" >"$work/out" 2>"$work/err"
	is "$1: boots with init_on_alloc=1 and sweeps, the log is clean" "$?" 0
	is "$1: what it says" "$(cat "$work/out")" "preempt: $3
large_orders_by: alloc_contig_pages
init_on_alloc: 1
6"
}

in_tree scripts/intree "$source"
is 'scripts/intree on the source of a kernel' "$?,$(cat "$work/log")" 0,

build um "$um" um y linux modules
swept built-in "$work/um" voluntary "[ ! -s /proc/modules ] && $sweep"
scripts/vm exec "$work/um" -- 'insmod /clearbench/clearbench.ko 2>&1; clearbench run -q --orders 0 --samples 10 -o r.jsonl && ls -d /sys/kernel/debug/clearbench' \
	>"$work/out" 2>"$work/err"
is 'built-in: another one is refused, and the program uses it' "$?,$(tail -n 1 "$work/out")" 0,/sys/kernel/debug/clearbench

# In the guest it is the one that was built in the tree, carried in COMMAND
build um "$um" um m linux modules
ko=$work/um/mm/clearbench/clearbench.ko
is 'um, CONFIG_CLEARBENCH=m: clearbench.ko is in the tree' "$(modinfo -F intree "$ko")" Y
swept module "$work/um" voluntary "base64 -d <<END | gunzip >/tmp/m.ko && insmod /tmp/m.ko || exit 1
$(gzip -9c "$ko" | base64)
END
$sweep"

build x86 "$x86" x86 y bzImage modules
swept dynamic "$work/x86" lazy "[ ! -s /proc/modules ] && $sweep"
is 'dynamic: the model was chosen at boot' "$(grep -c 'Dynamic Preempt: lazy' "$work/out-dynamic/kernel.log")" 1

in_tree scripts/intree --remove "$source"
is 'taken out again: status' "$?" 0
is 'taken out again: the tree is as it was' "$(for file in Makefile Kconfig.debug; do
	cmp "$source/mm/$file" "$work/upper/mm/$file" 2>&1
done; in_tree test -e "$source/mm/clearbench" && echo 'mm/clearbench is there')" ''
