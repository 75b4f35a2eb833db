// SPDX-License-Identifier: GPL-2.0
/*
 * Where the clearing runs. To add a context: write run_NAME(), add a row to
 * cb_contexts[].
 */
#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/sort.h>
#include <linux/spinlock.h>

#include "clearbench.h"

static void run_process(void (*fn)(void *arg), void *arg)
{
	fn(arg);
}

static void call_in_softirq(struct tasklet_struct *unused);
static DECLARE_TASKLET(softirq_tasklet, call_in_softirq);
static DECLARE_COMPLETION(softirq_done);
static struct {
	void (*fn)(void *arg);
	void *arg;
} softirq_call;

static void call_in_softirq(struct tasklet_struct *unused)
{
	softirq_call.fn(softirq_call.arg);
	complete(&softirq_done);
}

/*
 * A tasklet raised with softirqs off runs when they come on again: a softirq
 * by all its rules, on this CPU, at once, with no idle CPU to wake up first.
 * Only while ksoftirqd has work of its own it runs there, and we wait.
 */
static void run_softirq(void (*fn)(void *arg), void *arg)
{
	softirq_call.fn = fn;
	softirq_call.arg = arg;
	reinit_completion(&softirq_done);
	local_bh_disable();
	tasklet_schedule(&softirq_tasklet);
	local_bh_enable();
	wait_for_completion(&softirq_done);
}

static DEFINE_SPINLOCK(context_lock);
static DEFINE_SPINLOCK(irqoff_lock);	/* lockdep: always with interrupts off */

static void run_spinlock(void (*fn)(void *arg), void *arg)
{
	spin_lock(&context_lock);
	fn(arg);
	spin_unlock(&context_lock);
}

/* As in the splat of the patch thread: exit_mmap(), under the PTE lock */
static void run_rcu_spinlock(void (*fn)(void *arg), void *arg)
{
	rcu_read_lock();
	spin_lock(&context_lock);
	fn(arg);
	spin_unlock(&context_lock);
	rcu_read_unlock();
}

static void run_irqoff(void (*fn)(void *arg), void *arg)
{
	unsigned long flags;

	spin_lock_irqsave(&irqoff_lock, flags);
	fn(arg);
	spin_unlock_irqrestore(&irqoff_lock, flags);
}

static struct hrtimer hardirq_timer;
static struct {
	void (*fn)(void *arg);
	void *arg;
	bool done;
} hardirq_call;

static enum hrtimer_restart call_in_hardirq(struct hrtimer *unused)
{
	hardirq_call.fn(hardirq_call.arg);
	smp_store_release(&hardirq_call.done, true);	/* pairs with run_hardirq() */
	return HRTIMER_NORESTART;
}

/* Waits awake: an idle CPU would answer the interrupt from a sleep state. */
static void run_hardirq(void (*fn)(void *arg), void *arg)
{
	hardirq_call.fn = fn;
	hardirq_call.arg = arg;
	hardirq_call.done = false;
	hrtimer_start(&hardirq_timer, 0, HRTIMER_MODE_REL_PINNED_HARD);
	while (!smp_load_acquire(&hardirq_call.done))	/* pairs with call_in_hardirq() */
		cpu_relax();
}

struct cb_context cb_contexts[] = {
	{
		.name = "process", .run = run_process, .gfp = GFP_KERNEL,
		.desc = "a thread bound to the CPU, SCHED_NORMAL, nice 0, preemptible, GFP_KERNEL",
	}, {
		.name = "softirq", .run = run_softirq, .gfp = GFP_ATOMIC,
		.atomic = true,
		.desc = "a softirq (tasklet), GFP_ATOMIC",
		.rt_note = "PREEMPT_RT: softirqs are preemptible",
	}, {
		.name = "spinlock", .run = run_spinlock, .gfp = GFP_ATOMIC,
		.atomic = true,
		.desc = "spin_lock() held, GFP_ATOMIC",
		.rt_note = "PREEMPT_RT: the spinlock is a sleeping lock",
	}, {
		.name = "rcu_spinlock", .run = run_rcu_spinlock, .gfp = GFP_ATOMIC,
		.atomic = true,
		.desc = "rcu_read_lock() and spin_lock() held, GFP_ATOMIC",
		.rt_note = "PREEMPT_RT: the spinlock is a sleeping lock",
	}, {
		.name = "irqoff", .run = run_irqoff, .gfp = GFP_ATOMIC,
		.atomic = true,
		.desc = "spin_lock_irqsave() held, GFP_ATOMIC",
		.rt_note = "PREEMPT_RT: the spinlock is a sleeping lock and interrupts stay on",
	}, {
		.name = "hardirq", .run = run_hardirq, .gfp = GFP_ATOMIC,
		.atomic = true, .preallocated = true,
		.desc = "the hard interrupt of an hrtimer, on an extent allocated before",
	},
};

const unsigned int cb_nr_contexts = ARRAY_SIZE(cb_contexts);

#define CALIBRATE_WINDOWS	256
#define CALIBRATE_READS		16

struct calibration {
	u64 ticks[CALIBRATE_WINDOWS];
};

static void time_empty_windows(void *arg)
{
	struct calibration *c = arg;
	struct cb_sample s = { };
	unsigned int i;

	for (i = 0; i < CALIBRATE_WINDOWS; i++) {
		cb_time_empty(&s);
		c->ticks[i] = s.clear_ticks;
	}
}

static int cmp_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* The mean of the middle half: finer than the clock's tick, blind to outliers. */
static u64 interquartile_mean_tenths(u64 *ticks, unsigned int n)
{
	u64 sum = 0;
	unsigned int i;

	sort(ticks, n, sizeof(*ticks), cmp_u64, NULL);
	for (i = n / 4; i < n - n / 4; i++)
		sum += ticks[i];
	return div_u64(cb_clock_ns(sum * 10), n - n / 4 - n / 4);
}

/* Cost of one read of the clock, in tenths of ns; an empty window holds two. */
u64 cb_clock_read_tenths;

static void time_clock_reads(struct calibration *c)
{
	unsigned int i, j;

	for (i = 0; i < CALIBRATE_WINDOWS; i++) {
		u64 start = cb_clock();

		for (j = 0; j < CALIBRATE_READS; j++)
			cb_clock();
		c->ticks[i] = cb_clock() - start;
	}
	cb_clock_read_tenths = div_u64(interquartile_mean_tenths(c->ticks, CALIBRATE_WINDOWS),
				       CALIBRATE_READS);
}

/**
 * cb_contexts_init() - prepare them, and measure an empty timed window in each context
 *
 * Process context, at load. The figure stands beside the raw ones and is
 * never subtracted from them.
 */
void cb_contexts_init(void)
{
	static struct calibration c;
	unsigned int i;

	hrtimer_setup(&hardirq_timer, call_in_hardirq, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
	time_clock_reads(&c);
	for (i = 0; i < cb_nr_contexts; i++) {
		struct cb_context *context = &cb_contexts[i];

		if (context->unavailable && context->unavailable())
			continue;
		context->run(time_empty_windows, &c);	/* warms up */
		context->run(time_empty_windows, &c);
		context->clock_ns = interquartile_mean_tenths(c.ticks, CALIBRATE_WINDOWS);
	}
}

void cb_contexts_exit(void)
{
	tasklet_kill(&softirq_tasklet);
	hrtimer_cancel(&hardirq_timer);
}
