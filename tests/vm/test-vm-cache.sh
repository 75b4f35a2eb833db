#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# scripts/vm and its cache: calls at once, a build that is stopped or fails, a
# full disk, and a kernel build folder of the user's own.

cd "$(dirname "$0")/../.." || exit 2
. tests/vm/vm-tap.sh

scripts/vm fetch um || { is 'um is built' no yes; exit; }
cache=${CLEARBENCH_CACHE:-${HOME:-/root}/.cache/clearbench}

# A cache of our own that borrows the kernel, and a tree of our own whose module
# may be spoilt.
export CLEARBENCH_CACHE=$work/cache
mkdir -p "$CLEARBENCH_CACHE" "$work/tree/scripts"
ln -s "$cache/source" "$cache/built" "$CLEARBENCH_CACHE/"
cp -r scripts/vm scripts/vm.d "$work/tree/scripts/"
cp -r module "$work/tree/"
cd "$work/tree" || exit 2

for n in 1 2 3; do
	scripts/vm exec um --out "$work/o$n" -- "insmod /clearbench/clearbench.ko && echo $n; echo $n >file" \
		>"$work/out$n" 2>"$work/err$n" &
done
wait
is 'three calls at once, the module not built: output' "$(cat "$work"/out[123])" $'1\n2\n3'
is 'three calls at once: /out' "$(cat "$work"/o[123]/file)" $'1\n2\n3'

ko=$(scripts/vm module um)
before=$(stat -c %Y.%i "$ko")
is 'nothing changed: not built again' "$(stat -c %Y.%i "$(scripts/vm module um)")" "$before"
echo '/* touched */' >>module/main.c
is 'a source changed: built again' "$([ "$(stat -c %Y.%i "$(scripts/vm module um)")" != "$before" ] && echo yes)" yes

echo '/* again */' >>module/main.c
timeout -s TERM 0.7 scripts/vm module um >/dev/null 2>&1
is 'a stopped build leaves nothing that looks done' "$([ -e "$ko" ] && echo "$ko")" ''
vm exec um -- 'insmod /clearbench/clearbench.ko'
is 'and is begun anew' "$status" 0

cp module/main.c "$work/main.c"
echo 'spoilt source' >>module/main.c
vm exec um -- true
is 'a build that fails: status' "$status" 125
has 'a build that fails: the compiler is heard' "$work/err" 'error:'
is 'a build that fails: COMMAND did not start' "$(cat "$work/out")" ''
cp "$work/main.c" module/main.c

mkdir "$work/small"
if unshare --mount mount -t tmpfs none "$work/small" 2>/dev/null; then
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount sh -c 'mount -t tmpfs -o size=1m none "$1" && TMPDIR=$1 scripts/vm exec um -- true' - "$work/small" 2>"$work/err"
	is 'a full disk: status' $? 125
	has 'a full disk: says so' "$work/err" 'space left'
else
	echo 'ok - a full disk # SKIP needs root to mount one'
fi

mv module "$work/module"
vm exec um -- 'ls /clearbench'
is 'without a module there is none' "$status,$(cat "$work/out")" 0,
mv "$work/module" module

# the kernel's own build folder, as a user has one
folder=$(dirname "$(find "$cache/built/" -maxdepth 2 -path '*/um-[0-9a-f]*/.complete' -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2)")
vm exec "$folder" -- 'insmod /clearbench/clearbench.ko && uname -r; exit 9'
is 'a kernel build folder: status' "$status" 9
is 'a kernel build folder: its kernel' "$(cat "$work/out")" "$(cat "$folder/include/config/kernel.release")"
