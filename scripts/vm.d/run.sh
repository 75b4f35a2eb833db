# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# One boot: the initramfs, the machine, and what its end means.

# set by the options of exec
o_preempt=
o_append=
o_cpu=
o_smp=2
o_mem=1G
o_carry=()
o_out=
o_timeout=300
o_allow_splat=
o_accel=auto
o_boots=1

accel=		# what auto came to

initramfs() {	# COMMAND
	local dir=$tmp/root busybox guest_busybox file

	rm -rf "$dir"
	busybox=$(static_busybox)
	guest_busybox=$busybox
	[ "$k_arch" != i386 ] || busybox_i386
	{
		mkdir -p "$dir"/{bin,sbin,proc,sys,dev,tmp,root,out,etc,.vm,clearbench} &&
			cp -- "$(readlink -f "$guest_busybox")" "$dir/bin/busybox" &&
			ln -s busybox "$dir/bin/sh" &&
			cp -- "$vm_dir/init" "$dir/init" &&
			chmod 755 "$dir/init" "$dir/bin/busybox" &&
			echo 'root:x:0:0:root:/root:/bin/sh' >"$dir/etc/passwd" &&
			printf '%s\n' "$1" >"$dir/.vm/command"
	} || die $VM_FAILED "cannot make the initramfs in $tmp: is there space left?"
	[ "$k_arch" != um ] || : >"$dir/.vm/um"
	[ -z "$o_out" ] || : >"$dir/.vm/out"
	! module_exists || module_prepare "$dir/clearbench/clearbench.ko"
	[ ! -e "$top/scripts/collect.sh" ] || cp -- "$top/scripts/collect.sh" "$dir/clearbench/"
	if [ "$k_arch" = i386 ]; then
		say "$k_name: a 32-bit guest: the program clearbench is not in it, collect.sh is"
	elif [ -x "$top/build/clearbench" ]; then
		guest_program "$top/build/clearbench"
	fi
	for file in "${o_carry[@]}"; do
		guest_program "$file"
	done
	initramfs_pack "$dir" "$tmp/initramfs"
}

# The busybox of a 32-bit guest, from Debian's archive; kept in the cache
busybox_i386() {	# sets guest_busybox
	local root=$k_release-i386 deb=$cache/busybox-i386.deb

	guest_busybox=$cache/busybox-i386
	[ ! -x "$guest_busybox" ] || return 0
	lock "apt-$root"
	if [ ! -x "$guest_busybox" ]; then
		apt_setup "$k_release" i386
		apt_lists "$root"
		say "fetching a busybox for 32-bit guests, once"
		apt_download "$root" busybox-static "$deb" || {
			apt_lists "$root" force
			apt_download "$root" busybox-static "$deb" || apt_failed "busybox-static for i386"
		}
		dpkg-deb --fsys-tarfile "$deb"/*.deb |
			tar -xO --wildcards '*/bin/busybox' >"$guest_busybox.new" &&
			chmod 755 "$guest_busybox.new" && mv "$guest_busybox.new" "$guest_busybox" ||
			die $VM_FAILED "cannot unpack busybox-static: is there space left in $cache?"
		rm -rf "$deb"
	fi
	unlock "apt-$root"
}

initramfs_pack() {	# DIR FILE
	(cd "$1" && find . | "$busybox" cpio -o -H newc -R 0:0 2>/dev/null) >"$2" ||
		die $VM_FAILED "cannot make the initramfs in $tmp: is there space left?"
}

# A program of the host's with the shared libraries and the loader that it names
guest_program() {	# FILE
	local lib

	cp -L -- "$1" "$dir/bin/" || die $VM_FAILED "cannot copy $1 to $tmp"
	LC_ALL=C ldd "$1" >/dev/null 2>&1 || return 0	# static, or a script
	LC_ALL=C ldd "$1" 2>/dev/null | grep -o '/[^ )]*' | while IFS= read -r lib; do
		mkdir -p "$dir${lib%/*}" && cp -L -- "$lib" "$dir$lib" || exit 1
	done || die $VM_FAILED "cannot copy the libraries of $1 to $tmp"
}

# Both relays end by themselves when the machine closes its end.
relays=()

relay_start() {
	rm -f "$tmp/stdout" "$tmp/stderr"
	mkfifo "$tmp/stdout" "$tmp/stderr" || die $VM_FAILED "cannot make a pipe in $tmp"
	# The machine makes its end not blocking, which must not reach our caller's
	# terminal or pipe: so a cat stands between.
	cat <"$tmp/stdout" &
	relays+=($!)
	cat <"$tmp/stderr" >&2 &
	relays+=($!)
}

relay_end() {
	local pid

	for pid in "${relays[@]}"; do
		wait "$pid"
	done
	relays=()
}

machine_qemu() {	# starts it in the background: machine_pid
	local cmdline i=0 path serial=() run cpu=max

	# max is a K7 by its family, of which a 32-bit kernel doubts that it can do SMP
	[ "$k_arch" != i386 ] || cpu=qemu32

	# no_timer_check: an emulated timer works, but on a busy host may not have
	# ticked in the time that the kernel gives it, which then is a panic
	cmdline="console=ttyS0,115200 earlyprintk=ttyS0,115200 ignore_loglevel printk.devkmsg=on panic=-1 no_timer_check 8250.nr_uarts=4${o_preempt:+ preempt=$o_preempt}${o_append:+ $o_append}"
	for path in kernel.log stdout stderr control; do
		serial+=(-chardev "file,id=s$i,path=$tmp/$path"
			 -device "isa-serial,chardev=s$i,index=$i")
		i=$((i + 1))
	done
	run=("${qemu[@]}" -M "pc,hpet=off" -nodefaults -no-user-config -display none
		-no-reboot -m "$o_mem" -smp "$o_smp" -kernel "$k_image"
		-initrd "$tmp/initramfs" -append "$cmdline" "${serial[@]}")
	case $accel in
	kvm) run+=(-accel kvm -cpu "${o_cpu:-host}") ;;
	*) run+=(-accel "tcg,thread=multi" -cpu "${o_cpu:-$cpu}") ;;
	esac
	setsid "${run[@]}" </dev/null >"$tmp/machine.log" 2>&1 &
	machine_pid=$!
}

# User Mode Linux keeps the guest's memory in a file below TMPDIR. On a tmpfs
# that gives huge pages it is like a machine's; the mount lives in a namespace
# of its own, so that nothing is left behind however this ends.
machine_um() {
	local words=()

	mkdir "$tmp/mem"
	read -ra words <<<"$o_append"
	# init=/none: where our init cannot start, a panic, not a shell that waits
	# shellcheck disable=SC2016 # for the inner shell
	setsid "${um_namespace[@]}" sh -c '
		ulimit -c 0
		if [ -n "$1" ] && mount -t tmpfs -o huge=always,size=100%,mode=700 clearbench "$2/mem" 2>/dev/null; then
			TMPDIR=$2/mem
		elif [ -w /dev/shm ] && ! grep -q " /dev/shm [^ ]* [^ ]*noexec" /proc/mounts; then
			TMPDIR=/dev/shm
		else
			TMPDIR=$2/mem
		fi
		export TMPDIR HOME="$2"	# for its ~/.uml
		shift 2
		exec "$@"
		' - "${um_namespace[*]}" "$tmp" "$k_image" "mem=$o_mem" "ncpus=$o_smp" seccomp=on \
		"initrd=$tmp/initramfs" con=null con0=null,fd:1 ssl=null ssl1=null,fd:7 \
		ssl2=null,fd:8 ssl3=null,fd:9 earlyprintk ignore_loglevel \
		printk.devkmsg=on panic=-1 noreboot init=/none "${words[@]}" </dev/null \
		>"$tmp/kernel.log" 2>"$tmp/machine.log" 7>"$tmp/stdout" 8>"$tmp/stderr" 9>"$tmp/control" &
	machine_pid=$!
}

# The machine's own end, or the end of its time: true, or false for the latter.
machine_run() {
	local timer ended=

	: >"$tmp/kernel.log"
	: >"$tmp/control"
	relay_start
	case $k_arch in
	um) machine_um ;;
	*) machine_qemu ;;
	esac
	children+=("$machine_pid")
	sleep "$o_timeout" &
	timer=$!
	children+=("$timer")
	{ wait -n -p ended "$machine_pid" "$timer"; } 2>/dev/null
	# User Mode Linux has a process for each guest process: end the group
	kill -KILL -- "-$machine_pid" 2>/dev/null
	[ "$ended" != "$timer" ] || { wait "$machine_pid"; } 2>/dev/null
	kill "$timer" 2>/dev/null
	{ wait "$timer"; } 2>/dev/null
	forget "$machine_pid"
	forget "$timer"
	relay_end
	[ "$ended" != "$timer" ]
}

# Where the log may stay: with the results, else among the last twenty of the cache
keep_log() {
	local dir name

	if [ -n "$o_out" ]; then
		kept_log=$o_out/kernel.log
	else
		dir=$cache/log
		name=$(basename "$k_name")-$(date +%Y%m%d-%H%M%S)-$$.log
		mkdir -p "$dir" || return 1
		# shellcheck disable=SC2012 # names of our own making
		ls -1t "$dir" | tail -n +20 | (cd "$dir" && xargs -r rm -f --)
		kept_log=$dir/$name
	fi
	cp "$tmp/kernel.log" "$kept_log"
}

say_log() {
	if keep_log; then
		say "the kernel's log: $kept_log"
	else
		say "the kernel's log could not be kept; its end:"
		tail -n 20 "$tmp/kernel.log" >&2
	fi
}

vm_exec() {	# COMMAND
	local started='' ended='' status='' in_time=1 result=0

	need_tmp
	if [ -n "$o_out" ]; then
		mkdir -p "$o_out" && [ -w "$o_out" ] || die $VM_FAILED "cannot write to $o_out"
	fi
	case $k_arch in
	um)
		um_namespace=()
		! unshare --mount true 2>/dev/null || um_namespace=(unshare --mount)
		;;
	*)
		qemu_find
		accel_choose
		;;
	esac
	initramfs "$1"
	machine_run || in_time=

	{
		IFS= read -r started
		IFS= read -r ended
	} < <(head -n 2 "$tmp/control" | tr -d '\000')
	[[ $ended != "exit "* ]] || status=${ended#exit }

	if [ -z "$in_time" ]; then
		result=$VM_TIMEOUT
		say "$k_name: still running after $o_timeout s: ended"
	elif [ "$started" != started ]; then
		result=$VM_FAILED
		say "$k_name: the VM ended before COMMAND started"
	elif [ -z "$status" ]; then
		result=$VM_FAILED
		say "$k_name: the VM ended before COMMAND did"
	fi
	if [ -n "$o_out" ] && [ -n "$status" ] && ! out_unpack "$started" "$ended"; then
		say "$k_name: what COMMAND left in /out did not come back whole"
		[ "$result" != 0 ] || result=$VM_FAILED
	fi
	if ! printf '%s' "$k_name" >"$tmp/space" 2>/dev/null; then
		say "no space left in $tmp: the kernel's log may be cut"
		[ "$result" != 0 ] || result=$VM_FAILED
	fi
	if [ "$result" = $VM_FAILED ] && [ -s "$tmp/machine.log" ] && [ -z "$status" ]; then
		sed 's/^/  /' "$tmp/machine.log" >&2
	fi
	if splat_lines <"$tmp/kernel.log" >"$tmp/splat"; then
		say "$k_name: the kernel's log has $(wc -l <"$tmp/splat") line(s) of a splat:"
		cat "$tmp/splat" >&2
		[ "$result" != 0 ] || [ -n "$o_allow_splat" ] || result=$VM_SPLAT
	fi

	if [ "$result" != 0 ]; then
		[ -z "$status" ] || say "$k_name: COMMAND's own exit status was $status"
		say_log
	else
		[ -z "$o_out" ] || keep_log || die $VM_FAILED "cannot write to $o_out"
		result=$status
	fi
	exit "$result"
}

out_unpack() {	# the two lines before the archive
	tail -c "+$((${#1} + ${#2} + 3))" "$tmp/control" |
		tar -C "$o_out" --no-same-owner -xzf - 2>"$tmp/tar.log" || {
		sed 's/^/  /' "$tmp/tar.log" >&2
		return 1
	}
}

# KVM only where a guest was seen to boot with it: on some machines /dev/kvm
# opens and creates a machine that never runs. The answer is kept until the
# host boots again.
accel_choose() {
	local answer=

	accel=$o_accel
	if [ "$accel" = auto ]; then
		accel=tcg
		if [ ! -w /dev/kvm ]; then
			say "$k_name: emulated (no usable /dev/kvm)"
			return
		fi
		need_cache
		answer=$cache/kvm-$(cat /proc/sys/kernel/random/boot_id)
		if [ ! -s "$answer" ]; then
			lock kvm
			[ -s "$answer" ] || kvm_probe "$answer"
			unlock kvm
		fi
		accel=tcg
		[ "$(cat "$answer")" != works ] || accel=kvm
	fi
	case $accel in
	kvm) say "$k_name: with KVM" ;;
	*) say "$k_name: emulated${answer:+ (no guest boots with KVM here)}" ;;
	esac
}

kvm_probe() {	# ANSWER
	local result=fails

	say "trying whether a guest boots with KVM, once: up to 10 s"
	rm -f "$cache"/kvm-*
	initramfs 'echo works'
	accel=kvm
	o_timeout=10 machine_run && [ "$(head -n 1 "$tmp/control")" = started ] && result=works
	printf '%s\n' "$result" >"$1" || die $VM_FAILED "cannot write to $cache"
}
