/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The module and its files.
 */
#ifndef CLEARBENCH_DEBUGFS_H
#define CLEARBENCH_DEBUGFS_H

#include "clearbench.h"

struct kmod_ctx;
struct kmod_module;

/* module.c */

/**
 * struct module - the loaded module
 * @dir: its debugfs folder
 * @loaded: it was loaded by us, and goes when we go
 *
 * The environment variable CLEARBENCH_DEBUGFS, which is there for tests, names
 * a folder that is taken as it is.
 */
struct module {
	char *dir;
	bool loaded;

	/* private: */
	struct kmod_ctx *ctx;
	struct kmod_module *mod;
};

int module_find(struct module *m);
int module_load(struct module *m, const char *file);
int module_unload(struct module *m);
char *module_path(const struct module *m, const char *name);
char *module_read(const struct module *m, const char *name);

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
 * @dir: their folder
 */
struct knobs {
	struct knob *knob;
	unsigned int nr;
	const char *dir;
};

int knobs_open(struct knobs *knobs, const char *dir);
struct knob *knobs_find(const struct knobs *knobs, const char *name);
int knobs_set(struct knobs *knobs, struct knob *knob, const char *value);
void knobs_restore(struct knobs *knobs);
json_t *knobs_json(const struct knobs *knobs);
char *knobs_options(const struct knobs *knobs);
void knobs_free(struct knobs *knobs);
bool knob_is_flag(const char *name);
const char *knob_error(int err);

#endif /* CLEARBENCH_DEBUGFS_H */
