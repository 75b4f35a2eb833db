// SPDX-License-Identifier: GPL-2.0
/*
 * The `after` knob: what a clear leaves behind. The clear runs as ever; timed is
 * the read that follows it in process context, of the extent itself (touch), or
 * of a buffer that was in the caches before the clear (victim). That one is read
 * by the CPU of the run or by another, in an interrupt there.
 */
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/smp.h>
#include <linux/topology.h>

#include "clearbench.h"

/* Not zeros: those could be one page, or what is left of a clear */
#define VICTIM_PATTERN	0x5a5a5a5a5a5a5a5aULL

/* The buffer; NULL where none is asked for */
static struct {
	void *addr;
	unsigned long len;
	int cpu;		/* that reads it */
} victim;

static void read_here(void *ticks)
{
	*(u64 *)ticks = cb_time_read(victim.addr, victim.len);
}

/* Return: the time of one read of the victim, by its CPU */
static u64 read_victim(void)
{
	u64 ticks = 0;

	if (victim.cpu == raw_smp_processor_id()) {
		read_here(&ticks);
	} else if (smp_call_function_single(victim.cpu, read_here, &ticks, 1)) {
		cb_run.stop_reason = "the CPU of victim_cpu went offline";
		WRITE_ONCE(cb_run.stop, true);
	}
	return ticks;
}

/**
 * cb_after_prepare() - read the victim into cache, after the state step
 *
 * Process context, on the CPU of the run; where there is no victim, nothing.
 */
void cb_after_prepare(void)
{
	if (victim.addr)
		read_victim();
}

/**
 * cb_after_read() - the read that is timed in place of the clear before it
 * @s: what was cleared
 *
 * Process context, on the CPU of the run.
 *
 * Return: the time, in ticks of cb_clock().
 */
u64 cb_after_read(const struct cb_sample *s)
{
	mb();	/* the clear is through, stores past the caches as well */
	if (victim.addr)
		return read_victim();
	return cb_time_read(s->addr, (unsigned long)s->npages * PAGE_SIZE);
}

/**
 * cb_after_start() - prepare what a run reads
 * @config: its knobs
 * @cpu: that it is on
 *
 * Return: 0; -EDOM if the CPU of the victim is offline, or -ENOMEM.
 */
int cb_after_start(const struct cb_config *config, int cpu)
{
	if (config->after != CB_AFTER_VICTIM)
		return 0;
	victim.cpu = config->victim_cpu < 0 ? cpu : config->victim_cpu;
	if (!cpu_online(victim.cpu))
		return -EDOM;
	victim.len = config->victim_kib << 10;
	victim.addr = kvmalloc_node(victim.len, GFP_KERNEL, cpu_to_node(victim.cpu));
	if (!victim.addr)
		return -ENOMEM;
	prim_set(victim.addr, victim.len, VICTIM_PATTERN);
	return 0;
}

/* cb_after_stop() - give it back */
void cb_after_stop(void)
{
	kvfree(victim.addr);
	victim.addr = NULL;
}
