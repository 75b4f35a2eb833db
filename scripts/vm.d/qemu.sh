# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Which QEMU boots the guest.
#
# Before 8.1 QEMU's emulation with a thread a CPU could keep a translation that
# another CPU was just writing over ("accel/tcg: Always lock pages before
# translation" mended it). Linux patches its own code, at boot and whenever a
# probe or a preemption model changes, so one boot in ten or so died of "Oops:
# int3". Where the host's QEMU is that old, or there is none, a newer one is
# unpacked in the cache beside the compiler, and runs from there.

qemu=()			# the command and its first arguments
qemu_root_release=trixie

qemu_is_sound() {	# COMMAND
	local version

	version=$("$1" --version 2>/dev/null | sed -nE '1s/.*version ([0-9]+)\.([0-9]+).*/\1 \2/p')
	[ -n "$version" ] || return 1
	# shellcheck disable=SC2086 # two words
	set -- $version
	[ "$1" -gt 8 ] || { [ "$1" = 8 ] && [ "$2" -ge 1 ]; }
}

qemu_private() {
	local root=$cache/apt/$qemu_root_release/root lib

	[ -x "$root/usr/bin/qemu-system-x86_64" ] && [ -e "$root/.qemu" ] || return 1
	lib=$root/usr/lib/x86_64-linux-gnu
	qemu=(env "QEMU_MODULE_DIR=$lib/qemu" "$root/lib64/ld-linux-x86-64.so.2"
		--library-path "$lib" "$root/usr/bin/qemu-system-x86_64"
		-L "$root/usr/share/qemu" -L "$root/usr/share/seabios")
}

qemu_find() {
	local release=$k_release host

	host=$(command -v qemu-system-x86_64)
	if [ -n "$host" ] && qemu_is_sound "$host"; then
		qemu=("$host")
		return
	fi
	! qemu_private || return 0
	if [ "$k_kind" = tree ]; then
		[ -n "$host" ] || die $VM_FAILED "qemu-system-x86_64 is missing here (on Debian: apt-get install qemu-system-x86)"
		say "this QEMU is older than 8.1: emulated, a boot may die of an int3 at times"
		qemu=("$host")
		return
	fi
	k_release=$qemu_root_release
	lock "apt-$k_release"
	if ! qemu_private; then
		need_tmp
		apt_setup "$k_release"
		apt_lists "$k_release"
		say "fetching a QEMU that emulates soundly, once"
		root_add qemu-system-x86 || {
			apt_lists "$k_release" force
			root_add qemu-system-x86 || apt_failed qemu-system-x86
		}
		: >"$(root_dir)/.qemu"
	fi
	unlock "apt-$k_release"
	k_release=$release
	qemu_private || die $VM_FAILED "the QEMU in $cache does not run"
}
