// SPDX-License-Identifier: GPL-2.0
/*
 * The module's settings. Which there are, its folder says: every file that its
 * owner may write is one, but for `run`.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "debugfs.h"

static char *knob_path(const struct knobs *knobs, const char *name)
{
	return xasprintf("%s/%s", knobs->dir, name);
}

static char *knob_read(const struct knobs *knobs, const char *name)
{
	char *path = knob_path(knobs, name);
	char *value = read_line(path);

	free(path);
	return value;
}

static int compare_knobs(const void *a, const void *b)
{
	return strcmp(((const struct knob *)a)->name, ((const struct knob *)b)->name);
}

/**
 * knobs_open() - find the knobs, and keep what they hold
 * @knobs: filled in
 * @dir: the module's folder
 *
 * Return: 0 or a negative errno.
 */
int knobs_open(struct knobs *knobs, const char *dir)
{
	struct dirent *entry;
	DIR *d;

	memset(knobs, 0, sizeof(*knobs));
	knobs->dir = dir;
	d = opendir(dir);
	if (!d)
		return -errno;
	while ((entry = readdir(d))) {
		char *path = knob_path(knobs, entry->d_name);
		struct knob *knob;
		struct stat st;

		if (!stat(path, &st) && S_ISREG(st.st_mode) && (st.st_mode & 0200) &&
		    strcmp(entry->d_name, "run")) {
			knobs->knob = xrealloc(knobs->knob, (knobs->nr + 1) * sizeof(*knob));
			knob = &knobs->knob[knobs->nr++];
			knob->name = xstrdup(entry->d_name);
			knob->before = read_line(path);
			knob->changed = false;
		}
		free(path);
	}
	closedir(d);
	if (knobs->nr)
		qsort(knobs->knob, knobs->nr, sizeof(*knobs->knob), compare_knobs);
	return 0;
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
	char *path = knob_path(knobs, knob->name);
	int ret = write_text(path, value);

	free(path);
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
