#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
#   tests/vm/test-program.sh KERNEL
#
# The program and collect.sh on a real module: load, run, stream, stop, restore,
# unload; and what they left, read outside the guest.

cd "$(dirname "$0")/../.." || exit 2
kernel=${1:?usage: tests/vm/test-program.sh KERNEL}
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT

scripts/vm exec "$kernel" --timeout 600 --out "$out" -- \
	"$(cat tests/vm/guest/lib.sh tests/vm/guest/program.sh)"
status=$?

# From here on in the host
# shellcheck source=tests/vm/guest/lib.sh
. tests/vm/guest/lib.sh

show() {
	build/clearbench show "$@"
}

for format in table mail csv json hist md; do
	check "show --format $format reads what the run left" \
		sh -c "build/clearbench show --format $format '$out/full.jsonl' | grep -q ."
done
check "a mail is at most 75 columns wide" \
	sh -c "build/clearbench show --format mail '$out/full.jsonl' | awk 'length > 75 { exit 1 }'"
case $kernel in
um) mark=UM ;;
*) mark=EMULATED ;;
esac
for format in table mail hist md; do
	check "$format says $mark" \
		sh -c "build/clearbench show --format $format '$out/full.jsonl' | grep -q $mark"
done
check "csv has a line a cell and a header" \
	[ "$(show --format csv "$out/full.jsonl" | wc -l)" = $((3 * 4 * 2 + 1)) ]
check "a line of the file is a JSON object, and the last says complete" \
	sh -c "tail -n 1 '$out/full.jsonl' | grep -q '\"complete\": *true'"
check "the stopped run is readable, and said to be incomplete" \
	sh -c "tail -n 1 '$out/stopped.jsonl' | grep -q '\"complete\": *false' && build/clearbench show '$out/stopped.jsonl' | grep -q ."
check "what collect.sh saved is shown" sh -c "build/clearbench show '$out/collected' | grep -q legacy"
check "it is the same table with the same columns" \
	[ "$(show --format csv "$out/collected" | head -n 1)" = "$(show --format csv "$out/full.jsonl" | head -n 1)" ]
check "no absolute path and no host name is in a result" \
	sh -c "! grep -qE '\"(/[a-z]+/|/tmp)|$(uname -n)' '$out/full.jsonl'"
exit $status
