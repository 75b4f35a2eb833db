// SPDX-License-Identifier: GPL-2.0
/*
 * User backend, the `latency` knob: is a clear interrupted, or does an interrupt
 * wait for its end? The manuals say that an instruction with a REP prefix can be
 * interrupted and that the interrupt may be delayed; none says for how long.
 *
 * A second thread, the prober, on another CPU, sends an inter-processor
 * interrupt to the CPU of the clear and takes the time until it is answered:
 * membarrier(2), private expedited, does nothing else. It is sent at a random
 * phase of the clear, and every fourth at its start, where a clear that cannot
 * be interrupted makes it wait longest. After each clear the same is done while
 * the CPU spins for as long: that is the baseline, in pairs, of the same moment.
 *
 * The two threads meet by three words, each the number of a window: `begun` and
 * `ended` are written by the CPU of the clear, `answered` by the prober.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "user_engine.h"

/* A window that is shorter than this many interrupts would end before one comes. */
#define WINDOW_IRQS		4
#define CALIBRATE_ROUNDS	64
#define CALIBRATE_NS		200000

static struct {
	pthread_t thread;
	atomic_uint begun;
	atomic_uint ended;
	atomic_uint answered;
	atomic_bool stop;
	__u64 phase;		/* ticks from the start of the window to the interrupt */
	bool sent;
	__u64 ticks;		/* from sending it to the answer */
	__u64 irq_ticks;	/* what it takes where nothing is in its way */
} probe;

static int membarrier(int command)
{
	return syscall(__NR_membarrier, command, 0, 0);
}

/* A CPU for the prober: any other; of several, one that is no SMT sibling */
static int other_cpu(int cpu)
{
	cpu_set_t set;
	char *path = xasprintf("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
	char *siblings = read_line(path), *at;
	int other, found = -1;

	free(path);
	if (sched_getaffinity(getpid(), sizeof(set), &set))
		CPU_ZERO(&set);
	for (other = 0; other < CPU_SETSIZE; other++) {
		if (other == cpu || !CPU_ISSET(other, &set))
			continue;
		for (at = siblings; at && *at; at += strcspn(at, ",-"), at += !!*at)
			if (atoi(at) == other)
				break;
		if (found < 0 || !at || !*at)
			found = other;
		if (!at || !*at)
			break;
	}
	free(siblings);
	return found;
}

/**
 * user_latency_check() - can an interrupt be sent and timed here?
 * @cpu: of the clears, or USER_ANY
 * @why: where not, the reason
 *
 * Return: 0, -EOPNOTSUPP without membarrier(2), -EDOM without a second CPU.
 */
int user_latency_check(int cpu, const char **why)
{
	if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)) {
		*why = "there is no membarrier(2), or it has no private expedited (Linux 4.14)";
		return -EOPNOTSUPP;
	}
	if (other_cpu(cpu == USER_ANY ? sched_getcpu() : cpu) < 0) {
		*why = "an interrupt comes from a second CPU, and this process may run on one only";
		return -EDOM;
	}
	return 0;
}

static bool has_ended(unsigned int window)
{
	return atomic_load_explicit(&probe.ended, memory_order_acquire) == window;
}

/* The interrupt in a window, if that lasts until its time comes */
static void probe_window(unsigned int window)
{
	__u64 at = user_clock() + probe.phase, start;

	while ((__s64)(user_clock() - at) < 0 && !has_ended(window))
		;
	probe.sent = !has_ended(window);
	if (!probe.sent)
		return;
	start = user_clock();
	membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	probe.ticks = user_clock() - start;
}

static void *prober(void *arg)
{
	unsigned int window, last = 0;

	(void)arg;
	while (!atomic_load_explicit(&probe.stop, memory_order_relaxed)) {
		window = atomic_load_explicit(&probe.begun, memory_order_acquire);
		if (window == last)
			continue;
		probe_window(window);
		last = window;
		atomic_store_explicit(&probe.answered, window, memory_order_release);
	}
	return NULL;
}

/* Run @fn as a window. Return: did an interrupt fall into it? */
static bool in_window(void (*fn)(void *arg), void *arg, __u64 phase)
{
	unsigned int window = atomic_load_explicit(&probe.begun, memory_order_relaxed) + 1;

	probe.phase = phase;
	atomic_store_explicit(&probe.begun, window, memory_order_release);
	fn(arg);
	atomic_store_explicit(&probe.ended, window, memory_order_release);
	/* The prober's CPU may be wanted by others. */
	while (atomic_load_explicit(&probe.answered, memory_order_acquire) != window)
		sched_yield();
	return probe.sent;
}

static void spin(void *arg)
{
	__u64 end = user_clock() + *(__u64 *)arg;

	while ((__s64)(user_clock() - end) < 0)
		;
}

struct clear {
	const struct user_method *method;
	struct user_sample *s;
};

static void clear(void *arg)
{
	struct clear *c = arg;

	c->method->time(c->s);
}

/**
 * user_latency_round() - one clear with an interrupt in it, and as long a spin
 * @l: where the delays go
 * @method: how it clears
 * @s: what it clears, in its state
 * @ticks: how long the clear will take, about
 * @random: for the phase
 * @round: number of the round: in every fourth the interrupt is sent at the start
 */
void user_latency_round(struct user_latency *l, const struct user_method *method,
			struct user_sample *s, __u64 ticks, __u64 random, __u64 round)
{
	struct clear c = { method, s };
	bool at_start = round % 4 == 0;
	__u64 phase = at_start ? 0 : random % (ticks + 1);
	__u64 ns;

	if (in_window(clear, &c, phase)) {
		ns = user_clock_ns(probe.ticks);
		hist_add(l->irq, ns);
		if (at_start && ns > l->irqoff_max)
			l->irqoff_max = ns;
	}
	if (in_window(spin, &ticks, phase))
		hist_add(l->spin, user_clock_ns(probe.ticks));
}

/* user_latency_lasts() - is a clear long enough for an interrupt to find it? */
bool user_latency_lasts(__u64 ticks)
{
	return ticks >= WINDOW_IRQS * probe.irq_ticks;
}

/* user_latency_irq_ns() - the median that spinning showed at the start */
__u64 user_latency_irq_ns(void)
{
	return user_clock_ns(probe.irq_ticks);
}

static void calibrate(void)
{
	__u64 ticks[CALIBRATE_ROUNDS], window = user_clock_ticks(CALIBRATE_NS);
	unsigned int i, nr = 0;

	for (i = 0; i < CALIBRATE_ROUNDS; i++)
		if (in_window(spin, &window, 0))
			ticks[nr++] = probe.ticks;
	probe.irq_ticks = nr ? user_median(ticks, nr) : window;
}

/**
 * user_latency_start() - start the prober
 * @cpu: of the clears, which the calling thread is bound to
 *
 * Return: 0, or -EDOM where there is no second CPU, or the error of pthread_create().
 */
int user_latency_start(int cpu)
{
	int other = other_cpu(cpu), ret;
	pthread_attr_t attr;
	cpu_set_t set;

	if (other < 0)
		return -EDOM;
	CPU_ZERO(&set);
	CPU_SET(other, &set);
	atomic_store(&probe.stop, false);
	atomic_store(&probe.begun, 0);
	atomic_store(&probe.ended, 0);
	atomic_store(&probe.answered, 0);
	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	ret = pthread_create(&probe.thread, &attr, prober, NULL);
	pthread_attr_destroy(&attr);
	if (ret)
		return -ret;
	calibrate();
	return 0;
}

/* user_latency_stop() - end it; to be called by who started it */
void user_latency_stop(void)
{
	atomic_store(&probe.stop, true);
	pthread_join(probe.thread, NULL);
}
