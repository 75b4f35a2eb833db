// SPDX-License-Identifier: GPL-2.0
/*
 * The `load` knob: other CPUs that clear memory of their own meanwhile, so that
 * the cells are measured on a machine whose memory is as busy as asked for.
 */
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/log2.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "clearbench.h"

/*
 * What each of them goes round in. Larger than a core's share of the last level
 * cache, so that it is the memory that they keep busy. In blocks of 4 MiB, or of
 * the largest order where that is less: with pages of 64 KiB one of that order
 * is 512 MiB, for each of the CPUs.
 */
#define LOAD_BYTES		SZ_32M
#define LOAD_ORDER		min_t(unsigned int, MAX_PAGE_ORDER, ilog2(SZ_4M) - PAGE_SHIFT)
#define LOAD_BLOCKS		(LOAD_BYTES >> (PAGE_SHIFT + LOAD_ORDER))

/**
 * struct load_cpu - one CPU of the load
 * @task: its thread; NULL once it has none
 * @cpu: where that is bound
 * @block: what it clears
 * @nr: of @block
 * @started: it has been through its memory once
 */
struct load_cpu {
	struct task_struct *task;
	int cpu;
	struct page **block;
	unsigned int nr;
	struct completion started;
};

static struct load_cpu *load_cpus;
static unsigned int nr_load_cpus;

static int load_thread(void *arg)
{
	struct load_cpu *l = arg;
	unsigned int i;

	while (!kthread_should_stop()) {
		for (i = 0; i < l->nr && !kthread_should_stop(); i++) {
			clear_pages(page_address(l->block[i]), 1U << LOAD_ORDER);
			cond_resched();
		}
		complete(&l->started);
		if (raw_smp_processor_id() != l->cpu && !READ_ONCE(cb_run.stop)) {
			cb_run.stop_reason = "a CPU of the load went offline";
			WRITE_ONCE(cb_run.stop, true);
		}
	}
	return 0;
}

static int start_cpu(struct load_cpu *l, int cpu)
{
	l->cpu = cpu;
	init_completion(&l->started);
	l->block = kcalloc(LOAD_BLOCKS, sizeof(*l->block), GFP_KERNEL);
	if (!l->block)
		return -ENOMEM;
	for (; l->nr < LOAD_BLOCKS; l->nr++) {
		/* On its own node, or near to it: not all on that of the writer */
		l->block[l->nr] = alloc_pages_node(cpu_to_node(cpu), GFP_KERNEL | __GFP_NOWARN |
						   __GFP_NORETRY, LOAD_ORDER);
		if (!l->block[l->nr])
			return -ENOMEM;
	}
	l->task = kthread_create_on_node(load_thread, l, cpu_to_node(cpu), CB_NAME "_load/%d", cpu);
	if (IS_ERR(l->task)) {
		int ret = PTR_ERR(l->task);

		l->task = NULL;
		return ret;
	}
	kthread_bind(l->task, cpu);
	wake_up_process(l->task);
	return 0;
}

/* cb_load_stop() - end the load and give its memory back. Process context. */
void cb_load_stop(void)
{
	struct load_cpu *l;

	for (l = load_cpus; l < load_cpus + nr_load_cpus; l++) {
		if (l->task)
			kthread_stop(l->task);
		while (l->nr)
			__free_pages(l->block[--l->nr], LOAD_ORDER);
		kfree(l->block);
	}
	kfree(load_cpus);
	load_cpus = NULL;
	nr_load_cpus = 0;
}

/**
 * cb_load_start() - put other CPUs to clearing
 * @nr: how many; 0 for none
 * @cpu: the CPU of the run, which is left alone
 *
 * Returns when each has been through its memory once. Process context.
 *
 * Return: 0; -EDOM if fewer CPUs are online, -ENOMEM if one would have no
 * memory to clear, the error of a thread that could not be started. Nothing is
 * left running then.
 */
int cb_load_start(unsigned int nr, int cpu)
{
	unsigned int i;
	int other, ret = 0;

	if (!nr)
		return 0;
	load_cpus = kcalloc(nr, sizeof(*load_cpus), GFP_KERNEL);
	if (!load_cpus)
		return -ENOMEM;
	for_each_online_cpu(other) {
		if (other == cpu || nr_load_cpus == nr)
			continue;
		ret = start_cpu(&load_cpus[nr_load_cpus++], other);
		if (ret)
			break;
	}
	if (!ret && nr_load_cpus < nr)
		ret = -EDOM;
	for (i = 0; !ret && i < nr; i++)
		wait_for_completion(&load_cpus[i].started);
	if (ret)
		cb_load_stop();
	return ret;
}
