#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make install and uninstall, the manual, and the completion. TAP.

cd "$(dirname "$0")/.." || exit 2
# shellcheck source=tests/vm/guest/lib.sh
. tests/vm/guest/lib.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
root="$work/a root"
share="$root/usr/local/share"
version=$(build/clearbench --version | cut -d' ' -f2)

make_quietly() {
	make --no-print-directory "$@" > "$work/make" 2>&1 || { tail -n 5 "$work/make"; return 1; }
}

whole() {
	local file missing=0

	for file in usr/local/bin/clearbench usr/local/share/clearbench/collect.sh \
		usr/local/share/man/man1/clearbench.1 usr/local/share/man/man4/clearbench.4 \
		usr/local/share/bash-completion/completions/clearbench \
		"usr/src/clearbench-$version/dkms.conf" "usr/src/clearbench-$version/Kbuild"; do
		[ -s "$root/$file" ] || { echo "no $file"; missing=1; }
	done
	return $missing
}

runs() {
	[ "$("$root/usr/local/bin/clearbench" --version)" = "clearbench $version" ]
}

# Every word is in the page, as a word
mentioned() { # PAGE WORD…
	local page=$1 word missing=0

	shift
	for word; do
		grep -qE -e "(^|[^a-z_-])${word//./\\.}([^a-z_-]|$)" "$page" || {
			echo "no '$word' in $(basename "$page")"
			missing=1
		}
	done
	[ $# -gt 0 ] && return $missing
}

complete_words() { # WORD…: what the last of them, behind clearbench, may become
	COMP_WORDS=(clearbench "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	_clearbench 2> "$work/completion"
	printf '%s\n' "${COMPREPLY[@]}"
}

offers() { # "WORDS" EXPECTED…
	local words got word
	read -ra words <<< "$1"
	[[ $1 != *' ' ]] || words+=("")
	shift
	got=$(complete_words "${words[@]}")
	for word; do
		grep -qxF -e "$word" <<< "$got" || { echo "no $word in: ${got//$'\n'/ }"; return 1; }
	done
	[ $# -gt 0 ]
}

offers_only() { # "WORDS" EXPECTED
	local words
	read -ra words <<< "$1"
	[ "$(complete_words "${words[@]}")" = "$2" ]
}

options_of() { # but not those of scripts that the usage names
	build/clearbench help "$1" | grep -v scripts/ | grep -oE -e '(^|[ [|])--[a-z][a-z-]+' | tr -d ' [|' | sort -u
}

mapfile -t verbs < <(build/clearbench help | sed -n 's/^  \([a-z]*\)  .*/\1/p')
verbs_with_options=()
for verb in "${verbs[@]}"; do
	[ "$verb" = help ] || [ -z "$(options_of "$verb")" ] || verbs_with_options+=("$verb")
done
mapfile -t knobs < <(sed -n 's/^\tCB_KNOB[A-Z_]*(\([a-z_]*\).*/\1/p' module/knobs.c)
mapfile -t parameters < <(sed -n 's/^module_param[a-z_]*(\([a-z][a-z_]*\),.*/\1/p' module/*.c | grep -v '^test_')
echo "# ${#verbs[@]} verbs, ${#knobs[@]} knobs, ${#parameters[@]} parameters"

check "make install, into a folder with a blank in its name" make_quietly install DESTDIR="$root"
check "... everything is there" whole
check "... the program runs" runs
check "make install again" make_quietly install DESTDIR="$root"

for page in man1/clearbench.1 man4/clearbench.4; do
	render() {
		LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -l "$share/man/$page" > "$work/page" 2> "$work/warnings"
		cat "$work/warnings"
		[ -s "$work/page" ] && [ ! -s "$work/warnings" ]
	}
	lint() {
		mandoc -T lint -W warning "$share/man/$page"
	}
	if man --version > /dev/null 2>&1 && command -v groff > /dev/null; then
		check "$(basename $page) renders without a warning" render
	elif command -v mandoc > /dev/null; then
		check "$(basename $page) renders without a warning" lint
	else
		echo "ok - $(basename $page) renders without a warning # SKIP no man with groff, and no mandoc"
	fi
	# \- is a hyphen that can be copied
	sed 's/\\-/-/g' "$share/man/$page" > "$work/${page##*/}"
done
check "the manual has each verb" mentioned "$work/clearbench.1" "${verbs[@]}"
for verb in "${verbs_with_options[@]}"; do
	# mdoc's .Fl puts the first hyphen
	mapfile -t options < <(options_of "$verb" | sed 's/^-//')
	check "... each option of $verb" mentioned "$work/clearbench.1" "${options[@]}"
done
check "the module's page has each knob" mentioned "$work/clearbench.4" "${knobs[@]}"
check "... each parameter" mentioned "$work/clearbench.4" "${parameters[@]}"

# shellcheck disable=SC1091 # installed just now
. "$share/bash-completion/completions/clearbench"
check "completion is registered" complete -p clearbench
check "completion has each verb" offers " " "${verbs[@]}"
check "... and none else that begins so" offers_only "ma" matrix
for verb in "${verbs_with_options[@]}"; do
	mapfile -t options < <(options_of "$verb")
	check "... each option of $verb" offers "$verb --" "${options[@]}"
done
mapfile -t options < <(printf -- '--%s\n' "${knobs[@]}" | tr _ - | grep -v test)
check "... each knob" offers "run --" "${options[@]}"
check "... the formats of show" offers "show --format " table mail csv json hist md
check "... and of compare only its own" offers_only "compare --format m" $'mail\nmd'
check "... the next word of a list" offers "run --methods legacy,ba" legacy,batched
check "... models" offers "run --preempt none,l" none,lazy
check "... files" offers "show $work/ma" "$work/make"
check "... a command for watch, and then its files" offers "watch --force ls $work/ma" "$work/make"
check "... without a word on stderr" sh -c "[ ! -s '$work/completion' ]"

check "make uninstall" make_quietly uninstall DESTDIR="$root"
check "... leaves no file" sh -c "[ -z \"\$(find '$root' ! -type d; find '$root' -name '*clearbench*')\" ]"
