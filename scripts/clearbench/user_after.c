// SPDX-License-Identifier: GPL-2.0
/*
 * User backend, the `after` knob: what a clear leaves behind, as module/after.c
 * does it. Timed is the read that follows a clear, of the extent itself (touch),
 * or of a buffer that was in the caches before the clear (victim). That one is
 * read by the CPU of the run, or by a thread on another.
 *
 * The two threads meet by two words, each the number of a read: `asked` is
 * written by the thread of the run, `answered` by the other.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "user_engine.h"

/* The buffer; NULL where none is asked for */
static struct {
	void *addr;
	unsigned long len;
	bool elsewhere;		/* read by @thread */
	pthread_t thread;
	atomic_uint asked;
	atomic_uint answered;
	atomic_bool stop;
	__u64 ticks;		/* of the last read */
	long disturbed;		/* in it */
} victim;

static void read_here(void)
{
	long before = user_disturbances();

	victim.ticks = user_time_read(victim.addr, victim.len);
	victim.disturbed = user_disturbances() - before;
}

static void *reader(void *arg)
{
	unsigned int asked, last = 0;

	(void)arg;
	while (!atomic_load_explicit(&victim.stop, memory_order_relaxed)) {
		asked = atomic_load_explicit(&victim.asked, memory_order_acquire);
		if (asked == last)
			continue;
		read_here();
		last = asked;
		atomic_store_explicit(&victim.answered, asked, memory_order_release);
	}
	return NULL;
}

/* One read of the victim, by its CPU */
static void read_victim(void)
{
	unsigned int number;

	if (!victim.elsewhere) {
		read_here();
		return;
	}
	number = atomic_load_explicit(&victim.asked, memory_order_relaxed) + 1;
	atomic_store_explicit(&victim.asked, number, memory_order_release);
	while (atomic_load_explicit(&victim.answered, memory_order_acquire) != number)
		;
}

/* user_after_prepare() - read the victim, if there is one, into cache */
void user_after_prepare(void)
{
	if (victim.addr)
		read_victim();
}

/**
 * user_after_read() - the read that is timed in place of the clear before it
 * @s: what was cleared
 * @disturbed: context switches and page faults in the read are added to it
 *
 * Return: the time, in ticks of user_clock().
 */
__u64 user_after_read(const struct user_sample *s, long *disturbed)
{
	long before;

	prim_drain();	/* the clear is through, stores past the caches as well */
	if (victim.addr) {
		read_victim();
		*disturbed += victim.disturbed;
		return victim.ticks;
	}
	before = user_disturbances();
	victim.ticks = user_time_read(s->addr, s->len);
	*disturbed += user_disturbances() - before;
	return victim.ticks;
}

static int start_reader(int cpu)
{
	size_t size = CPU_ALLOC_SIZE(cpu + 1);
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	pthread_attr_t attr;
	int ret;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	atomic_store(&victim.stop, false);
	atomic_store(&victim.asked, 0);
	atomic_store(&victim.answered, 0);
	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, size, set);
	ret = pthread_create(&victim.thread, &attr, reader, NULL);
	pthread_attr_destroy(&attr);
	CPU_FREE(set);
	return -ret;
}

/**
 * user_after_start() - prepare what a run reads
 * @config: its knobs
 * @cpu: that the calling thread is bound to
 *
 * Return: 0, -ENOMEM, or the error of pthread_create(): -EINVAL where this
 * process may not run on the CPU of the victim.
 */
int user_after_start(const struct user_config *config, int cpu)
{
	int ret = 0;

	if (config->after != CB_AFTER_VICTIM)
		return 0;
	victim.len = config->victim_kib << 10;
	victim.addr = user_huge_alloc(victim.len);
	if (!victim.addr)
		return -ENOMEM;
	/* Untouched, all of it would be one page of zeros. */
	user_poison(victim.addr, victim.len);
	victim.elsewhere = config->victim_cpu != USER_ANY && config->victim_cpu != cpu;
	if (victim.elsewhere)
		ret = start_reader(config->victim_cpu);
	if (ret) {
		victim.elsewhere = false;
		user_after_stop();
	}
	return ret;
}

/* user_after_stop() - end the thread, give the buffer back */
void user_after_stop(void)
{
	if (victim.elsewhere) {
		atomic_store(&victim.stop, true);
		pthread_join(victim.thread, NULL);
	}
	victim.elsewhere = false;
	free(victim.addr);
	victim.addr = NULL;
}
