#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# scripts/intree: what it puts into a tree, takes out of it, and refuses.

cd "$(dirname "$0")/.." || exit 2
. tests/vm/vm-tap.sh

tree=$work/tree
mkdir -p "$tree/mm"
printf 'VERSION = 7\nPATCHLEVEL = 3\n' >"$tree/Makefile"
touch "$tree"/{Kconfig,MAINTAINERS}
# shellcheck disable=SC2016 # make's variables
printf 'obj-y += a.o\nobj-$(CONFIG_B) += b.o\n' >"$tree/mm/Makefile"
printf 'config A\n\tbool "A"\n\n\n' >"$tree/mm/Kconfig.debug"
chmod 640 "$tree/mm/Makefile"
cp -a "$tree" "$work/before"

# intree ARGUMENT…: sets status; what it says in $work/err
intree() {
	scripts/intree "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
}

same() {
	diff -r "$1" "$2" >"$work/err" && echo yes
}

# refused NAME STATUS WORDS ARGUMENT…: in one line
refused() {
	local name=$1 wanted=$2 words=$3

	shift 3
	intree "$@"
	is "$name: status" "$status" "$wanted"
	has "$name: says why" "$work/err" "$words"
	is "$name: in one line" "$(wc -l <"$work/err")" 1
}

intree "$tree"
is 'put in: status' "$status" 0
# shellcheck disable=SC2016 # make's variables
is 'put in: the line of the Makefile' "$(tail -n 1 "$tree/mm/Makefile")" 'obj-$(CONFIG_CLEARBENCH) += clearbench/'
is 'put in: the line of Kconfig.debug' "$(tail -n 1 "$tree/mm/Kconfig.debug")" 'source "mm/clearbench/Kconfig"'
is 'put in: the entry' "$(grep -cx 'config CLEARBENCH' "$tree/mm/clearbench/Kconfig")" 1
is 'put in: every source' "$(cd module && for f in Kbuild *.[ch]; do
	case $f in *.mod.c) continue ;; esac
	cmp "$f" "$tree/mm/clearbench/$f"; done 2>&1)" ''
is 'put in: the mode of the Makefile stays' "$(stat -c %a "$tree/mm/Makefile")" 640

cp -a "$tree" "$work/once"
intree "$tree"
is 'put in again: status' "$status" 0
is 'put in again: nothing more' "$(same "$tree" "$work/once")" yes

touch "$tree/mm/clearbench/main.o" "$tree/mm/clearbench/.main.o.cmd"
intree --remove "$tree"
is 'taken out: status' "$status" 0
is 'taken out: the tree is as it was' "$(same "$tree" "$work/before")" yes
intree --remove "$tree"
is 'taken out again: status' "$status" 0
is 'taken out again: the tree is as it was' "$(same "$tree" "$work/before")" yes

intree "$tree"
echo '/* mine */' >>"$tree/mm/clearbench/main.c"
refused 'changed since' 1 'was changed since' "$tree"
refused 'changed since, to be taken out' 1 'was changed since' --remove "$tree"
is 'changed since: the change is there' "$(tail -n 1 "$tree/mm/clearbench/main.c")" '/* mine */'
intree --force "$tree"
is 'changed since, --force' "$status,$(same "$tree" "$work/once")" 0,yes
touch "$tree/mm/clearbench/mine.c"
refused 'a file added since' 1 'was changed since' --remove "$tree"
intree --force --remove "$tree"
is 'a file added since, --force' "$status,$(same "$tree" "$work/before")" 0,yes
mkdir "$tree/mm/clearbench"
refused 'a folder of that name' 1 'was not put there by this script' "$tree"
refused 'a folder of that name, to be taken out' 1 'was not put there by this script' --remove "$tree"
rmdir "$tree/mm/clearbench"

refused 'two trees' 2 'more than one tree' "$tree" "$tree"
refused 'unknown option' 2 'unknown option --frob' --frob "$tree"
refused 'no folder' 2 'is no folder' "$work/none"
intree
is 'no tree: status' "$status" 2
has 'no tree: usage' "$work/err" 'usage: scripts/intree'
printf 'VERSION = 5\nPATCHLEVEL = 19\n' >"$tree/Makefile"
refused 'an older kernel' 2 '6.1 or later' "$tree"
printf '# none\n' >"$tree/Makefile"
refused 'no version' 2 'has no VERSION' "$tree"
cp "$work/before/Makefile" "$tree/"
for file in Makefile Kconfig MAINTAINERS mm/Makefile mm/Kconfig.debug; do
	mv "$tree/$file" "$work/kept"
	refused "without $file" 2 "it has no $file" "$tree"
	mv "$work/kept" "$tree/$file"
done
is 'what was refused left nothing' "$(same "$tree" "$work/before")" yes
