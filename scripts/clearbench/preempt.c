// SPDX-License-Identifier: GPL-2.0
/*
 * run --preempt: the preemption model of the running kernel, through the file
 * sched/preempt in debugfs, which lists those that it offers with the present
 * one in parentheses.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "debugfs.h"

/* All that there are; none and voluntary are refused from Linux 7.0 on (x86). */
static const char *const known[MODELS_MAX] = { "none", "voluntary", "full", "lazy" };

/**
 * models_parse() - the value of --preempt
 * @m: filled in
 * @list: comma separated names
 *
 * Return: NULL, or the word that is no model or stands there twice.
 */
const char *models_parse(struct models *m, const char *list)
{
	static char word[32];
	size_t len;
	unsigned int i, k;

	memset(m, 0, sizeof(*m));
	for (;; list += len + 1) {
		len = strcspn(list, ",");
		snprintf(word, sizeof(word), "%.*s", (int)len, list);
		for (i = 0; i < MODELS_MAX && strcmp(known[i], word); i++)
			;
		for (k = 0; k < m->nr; k++)
			if (i < MODELS_MAX && m->model[k] == known[i])
				return word;
		if (i == MODELS_MAX)
			return word;
		m->model[m->nr++] = known[i];
		if (!list[len])
			return NULL;
	}
}

/* The word in parentheses; a forced model has none, but the module knows it. */
static char *present_model(const struct module *module, const char *text)
{
	const char *from = strchr(text, '('), *to = from ? strchr(from, ')') : NULL;
	char *info, *model = NULL;
	json_t *env;

	if (to)
		return strndup(from + 1, to - from - 1);
	info = module_read(module, "info");
	env = info_environment(info);
	if (env_get(env, "preempt")) {
		model = xstrdup(env_get(env, "preempt"));
		model[strcspn(model, "!")] = '\0';
	}
	json_decref(env);
	free(info);
	return model;
}

/* lazy is no model that a kernel lost, but one that it does not have yet. */
static const char *hint(const char *model)
{
	return !strcmp(model, "lazy") ? "" :
	       ": --force-preempt lets it in where it is still contained";
}

/**
 * models_open() - find out which models can be had, before anything is measured
 * @m: parsed; those that the kernel refuses are named and taken out
 * @module: loaded, with its knobs set: force_preempt decides
 *
 * Return: exit status.
 */
int models_open(struct models *m, const struct module *module)
{
	unsigned int i, nr = 0;
	char *text;
	int err;

	m->path = xasprintf("%s/../sched/preempt", module->dir);
	text = read_text(m->path);
	if (!text) {
		msg("%s: %s: the model cannot be switched: boot a kernel with PREEMPT_DYNAMIC, or leave out --preempt",
		    "sched/preempt", strerror(errno));
		return CB_FAILED;
	}
	text[strcspn(text, "\n")] = '\0';
	m->found = present_model(module, text);
	for (i = 0; i < m->nr; i++) {
		err = write_text(m->path, m->model[i]);
		if (!err)
			m->model[nr++] = m->model[i];
		else if (err == -EINVAL)
			msg("this kernel refuses the model %s%s", m->model[i], hint(m->model[i]));
		else
			msg("sched/preempt: %s: the model cannot be switched%s", strerror(-err),
			    err == -EPERM ? ": the kernel is locked down" : "");
	}
	m->nr = nr;
	models_restore(m);
	if (!nr)
		msg("none of the models asked for can be had here; there are: %s", text);
	free(text);
	return nr ? CB_OK : CB_FAILED;
}

/* models_set() - switch to one of them. Return: exit status. */
int models_set(struct models *m, unsigned int i)
{
	int err = write_text(m->path, m->model[i]);

	if (!err)
		return CB_OK;
	msg("sched/preempt: %s: the model %s could be had before", strerror(-err), m->model[i]);
	return CB_FAILED;
}

/* models_restore() - back to the one that was found */
void models_restore(const struct models *m)
{
	int err = m->found ? write_text(m->path, m->found) : 0;

	if (err)
		msg("sched/preempt: %s: the model %s could not be restored: write it by hand",
		    strerror(-err), m->found);
}

void models_free(struct models *m)
{
	free(m->path);
	free(m->found);
}
