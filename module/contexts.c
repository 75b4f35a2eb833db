// SPDX-License-Identifier: GPL-2.0
/*
 * Where the clearing runs. To add a context: write run_NAME(), add a row to
 * cb_contexts[].
 */
#include <linux/completion.h>
#include <linux/interrupt.h>
#include <linux/kernel.h>
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

static void run_spinlock(void (*fn)(void *arg), void *arg)
{
	spin_lock(&context_lock);
	fn(arg);
	spin_unlock(&context_lock);
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
 * cb_contexts_calibrate() - measure an empty timed window in each context
 *
 * Process context, at load. The figure stands beside the raw ones and is
 * never subtracted from them.
 */
void cb_contexts_calibrate(void)
{
	static struct calibration c;
	unsigned int i;

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
}
