// SPDX-License-Identifier: GPL-2.0
/*
 * What procfs and sysfs say about the machine. Everything here is readable
 * without privileges; what is absent is left out, and info says so.
 */
#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "clearbench.h"

#define CPUS	"/sys/devices/system/cpu"
#define NODES	"/sys/devices/system/node"

/* Options of the kernel's command line that bear on clearing or on timing. */
static const char *const relevant[] = {
	"isolcpus", "nohz_full", "nohz", "rcu_nocbs", "irqaffinity", "threadirqs", "preempt",
	"init_on_alloc", "init_on_free", "mitigations", "clearcpuid", "nosmt", "maxcpus", "nr_cpus",
	"mem", "memmap", "numa", "numa_balancing", "transparent_hugepage", "hugepages",
	"hugepagesz", "default_hugepagesz", "hugepage_alloc_threads", "tsc", "clocksource", "hpet",
	"idle", "nohlt", "processor.max_cstate", "intel_idle.max_cstate", "intel_pstate",
	"amd_pstate", "cpufreq.default_governor", "kasan", "kasan.mode", "kasan_multi_shot",
	"debug_pagealloc", "page_poison", "page_owner", "slub_debug", "slab_debug",
	"kfence.sample_interval",
	"nmi_watchdog", "nowatchdog", "nosoftlockup", "skew_tick", "nokaslr", "pti", "nopti",
	"movablecore", "kernelcore", "lockdown", "module.sig_enforce",
};

/* An info file's value stays as it is; what only the host knows is added. */
static void set(json_t *env, const char *key, const char *value)
{
	json_t *string;

	if (!value || !*value || json_object_get(env, key))
		return;
	string = json_string(value);
	if (string)
		json_object_set_new(env, key, string);
}

static void set_from(json_t *env, const char *key, const char *path)
{
	char *line = read_line(path);

	set(env, key, line);
	free(line);
}

/* The value behind a "key : value" line of @text. */
static char *field(const char *text, const char *key)
{
	size_t len = strlen(key);

	while (text && *text) {
		if (!strncmp(text, key, len) && strspn(text + len, " \t:")) {
			text += len + strspn(text + len, " \t:");
			return strndup(text, strcspn(text, "\n"));
		}
		text = strchr(text, '\n');
		text += !!text;
	}
	return NULL;
}

static void set_field(json_t *env, const char *key, const char *text, const char *name)
{
	char *value = field(text, name);

	set(env, key, value);
	free(value);
}

static void cpu_identity(json_t *env)
{
	char *text = read_text("/proc/cpuinfo");

	if (!text)
		return;
	set_field(env, "cpu_model", text, "model name");
	/* arm64 has no name, only the part's number */
	set_field(env, "cpu_model", text, "CPU part");
	set_field(env, "cpu_family", text, "cpu family");
	set_field(env, "cpu_number", text, "model\t");
	set_field(env, "cpu_stepping", text, "stepping");
	set_field(env, "microcode", text, "microcode");
	/* The module knows which; without it, whether. */
	if (strstr(text, " hypervisor "))
		set(env, "hypervisor", "present");
	free(text);
}

static void cpu_policy(json_t *env, int cpu)
{
	char *path, *value;

	if (asprintf(&path, CPUS "/cpu%d/cpufreq/scaling_governor", cpu) < 0)
		return;
	set_from(env, "governor", path);
	free(path);
	if (asprintf(&path, CPUS "/cpu%d/cpufreq/scaling_driver", cpu) < 0)
		return;
	set_from(env, "cpufreq_driver", path);
	free(path);

	value = read_line(CPUS "/cpufreq/boost");
	if (value)
		set(env, "boost", *value == '1' ? "on" : "off");
	free(value);
	value = read_line(CPUS "/intel_pstate/no_turbo");
	if (value)
		set(env, "boost", *value == '0' ? "on" : "off");
	free(value);

	set_from(env, "smt", CPUS "/smt/control");
	if (asprintf(&path, CPUS "/cpu%d/topology/thread_siblings_list", cpu) < 0)
		return;
	set_from(env, "siblings", path);
	free(path);
}

/* The cache of the highest level; the module says how large it is. */
static void cpu_caches(json_t *env, int cpu)
{
	int i, best = 0;

	for (i = 0; i < 16; i++) {
		char *path = xasprintf(CPUS "/cpu%d/cache/index%d/level", cpu, i);
		char *level = read_line(path);

		free(path);
		if (!level)
			break;
		if (atoi(level) >= best) {
			char *size;

			best = atoi(level);
			path = xasprintf(CPUS "/cpu%d/cache/index%d/size", cpu, i);
			size = read_line(path);
			if (size)
				json_object_set_new(env, "llc_size", json_string(size));
			free(size);
			free(path);
		}
		free(level);
	}
}

static void numa(json_t *env)
{
	char *all = NULL, *path;
	int node;

	set_from(env, "numa_nodes", NODES "/online");
	for (node = 0; node < 1024; node++) {
		char *line, *old = all;

		path = xasprintf(NODES "/node%d/distance", node);
		line = read_line(path);
		free(path);
		if (!line)
			break;
		all = xasprintf("%s%s%s", old ? old : "", old ? "; " : "", line);
		free(old);
		free(line);
	}
	set(env, "numa_distances", all);
	free(all);
}

static void memory(json_t *env)
{
	char *text = read_text("/proc/meminfo");

	set_field(env, "mem_total", text, "MemTotal");
	set_field(env, "direct_map_4k", text, "DirectMap4k");
	set_field(env, "direct_map_2m", text, "DirectMap2M");
	set_field(env, "direct_map_4m", text, "DirectMap4M");
	set_field(env, "direct_map_1g", text, "DirectMap1G");
	free(text);
	set_from(env, "thp", "/sys/kernel/mm/transparent_hugepage/enabled");
}

static bool is_relevant(const char *option)
{
	size_t len = strcspn(option, "=");
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(relevant); i++)
		if (strlen(relevant[i]) == len && !strncmp(option, relevant[i], len))
			return true;
	return false;
}

static void kernel_options(json_t *env)
{
	char *text = read_line("/proc/cmdline"), *option, *at;
	char *kept = text ? xstrdup("") : NULL;

	for (option = text ? strtok_r(text, " ", &at) : NULL; option;
	     option = strtok_r(NULL, " ", &at)) {
		char *old = kept;

		if (!is_relevant(option))
			continue;
		kept = xasprintf("%s%s%s", old, *old ? " " : "", option);
		free(old);
	}
	set(env, "cmdline", kept && !*kept ? "none" : kept);
	free(kept);
	free(text);
}

static void taint(json_t *env)
{
	char *text = read_line("/proc/sys/kernel/tainted");

	if (text) {
		char *hex = xasprintf("0x%llx", strtoull(text, NULL, 10));

		set(env, "taint", hex);
		free(hex);
	}
	free(text);
}

/*
 * Named where real-time threads get less than nine tenths of the time: the
 * kernel's default is 95 %, -1 is no limit.
 */
static void rt_throttling(json_t *env)
{
	char *runtime = read_line("/proc/sys/kernel/sched_rt_runtime_us");
	char *period = read_line("/proc/sys/kernel/sched_rt_period_us");
	char *text;

	if (runtime && period && atol(runtime) >= 0 && 10 * atol(runtime) < 9 * atol(period)) {
		text = xasprintf("%s of %s us", runtime, period);
		set(env, "rt_throttling", text);
		free(text);
	}
	free(runtime);
	free(period);
}

/* Which boot this is: the kernel's own random number for it, cut short */
static void boot(json_t *env)
{
	char *id = read_line("/proc/sys/kernel/random/boot_id");

	if (id)
		id[strcspn(id, "-")] = '\0';
	set(env, "boot", id);
	free(id);
}

/**
 * host_environment() - add what procfs and sysfs say
 * @env: object of strings; what it has already is left alone
 * @cpu: whose governor, siblings and caches; -1 for the first one
 */
void host_environment(json_t *env, int cpu)
{
	struct utsname uts;

	if (cpu < 0)
		cpu = 0;
	if (!uname(&uts)) {
		char *kernel = xasprintf("%s %s", uts.release, uts.version);

		set(env, "kernel", kernel);
		set(env, "machine", uts.machine);
		free(kernel);
	}
	cpu_identity(env);
	set_from(env, "cpus_online", CPUS "/online");
	set_from(env, "cpus_isolated", CPUS "/isolated");
	cpu_policy(env, cpu);
	cpu_caches(env, cpu);
	numa(env);
	memory(env);
	set_from(env, "clocksource",
		 "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	kernel_options(env);
	taint(env);
	rt_throttling(env);
	boot(env);
}

/**
 * info_environment() - the module's `info`, or a file that collect.sh saved
 * @text: "key: value" lines; others are ignored
 *
 * Return: an object of strings, in the order of the lines.
 */
json_t *info_environment(const char *text)
{
	json_t *env = json_object();

	while (text && *text) {
		size_t len = strcspn(text, "\n"), colon = strcspn(text, ":");

		if (colon && colon < len) {
			char *key = strndup(text, colon);
			const char *from = text + colon + 1;
			char *value;

			while (*from == ' ' || *from == '\t')
				from++;
			value = strndup(from, text + len - from);
			if (key && value)
				set(env, key, value);
			free(value);
			free(key);
		}
		text += len + (text[len] == '\n');
	}
	return env;
}

/* A value of an environment; NULL where it has none. */
const char *env_get(const json_t *env, const char *key)
{
	return json_string_value(json_object_get(env, key));
}
