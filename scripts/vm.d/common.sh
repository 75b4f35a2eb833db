# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What every part of scripts/vm uses: messages, tools, locks, interruption.

VM_USAGE=2		# the caller's mistake
VM_TIMEOUT=124
VM_FAILED=125		# the VM failed, or COMMAND never started
VM_SPLAT=126

say() {
	printf 'scripts/vm: %s\n' "$*" >&2
}

die() {	# STATUS MESSAGE
	local status=$1

	shift
	say "$*"
	exit "$status"
}

vm_dir=$top/scripts/vm.d
cache=${CLEARBENCH_CACHE:-${HOME:-/root}/.cache/clearbench}
case $cache in
/*) ;;
*) cache=$PWD/$cache ;;
esac
tmp=			# this call's own folder, removed at exit
children=()		# process groups to end when we are interrupted

cleanup() {
	local pid

	for pid in "${children[@]}"; do
		kill -KILL -- "-$pid" "$pid" 2>/dev/null
	done
	[ -z "$tmp" ] || rm -rf "$tmp"
}

interrupted() {	# STATUS
	trap '' HUP INT TERM
	exit "$1"
}

trap cleanup EXIT
trap 'interrupted 129' HUP
trap 'interrupted 130' INT
trap 'interrupted 143' TERM

need_tmp() {
	[ -n "$tmp" ] || tmp=$(mktemp -d "${TMPDIR:-/tmp}/clearbench-vm.XXXXXX") ||
		die $VM_FAILED "cannot make a folder in ${TMPDIR:-/tmp}: free some space there, or set TMPDIR"
}

need_cache() {
	mkdir -p "$cache/lock" 2>/dev/null && [ -w "$cache/lock" ] ||
		die $VM_FAILED "cannot write to $cache: set CLEARBENCH_CACHE to a folder that you may write to"
}

# Run a command that may take long so that a signal to us ends it at once: the
# shell serves a trap only between commands, or inside wait.
long() {
	local pid status

	setsid "$@" &
	pid=$!
	children+=("$pid")
	wait "$pid"
	status=$?
	forget "$pid"
	return "$status"
}

forget() {	# PID
	local i

	for i in "${!children[@]}"; do
		[ "${children[i]}" != "$1" ] || unset "children[i]"
	done
}

# Locks are files in the cache, held until unlock or exit. They are taken in the
# order kernel, source or root, module; so no two calls wait for each other.
declare -A lock_fd

lock() {	# NAME [-s]
	local fd how=${2:--x}

	need_cache
	exec {fd}>"$cache/lock/$1" || die $VM_FAILED "cannot write to $cache/lock"
	if ! flock "$how" -n "$fd"; then
		say "waiting for another call that works on $1"
		long flock "$how" "$fd" || die $VM_FAILED "cannot lock $cache/lock/$1"
	fi
	lock_fd[$1]=$fd
}

unlock() {	# NAME
	local fd=${lock_fd[$1]}

	exec {fd}>&-
	unset "lock_fd[$1]"
}

on_debian() {
	command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null
}

# The host packages that a part needs, by the commands that show them.
tools_missing() {	# PART
	local cmd missing=
	local -A needs=(
		[boot]="busybox"
		[um]="busybox"
		[kernel]="make gcc flex bison bc xz perl patch"
		[module]="make gcc"
	)

	for cmd in ${needs[$1]}; do
		command -v "$cmd" >/dev/null || missing+=" $cmd"
	done
	case " ${needs[$1]} " in
	*" busybox "*)
		[ -n "$missing" ] || static_busybox >/dev/null || missing+=" busybox(static)" ;;
	*" flex "*)
		[ -e /usr/include/libelf.h ] || missing+=" libelf.h" ;;
	esac
	printf '%s' "${missing# }"
}

# Installs nothing for a kernel of the user's own ($2 is "name-only").
need_tools() {	# PART [name-only]
	local missing group

	missing=$(tools_missing "$1")
	[ -n "$missing" ] || return 0
	case $1 in
	boot) group=vm ;;
	um) group=um ;;
	*) group=build ;;
	esac
	if [ "${2:-}" != name-only ] && [ "$(id -u)" = 0 ] && on_debian; then
		"$top/scripts/deps" "$group" >&2 || exit $VM_FAILED
		missing=$(tools_missing "$1")
		[ -n "$missing" ] || return 0
	fi
	die $VM_FAILED "missing here: $missing (on Debian: scripts/deps $group, as root)"
}

# A program of 64 bits, by the head of an ELF file (elf(5): EI_CLASS)
is_64bit() {	# FILE
	[ "$(head -c 5 -- "$1" | od -An -tx1 | tr -d ' \n')" = 7f454c4602 ]
}

static_busybox() {
	local file

	for file in "$(command -v busybox)" /bin/busybox /usr/bin/busybox; do
		[ -x "$file" ] || continue
		# ldd fails for a static program, and for nothing else that runs
		LC_ALL=C ldd "$file" >/dev/null 2>&1 && continue
		printf '%s\n' "$file"
		return 0
	done
	return 1
}
