#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Runs the module's sweep with nothing but a POSIX shell, and saves what
# `clearbench show DIR` reads.

usage() {
	cat >&2 <<END
usage: collect.sh [KNOB=VALUE ...] DIR

Sets the knobs, runs the sweep, and saves info, host, knobs, results,
histograms and status to DIR, which must be new or empty. The module must be
loaded. Ctrl-C stops the run and keeps what is done; the knobs are restored.
Exit status: 0 done, 1 the run failed, 2 usage, 130 stopped.
END
	exit 2
}

say() {
	echo "collect.sh: $*" >&2
}

# The mount point of debugfs; CLEARBENCH_DEBUGFS, for tests, names the folder.
find_folder() {
	folder=${CLEARBENCH_DEBUGFS:-}
	[ -n "$folder" ] && return
	while read -r _ where type _; do
		if [ "$type" = debugfs ]; then
			folder=$where/clearbench
			return
		fi
	done </proc/mounts
	say "debugfs is not mounted: mount -t debugfs none /sys/kernel/debug"
	exit 1
}

# key: first line of a file, where there is one
host_line() {
	value=
	[ -r "$2" ] && read -r value <"$2" && [ -n "$value" ] && echo "$1: $value"
}

# key: what stands behind a word in /proc/cpuinfo or /proc/meminfo
host_field() {
	value=$(sed -n "s/^$3[[:blank:]]*:[[:blank:]]*//p" "$2" 2>/dev/null | head -n 1)
	[ -n "$value" ] && echo "$1: $value"
}

# Options of the kernel's command line that bear on clearing or on timing; the
# others may name the machine.
host_cmdline() {
	kept=
	read -r line </proc/cmdline || line=
	for word in $line; do
		case ${word%%=*} in
		isolcpus | nohz | nohz_full | rcu_nocbs | irqaffinity | threadirqs | \
			preempt | init_on_alloc | init_on_free | mitigations | clearcpuid | \
			nosmt | maxcpus | nr_cpus | mem | memmap | numa | numa_balancing | \
			transparent_hugepage | hugepages | hugepagesz | default_hugepagesz | \
			tsc | clocksource | hpet | idle | processor.max_cstate | \
			intel_idle.max_cstate | intel_pstate | amd_pstate | kasan | kasan.mode | \
			debug_pagealloc | page_poison | page_owner | slub_debug | slab_debug | \
			kfence.sample_interval | nmi_watchdog | nowatchdog | pti | nopti)
			kept="$kept${kept:+ }$word"
			;;
		esac
	done
	echo "cmdline: ${kept:-none}"
}

# What `clearbench run` takes from the host, under the same names
host() {
	cpu=/sys/devices/system/cpu
	first=$cpu/cpu0
	host_field cpu_model /proc/cpuinfo 'model name'
	host_field microcode /proc/cpuinfo microcode
	host_line cpus_online $cpu/online
	host_line cpus_isolated $cpu/isolated
	host_line governor $first/cpufreq/scaling_governor
	if [ -r $cpu/cpufreq/boost ]; then
		read -r value <$cpu/cpufreq/boost
		[ "$value" = 1 ] && echo "boost: on" || echo "boost: off"
	elif [ -r $cpu/intel_pstate/no_turbo ]; then
		read -r value <$cpu/intel_pstate/no_turbo
		[ "$value" = 0 ] && echo "boost: on" || echo "boost: off"
	fi
	host_line smt $cpu/smt/control
	host_line siblings $first/topology/thread_siblings_list
	size=
	for index in "$first"/cache/index*; do
		[ -r "$index/size" ] && size=$index/size
	done
	[ -n "$size" ] && host_line llc_size "$size"
	host_line numa_nodes /sys/devices/system/node/online
	host_field mem_total /proc/meminfo MemTotal
	host_field direct_map_4k /proc/meminfo DirectMap4k
	host_field direct_map_2m /proc/meminfo DirectMap2M
	host_field direct_map_1g /proc/meminfo DirectMap1G
	host_line clocksource /sys/devices/system/clocksource/clocksource0/current_clocksource
	host_cmdline
}

knob_value() {
	read -r value <"$folder/$1" || [ -n "$value" ]
}

knobs() {
	for file in "$folder"/*; do
		[ -f "$file" ] || continue
		name=${file##*/}
		case $(ls -l "$file") in
		-?w*) [ "$name" != run ] && knob_value "$name" && echo "$name: $value" ;;
		esac
	done
}

# Knobs that were changed, with their old values, one a line, the last first
changed=
restore() {
	trap '' HUP INT TERM
	while [ -n "$changed" ]; do
		line=${changed%%"$newline"*}
		changed=${changed#*"$newline"}
		echo "${line#*=}" >"$folder/${line%%=*}" ||
			say "${line%%=*} could not be set back to '${line#*=}'"
	done
}
newline='
'

set_knob() {
	name=${1%%=*}
	case $name in
	run | */* | '') say "no knob '$name'" && return 2 ;;
	esac
	if [ ! -f "$folder/$name" ]; then
		say "no knob '$name'; there are: $(knobs | cut -d: -f1 | tr '\n' ' ')"
		return 2
	fi
	knob_value "$name"
	old=$value
	if ! { echo "${1#*=}" >"$folder/$name"; } 2>/dev/null; then
		legal=$(dmesg 2>/dev/null | grep "$name" | tail -n 1)
		say "$name '${1#*=}' was refused${legal:+; the kernel says: $legal}"
		return 2
	fi
	changed="$name=$old$newline$changed"
}

# A signal ends the wait, not the run: a background job of a shell that is not
# interactive ignores SIGINT. So the run is asked to stop, and waited for.
stopped=
# shellcheck disable=SC2317 # called by a trap
stop() {
	stopped=1
	say "stopping; what is done is kept"
	echo 0 >"$folder/run"
}

[ $# -ge 1 ] || usage
for dir in "$@"; do
	:
done
case $dir in
-* | *=*) usage ;;
esac
find_folder
if [ ! -d "$folder" ]; then
	say "the module is not loaded, or this is not root: insmod clearbench.ko"
	exit 1
fi
if [ -e "$dir" ] && { [ ! -d "$dir" ] || [ -n "$(ls -A "$dir" 2>/dev/null)" ]; }; then
	say "$dir exists and is not an empty folder: name a new one"
	exit 1
fi
read -r word _ <"$folder/status"
if [ "$word" = running ]; then
	say "another run is under way: wait for it, or stop it with echo 0 > $folder/run"
	exit 1
fi
made=
if [ ! -d "$dir" ]; then
	mkdir -p "$dir" || exit 1
	made=1
fi
give_up() {
	restore
	[ -n "$made" ] && rmdir "$dir" 2>/dev/null
	exit "$1"
}
trap 'give_up 130' HUP INT TERM

for arg in "$@"; do
	[ "$arg" = "$dir" ] && continue
	case $arg in
	*=*) set_knob "$arg" || give_up $? ;;
	*)
		say "'$arg' is neither KNOB=VALUE nor the folder"
		give_up 2
		;;
	esac
done

cat "$folder/info" >"$dir/info" && host >"$dir/host"
knobs >"$dir/knobs"

trap stop HUP INT TERM
echo 1 >"$folder/run" &
run=$!
while :; do
	wait "$run"
	code=$?
	# Above 128 it was a signal that ended the wait: the run may go on.
	[ $code -le 128 ] && break
	kill -0 "$run" 2>/dev/null || break
done

status=0
cat "$folder/status" >"$dir/status" || status=1
cat "$folder/results" >"$dir/results" || status=1
cat "$folder/histograms" >"$dir/histograms" || status=1
restore
read -r word _ <"$dir/status"
if [ $status != 0 ]; then
	say "$dir could not be written whole: is the disk full?"
elif [ "$word" = failed ]; then
	say "the run failed: $(cat "$dir/status")"
	status=1
elif [ -n "$stopped" ] || [ "$word" = stopped ]; then
	status=130
elif [ "$code" != 0 ] || [ "$word" != "done" ]; then
	say "the run could not be started (status: $word): see dmesg"
	status=1
elif cut -f 14 "$dir/results" | grep -qx failed; then
	say "cells failed: the notes in $dir/results say why"
	status=1
fi
exit $status
