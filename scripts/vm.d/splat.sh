# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Finding a splat in a kernel log.
#
# A boot prints words such as "report a bug", so what counts is the form that a
# line begins with, after the time stamp, the caller's id (PRINTK_CALLER) and
# the prefix of the watchdog or of RCU. Lockdep frames its report in a line of
# nothing but '='. KASAN's and KFENCE's reports begin with "BUG:" as well. Before
# 6.11 x86 named no "Oops" where the cause was something else than a bad access:
# there BUG() shows by its first line, and any other by the "[#1]" behind the
# error code.

splat_stamp='(<[0-9]+>)?(\[ *[0-9]+\.[0-9]+\])?(\[ *[TC][0-9]+\])? ?'
splat_forms='BUG:|WARNING:|Oops|UBSAN:|ODEBUG:|INFO: task|INFO: rcu|={6,}\r?$'
splat_old_oops='kernel BUG at |(general protection fault|invalid opcode|divide error|double fault|stack segment|int3|alignment check|invalid TSS|segment not present|bounds|control protection fault).*: [0-9a-f]{4} \[#[0-9]+\]'

# Print the splat lines of the log on standard input; true when there are any.
splat_lines() {
	tr -d '\000\r' |
		grep -aE "^$splat_stamp((watchdog|rcu): )?($splat_forms|$splat_old_oops)"
}
