// SPDX-License-Identifier: GPL-2.0
/*
 * What bends the figures, in words that a person can act on.
 */
#include <stdlib.h>
#include <string.h>

#include "clearbench.h"

struct words {
	const char *name;
	const char *words;
};

static const struct words mark_words[] = {
	{ "emulated", "EMULATED (TCG): proves that the code works, says nothing about speed" },
	{ "user", "USER SPACE: the primitives on memory of a process, no code of the kernel" },
	{ "guest", "GUEST: under a hypervisor, whose noise and page tables are in the figures" },
	{ "um", "UM: User Mode Linux: the clearing runs natively, interrupts and faults do not" },
	{ "distorted", "DISTORTED: debug options of this kernel are in the figures" },
	{ "forced", "FORCED: a preemption model that this kernel does not offer was forced on it" },
};

void list_marks(const json_t *marks, sentence_fn fn, void *arg)
{
	unsigned int i, k;

	for (i = 0; i < json_array_size(marks); i++) {
		const char *mark = json_string_value(json_array_get(marks, i));

		for (k = 0; mark && k < ARRAY_SIZE(mark_words); k++)
			if (!strcmp(mark, mark_words[k].name))
				break;
		if (mark)
			fn(arg, k < ARRAY_SIZE(mark_words) ? mark_words[k].words : mark);
	}
}

bool has_mark(const json_t *marks, const char *mark)
{
	unsigned int i;

	for (i = 0; i < json_array_size(marks); i++) {
		const char *has = json_string_value(json_array_get(marks, i));

		if (has && !strcmp(has, mark))
			return true;
	}
	return false;
}

/* Debug options that the module names: what each does to a clear. */
static const struct words options[] = {
	{ "KASAN", "poisons and checks memory at every allocation" },
	{ "KMSAN", "shadows every store" },
	{ "KCSAN", "watches memory accesses" },
	{ "lockdep", "adds its own work to every lock" },
	{ "DEBUG_PREEMPT", "checks every per-CPU access" },
	{ "DEBUG_ATOMIC_SLEEP", "checks every resched point" },
	{ "page_poison", "writes freed pages, which warms or evicts them" },
	{ "debug_pagealloc", "unmaps freed pages and splits the direct map" },
	{ "page_owner", "takes a stack trace at every allocation" },
	{ "KFENCE", "diverts a sample of the slab's allocations" },
};

static void debug_options(const char *list, sentence_fn fn, void *arg)
{
	char *copy = xstrdup(list), *name, *at;

	for (name = strtok_r(copy, " ,", &at); name; name = strtok_r(NULL, " ,", &at)) {
		const char *words = "costs time that other kernels do not spend";
		char *text;
		unsigned int i;

		if (!strcmp(name, "none"))
			continue;
		for (i = 0; i < ARRAY_SIZE(options); i++)
			if (!strcasecmp(name, options[i].name))
				words = options[i].words;
		text = xasprintf("%s is on: it %s: use a kernel without it", name, words);
		fn(arg, text);
		free(text);
	}
	free(copy);
}

static bool is(const json_t *env, const char *key, const char *value)
{
	const char *has = env_get(env, key);

	return has && !strcmp(has, value);
}

/* The module's own taints (out of tree, unsigned) say nothing about the rest. */
#define TAINT_OF_MODULES	(0x3000ULL)

/**
 * list_distortions() - name what bends figures taken in an environment
 * @env: as host_environment() and the module's `info` fill it
 * @fn: called with a sentence each: what is so, and what to do about it
 * @arg: for @fn
 */
void list_distortions(const json_t *env, sentence_fn fn, void *arg)
{
	const char *value;
	char *text;

	value = env_get(env, "distorts");
	if (value)
		debug_options(value, fn, arg);

	value = env_get(env, "governor");
	if (value && strcmp(value, "performance")) {
		text = xasprintf("governor is %s: cpupower frequency-set -g performance", value);
		fn(arg, text);
		free(text);
	}
	if (is(env, "boost", "on"))
		fn(arg, "boost is on, the clock follows the temperature: echo 0 > /sys/devices/system/cpu/cpufreq/boost (intel_pstate: echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo)");

	value = env_get(env, "siblings");
	if (value && strpbrk(value, ",-")) {
		text = xasprintf("SMT is on, CPUs %s share a core: keep the other one idle, or echo off > /sys/devices/system/cpu/smt/control",
				 value);
		fn(arg, text);
		free(text);
	}
	/* UML's is called "timer". */
	value = env_get(env, "clocksource");
	if (value && (is(env, "machine", "x86_64") || is(env, "machine", "i686")) &&
	    strcmp(value, "tsc") && strcmp(value, "kvm-clock") && strcmp(value, "timer")) {
		text = xasprintf("clocksource is %s, which is slow to read: look in dmesg for why the TSC was given up",
				 value);
		fn(arg, text);
		free(text);
	}
	if (is(env, "init_on_alloc", "1"))
		fn(arg, "init_on_alloc is on: with cache=fresh and alloc_zero the allocator has just cleared the extent: boot with init_on_alloc=0");
	if (is(env, "init_on_free", "1"))
		fn(arg, "init_on_free is on: freeing clears as well: boot with init_on_free=0");
	value = env_get(env, "rt_throttling");
	if (value) {
		text = xasprintf("real-time threads may run %s: the delays of SCHED_FIFO threads (latency=1) are that as well: sysctl kernel.sched_rt_runtime_us=950000",
				 value);
		fn(arg, text);
		free(text);
	}
	value = env_get(env, "clear_pages");
	if (value && !strcmp(value, "generic"))
		fn(arg, "clear_pages() is generic here, a loop of clear_page(): legacy and batched are the same work");
	value = env_get(env, "tested");
	if (value && strncmp(value, "yes", 3)) {
		text = xasprintf("the module was not tested on this kernel (%s)", value);
		fn(arg, text);
		free(text);
	}
	value = env_get(env, "taint");
	if (value && strtoull(value, NULL, 0) & ~TAINT_OF_MODULES) {
		text = xasprintf("the kernel is tainted (%s): see Documentation/admin-guide/tainted-kernels.rst",
				 value);
		fn(arg, text);
		free(text);
	}
}
