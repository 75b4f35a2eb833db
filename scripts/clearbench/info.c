// SPDX-License-Identifier: GPL-2.0
/*
 * clearbench info: the environment that figures depend on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debugfs.h"

static void print_sentence(void *arg, const char *text)
{
	bool *first = arg;

	if (*first)
		puts("\nWhat bends figures taken here:");
	*first = false;
	printf("- %s\n", text);
}

static json_t *marks_of(const json_t *env)
{
	const char *words = env_get(env, "marks");
	char *copy = xstrdup(words ? words : ""), *word, *at;
	json_t *marks = json_array();

	for (word = strtok_r(copy, " ", &at); word; word = strtok_r(NULL, " ", &at))
		if (strcmp(word, "none"))
			json_array_append_new(marks, json_string(word));
	free(copy);
	return marks;
}

/* What is missing, and why. */
static void print_missing(const json_t *env, int err)
{
	static const struct {
		const char *key;
		const char *why;
	} wanted[] = {
		{ "governor", "this machine or its hypervisor has no cpufreq" },
		{ "boost", "the cpufreq driver does not say" },
		{ "microcode", "not in /proc/cpuinfo" },
		{ "smt", "not in sysfs" },
		{ "llc_size", "the CPU's caches are not in sysfs" },
		{ "numa_nodes", "the kernel has no NUMA" },
		{ "direct_map_4k", "not in /proc/meminfo" },
		{ "clocksource", "not in sysfs" },
		{ "taint", "/proc/sys/kernel/tainted cannot be read" },
	};
	unsigned int i;

	if (err == -EACCES || err == -EPERM)
		puts("module: not readable: debugfs is for root");
	else if (err == -ENODEV)
		puts("module: debugfs is not mounted: mount -t debugfs none /sys/kernel/debug");
	else if (err == -ENOENT)
		puts("module: not loaded: insmod module/clearbench.ko for what only it knows");
	else if (err)
		printf("module: not readable: %s\n", strerror(-err));
	for (i = 0; i < ARRAY_SIZE(wanted); i++)
		if (!env_get(env, wanted[i].key))
			printf("%s: unknown: %s\n", wanted[i].key, wanted[i].why);
	if (env_get(env, "cpus_online") && !env_get(env, "cpus_isolated"))
		puts("cpus_isolated: none");
}

static int info_main(int argc, char **argv)
{
	char *text = NULL, *cpu = NULL;
	struct module module;
	const char *key;
	json_t *env, *value, *marks;
	bool first = true;
	int err;

	if (argc > 1)
		return usage_error(&verb_info, "'%s' is not an argument of it", argv[1]);
	err = module_find(&module);
	if (!err) {
		text = module_read(&module, "info");
		if (!text)
			err = -errno;
		cpu = module_read(&module, "cpu");
	}
	env = info_environment(text);
	host_environment(env, cpu && strspn(cpu, "0123456789") ? atoi(cpu) : -1);
	json_object_foreach(env, key, value)
		printf("%s: %s\n", key, json_string_value(value));
	print_missing(env, err);

	marks = marks_of(env);
	list_marks(marks, print_sentence, &first);
	list_distortions(env, print_sentence, &first);
	json_decref(marks);
	json_decref(env);
	free(text);
	free(cpu);
	module_unload(&module);
	return finish_stdout(CB_OK);
}

const struct verb verb_info = {
	.name = "info",
	.summary = "what figures taken on this machine depend on, and what bends them",
	.usage = "\n\n"
		"Prints the module's own `info` where it is loaded, and what procfs and sysfs\n"
		"say about the host. Needs no privileges; what could not be read is named.\n",
	.main = info_main,
};
