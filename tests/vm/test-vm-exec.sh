#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
#   tests/vm/test-vm-exec.sh [KERNEL…]	default: um 7.3
#
# scripts/vm exec on real boots: what COMMAND gets, what comes back, and the exit
# status of each way to end.

cd "$(dirname "$0")/../.." || exit 2
. tests/vm/vm-tap.sh
[ $# -gt 0 ] || set -- um 7.3
# another call's temporary files are not to be taken for ours
export TMPDIR=$work/tmp
mkdir "$TMPDIR"

for k; do
	# what is fetched and built is not part of any test's time
	scripts/vm module "$k" >/dev/null || { is "$k: the module is built" no yes; exit; }

	vm exec "$k" -- true
	is "$k: status 0" "$status" 0
	is "$k: nothing of the kernel is printed" "$(cat "$work/out")" ''

	# shellcheck disable=SC2016 # for the guest
	vm exec "$k" --out "$work/o" --append 'clearbench.test=last' -- 'printf "%s|" "a  b" "it'\''s" "\$x" '\''"q"'\''
echo; echo "one
two"
echo err >&2
id -u; pwd; nproc
ls /clearbench
awk "{ print \$2 }" /proc/mounts | sort | tr "\n" " "; echo
tail -c 21 /proc/cmdline >tail
for applet in $(busybox --list); do command -v "$applet" >/dev/null || echo "no $applet"; done
mkdir -p sub; echo deep >"sub/a name"
exit 7'
	is "$k: COMMAND's own status" "$status" 7
	is "$k: quotes" "$(sed -n 1p "$work/out")" 'a  b|it'\''s|$x|"q"|'
	is "$k: newlines" "$(sed -n 2,3p "$work/out")" $'one\ntwo'
	is "$k: root, in /out, two CPUs" "$(sed -n 4,6p "$work/out")" $'0\n/out\n2'
	has "$k: the module is there" "$work/out" clearbench.ko
	for dir in /proc /sys /dev /sys/kernel/debug; do
		has "$k: $dir is mounted" "$work/out" "$dir "
	done
	case $k in
	um*) ;;
	*)
		has "$k: tracefs is mounted" "$work/out" /sys/kernel/tracing
		is "$k: --append is last" "$(cat "$work/o/tail")" clearbench.test=last
		;;
	esac
	is "$k: every applet is in PATH" "$(grep '^no ' "$work/out")" ''
	is "$k: stderr apart" "$(grep -c '^err$' "$work/out"),$(grep -c '^err$' "$work/err")" 0,1
	is "$k: /out comes back" "$(cat "$work/o/sub/a name")" deep
	has "$k: with the kernel's log" "$work/o/kernel.log" 'Linux version'

	vm exec "$k" --out "$work/o" -- 'head -c 5000000 /dev/urandom >random; cat random'
	is "$k: 5 MB of any bytes, status" "$status" 0
	is "$k: through standard output" "$(sha256sum <"$work/out")" "$(sha256sum <"$work/o/random")"
	is "$k: whole" "$(wc -c <"$work/out")" 5000000

	vm exec "$k" -- 'no-such-command'
	is "$k: a broken command is COMMAND's own failure" "$status" 127
	has "$k: and says so" "$work/err" 'no-such-command: not found'

	# Long enough for a boot, whatever else this machine does
	SECONDS=0
	vm exec "$k" -- true
	limit=$((4 * SECONDS + 8))
	SECONDS=0
	vm exec "$k" --timeout $limit -- 'echo before; sleep 600'
	is "$k: time-out" "$status" 124
	is "$k: in its time" "$([ $SECONDS -ge $limit ] && [ $SECONDS -le $((2 * limit)) ] && echo yes || echo $SECONDS)" yes
	is "$k: what was printed before" "$(cat "$work/out")" before
	log=$(sed -n "s/.*the kernel's log: //p" "$work/err")
	has "$k: names a log that is there" "${log:-/dev/null}" 'Linux version'

	vm exec "$k" -- 'echo "<4>BUG: a splat" >/dev/kmsg; sleep 600' --timeout 8
	is "$k: options stand before --" "$status" 2
	vm exec "$k" --timeout $limit -- 'echo "<4>BUG: a splat" >/dev/kmsg; sleep 600'
	is "$k: time-out before splat" "$status" 124
	has "$k: the splat is shown all the same" "$work/err" 'BUG: a splat'

	vm exec "$k" --append quiet -- 'dmesg -n 1; echo "<4>WARNING: a splat" >/dev/kmsg; exit 3'
	is "$k: splat, on a quiet console too" "$status" 126
	has "$k: its line" "$work/err" 'WARNING: a splat'
	has "$k: the status it hides" "$work/err" 'own exit status was 3'
	vm exec "$k" --allow-splat -- 'echo "<4>WARNING: a splat" >/dev/kmsg; exit 3'
	is "$k: --allow-splat" "$status" 3
	vm exec "$k" -- 'echo "please report a BUG: now" >/dev/kmsg'
	is "$k: a word is no splat" "$status" 0

	vm exec "$k" --append rdinit=/nothing -- true
	is "$k: no init" "$status" 125
	has "$k: COMMAND did not start" "$work/err" 'before COMMAND started'
	vm exec "$k" -- 'echo "<4>BUG: a splat" >/dev/kmsg; poweroff -f; sleep 60'
	is "$k: machine off meanwhile, before splat" "$status" 125
	case $k in
	um*) ;;
	*)
		vm exec "$k" -- 'echo started; echo c >/proc/sysrq-trigger; sleep 60'
		is "$k: panic" "$status" 125
		is "$k: panic, what was printed before" "$(cat "$work/out")" started
		vm exec "$k" --cpu no-such-cpu -- true
		is "$k: QEMU refuses" "$status" 125
		has "$k: QEMU's reason" "$work/err" no-such-cpu
		;;
	esac

	# /out takes long enough to send for a job that lives on to be heard
	case $k in
	um*) size=20000000 ;;
	*) size=1000000 ;;
	esac
	vm exec "$k" --out "$work/o" -- "head -c $size /dev/urandom >big
		sleep 600 & (while :; do :; done) & (usleep 100000; echo late) & echo left"
	is "$k: background jobs do not live on" "$status,$(cat "$work/out")" 0,left

	# A script's background jobs ignore INT: timeout sends it to one in front.
	for signal in INT TERM; do
		timeout --preserve-status -s $signal 4 scripts/vm exec "$k" -- 'sleep 600' >/dev/null 2>&1
		is "$k: ended by $signal" $? "$([ $signal = INT ] && echo 130 || echo 143)"
		sleep 0.3
		is "$k: $signal leaves no process" "$(pgrep -af "$TMPDIR")" ''
	done
	if [ "$k" = um ]; then
		vm exec $k --boots 2 --out "$work/boots" -- 'uname -n >name; echo "it'\''s $PWD"'
		is "$k: --boots: the command, in each" "$(cat "$work/out")" "$(printf "it's /out\nit's /out")"
		is "$k: --boots: what each left" "$(ls "$work"/boots/*/name | sed 's/.*boots.//' | tr '\n' ' ')" '1/name 2/name '
		vm exec $k --boots 3 --out "$work/boots" -- 'exit 5'
		is "$k: --boots: the first failure ends it" "$status,$(grep -c 'boot [0-9] of' "$work/err")" 5,1
	fi
	is "$k: nothing is left in the temporary folder" "$(ls -A "$TMPDIR")" ''
done
