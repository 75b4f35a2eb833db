// SPDX-License-Identifier: GPL-2.0
/*
 * The clock of the timed window.
 *
 * On x86 that is the TSC where the kernel trusts it: sub-nanosecond, the
 * cheapest there is, and the same under User Mode Linux, whose own clock ticks
 * once in 256 ns. Elsewhere it is ktime_get_raw_fast_ns(), which NTP neither
 * steps nor slews and any context may read.
 */
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/module.h>
#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)
#include <asm/cpufeature.h>
#include <asm/tsc.h>
#endif

#include "clearbench.h"

DEFINE_STATIC_KEY_FALSE(cb_clock_tsc);

static unsigned int ticks_khz = 1000000;	/* ktime_get_raw_fast_ns(): ns */

#ifdef CONFIG_X86_64

#ifdef CONFIG_UML
/* The host's kernel judges its TSC for itself; the CPU says if it is invariant. */
static bool tsc_trusted(void)
{
	return prim_tsc_invariant();
}

/* Our own clock ticks in 256 ns: 20 ms bound the error to 13 ppm. */
static unsigned int tsc_frequency(void)
{
	u64 ns = ktime_get_raw_fast_ns(), ticks = prim_tsc();

	mdelay(20);
	ticks = prim_tsc() - ticks;
	ns = ktime_get_raw_fast_ns() - ns;
	return ns ? div64_u64(ticks * 1000000 + ns / 2, ns) : 0;
}
#else
static bool tsc_trusted(void)
{
	return boot_cpu_has(X86_FEATURE_CONSTANT_TSC) && !check_tsc_unstable();
}

static unsigned int tsc_frequency(void)
{
	return tsc_khz;
}
#endif

#else
static bool tsc_trusted(void)
{
	return false;
}

static unsigned int tsc_frequency(void)
{
	return 0;
}
#endif

/* cb_clock_init() - choose the clock. Process context, before any is read. */
void cb_clock_init(void)
{
	unsigned int khz = tsc_trusted() ? tsc_frequency() : 0;

	if (!khz)
		return;
	ticks_khz = khz;
	static_branch_enable(&cb_clock_tsc);
}

/* cb_clock_lost() - has the kernel lost its trust in the clock since the load? */
bool cb_clock_lost(void)
{
	return static_key_enabled(&cb_clock_tsc) && !tsc_trusted();
}

/* cb_clock_ns() - a difference of two reads, in ns */
u64 cb_clock_ns(u64 ticks)
{
	/* Whole ms apart: 2^64 / 10^6 ticks are but an hour, less than a run. */
	u32 rest;
	u64 ms = div_u64_rem(ticks, ticks_khz, &rest);

	return ms * NSEC_PER_MSEC +
	       div_u64((u64)rest * NSEC_PER_MSEC + ticks_khz / 2, ticks_khz);
}

/* cb_clock_ticks() - the other way */
u64 cb_clock_ticks(u64 ns)
{
	return div_u64(ns * ticks_khz + 500000, 1000000);
}

/* cb_clock_show() - name and rate, for `info` */
void cb_clock_show(struct seq_file *m)
{
	if (static_key_enabled(&cb_clock_tsc))
		seq_printf(m, "clock: tsc, %u kHz\n", ticks_khz);
	else
		seq_puts(m, "clock: ktime_get_raw_fast_ns\n");
}
