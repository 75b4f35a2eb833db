# SPDX-License-Identifier: GPL-2.0
# Runs in the guest before a test: TAP, and what the tests of the module share.
# shellcheck shell=sh

D=/sys/kernel/debug/clearbench
KO=/clearbench/clearbench.ko

# result NAME STATUS [DETAIL]
result() {
	if [ "$2" -eq 0 ]; then
		echo "ok - $1"
	else
		echo "not ok - $1${3:+ # $3}"
	fi
}

# check NAME COMMAND…: it succeeds
check() {
	check_name=$1
	shift
	check_said=$("$@" 2>&1)
	result "$check_name" $? "$(echo "$check_said" | tr '\n' ' ' | tail -c 300)"
}

# settles COMMAND…: COMMAND measures, and prints its checks. Where one fails, all
# of it is done again, five times at most. For laws of real time on a machine
# that others use too: a fault of the tool is in every try, theirs is not.
settles() {
	for try in 1 2 3 4 5; do
		settles_said=$("$@")
		echo "$settles_said" | grep -q '^not ok' || break
		echo "$settles_said" | sed -n "s/^not ok - /# try $try: /p"
	done
	echo "$settles_said"
}

# said STATUS TEXT COMMAND…: ends with STATUS and says TEXT
said() {
	want=$1 text=$2
	shift 2
	out=$("$@" 2>&1)
	status=$?
	echo "status $status: $out" | head -n 12
	[ $status -eq "$want" ] && echo "$out" | grep -q -e "$text"
}

skip() {
	echo "ok - $1 # SKIP $2"
}

# refused FILE VALUE ERROR-TEXT: the write fails with it, the old value stays
refused() {
	before=$(cat "$D/$1")
	said=$(echo "$2" | cat 2>&1 > "$D/$1") && {
		echo "accepted, now $(cat "$D/$1")"
		return 1
	}
	case $said in
	*"$3"*) ;;
	*)
		echo "$said"
		return 1
		;;
	esac
	[ "$(cat "$D/$1")" = "$before" ] || {
		echo "the old value is gone: $(cat "$D/$1")"
		return 1
	}
	dmesg | tail -n 1 | grep -q "clearbench: $1: refused .*legal is" || {
		echo "the log does not say what is legal: $(dmesg | tail -n 1)"
		return 1
	}
}

# accepted FILE VALUE [READ-BACK]
accepted() {
	printf '%s' "$2" > "$D/$1" || return 1
	[ "$(cat "$D/$1")" = "${3-$2}" ] || {
		echo "read back: $(cat "$D/$1")"
		return 1
	}
}

set_knobs() {
	for knob; do
		echo "${knob#*=}" > "$D/${knob%%=*}" || return 1
	done
}

# run_with KNOB=VALUE…: sets them and runs
run_with() {
	set_knobs "$@" && echo 1 > $D/run && [ "$(cat $D/status)" = done ]
}

# awk of busybox may come without a power operator
POW2='function pow2(n, r) { for (r = 1; n > 0; n--) r *= 2; return r }'

# column NAME FILTER: values of a column of `results` in lines where FILTER, an
# awk condition on c["NAME"], holds
column() {
	awk -F '\t' -v want="$1" '
		NR == 2 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		NR > 2 { for (n in at) c[n] = $at[n]; if ('"${2:-1}"') print c[want] }' $D/results
}

# every NAME FILTER CONDITION: CONDITION holds in all lines, and there are some
every() {
	awk -F '\t' "$POW2"'
		NR == 2 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		NR > 2 {
			for (n in at) c[n] = $at[n]
			if (!('"$1"')) next
			seen++
			if (!('"$2"')) { print; bad++ }
		}
		END { if (!seen) print "no line"; exit bad || !seen }' $D/results
}
