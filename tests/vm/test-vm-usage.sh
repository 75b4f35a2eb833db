#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What scripts/vm refuses before it boots anything, and that it says why.

cd "$(dirname "$0")/../.." || exit 2
. tests/vm/vm-tap.sh

# refused NAME WORDS ARGUMENT…
refused() {
	local name=$1 words=$2

	shift 2
	vm "$@"
	is "$name: status" "$status" 2
	has "$name: says why" "$work/err" "$words"
	is "$name: prints nothing" "$(cat "$work/out")" ''
}

refused 'no verb' 'usage:'
refused 'unknown verb' 'unknown command frob' frob
refused 'boots without a place' '--boots needs --out DIR' exec um --boots 2 -- true
refused 'no boots' '--boots is a number from 1 on' exec um --boots 0 -- true
refused 'no kernel' 'exec needs a kernel' exec -- true
refused 'unknown kernel' 'unknown kernel 5.99' exec 5.99 -- true
refused 'no command' "exec needs -- 'COMMAND'" exec um
refused 'empty command' 'COMMAND is empty' exec um -- ''
refused 'two words' 'COMMAND is one argument' exec um -- echo x
refused 'two kernels' 'more than one kernel' exec um 7.3 -- true
refused 'unknown option' 'unknown option --frob' exec um --frob -- true
refused 'option without a value' '--smp needs a value' exec um --smp -- true
refused 'bad model' '--preempt is none, voluntary, full or lazy' exec 7.3 --preempt rt -- true
refused 'bad accel' '--accel is auto, tcg or kvm' exec 7.3 --accel xen -- true
refused 'bad smp' '--smp is a number' exec um --smp 0 -- true
refused 'bad mem' '--mem is a size' exec um --mem lots -- true
refused 'bad timeout' '--timeout is in whole seconds' exec um --timeout 1.5 -- true
refused 'nothing to carry' '--carry takes a program, which README.md is not' exec um --carry README.md -- true
refused 'model of um' 'no model but voluntary' exec um --preempt full -- true
refused 'CPU of um' '--cpu is not for um' exec um --cpu max -- true
refused 'accel of um' '--accel is not for um' exec um --accel tcg -- true
refused 'fetch of nothing' 'fetch needs a kernel' fetch
refused 'fetch of an unknown' 'unknown kernel x' fetch x
refused 'module of nothing' 'module needs a kernel' module

vm --help
is 'help: status' "$status" 0
has 'help: names the verbs' "$work/out" 'scripts/vm exec KERNEL|TREE'

vm list
is 'list: status' "$status" 0
is 'list: every kernel' "$(awk 'NR > 1 { print $1 }' "$work/out" | grep -cxE '6\.1|6\.12|7\.2|7\.3|debug|kasan|um|um-debug|highmem')" 9
is 'list: says fetched and built of each' "$(awk 'NR > 1 && $2 !~ /^(yes|no)$/ || NR > 1 && $3 !~ /^(yes|no)$/' "$work/out")" ''

# A kernel build folder that lacks something: named, and nothing is installed.
tree=$work/tree
export CLEARBENCH_CACHE=$work/cache

# lacks NAME WORDS
lacks() {
	vm exec "$tree" -- true
	is "folder $1: status" "$status" 125
	has "folder $1: named" "$work/err" "$2"
	is "folder $1: in one line" "$(wc -l <"$work/err")" 1
}

mkdir -p "$tree/arch/x86/boot" "$tree/scripts/mod" "$tree/include/generated"
lacks 'without a configuration' 'no .config'
echo 'CONFIG_ARM64=y' >"$tree/.config"
lacks 'of another architecture' 'another architecture'
printf 'CONFIG_%s=y\n' X86_64 SERIAL_8250_CONSOLE TTY BLK_DEV_INITRD BINFMT_ELF BINFMT_SCRIPT PRINTK PROC_FS SYSFS >"$tree/.config"
lacks 'not built' 'no arch/x86/boot/bzImage'
echo 'not a kernel' >"$tree/arch/x86/boot/bzImage"
lacks 'without devtmpfs' 'built without CONFIG_DEVTMPFS'
echo CONFIG_DEVTMPFS=y >>"$tree/.config"
lacks 'without modules' 'CONFIG_MODULES'
echo CONFIG_MODULES=y >>"$tree/.config"
lacks 'without modpost' 'no Module.symvers'
touch "$tree/Module.symvers" "$tree/scripts/mod/modpost" "$tree/include/generated/utsrelease.h"
mkdir "$work/bin"
for file in /bin/* /usr/bin/* /sbin/*; do
	case $file in
	*/qemu-*) ;;
	*) ln -s "$file" "$work/bin/" 2>/dev/null ;;
	esac
done
path=$PATH
PATH=$work/bin
lacks 'without QEMU' 'qemu-system-x86_64 is missing'
PATH=$path
is 'folders: nothing was fetched' "$(find "$CLEARBENCH_CACHE" -type f ! -path '*/lock/*' 2>/dev/null)" ''
