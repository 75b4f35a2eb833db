# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What the tests of scripts/vm share: TAP lines, a folder of their own, one call.

work=$(mktemp -d) || exit 1
failed=0

work_end() {
	rm -rf "$work"
	[ "$failed" = 0 ] || exit 1
}
trap work_end EXIT

# is NAME GOT WANTED
is() {
	if [ "$2" = "$3" ]; then
		echo "ok - $1"
	else
		echo "not ok - $1"
		printf 'got: %s\nwanted: %s\n' "$2" "$3" | sed 's/^/# /'
		[ ! -s "$work/err" ] || sed 's/^/# stderr: /' "$work/err"
		failed=1
	fi
}

# has NAME FILE WORDS: the file has the words
has() {
	local found

	found=$(grep -F -- "$3" "$2" | head -n 1)
	is "$1" "$([ -n "$found" ] && echo "$3" || cat "$2")" "$3"
}

# vm ARGUMENT…: sets status; output in $work/out and $work/err
vm() {
	scripts/vm "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
}
