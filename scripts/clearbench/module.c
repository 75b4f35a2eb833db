// SPDX-License-Identifier: GPL-2.0
/*
 * Finding, loading and unloading the module.
 */
#include <errno.h>
#include <libgen.h>
#include <libkmod.h>
#include <limits.h>
#include <mntent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "debugfs.h"

#define DEFAULT_FILE	"/clearbench/clearbench.ko"

char *module_path(const struct module *m, const char *name)
{
	if (m->user)
		return user_path(m->user, name);
	return xasprintf("%s/%s", m->dir, name);
}

/* A whole file of the module's folder; NULL with errno set. */
char *module_read(const struct module *m, const char *name)
{
	char *path, *text;
	int err;

	if (m->user)
		return user_read(m->user, name);
	path = module_path(m, name);
	text = read_text(path);
	err = errno;
	free(path);
	errno = err;
	return text;
}

/* Hand a value to one of its files. Return: 0 or a negative errno. */
int module_write(const struct module *m, const char *name, const char *text)
{
	char *path;
	int ret;

	if (m->user)
		return user_write(m->user, name, text);
	path = module_path(m, name);
	ret = write_text(path, text);
	free(path);
	return ret;
}

static char *debugfs_root(void)
{
	struct mntent *entry;
	char *root = NULL;
	FILE *mounts;

	mounts = setmntent("/proc/mounts", "r");
	if (!mounts)
		return NULL;
	while (!root && (entry = getmntent(mounts)))
		if (!strcmp(entry->mnt_type, "debugfs"))
			root = xstrdup(entry->mnt_dir);
	endmntent(mounts);
	return root;
}

/**
 * module_find() - the folder of a module that is loaded
 * @m: filled in
 *
 * Return: 0; -ENODEV: debugfs is not mounted; -ENOENT: the module is not
 * loaded; -EACCES: not for this user to see.
 */
int module_find(struct module *m)
{
	const char *test = getenv("CLEARBENCH_DEBUGFS");
	struct stat st;
	char *root;
	int err;

	memset(m, 0, sizeof(*m));
	if (test && *test) {
		m->dir = xstrdup(test);
	} else {
		root = debugfs_root();
		if (!root)
			return -ENODEV;
		m->dir = xasprintf("%s/" CB_NAME, root);
		free(root);
	}
	err = stat(m->dir, &st) ? -errno : 0;
	if (!err && access(m->dir, R_OK | X_OK))
		err = -errno;
	if (err) {
		free(m->dir);
		m->dir = NULL;
	}
	return err;
}

static bool exists(const char *path)
{
	return !access(path, F_OK);
}

/* build/clearbench has its module in module/ beside build/. */
static char *tree_file(void)
{
	char exe[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (len < 0)
		return NULL;
	exe[len] = '\0';
	return xasprintf("%s/../module/" CB_NAME ".ko", dirname(exe));
}

static bool locked_down(void)
{
	char *line = read_line("/sys/kernel/security/lockdown");
	bool locked = line && !strstr(line, "[none]");

	free(line);
	return locked;
}

static void explain_load(const char *what, int err)
{
	switch (err) {
	case EPERM:
	case EACCES:
		if (geteuid())
			msg("%s: loading a module needs root: run it with sudo", what);
		else if (locked_down())
			msg("%s: the kernel is locked down: sign the module, or turn Secure Boot off",
			    what);
		else
			msg("%s: this kernel or container forbids loading modules (see /proc/sys/kernel/modules_disabled)",
			    what);
		break;
	case ENOEXEC:
		msg("%s: built for another kernel: make clean, then make KDIR=/lib/modules/$(uname -r)/build",
		    what);
		break;
	case EKEYREJECTED:
	case ENOKEY:
		msg("%s: its signature is missing or unknown to this kernel: sign it (scripts/sign-file) with an enrolled key",
		    what);
		break;
	case ENOENT:
		msg("%s: a symbol it needs is not in this kernel: see dmesg, and rebuild it for this kernel",
		    what);
		break;
	default:
		msg("%s: cannot be loaded: %s; see dmesg", what, strerror(err));
	}
}

static int load_file(struct module *m, const char *file)
{
	int ret = kmod_module_new_from_path(m->ctx, file, &m->mod);

	if (ret >= 0)
		ret = kmod_module_insert_module(m->mod, 0, NULL);
	if (ret < 0 && ret != -EEXIST)
		explain_load(file, -ret);
	return ret;
}

static int load_by_name(struct module *m)
{
	struct kmod_list *list = NULL;
	int ret = kmod_module_new_from_lookup(m->ctx, CB_NAME, &list);

	if (ret < 0 || !list) {
		msg("module not found: build it with make, or name it with --module FILE");
		return -ENOENT;
	}
	m->mod = kmod_module_get_module(list);
	kmod_module_unref_list(list);
	ret = kmod_module_probe_insert_module(m->mod, KMOD_PROBE_FAIL_ON_LOADED, NULL, NULL,
					      NULL, NULL);
	if (ret < 0 && ret != -EEXIST)
		explain_load(CB_NAME, -ret);
	return ret;
}

static void explain_find(int err)
{
	switch (err) {
	case -ENODEV:
		msg("debugfs is not mounted: mount -t debugfs none /sys/kernel/debug");
		break;
	case -EACCES:
	case -EPERM:
		msg("debugfs is for root: run it with sudo");
		break;
	case -ENOENT:
		msg("the module is loaded but has no folder in debugfs: see dmesg");
		break;
	default:
		msg("debugfs: %s", strerror(-err));
	}
}

/**
 * module_load() - find the module, or load it
 * @m: filled in
 * @file: what to load; NULL: look beside the program's tree, in /clearbench,
 *	then by name
 *
 * Return: 0, or a negative errno after a message.
 */
int module_load(struct module *m, const char *file)
{
	char *tree = NULL;
	int ret;

	ret = module_find(m);
	if (!ret)
		return 0;
	if (ret != -ENOENT || getenv("CLEARBENCH_DEBUGFS")) {
		explain_find(ret);
		return ret;
	}
	if (file && !exists(file)) {
		msg("%s: %s", file, strerror(errno));
		return -ENOENT;
	}
	m->ctx = kmod_new(NULL, NULL);
	if (!m->ctx) {
		msg("libkmod: %s", strerror(ENOMEM));
		return -ENOMEM;
	}
	kmod_set_log_priority(m->ctx, 0);
	tree = tree_file();
	if (file)
		ret = load_file(m, file);
	else if (tree && exists(tree))
		ret = load_file(m, tree);
	else if (exists(DEFAULT_FILE))
		ret = load_file(m, DEFAULT_FILE);
	else
		ret = load_by_name(m);
	free(tree);
	if (ret >= 0) {
		struct module found;

		m->loaded = true;
		ret = module_find(&found);
		if (!ret)
			m->dir = found.dir;
		else
			explain_find(ret);
	}
	if (ret < 0)
		module_unload(m);
	return ret;
}

/**
 * module_unload() - take the module away if it was loaded by us
 * @m: module; nothing of it is left
 *
 * Return: 0, or a negative errno after a message.
 */
int module_unload(struct module *m)
{
	int ret = 0;

	if (m->loaded) {
		ret = kmod_module_remove_module(m->mod, KMOD_REMOVE_NOLOG);
		if (ret < 0)
			msg("the module could not be unloaded: %s: rmmod clearbench",
			    strerror(-ret));
	}
	if (m->mod)
		kmod_module_unref(m->mod);
	if (m->ctx)
		kmod_unref(m->ctx);
	user_close(m->user);
	free(m->dir);
	memset(m, 0, sizeof(*m));
	return ret;
}
