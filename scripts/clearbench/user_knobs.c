// SPDX-License-Identifier: GPL-2.0
/*
 * User backend: the knobs, by the module's names and limits, as far as they
 * mean something in user space. Parsers work on a copy of the settings, so a
 * bad value leaves the old one in place.
 */
#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user_engine.h"

#define CPUS_MAX	8192
#define NODES_MAX	1024

/* Words of the module that need a kernel around them */
static const char *const kernel_methods[] = {
	"clear_page", "upstream", "v1", "contig", "user_highpages", "alloc_zero", NULL
};

static const char *const kernel_contexts[] = {
	"softirq", "spinlock", "rcu_spinlock", "irqoff", "hardirq", NULL
};

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(word, *words))
			return true;
	return false;
}

/* user_max_order() - of the largest extent, for the page size that there is */
unsigned int user_max_order(void)
{
	return CB_EXTENT_SHIFT_MAX - (fls64(sysconf(_SC_PAGESIZE)) - 1);
}

/**
 * user_batch_name() - the word for a batch, as the knob has it
 * @method: whose; "-" where the knob does not apply
 * @batch: pages, or USER_BATCH_FULL
 * @buf: room for a number
 */
const char *user_batch_name(const struct user_method *method, unsigned int batch, char buf[12])
{
	if (!method->batched)
		return "-";
	if (batch == USER_BATCH_FULL)
		return "full";
	snprintf(buf, 12, "%u", batch);
	return buf;
}

static int parse_u64(const char *text, __u64 min, __u64 max, __u64 *value)
{
	const char *digits = text + (*text == '-');
	__u64 v;

	if (!*digits || digits[strspn(digits, "0123456789")])
		return -EINVAL;
	errno = 0;
	v = strtoull(text, NULL, 10);
	/* a number below 0 is one, though out of range */
	if (errno || *text == '-' || v < min || v > max)
		return -ERANGE;
	*value = v;
	return 0;
}

/* Calls @item for every word of a comma separated list; none may come twice. */
static int parse_choice(struct user_choice *choice, char *text,
			int (*item)(const char *word, unsigned int *value))
{
	struct user_choice new = { .nr = 0 };
	unsigned int value, i;
	char *word;
	int ret;

	while ((word = strsep(&text, ","))) {
		word += strspn(word, " \t");
		word[strcspn(word, " \t")] = '\0';
		ret = item(word, &value);
		if (ret)
			return ret;
		for (i = 0; i < new.nr; i++)
			if (new.item[i] == value)
				return -EINVAL;
		if (new.nr == CB_LIST_MAX)
			return -ERANGE;
		new.item[new.nr++] = value;
	}
	*choice = new;
	return 0;
}

/* orders */

static int parse_orders(struct user_config *config, char *text)
{
	struct list orders;
	unsigned int i;
	int ret = list_parse(&orders, text);

	for (i = user_max_order() + 1; !ret && i < LIST_NUMBERS; i++)
		if (orders.in[i])
			ret = -ERANGE;
	if (!ret)
		config->orders = orders;
	return ret;
}

static void show_orders(FILE *to, const struct user_config *config)
{
	char *text = list_text(&config->orders);

	fputs(text, to);
	free(text);
}

static void legal_orders(FILE *to)
{
	fprintf(to, "orders and ranges such as 0-3,9; from 0 to %u", user_max_order());
}

/* methods */

static bool has_method(const struct user_method *method)
{
	return !method->available || method->available();
}

static int method_by_name(const char *word, unsigned int *value)
{
	unsigned int i;

	for (i = 0; i < user_nr_methods; i++) {
		if (strcmp(user_methods[i].name, word))
			continue;
		*value = i;
		return has_method(&user_methods[i]) ? 0 : -EDOM;
	}
	return is_one_of(word, kernel_methods) ? -EOPNOTSUPP : -EINVAL;
}

static int parse_methods(struct user_config *config, char *text)
{
	return parse_choice(&config->methods, text, method_by_name);
}

static void show_methods(FILE *to, const struct user_config *config)
{
	unsigned int i;

	for (i = 0; i < config->methods.nr; i++)
		fprintf(to, "%s%s", i ? "," : "", user_methods[config->methods.item[i]].name);
}

static void legal_methods(FILE *to)
{
	unsigned int i;

	fputs("a list, no name twice, of", to);
	for (i = 0; i < user_nr_methods; i++)
		if (has_method(&user_methods[i]))
			fprintf(to, " %s", user_methods[i].name);
}

/* contexts: a process has one */

static int parse_contexts(struct user_config *config, char *text)
{
	char *word;
	int ret = -EINVAL;

	(void)config;
	while ((word = strsep(&text, ","))) {
		if (is_one_of(word, kernel_contexts))
			return -EOPNOTSUPP;
		if (strcmp(word, "process") || !ret)
			return -EINVAL;
		ret = 0;
	}
	return ret;
}

static void show_contexts(FILE *to, const struct user_config *config)
{
	(void)config;
	fputs("process", to);
}

static void legal_contexts(FILE *to)
{
	fputs("process: the others are the kernel's, see --backend module", to);
}

/* batches */

static int batch_by_name(const char *word, unsigned int *value)
{
	__u64 pages;
	int ret;

	*value = USER_BATCH_FULL;
	if (!strcmp(word, "full"))
		return 0;
	if (!strcmp(word, "auto"))
		return -EOPNOTSUPP;
	ret = parse_u64(word, 1, CB_BATCH_MAX, &pages);
	if (!ret)
		*value = pages;
	return ret;
}

static int parse_batches(struct user_config *config, char *text)
{
	return parse_choice(&config->batches, text, batch_by_name);
}

static void show_batches(FILE *to, const struct user_config *config)
{
	unsigned int i;

	for (i = 0; i < config->batches.nr; i++) {
		fputs(i ? "," : "", to);
		if (config->batches.item[i] == USER_BATCH_FULL)
			fputs("full", to);
		else
			fprintf(to, "%u", config->batches.item[i]);
	}
}

static void legal_batches(FILE *to)
{
	fprintf(to, "at most %u, none twice, of: pages a call from 1 to %lu, full; auto is the kernel's rule for its own contexts",
		CB_LIST_MAX, CB_BATCH_MAX);
}

/* numbers and switches */

#define USER_NUMBER_KNOB(_name, _min, _max)				\
static int parse_##_name(struct user_config *config, char *text)	\
{									\
	return parse_u64(text, _min, _max, &config->_name);		\
}									\
static void show_##_name(FILE *to, const struct user_config *config)	\
{									\
	fprintf(to, "%llu", config->_name);				\
}									\
static void legal_##_name(FILE *to)					\
{									\
	fprintf(to, "a number from %llu to %llu", (__u64)(_min), (__u64)(_max)); \
}

USER_NUMBER_KNOB(samples, 1, CB_SAMPLES_MAX)
USER_NUMBER_KNOB(warmup, 0, CB_WARMUP_MAX)
USER_NUMBER_KNOB(extent_rounds, 1, CB_EXTENT_ROUNDS_MAX)
USER_NUMBER_KNOB(seed, 0, ~0ULL)

USER_NUMBER_KNOB(victim_kib, CB_VICTIM_KIB_MIN, CB_VICTIM_KIB_MAX)
USER_NUMBER_KNOB(until_s, 1, CB_UNTIL_S_MAX)
USER_NUMBER_KNOB(test_delay_ns, 0, CB_TEST_DELAY_NS_MAX)

/* until: per cent, kept in hundredths */

static int parse_until(struct user_config *config, char *text)
{
	int hundredths = cb_hundredths(text, CB_UNTIL_MAX);

	if (hundredths < 0)
		return hundredths == -1 ? -EINVAL : -ERANGE;
	config->until = hundredths;
	return 0;
}

static void show_until(FILE *to, const struct user_config *config)
{
	fprintf(to, "%llu.%02llu", config->until / 100, config->until % 100);
}

static void legal_until(FILE *to)
{
	fprintf(to, "0 for off, or per cent up to %u with two decimals at most",
		CB_UNTIL_MAX / 100);
}

#define USER_SWITCH_KNOB(_name)						\
static int parse_##_name(struct user_config *config, char *text)	\
{									\
	__u64 on;							\
	int ret = parse_u64(text, 0, 1, &on);				\
									\
	if (!ret)							\
		config->_name = on;					\
	return ret;							\
}									\
static void show_##_name(FILE *to, const struct user_config *config)	\
{									\
	fprintf(to, "%d", config->_name);				\
}

static void legal_switch(FILE *to)
{
	fputs("0 or 1", to);
}

USER_SWITCH_KNOB(drain)
USER_SWITCH_KNOB(verify)

static int parse_latency(struct user_config *config, char *text)
{
	const char *why;
	__u64 on;
	int ret = parse_u64(text, 0, 1, &on);

	if (!ret && on)
		ret = user_latency_check(config->cpu, &why);
	if (!ret)
		config->latency = on;
	return ret;
}

static void show_latency(FILE *to, const struct user_config *config)
{
	fprintf(to, "%d", config->latency);
}

static void legal_latency(FILE *to)
{
	const char *why;

	legal_switch(to);
	if (user_latency_check(USER_ANY, &why))
		fprintf(to, "; not 1 here: %s", why);
}

/* cpu, victim_cpu, nid: a word or a number, of those in a set */

/**
 * struct numbers - a set of CPUs or nodes
 * @in: which are in it
 */
struct numbers {
	bool in[CPUS_MAX];
};

static void find_cpus(struct numbers *cpus)
{
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	unsigned int i;

	memset(cpus, 0, sizeof(*cpus));
	if (set && !sched_getaffinity(0, size, set))
		for (i = 0; i < CPUS_MAX; i++)
			cpus->in[i] = CPU_ISSET_S(i, size, set);
	CPU_FREE(set);
}

static void find_nodes(struct numbers *nodes)
{
	char *text = read_line("/sys/devices/system/node/has_memory"), *at = text;

	memset(nodes, 0, sizeof(*nodes));
	nodes->in[0] = !text;	/* a kernel without NUMA */
	while (at && isdigit((unsigned char)*at)) {
		unsigned long first = strtoul(at, &at, 10), last = first;

		if (*at == '-')
			last = strtoul(at + 1, &at, 10);
		for (; first <= last && first < NODES_MAX; first++)
			nodes->in[first] = true;
		at += *at == ',';
	}
	free(text);
}

static void put_numbers(FILE *to, const struct numbers *n)
{
	const char *comma = "";
	unsigned int i, end;

	for (i = 0; i < CPUS_MAX; i = end + 1) {
		end = i;
		if (!n->in[i])
			continue;
		while (end + 1 < CPUS_MAX && n->in[end + 1])
			end++;
		fprintf(to, "%s%u", comma, i);
		if (end > i)
			fprintf(to, "-%u", end);
		comma = ",";
	}
}

static int parse_number(char *text, const char *word, void (*find)(struct numbers *n),
			unsigned int max, int *value)
{
	struct numbers n;
	__u64 number;
	int ret;

	if (!strcmp(text, word)) {
		*value = USER_ANY;
		return 0;
	}
	ret = parse_u64(text, 0, max - 1, &number);
	if (ret)
		return ret;
	find(&n);
	if (!n.in[number])
		return -EDOM;
	*value = number;
	return 0;
}

static void show_number(FILE *to, const char *word, int value)
{
	if (value == USER_ANY)
		fputs(word, to);
	else
		fprintf(to, "%d", value);
}

static int parse_cpu(struct user_config *config, char *text)
{
	return parse_number(text, "any", find_cpus, CPUS_MAX, &config->cpu);
}

static void show_cpu(FILE *to, const struct user_config *config)
{
	show_number(to, "any", config->cpu);
}

static void legal_cpu(FILE *to)
{
	struct numbers cpus;

	find_cpus(&cpus);
	fputs("any, or a CPU that this process may run on: ", to);
	put_numbers(to, &cpus);
}

static int parse_victim_cpu(struct user_config *config, char *text)
{
	return parse_number(text, "same", find_cpus, CPUS_MAX, &config->victim_cpu);
}

static void show_victim_cpu(FILE *to, const struct user_config *config)
{
	show_number(to, "same", config->victim_cpu);
}

static void legal_victim_cpu(FILE *to)
{
	struct numbers cpus;

	find_cpus(&cpus);
	fputs("same, or a CPU that this process may run on: ", to);
	put_numbers(to, &cpus);
}

static int parse_nid(struct user_config *config, char *text)
{
	return parse_number(text, "any", find_nodes, NODES_MAX, &config->nid);
}

static void show_nid(FILE *to, const struct user_config *config)
{
	show_number(to, "any", config->nid);
}

static void legal_nid(FILE *to)
{
	struct numbers nodes;

	find_nodes(&nodes);
	fputs("any, or a node that has memory: ", to);
	put_numbers(to, &nodes);
}

/*
 * cache: there is no `fresh`. The first touch of a page is a fault, and in it
 * the kernel clears the page: the figure would be that fault's.
 */

static int parse_cache(struct user_config *config, char *text)
{
	if (!strcmp(text, "fresh"))
		return -EOPNOTSUPP;
	if (strcmp(text, "cold") && strcmp(text, "warm"))
		return -EINVAL;
	config->warm = !strcmp(text, "warm");
	return 0;
}

static void show_cache(FILE *to, const struct user_config *config)
{
	fputs(config->warm ? "warm" : "cold", to);
}

static void legal_cache(FILE *to)
{
	fputs("cold or warm; of fresh memory the kernel's page fault and its own clear would be in the figure",
	      to);
}

/* after */

static const char *const after_names[] = { CB_AFTER_NAMES };

static int parse_after(struct user_config *config, char *text)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(after_names); i++) {
		if (strcmp(text, after_names[i]))
			continue;
		config->after = i;
		return 0;
	}
	return -EINVAL;
}

static void show_after(FILE *to, const struct user_config *config)
{
	fputs(after_names[config->after], to);
}

static void legal_after(FILE *to)
{
	fputs("none, touch or victim", to);
}

#define USER_KNOB(_name)	USER_KNOB_LEGAL(_name, legal_##_name)
#define USER_KNOB_LEGAL(_name, _legal)	{ #_name, parse_##_name, show_##_name, _legal }

const struct user_knob user_knobs[] = {
	USER_KNOB(orders),
	USER_KNOB(methods),
	USER_KNOB(batches),
	USER_KNOB(contexts),
	USER_KNOB(samples),
	USER_KNOB(warmup),
	USER_KNOB(seed),
	USER_KNOB(extent_rounds),
	USER_KNOB(until),
	USER_KNOB(until_s),
	USER_KNOB(cpu),
	USER_KNOB(nid),
	USER_KNOB(cache),
	USER_KNOB_LEGAL(drain, legal_switch),
	USER_KNOB(after),
	USER_KNOB(victim_kib),
	USER_KNOB(victim_cpu),
	USER_KNOB_LEGAL(verify, legal_switch),
	USER_KNOB(latency),
	USER_KNOB(test_delay_ns),
};

const unsigned int user_nr_knobs = ARRAY_SIZE(user_knobs);

/*
 * user_config_init() - the module's defaults; orders to 10, which is its
 * MAX_PAGE_ORDER on most kernels
 */
void user_config_init(struct user_config *config)
{
	char orders[] = "0-10", methods[] = "legacy,batched";

	*config = (struct user_config) {
		.batches = { .nr = 1, .item = { USER_BATCH_FULL } },
		.samples = 100,
		.warmup = 5,
		.extent_rounds = 10,
		.until_s = 60,
		.seed = 1,
		.cpu = USER_ANY,
		.nid = USER_ANY,
		.victim_kib = 256,
		.victim_cpu = USER_ANY,
		.verify = true,
	};
	parse_orders(config, orders);
	parse_methods(config, methods);
}
