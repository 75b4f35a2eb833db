// SPDX-License-Identifier: GPL-2.0
/*
 * The knobs: what a user may ask for. A knob is a row of cb_knobs[] with a
 * parser, a printer and a sentence that says what is legal. Parsers work on a
 * copy of the settings, so a bad value leaves the old one in place.
 */
#include <linux/bitmap.h>
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/nodemask.h>
#include <linux/string.h>

#include "clearbench.h"

static const char * const cache_names[] = {
	[CB_COLD] = "cold",
	[CB_WARM] = "warm",
	[CB_FRESH] = "fresh",
};

const char *cb_cache_name(enum cb_cache cache)
{
	return cache_names[cache];
}

static const char * const after_names[] = { CB_AFTER_NAMES };

const char *cb_after_name(enum cb_after after)
{
	return after_names[after];
}

/**
 * cb_batch_name() - the word for a batch, as the knob has it
 * @batch: pages, or CB_BATCH_FULL, CB_BATCH_AUTO
 * @buf: room for a number
 */
const char *cb_batch_name(unsigned int batch, char buf[12])
{
	if (batch == CB_BATCH_FULL)
		return "full";
	if (batch == CB_BATCH_AUTO)
		return "auto";
	snprintf(buf, 12, "%u", batch);
	return buf;
}

static int parse_u64(const char *text, u64 min, u64 max, u64 *value)
{
	u64 v;
	int ret = kstrtou64(text, 10, &v);

	if (ret) {	/* a number below 0 is one, though out of range */
		s64 negative;

		return kstrtos64(text, 10, &negative) ? ret : -ERANGE;
	}
	if (v < min || v > max)
		return -ERANGE;
	*value = v;
	return 0;
}

/* Calls @item for every word of a comma separated list; none may be empty. */
static int parse_list(struct cb_list *list, char *text,
		      int (*item)(const char *word, unsigned int *value))
{
	struct cb_list new = { };
	unsigned int i;
	char *word;

	while ((word = strsep(&text, ","))) {
		unsigned int value;
		int ret = item(strim(word), &value);

		if (ret)
			return ret;
		for (i = 0; i < new.nr; i++)
			if (new.item[i] == value)
				return -EINVAL;
		if (new.nr == CB_LIST_MAX)
			return -ERANGE;
		new.item[new.nr++] = value;
	}
	*list = new;
	return 0;
}

/* orders */

static int parse_orders(struct cb_config *config, char *text)
{
	DECLARE_BITMAP(orders, CB_ORDERS) = { };
	int ret = bitmap_parselist(text, orders, CB_ORDER_MAX + 1);

	if (ret)
		return ret == -ERANGE || ret == -EOVERFLOW ? -ERANGE : -EINVAL;
	if (bitmap_empty(orders, CB_ORDERS))
		return -EINVAL;
	bitmap_copy(config->orders, orders, CB_ORDERS);
	return 0;
}

static void show_orders(struct seq_file *m, const struct cb_config *config)
{
	seq_printf(m, "%*pbl\n", CB_ORDERS, config->orders);
}

static void legal_orders(char *buf, size_t size)
{
	snprintf(buf, size, "orders and ranges such as 0-3,9; from 0 to %d (MAX_PAGE_ORDER is %d)",
		 CB_ORDER_MAX, MAX_PAGE_ORDER);
}

/* methods */

static int method_by_name(const char *word, unsigned int *value)
{
	unsigned int i;

	for (i = 0; i < cb_nr_methods; i++) {
		if (strcmp(cb_methods[i].name, word))
			continue;
		*value = i;
		return cb_methods[i].unavailable && cb_methods[i].unavailable() ?
		       -EDOM : 0;
	}
	return -EINVAL;
}

static int parse_methods(struct cb_config *config, char *text)
{
	return parse_list(&config->methods, text, method_by_name);
}

static void show_methods(struct seq_file *m, const struct cb_config *config)
{
	unsigned int i;

	for (i = 0; i < config->methods.nr; i++)
		seq_printf(m, "%s%s", i ? "," : "",
			   cb_methods[config->methods.item[i]].name);
	seq_putc(m, '\n');
}

static void legal_methods(char *buf, size_t size)
{
	unsigned int i, len = snprintf(buf, size, "a list, no name twice, of");

	for (i = 0; i < cb_nr_methods; i++)
		if (!cb_methods[i].unavailable || !cb_methods[i].unavailable())
			len += scnprintf(buf + len, size - len, " %s", cb_methods[i].name);
}

/* contexts */

static int context_by_name(const char *word, unsigned int *value)
{
	unsigned int i;

	for (i = 0; i < cb_nr_contexts; i++) {
		if (strcmp(cb_contexts[i].name, word))
			continue;
		*value = i;
		return cb_contexts[i].unavailable && cb_contexts[i].unavailable() ?
		       -EDOM : 0;
	}
	return -EINVAL;
}

static int parse_contexts(struct cb_config *config, char *text)
{
	return parse_list(&config->contexts, text, context_by_name);
}

static void show_contexts(struct seq_file *m, const struct cb_config *config)
{
	unsigned int i;

	for (i = 0; i < config->contexts.nr; i++)
		seq_printf(m, "%s%s", i ? "," : "",
			   cb_contexts[config->contexts.item[i]].name);
	seq_putc(m, '\n');
}

static void legal_contexts(char *buf, size_t size)
{
	unsigned int i, len = snprintf(buf, size, "a list, no name twice, of");

	for (i = 0; i < cb_nr_contexts; i++)
		if (!cb_contexts[i].unavailable || !cb_contexts[i].unavailable())
			len += scnprintf(buf + len, size - len, " %s", cb_contexts[i].name);
}

/* batches */

static int batch_by_name(const char *word, unsigned int *value)
{
	u64 pages;
	int ret;

	if (!strcmp(word, "full")) {
		*value = CB_BATCH_FULL;
		return 0;
	}
	if (!strcmp(word, "auto")) {
		*value = CB_BATCH_AUTO;
		return 0;
	}
	ret = parse_u64(word, 1, CB_BATCH_MAX, &pages);
	if (!ret)
		*value = pages;
	return ret;
}

static int parse_batches(struct cb_config *config, char *text)
{
	return parse_list(&config->batches, text, batch_by_name);
}

static void show_batches(struct seq_file *m, const struct cb_config *config)
{
	unsigned int i;
	char buf[12];

	for (i = 0; i < config->batches.nr; i++)
		seq_printf(m, "%s%s", i ? "," : "",
			   cb_batch_name(config->batches.item[i], buf));
	seq_putc(m, '\n');
}

static void legal_batches(char *buf, size_t size)
{
	snprintf(buf, size, "at most %u, none twice, of: pages a call from 1 to %lu, full, auto",
		 CB_LIST_MAX, CB_BATCH_MAX);
}

/* numbers */

#define CB_NUMBER_KNOB(_name, _min, _max)					\
static int parse_##_name(struct cb_config *config, char *text)			\
{										\
	return parse_u64(text, _min, _max, &config->_name);			\
}										\
static void show_##_name(struct seq_file *m, const struct cb_config *config)	\
{										\
	seq_printf(m, "%llu\n", config->_name);					\
}										\
static void legal_##_name(char *buf, size_t size)				\
{										\
	snprintf(buf, size, "a number from %llu to %llu",			\
		 (u64)(_min), (u64)(_max));					\
}

CB_NUMBER_KNOB(samples, 1, CB_SAMPLES_MAX)
CB_NUMBER_KNOB(warmup, 0, CB_WARMUP_MAX)
CB_NUMBER_KNOB(extent_rounds, 1, CB_EXTENT_ROUNDS_MAX)
CB_NUMBER_KNOB(seed, 0, U64_MAX)

CB_NUMBER_KNOB(victim_kib, CB_VICTIM_KIB_MIN, CB_VICTIM_KIB_MAX)
CB_NUMBER_KNOB(until_s, 1, CB_UNTIL_S_MAX)
CB_NUMBER_KNOB(test_delay_ns, 0, CB_TEST_DELAY_NS_MAX)

/* until: per cent, kept in hundredths */

static int parse_until(struct cb_config *config, char *text)
{
	int hundredths = cb_hundredths(text, CB_UNTIL_MAX);

	if (hundredths < 0)
		return hundredths == -1 ? -EINVAL : -ERANGE;
	config->until = hundredths;
	return 0;
}

static void show_until(struct seq_file *m, const struct cb_config *config)
{
	seq_printf(m, "%llu.%02llu\n", config->until / 100, config->until % 100);
}

static void legal_until(char *buf, size_t size)
{
	snprintf(buf, size, "0 for off, or per cent up to %u with two decimals at most",
		 CB_UNTIL_MAX / 100);
}

/* switches */

#define CB_SWITCH_KNOB(_name)							\
static int parse_##_name(struct cb_config *config, char *text)			\
{										\
	u64 on;									\
	int ret = parse_u64(text, 0, 1, &on);					\
										\
	if (!ret)								\
		config->_name = on;						\
	return ret;								\
}										\
static void show_##_name(struct seq_file *m, const struct cb_config *config)	\
{										\
	seq_printf(m, "%d\n", config->_name);					\
}

static void legal_switch(char *buf, size_t size)
{
	strscpy(buf, "0 or 1", size);
}

CB_SWITCH_KNOB(drain)
CB_SWITCH_KNOB(verify)
CB_SWITCH_KNOB(latency)
CB_SWITCH_KNOB(unsafe)
#ifdef CONFIG_HIGHMEM
CB_SWITCH_KNOB(highmem)
#endif

/* force_preempt: at once, for it is needed before a run */

static int parse_force_preempt(struct cb_config *config, char *text)
{
	u64 on;
	int ret = parse_u64(text, 0, 1, &on);

	if (!ret)
		ret = cb_force_preempt(on);
	if (!ret)
		config->force_preempt = on;
	return ret;
}

static void show_force_preempt(struct seq_file *m, const struct cb_config *config)
{
	seq_printf(m, "%d\n", config->force_preempt);
}

static void legal_force_preempt(char *buf, size_t size)
{
	strscpy(buf, "0; or 1, with kretprobes and PREEMPT_DYNAMIC, not on PREEMPT_RT", size);
}

/* cpu, victim_cpu, nid */

static int parse_cpu_or(char *text, const char *word, int *value)
{
	u64 cpu;
	int ret;

	if (!strcmp(text, word)) {
		*value = -1;
		return 0;
	}
	ret = parse_u64(text, 0, nr_cpu_ids - 1, &cpu);
	if (ret)
		return ret;
	if (!cpu_online(cpu))
		return -EDOM;
	*value = cpu;
	return 0;
}

static int parse_cpu(struct cb_config *config, char *text)
{
	return parse_cpu_or(text, "any", &config->cpu);
}

static void show_cpu(struct seq_file *m, const struct cb_config *config)
{
	if (config->cpu < 0)
		seq_puts(m, "any\n");
	else
		seq_printf(m, "%d\n", config->cpu);
}

static void legal_cpu(char *buf, size_t size)
{
	snprintf(buf, size, "any, or a CPU that is online: %*pbl",
		 cpumask_pr_args(cpu_online_mask));
}

static int parse_victim_cpu(struct cb_config *config, char *text)
{
	return parse_cpu_or(text, "same", &config->victim_cpu);
}

static void show_victim_cpu(struct seq_file *m, const struct cb_config *config)
{
	if (config->victim_cpu < 0)
		seq_puts(m, "same\n");
	else
		seq_printf(m, "%d\n", config->victim_cpu);
}

static void legal_victim_cpu(char *buf, size_t size)
{
	snprintf(buf, size, "same, or a CPU that is online: %*pbl",
		 cpumask_pr_args(cpu_online_mask));
}

static int parse_nid(struct cb_config *config, char *text)
{
	u64 nid;
	int ret;

	if (!strcmp(text, "any")) {
		config->nid = NUMA_NO_NODE;
		return 0;
	}
	ret = parse_u64(text, 0, MAX_NUMNODES - 1, &nid);
	if (ret)
		return ret;
	if (!node_state(nid, N_MEMORY))
		return -EDOM;
	config->nid = nid;
	return 0;
}

static void show_nid(struct seq_file *m, const struct cb_config *config)
{
	if (config->nid == NUMA_NO_NODE)
		seq_puts(m, "any\n");
	else
		seq_printf(m, "%d\n", config->nid);
}

static void legal_nid(char *buf, size_t size)
{
	snprintf(buf, size, "any, or a node that has memory: %*pbl",
		 nodemask_pr_args(&node_states[N_MEMORY]));
}

/* load */

static int parse_load(struct cb_config *config, char *text)
{
	u64 load;
	int ret = parse_u64(text, 0, nr_cpu_ids - 1, &load);

	if (ret)
		return ret;
	if (load >= num_online_cpus())
		return -EDOM;
	config->load = load;
	return 0;
}

static void show_load(struct seq_file *m, const struct cb_config *config)
{
	seq_printf(m, "%llu\n", config->load);
}

static void legal_load(char *buf, size_t size)
{
	snprintf(buf, size, "a number of other CPUs that are online, from 0 to %u",
		 num_online_cpus() - 1);
}

/* cache */

static int parse_cache(struct cb_config *config, char *text)
{
	int i = match_string(cache_names, ARRAY_SIZE(cache_names), text);

	if (i < 0)
		return -EINVAL;
	config->cache = i;
	return 0;
}

static void show_cache(struct seq_file *m, const struct cb_config *config)
{
	seq_printf(m, "%s\n", cache_names[config->cache]);
}

static void legal_cache(char *buf, size_t size)
{
	strscpy(buf, "cold, warm or fresh", size);
}

/* after */

static int parse_after(struct cb_config *config, char *text)
{
	int i = match_string(after_names, ARRAY_SIZE(after_names), text);

	if (i < 0)
		return -EINVAL;
	config->after = i;
	return 0;
}

static void show_after(struct seq_file *m, const struct cb_config *config)
{
	seq_printf(m, "%s\n", after_names[config->after]);
}

static void legal_after(char *buf, size_t size)
{
	strscpy(buf, "none, touch or victim", size);
}

#define CB_KNOB(_name)		CB_KNOB_LEGAL(_name, legal_##_name)
#define CB_KNOB_LEGAL(_name, _legal)						\
	{ #_name, parse_##_name, show_##_name, _legal }

const struct cb_knob cb_knobs[] = {
	CB_KNOB(orders),
	CB_KNOB(methods),
	CB_KNOB(batches),
	CB_KNOB(contexts),
	CB_KNOB(samples),
	CB_KNOB(warmup),
	CB_KNOB(seed),
	CB_KNOB(extent_rounds),
	CB_KNOB(until),
	CB_KNOB(until_s),
	CB_KNOB(cpu),
	CB_KNOB(nid),
	CB_KNOB(load),
	CB_KNOB(cache),
	CB_KNOB_LEGAL(drain, legal_switch),
	CB_KNOB(after),
	CB_KNOB(victim_kib),
	CB_KNOB(victim_cpu),
	CB_KNOB_LEGAL(verify, legal_switch),
	CB_KNOB_LEGAL(latency, legal_switch),
	CB_KNOB(force_preempt),
	CB_KNOB_LEGAL(unsafe, legal_switch),
#ifdef CONFIG_HIGHMEM
	CB_KNOB_LEGAL(highmem, legal_switch),
#endif
	CB_KNOB(test_delay_ns),
};

const unsigned int cb_nr_knobs = ARRAY_SIZE(cb_knobs);

/* cb_config_init() - the defaults */
void cb_config_init(struct cb_config *config)
{
	char methods[] = "legacy,batched";
	char contexts[] = "process,softirq,spinlock";

	*config = (struct cb_config) {
		.batches = { .nr = 1, .item = { CB_BATCH_FULL } },
		.samples = 100,
		.warmup = 5,
		.extent_rounds = 10,
		.until_s = 60,
		.seed = 1,
		.cpu = -1,
		.nid = NUMA_NO_NODE,
		.cache = CB_COLD,
		.victim_kib = 256,
		.victim_cpu = -1,
		.verify = true,
	};
	bitmap_set(config->orders, 0, MAX_PAGE_ORDER + 1);
	parse_methods(config, methods);
	parse_contexts(config, contexts);
}
