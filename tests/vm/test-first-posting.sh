#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The two crashes of the first posting, by its own rule in the kernel's own
# allocator, and that they are the rule's: the same commands on the kernel that
# differs by nothing else leave the log clean.

cd "$(dirname "$0")/../.." || exit 2
. tests/vm/vm-tap.sh

# on KERNEL COMMAND: booted with init_on_alloc=1, its log in $work/KERNEL
on() {
	scripts/vm exec "$1" --timeout 600 --append init_on_alloc=1 --out "$work/$1" -- "$2" \
		>"$work/out" 2>"$work/err" </dev/null
	status=$?
	log=$work/$1/kernel.log
	[ "$(cat "$work/out")" = "done" ] || status="$status, and its output: $(cat "$work/out")"
}

# reports WORDS: how many sleeping-function reports have them all in their trace
reports() {
	awk -v words="$1" '
		function ended(i, n, word) {
			n = split(words, word, " ")
			for (i = 1; i <= n; i++)
				if (!index(text, word[i]))
					return
			count++
		}
		/BUG: sleeping function called from invalid context/ { text = "" }
		{ text = text "\n" $0 }
		/<\/TASK>/ { ended(); text = "" }
		END { print count + 0 }' "$log"
}

# Processes that run and exit, and the module under RCU and a spinlock, until the
# log has a report of each. The kernel reports once a second, whoever sleeps, so
# each gets several chances, and where nobody does, the commands run to their end.
# shellcheck disable=SC2016 # for the guest
commands='
	seen() {
		dmesg | sed -n "/BUG: sleeping function/,/<\/TASK>/p" | grep -q "$1"
	}
	until_seen() {	# WORD COMMAND: 20 times at most
		n=0
		until [ $n -ge 20 ] || seen "$1"; do
			eval "$2" || exit 1
			sleep 1.2
			n=$((n + 1))
		done
	}
	processes() {
		for i in 1 2 3 4 5 6 7 8 9 10; do
			busybox find /sys/kernel -maxdepth 2 | busybox sort >/dev/null
		done
	}
	until_seen exit_mmap processes
	insmod /clearbench/clearbench.ko && cd /sys/kernel/debug/clearbench &&
		echo rcu_spinlock >contexts && echo alloc_zero >methods &&
		echo 0,4,9 >orders && echo 20 >samples || exit 1
	until_seen "\[clearbench\]" "echo 1 >run"
	awk -F "\t" "NR > 2 && !/\talloc_zero\t.*\tok\t/ { print; bad = 1 } END { exit bad || NR != 5 }" results ||
		exit 1
	rmmod clearbench
	echo done'

on debug "$commands"
is 'without the rule: the log is clean' "$status" 0

on 7.3-v1-debug "$commands"
is 'with the rule: a splat, exit status 126' "$status" 126
allocator='__might_resched+ clear_highpages_kasan_tagged+ mm/page_alloc.c'
is 'a process that exits sleeps in the allocator, under the PTE lock' \
	"$([ "$(reports "$allocator exit_mmap+ __tlb_remove_folio_pages_size pte_offset_map_lock+")" -gt 0 ] && echo yes)" yes
is 'so does the module that allocates under RCU and a spinlock' \
	"$([ "$(reports "$allocator [clearbench]")" -gt 0 ] && echo yes)" yes

on 7.3-loop-debug "$commands"
is 'with the loop of up to 7.1: the log is clean' "$status" 0

# A preemption model is chosen after the allocator is in use
on 7.3-base 'echo done'
is 'dynamic preemption, without the rule: the log is clean' "$status" 0
on 7.3-v1 'echo done'
is 'dynamic preemption, with the rule: a warning, exit status 126' "$status" 126
is 'the model was asked for before there was one' \
	"$(grep -cE 'WARNING: at preempt_model_(full|lazy)\+.*swapper' "$log")" 2
is 'by the allocator, in mm_core_init()' \
	"$(grep -c 'PREEMPT(undef)' "$log"),$(grep -c ' clear_highpages_kasan_tagged+' "$log"),$(grep -c ' mm_core_init+' "$log")" 2,2,2
