// SPDX-License-Identifier: GPL-2.0
/*
 * The `latency` knob: what a clear does to others on its CPU.
 *
 * In rounds of their own, so that no counted time of a clear is touched, a hard
 * timer is set to expire while the clear is under way. Its interrupt says how
 * long interrupts waited, and wakes a thread, SCHED_FIFO and SCHED_NORMAL in
 * turn, which says how long it waited for the CPU; both since the expiry. The
 * phase is random for the distribution, and every fourth time the very start of
 * the clear, which is the worst case. Expiries that did not fall into the clear
 * are not counted.
 */
#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "clearbench.h"

/* Rounds in which nothing is cleared, to see what the probe sees by itself */
#define IDLE_ROUNDS		64
#define IDLE_SPIN_NS		100000
#define ARM_ROUNDS		16
#define LEAD_MAX_NS		NSEC_PER_MSEC

enum victim { VICTIM_FIFO, VICTIM_NORMAL, NR_VICTIMS };

static struct {
	struct hrtimer timer;
	struct task_struct *thread[NR_VICTIMS];
	enum victim turn;
	bool fired;
	bool woken[NR_VICTIMS];
	s64 irq_ns;		/* from expiry to the interrupt */
	s64 wake_ns;		/* from expiry to the thread */
	struct completion ran;
	u64 lead_ns;		/* an expiry sooner than this comes before the clear */
} probe;

static u64 since_expiry(void)
{
	return max_t(s64, ktime_to_ns(ktime_sub(ktime_get(), hrtimer_get_expires(&probe.timer))),
		     0);
}

static enum hrtimer_restart probe_fires(struct hrtimer *unused)
{
	probe.irq_ns = since_expiry();
	probe.fired = true;
	smp_store_release(&probe.woken[probe.turn], true);	/* pairs with victim_thread() */
	wake_up_process(probe.thread[probe.turn]);
	return HRTIMER_NORESTART;
}

static int victim_thread(void *arg)
{
	bool *woken = arg;

	for (;;) {
		set_current_state(TASK_IDLE);
		if (kthread_should_stop())
			break;
		if (!smp_load_acquire(woken)) {		/* pairs with probe_fires() */
			schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);
		probe.wake_ns = since_expiry();
		WRITE_ONCE(*woken, false);
		complete(&probe.ran);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

static void arm(u64 phase)
{
	probe.fired = false;
	reinit_completion(&probe.ran);
	hrtimer_start(&probe.timer, ktime_add_ns(ktime_get(), phase),
		      HRTIMER_MODE_ABS_PINNED_HARD);
}

/* Ends a round; true if the timer fired, and then its thread has run. */
static bool finish(void)
{
	if (hrtimer_cancel(&probe.timer) || !probe.fired)
		return false;
	wait_for_completion(&probe.ran);
	return true;
}

static void record(struct cb_latency *l)
{
	hist_add(l->irq, probe.irq_ns);
	hist_add(probe.turn == VICTIM_FIFO ? l->fifo : l->normal, probe.wake_ns);
}

struct probed_clear {
	const struct cb_method *method;
	struct cb_sample *sample;
	u64 phase;
	ktime_t start;
	ktime_t end;
};

static void clear_under_probe(void *arg)
{
	struct probed_clear *c = arg;

	arm(c->phase);
	c->start = ktime_get();
	c->method->time(c->sample);
	c->end = ktime_get();
}

/**
 * cb_latency_sample() - one clear with an expiry in it
 * @l: where the delays go
 * @context: where the clear runs
 * @method: how it clears; not one that allocates
 * @s: what it clears, in its state
 * @ns: how long the clear will take, about
 * @rnd: for the phase
 * @round: number of the round; every fourth expiry is at the start of the clear
 *
 * Process context, on the CPU of the run.
 */
void cb_latency_sample(struct cb_latency *l, const struct cb_context *context,
		       const struct cb_method *method, struct cb_sample *s, u64 ns,
		       struct rnd_state *rnd, u64 round)
{
	bool at_start = round % 4 < NR_VICTIMS && round % 8 < 4;
	struct probed_clear c = {
		.method = method,
		.sample = s,
		.phase = probe.lead_ns,
	};
	ktime_t expires;

	if (!at_start)
		c.phase += mul_u64_u32_shr(max(ns, 1ULL), prandom_u32_state(rnd), 32);
	probe.turn = round % NR_VICTIMS;
	context->run(clear_under_probe, &c);
	expires = hrtimer_get_expires(&probe.timer);
	if (!finish() || ktime_after(expires, c.end))
		return;
	if (ktime_before(expires, c.start)) {	/* setting it took longer than thought */
		probe.lead_ns = min_t(u64, probe.lead_ns + probe.lead_ns / 4 + 1, LEAD_MAX_NS);
		return;
	}
	record(l);
	if (at_start) {
		l->irqoff_max = max_t(u64, l->irqoff_max, probe.irq_ns);
		if (probe.turn == VICTIM_FIFO)
			l->resched_max = max_t(u64, l->resched_max, probe.wake_ns);
	}
}

/* The same with nothing to wait for: a thread that spins, and may be preempted */
static void measure_idle(struct cb_latency *idle)
{
	unsigned int i;

	for (i = 0; i < IDLE_ROUNDS; i++) {
		ktime_t end = ktime_add_ns(ktime_get(), IDLE_SPIN_NS + probe.lead_ns);

		probe.turn = i % NR_VICTIMS;
		arm(probe.lead_ns);
		while (ktime_before(ktime_get(), end)) {
			cpu_relax();
			cond_resched();
		}
		if (finish())
			record(idle);
	}
}

/* What it takes to set the timer. An expiry must not come before the clear does. */
static u64 measure_arming(void)
{
	u64 best = U64_MAX;
	unsigned int i;

	for (i = 0; i < ARM_ROUNDS; i++) {
		ktime_t start = ktime_get();

		arm(NSEC_PER_SEC);
		best = min_t(u64, best, ktime_to_ns(ktime_sub(ktime_get(), start)));
		hrtimer_cancel(&probe.timer);
	}
	probe.lead_ns = 2 * best + 1;
	return best;
}

/* cb_latency_stop() - end the threads. Process context. */
void cb_latency_stop(void)
{
	unsigned int i;

	for (i = 0; i < NR_VICTIMS; i++) {
		if (probe.thread[i])
			kthread_stop(probe.thread[i]);
		probe.thread[i] = NULL;
	}
}

/**
 * cb_latency_start() - start the threads on the CPU of the run
 *
 * Return: 0 or the error of a thread that could not be started; none is left
 * then. Process context.
 */
int cb_latency_start(int cpu)
{
	static const char * const names[] = { "fifo", "normal" };
	struct task_struct *task;
	unsigned int i;

	init_completion(&probe.ran);
	hrtimer_setup(&probe.timer, probe_fires, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
	for (i = 0; i < NR_VICTIMS; i++) {
		probe.woken[i] = false;
		task = kthread_create_on_node(victim_thread, &probe.woken[i], cpu_to_node(cpu),
					      CB_NAME "_%s", names[i]);
		if (IS_ERR(task)) {
			cb_latency_stop();
			return PTR_ERR(task);
		}
		kthread_bind(task, cpu);
		if (i == VICTIM_FIFO)
			sched_set_fifo(task);
		probe.thread[i] = task;
		wake_up_process(task);
	}
	return 0;
}

/* cb_latency_calibrate() - what the probe costs and sees by itself; on its CPU */
void cb_latency_calibrate(struct cb_latency *idle, u64 *arm_ns)
{
	*arm_ns = measure_arming();
	measure_idle(idle);
}
