// SPDX-License-Identifier: GPL-2.0
/*
 * What a figure depends on: the `info` file.
 */
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/kfence.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/panic.h>
#include <linux/string.h>
#include <linux/utsname.h>
#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)
#include <asm/cpufeature.h>
#endif

#include "clearbench.h"

#define WORDS_LEN	256

static void add_word(char words[WORDS_LEN], const char *word)
{
	size_t len = strlen(words);

	scnprintf(words + len, WORDS_LEN - len, "%s%s", len ? " " : "", word);
}

/* Options that change what a clear, or a timed window, costs on this kernel */
static void list_distortions(char words[WORDS_LEN])
{
	static const struct {
		const char *name;
		bool on;
	} built_in[] = {
		{ "KASAN", IS_ENABLED(CONFIG_KASAN) },
		{ "KMSAN", IS_ENABLED(CONFIG_KMSAN) },
		{ "KCSAN", IS_ENABLED(CONFIG_KCSAN) },
		{ "lockdep", IS_ENABLED(CONFIG_LOCKDEP) },
		{ "DEBUG_ATOMIC_SLEEP", IS_ENABLED(CONFIG_DEBUG_ATOMIC_SLEEP) },
		{ "DEBUG_PREEMPT", IS_ENABLED(CONFIG_DEBUG_PREEMPT) },
		{ "DEBUG_VM", IS_ENABLED(CONFIG_DEBUG_VM) },
		{ "DEBUG_OBJECTS", IS_ENABLED(CONFIG_DEBUG_OBJECTS) },
		{ "DEBUG_KMEMLEAK", IS_ENABLED(CONFIG_DEBUG_KMEMLEAK) },
		{ "GCOV", IS_ENABLED(CONFIG_GCOV_KERNEL) },
		{ "KCOV", IS_ENABLED(CONFIG_KCOV) },
	};
	unsigned int i;

	words[0] = '\0';
	for (i = 0; i < ARRAY_SIZE(built_in); i++)
		if (built_in[i].on)
			add_word(words, built_in[i].name);
#ifdef CONFIG_KFENCE
	if (kfence_sample_interval)
		add_word(words, "KFENCE");
#endif
	if (page_poisoning_enabled_static())
		add_word(words, "page_poison");
	if (debug_pagealloc_enabled())
		add_word(words, "debug_pagealloc");
}

/* What clear_page() is on this CPU */
static const char *clear_page_alternative(void)
{
	if (IS_ENABLED(CONFIG_UML) || IS_ENABLED(CONFIG_X86_32))
		return "memset";
#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)
	if (boot_cpu_has(X86_FEATURE_ERMS))
		return "stosb";
	return boot_cpu_has(X86_FEATURE_REP_GOOD) ? "stosq" : "unrolled";
#else
	return "arch";
#endif
}

/* Whether the extents of the last run were in highmem, and from which page on */
static void put_highmem(struct seq_file *m)
{
	u64 in_highmem = 0, n = 0;
	unsigned int i;

	for (i = 0; i < cb_run.nr_done; i++) {
		in_highmem += cb_run.cells[i].in_highmem;
		n += cb_run.cells[i].clear->count;
	}
	if (n)
		seq_printf(m, "last_run_highmem: %llu of %llu samples, lowest page %lu\n",
			   in_highmem, n, cb_run.lowest_pfn);
}

static unsigned long taint(void)
{
	unsigned long mask = 0;
	unsigned int i;

	for (i = 0; i < TAINT_FLAGS_COUNT; i++)
		mask |= test_taint(i) ? BIT(i) : 0;
	return mask;
}

/* What the latency probe saw by itself: median, 99th percentile, maximum */
static void put_idle(struct seq_file *m, const char *what, const struct hist *h)
{
	if (h && h->count)
		seq_printf(m, "latency_idle_%s_ns: %llu %llu %llu\n", what,
			   div_u64(hist_quantile(h, 500), HIST_MILLI),
			   div_u64(hist_quantile(h, 990), HIST_MILLI), h->max);
}

static void put_tenths(struct seq_file *m, const char *key, const char *what, u64 tenths)
{
	u32 rest;
	u64 whole = div_u64_rem(tenths, 10, &rest);

	seq_printf(m, "%s%s: %llu.%u\n", key, what, whole, rest);
}

/* cb_info_show() - print the environment, a `key: value` a line */
void cb_info_show(struct seq_file *m)
{
	char distorts[WORDS_LEN], marks[WORDS_LEN] = "", model[49], buf[16];
	const char *vendor = prim_hypervisor(buf);
	unsigned int i;

	list_distortions(distorts);
	if (!strcmp(vendor, "TCG"))
		add_word(marks, "emulated");
	else if (strcmp(vendor, "none") && strcmp(vendor, "unknown"))
		add_word(marks, "guest");
	if (IS_ENABLED(CONFIG_UML))
		add_word(marks, "um");
	if (distorts[0])
		add_word(marks, "distorted");
	if (cb_preempt_forced())
		add_word(marks, "forced");

	seq_printf(m, "clearbench: %s\n", CB_VERSION);
	seq_puts(m, "format: 1\n");
	seq_printf(m, "kernel: %s %s\n", init_utsname()->release, init_utsname()->version);
	seq_printf(m, "machine: %s\n", init_utsname()->machine);
	seq_printf(m, "tested: %s\n", CB_UNTESTED ? "no, newer than " CB_NEWEST_TESTED : "yes");
	seq_printf(m, "preempt: %s%s\n", cb_preempt_model(), cb_preempt_forced() ? "!" : "");
	seq_printf(m, "page_size: %lu\n", PAGE_SIZE);
	seq_printf(m, "max_page_order: %d\n", MAX_PAGE_ORDER);
	seq_printf(m, "max_order: %d\n", CB_ORDER_MAX);
	seq_printf(m, "large_orders_by: %s\n", CB_LARGE_ORDERS_BY);
	seq_printf(m, "process_pages_non_preempt_batch: %lu\n",
		   (unsigned long)PROCESS_PAGES_NON_PREEMPT_BATCH);
	seq_printf(m, "clear_pages: %s\n", CB_CLEAR_PAGES);
	seq_printf(m, "clear_page: %s\n", clear_page_alternative());
	cb_clock_show(m);
	for (i = 0; i < cb_nr_contexts; i++)
		put_tenths(m, "clock_ns_", cb_contexts[i].name, cb_contexts[i].clock_ns);
	put_tenths(m, "clock_read_ns", "", cb_clock_read_tenths);
	seq_printf(m, "init_on_alloc: %d\n", want_init_on_alloc(0));
	seq_printf(m, "init_on_free: %d\n", want_init_on_free());
	seq_printf(m, "distorts: %s\n", distorts[0] ? distorts : "none");
	if (IS_ENABLED(CONFIG_UML) && strcmp(vendor, "none"))
		seq_printf(m, "hypervisor: um on %s\n", vendor);
	else
		seq_printf(m, "hypervisor: %s\n", IS_ENABLED(CONFIG_UML) ? "um" : vendor);
	seq_printf(m, "marks: %s\n", marks[0] ? marks : "none");
	seq_printf(m, "taint: 0x%lx\n", taint());
	seq_printf(m, "llc_bytes: %llu\n", cb_llc_bytes());
	seq_printf(m, "cold_by: %s\n", cb_state_how());
	seq_printf(m, "atomic_limit_ms: %u\n", cb_atomic_limit_ms);
	seq_printf(m, "hist_limit_mib: %llu\n", cb_hist_limit() >> 20);
	prim_cpu_model(model);
	if (model[0])
		seq_printf(m, "cpu_model: %s\n", strim(model));
	mutex_lock(&cb_run.lock);
	if (cb_run.wall_ns && !cb_run.running) {
		seq_printf(m, "last_run_ms: %llu\n", div_u64(cb_run.wall_ns, NSEC_PER_MSEC));
		put_tenths(m, "last_run_duty_percent", "",
			   div64_u64(cb_run.busy_ns * 1000, cb_run.wall_ns));
		if (IS_ENABLED(CONFIG_HIGHMEM))
			put_highmem(m);
	}
	if (cb_run.idle.irq && !cb_run.running) {
		put_idle(m, "irq", cb_run.idle.irq);
		put_idle(m, "fifo", cb_run.idle.fifo);
		put_idle(m, "normal", cb_run.idle.normal);
		seq_printf(m, "latency_arm_ns: %llu\n", cb_run.arm_ns);
	}
	mutex_unlock(&cb_run.lock);
}
