// SPDX-License-Identifier: GPL-2.0
/*
 * The module's settings. Which there are, its folder says: every file that its
 * owner may write is one, but for `run` and `watch`. The user backend says it itself.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "debugfs.h"

static char *knob_read(const struct knobs *knobs, const char *name)
{
	char *value = module_read(knobs->module, name);

	if (value)
		value[strcspn(value, "\n")] = '\0';
	return value;
}

static void add_knob(struct knobs *knobs, const char *name)
{
	struct knob *knob;

	knobs->knob = xrealloc(knobs->knob, (knobs->nr + 1) * sizeof(*knob));
	knob = &knobs->knob[knobs->nr++];
	knob->name = xstrdup(name);
	knob->before = knob_read(knobs, name);
	knob->changed = false;
}

static int compare_knobs(const void *a, const void *b)
{
	return strcmp(((const struct knob *)a)->name, ((const struct knob *)b)->name);
}

static int find_files(struct knobs *knobs)
{
	struct dirent *entry;
	DIR *d;

	d = opendir(knobs->module->dir);
	if (!d)
		return -errno;
	while ((entry = readdir(d))) {
		char *path = module_path(knobs->module, entry->d_name);
		struct stat st;

		if (!stat(path, &st) && S_ISREG(st.st_mode) && (st.st_mode & 0200) &&
		    strcmp(entry->d_name, "run") && strcmp(entry->d_name, "watch"))
			add_knob(knobs, entry->d_name);
		free(path);
	}
	closedir(d);
	return 0;
}

/**
 * knobs_open() - find the knobs, and keep what they hold
 * @knobs: filled in
 * @module: whose
 *
 * Return: 0 or a negative errno.
 */
int knobs_open(struct knobs *knobs, const struct module *module)
{
	unsigned int i;
	int ret = 0;

	memset(knobs, 0, sizeof(*knobs));
	knobs->module = module;
	if (!module->user)
		ret = find_files(knobs);
	else
		for (i = 0; user_knob_name(i); i++)
			add_knob(knobs, user_knob_name(i));
	if (knobs->nr)
		qsort(knobs->knob, knobs->nr, sizeof(*knobs->knob), compare_knobs);
	return ret;
}

/* The knob that an option means, "force-preempt" or "force_preempt"; or NULL. */
struct knob *knobs_find(const struct knobs *knobs, const char *name)
{
	unsigned int i;

	for (i = 0; i < knobs->nr; i++) {
		const char *a = knobs->knob[i].name, *b = name;

		for (; *a && (*a == *b || (*a == '_' && *b == '-')); a++)
			b++;
		if (!*a && !*b)
			return &knobs->knob[i];
	}
	return NULL;
}

/**
 * knobs_set() - write a knob
 * @knobs: all of them
 * @knob: which
 * @value: what to write
 *
 * Return: 0 or a negative errno; the knob has kept its value then.
 */
int knobs_set(struct knobs *knobs, struct knob *knob, const char *value)
{
	int ret = module_write(knobs->module, knob->name, value);

	if (!ret)
		knob->changed = true;
	return ret;
}

/* Put back what we changed, and say so where that fails. */
void knobs_restore(struct knobs *knobs)
{
	unsigned int i;

	for (i = 0; i < knobs->nr; i++) {
		struct knob *knob = &knobs->knob[i];
		int ret;

		if (!knob->changed || !knob->before)
			continue;
		ret = knobs_set(knobs, knob, knob->before);
		if (ret)
			msg("%s could not be set back to '%s': %s", knob->name, knob->before,
			    strerror(-ret));
		knob->changed = false;
	}
}

/* What they hold now, for the header. */
json_t *knobs_json(const struct knobs *knobs)
{
	json_t *all = json_object();
	unsigned int i;

	for (i = 0; i < knobs->nr; i++) {
		char *value = knob_read(knobs, knobs->knob[i].name);

		if (value)
			json_object_set_new(all, knobs->knob[i].name, json_string(value));
		free(value);
	}
	return all;
}

/* The options that they make, for the usage. */
char *knobs_options(const struct knobs *knobs)
{
	char *all = xstrdup(""), *at, *next;
	unsigned int i;

	for (i = 0; i < knobs->nr; i++) {
		next = xasprintf("%s --%s", all, knobs->knob[i].name);
		free(all);
		all = next;
	}
	for (at = all; *at; at++)
		if (*at == '_')
			*at = '-';
	return all;
}

void knobs_free(struct knobs *knobs)
{
	unsigned int i;

	for (i = 0; i < knobs->nr; i++) {
		free(knobs->knob[i].name);
		free(knobs->knob[i].before);
	}
	free(knobs->knob);
	memset(knobs, 0, sizeof(*knobs));
}

/* Options of these take no value: they are set to 1. */
bool knob_is_flag(const char *name)
{
	return !strcmp(name, "force-preempt") || !strcmp(name, "force_preempt") ||
	       !strcmp(name, "unsafe");
}

/* What the module means by an errno. */
const char *knob_error(int err)
{
	switch (err) {
	case EINVAL:
		return "not understood";
	case ERANGE:
		return "out of range";
	case EDOM:
		return "legal, but not on this machine";
	case EOPNOTSUPP:
		return "not in user space";
	case EBUSY:
		return "a run is under way: wait for it, or stop it with echo 0 > run";
	case EPERM:
		return "not permitted: the kernel is locked down (Secure Boot)";
	case EACCES:
		return "not permitted: run it as root";
	default:
		return strerror(err);
	}
}
