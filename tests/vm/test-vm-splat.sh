#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The lines of a kernel log that count as a splat, and those that must not.

cd "$(dirname "$0")/../.." || exit 2
. tests/vm/vm-tap.sh
. scripts/vm.d/splat.sh

while IFS= read -r line; do
	is "splat: $line" "$(printf '%s\r\n' "$line" | splat_lines)" "$line"
done <<'END'
[    1.234567] BUG: sleeping function called from invalid context at mm/page_alloc.c:4
[    1.234567] BUG: unable to handle page fault for address: ffff888000000000
[    1.234567] BUG: KASAN: slab-out-of-bounds in clear_page_erms+0x7/0x10
[    1.234567] BUG: KFENCE: use-after-free read in test+0x1/0x2
[   12.345678] WARNING: CPU: 0 PID: 1 at kernel/sched/core.c:8 preempt_model_full+0x1/0x2
[   12.345678] WARNING: kernel/sched/core.c:8 at preempt_model_full+0x1/0x2, CPU#0: swapper/0
[   12.345678][    T1] WARNING: possible circular locking dependency detected
[   12.345678][   C0] BUG: spinlock bad magic on CPU#0
[   12.345678][    T1] Oops: general protection fault, 0000 [#1] SMP
[  123.000000] Oops: 0002 [#1] PREEMPT SMP NOPTI
[  123.000000] UBSAN: array-index-out-of-bounds in mm/a.c:1:2
[  123.000000] ODEBUG: free active (active state 0) object: 00000000 object type: timer_list
[  123.000000] INFO: task kworker/0:1:8 blocked for more than 120 seconds.
[  123.000000] INFO: rcu_preempt detected stalls on CPUs/tasks:
[  123.000000] rcu: INFO: rcu_preempt self-detected stall on CPU
[  123.000000] watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [sh:1]
[  123.000000] ======================================================
[  123.000000] =============================
[12345.000000] BUG: scheduling while atomic: sh/1/0x00000002
<4>[    1.000000] WARNING: with its level
BUG: without a time stamp
[    T12] BUG: the caller without a time stamp
[    1.000000] kernel BUG at mm/page_alloc.c:1!
[    1.000000] invalid opcode: 0000 [#1] PREEMPT SMP NOPTI
[    1.000000] general protection fault, probably for non-canonical address 0x1: 0000 [#1] PREEMPT SMP
END

while IFS= read -r line; do
	is "no splat: $line" "$(printf '%s\n' "$line" | splat_lines)" ''
done <<'END'
[    0.000000] Please report a bug: to the vendor
[    0.000000] Linux version 7.3.4 BUG: WARNING: Oops
[    0.000000] firmware: BUG: in the middle
[    0.000000] bug: in lower case
[    0.000000] Warning: in lower case
[    0.000000] WARNING without its colon
[    0.000000]  BUG: set in by a blank
[    0.000000] rcu: Hierarchical RCU implementation.
[    0.000000] rcu: 	RCU debug extended QS entry/exit.
[    0.000000] watchdog: Delayed init of the lockup detector failed: -19
[    0.000000] INFO: lockdep is turned off.
[    0.000000] ==== not a rule of a report
[    0.000000] =====
[    0.000000] ====== words behind
[    0.000000] KFENCE: initialized - using 2097152 bytes for 255 objects
[    0.000000] kasan: KernelAddressSanitizer initialized (generic)
[    0.000000] Kernel command line: oops=panic panic_on_warn
[    0.000000] oops=panic
END

is 'a log without one is not a splat' "$(echo '[    0.1] fine' | splat_lines; echo $?)" 1
is 'a log with one is' "$(echo '[    0.1] BUG: x' | splat_lines >/dev/null; echo $?)" 0
is 'a byte 0 hides nothing' "$(printf '[    0.1] \000BUG: x\n' | splat_lines)" '[    0.1] BUG: x'
