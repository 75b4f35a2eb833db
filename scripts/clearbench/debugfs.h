/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The module and its files, or what stands in for them.
 */
#ifndef CLEARBENCH_DEBUGFS_H
#define CLEARBENCH_DEBUGFS_H

#include "clearbench.h"
#include "user.h"

struct kmod_ctx;
struct kmod_module;

/* module.c */

/**
 * struct module - the loaded module
 * @dir: its debugfs folder
 * @loaded: it was loaded by us, and goes when we go
 * @user: the user backend, in place of module and folder
 *
 * The environment variable CLEARBENCH_DEBUGFS, which is there for tests, names
 * a folder that is taken as it is.
 */
struct module {
	char *dir;
	bool loaded;
	struct user *user;

	/* private: */
	struct kmod_ctx *ctx;
	struct kmod_module *mod;
};

int module_find(struct module *m);
int module_load(struct module *m, const char *file);
int module_unload(struct module *m);
char *module_path(const struct module *m, const char *name);
char *module_read(const struct module *m, const char *name);
int module_write(const struct module *m, const char *name, const char *text);

/* preempt.c */
#define MODELS_MAX	4

/**
 * struct models - preemption models to be compared
 * @model: their names
 * @nr: how many
 * @found: the one that was in force; NULL: not known
 * @path: the kernel's file
 */
struct models {
	const char *model[MODELS_MAX];
	unsigned int nr;
	char *found;
	char *path;
};

const char *models_parse(struct models *m, const char *list);
int models_open(struct models *m, const struct module *module);
int models_set(struct models *m, unsigned int i);
void models_restore(const struct models *m);
void models_free(struct models *m);

/* knobs.c */

/**
 * struct knob - a setting of the module
 * @name: of its file
 * @before: what it held when we came
 * @changed: we wrote to it
 */
struct knob {
	char *name;
	char *before;
	bool changed;
};

/**
 * struct knobs - all of them
 * @knob: in the order of their names
 * @nr: how many
 * @module: whose
 */
struct knobs {
	struct knob *knob;
	unsigned int nr;
	const struct module *module;
};

int knobs_open(struct knobs *knobs, const struct module *module);
struct knob *knobs_find(const struct knobs *knobs, const char *name);
int knobs_set(struct knobs *knobs, struct knob *knob, const char *value);
void knobs_restore(struct knobs *knobs);
json_t *knobs_json(const struct knobs *knobs);
char *knobs_options(const struct knobs *knobs);
void knobs_free(struct knobs *knobs);
bool knob_is_flag(const char *name);
const char *knob_error(int err);

#endif /* CLEARBENCH_DEBUGFS_H */
