// SPDX-License-Identifier: GPL-2.0
/*
 * clearbench hugetlb: the headline of the patch, 8192 x 2 MB of HugeTLB, on
 * this machine.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debugfs.h"
#include "hugetlb.h"

#define PAIRS_DEFAULT	10
#define PAIRS_MAX	10000

/**
 * struct options - the command line
 * @pages: 0: as many of 8192 x 2 MB as there is free memory for
 * @size: bytes of a page
 * @node: -1: any
 * @pairs: rounds that count
 * @fault: touch the pages as well
 * @show: the arguments are files to be shown
 */
struct options {
	unsigned long pages;
	unsigned long size;
	long node;
	unsigned long pairs;
	bool fault;
	bool show;
	bool quiet;
	bool force;
	const char *out;
	char **file;
	unsigned int nr_files;
};

static bool parse_number(const char *text, unsigned long min, unsigned long max,
			 unsigned long *number)
{
	char *end;

	if (!*text || strspn(text, "0123456789") != strlen(text))
		return false;
	errno = 0;
	*number = strtoul(text, &end, 10);
	return !errno && *number >= min && *number <= max;
}

/* "2M", "1G", "64K": a power of two */
static bool parse_size(const char *text, unsigned long *size)
{
	static const char units[] = "KMG";
	size_t digits = strspn(text, "0123456789");
	const char *unit = text[digits] ? strchr(units, text[digits]) : NULL;
	char *number = xasprintf("%.*s", (int)digits, text);
	bool ok = unit && !text[digits + 1] && parse_number(number, 1, 65536, size);

	free(number);
	if (!ok)
		return false;
	*size <<= 10 * (unit - units + 1);
	return !(*size & (*size - 1));
}

static int set_option(struct options *opt, const char *name, const char *value)
{
	unsigned long number;

	if (!strcmp(name, "-o")) {
		opt->out = value;
	} else if (!strcmp(name, "--pages")) {
		if (!parse_number(value, 1, 1UL << 30, &opt->pages))
			return usage_error(&verb_hugetlb, "--pages %s: legal is 1 to 2^30", value);
	} else if (!strcmp(name, "--pairs")) {
		if (!parse_number(value, 1, PAIRS_MAX, &opt->pairs))
			return usage_error(&verb_hugetlb, "--pairs %s: legal is 1 to %d", value,
					   PAIRS_MAX);
	} else if (!strcmp(name, "--node")) {
		if (!parse_number(value, 0, HUGETLB_NODES - 1, &number))
			return usage_error(&verb_hugetlb, "--node %s: legal is a number from 0",
					   value);
		opt->node = number;
	} else if (!parse_size(value, &opt->size)) {
		return usage_error(&verb_hugetlb, "--size %s: legal is a power of two with K, M or G: 2M, 1G",
				   value);
	}
	return CB_OK;
}

static int parse(struct options *opt, int argc, char **argv)
{
	static const char *const valued[] = { "--pages", "--pairs", "--node", "--size", "-o" };
	int i, status;
	unsigned int k;

	for (i = 1; i < argc; i++) {
		const char *arg = argv[i];

		for (k = 0; k < ARRAY_SIZE(valued); k++)
			if (!strcmp(arg, valued[k]))
				break;
		if (k < ARRAY_SIZE(valued)) {
			if (i + 1 == argc)
				return usage_error(&verb_hugetlb, "%s wants a value", arg);
			status = set_option(opt, arg, argv[++i]);
			if (status)
				return status;
		} else if (!strcmp(arg, "--fault")) {
			opt->fault = true;
		} else if (!strcmp(arg, "--force")) {
			opt->force = true;
		} else if (!strcmp(arg, "-q")) {
			opt->quiet = true;
		} else if (!strcmp(arg, "--show")) {
			opt->show = true;
		} else if (*arg != '-' && opt->show) {
			opt->file[opt->nr_files++] = argv[i];
		} else {
			return usage_error(&verb_hugetlb, "'%s' is not an argument of it", arg);
		}
	}
	if (opt->show && !opt->nr_files)
		return usage_error(&verb_hugetlb, "--show wants files");
	if (opt->out && !opt->force && !access(opt->out, F_OK)) {
		msg("%s exists: --force overwrites it", opt->out);
		return CB_FAILED;
	}
	return CB_OK;
}

static int show_files(const struct options *opt)
{
	struct hugetlb_result *r = xrealloc(NULL, opt->nr_files * sizeof(*r));
	int status = CB_OK, ret;
	unsigned int i, nr;

	for (nr = 0; nr < opt->nr_files; nr++) {
		ret = hugetlb_read(&r[nr], opt->file[nr]);
		if (ret)
			status = ret;
		if (!r[nr].header)
			break;
	}
	if (nr == opt->nr_files) {
		ret = hugetlb_show(r, nr, stdout);
		if (ret)
			status = ret;
	}
	for (i = 0; i < nr; i++)
		hugetlb_result_free(&r[i]);
	free(r);
	return finish_stdout(status);
}

/* Where the module is loaded it knows more; it is not needed. */
static json_t *environment(void)
{
	struct module module;
	char *text = NULL, *cpus = xasprintf("%ld", sysconf(_SC_NPROCESSORS_ONLN));
	json_t *env;

	if (!module_find(&module))
		text = module_read(&module, "info");
	env = info_environment(text);
	host_environment(env, -1);
	json_object_set_new(env, "cpus", json_string(cpus));
	if (!env_get(env, "marks")) {
		char *marks = machine_marks();

		json_object_set_new(env, "marks", json_string(marks));
		free(marks);
	}
	module_unload(&module);
	free(text);
	free(cpus);
	return env;
}

static void make_header(struct hugetlb_result *r, const char *no_boot_row)
{
	json_t *env = environment(), *marks = json_array();
	char *words = xstrdup(env_get(env, "marks")), *word, *at;

	for (word = strtok_r(words, " ", &at); word; word = strtok_r(NULL, " ", &at))
		if (strcmp(word, "none"))
			json_array_append_new(marks, json_string(word));
	free(words);
	r->header = json_pack("{s:s, s:i, s:s, s:o, s:o, s:s}", "type", "hugetlb", "format", 1,
			      "tool", CB_VERSION, "marks", marks, "environment", env,
			      "init_on_alloc", hugetlb_init_on_alloc());
	if (no_boot_row)
		json_object_set_new(r->header, "no_boot_row", json_string(no_boot_row));
}

/* Three rows that are measured, and one from the log */
static int measure(const struct options *opt, struct hugetlb_pool *pool, unsigned long pages,
		   struct hugetlb_result *r)
{
	struct hugetlb_row grow = { 0 }, shrink = { 0 }, fault = { 0 }, boot;
	const char *no_boot_row;
	int ret;

	no_boot_row = hugetlb_boot_row(&boot, opt->size);
	make_header(r, no_boot_row);
	ret = hugetlb_pool_measure(pool, pages, opt->pairs, opt->quiet || !isatty(STDERR_FILENO),
				   &grow, &shrink, opt->fault ? &fault : NULL);
	r->row = xrealloc(NULL, 4 * sizeof(*r->row));
	/* The boot alone is nothing that was asked for. */
	if (!grow.nr) {
		if (!no_boot_row)
			free(boot.seconds);
		return ret;
	}
	if (!no_boot_row)
		r->row[r->nr++] = boot;
	r->row[r->nr++] = grow;
	r->row[r->nr++] = shrink;
	if (opt->fault)
		r->row[r->nr++] = fault;
	r->complete = !ret;
	return ret;
}

static int hugetlb_main(int argc, char **argv)
{
	struct options opt = { .size = 2 << 20, .node = -1, .pairs = PAIRS_DEFAULT };
	struct hugetlb_pool pool = { .fd = -1 };
	struct hugetlb_result r = { NULL };
	unsigned long pages;
	int status, ret;

	opt.file = xrealloc(NULL, argc * sizeof(*opt.file));
	status = parse(&opt, argc, argv);
	if (!status && opt.show)
		status = show_files(&opt);
	if (status || opt.show)
		goto out;
	hugetlb_catch_signals();
	pages = opt.pages;
	ret = hugetlb_pool_open(&pool, opt.size, opt.node);
	if (!ret)
		ret = hugetlb_pool_pages(&pool, &pages);
	if (!ret)
		ret = measure(&opt, &pool, pages, &r);
	if (ret)
		status = hugetlb_stopped() ? CB_STOPPED : CB_FAILED;
	/* The pool first: the table may go to a terminal that waits. */
	if (hugetlb_pool_close(&pool) && !status)
		status = CB_FAILED;
	if (r.nr && opt.out && hugetlb_write(&r, opt.out, opt.force) && !status)
		status = CB_FAILED;
	if (r.nr) {
		if (hugetlb_stopped())
			msg("stopped: the pool is as it was; the table has what was done");
		hugetlb_show(&r, 1, stdout);
		status = finish_stdout(status);
	} else if (hugetlb_stopped()) {
		msg("stopped: the pool is as it was");
	}
out:
	hugetlb_result_free(&r);
	free(opt.file);
	return status;
}

const struct verb verb_hugetlb = {
	.name = "hugetlb",
	.summary = "the time that a HugeTLB pool takes to grow: the patch's headline",
	.usage = "[--pages N] [--size 2M|1G] [--node N] [--pairs N] [--fault] [-o FILE]\n"
		"       clearbench hugetlb --show FILE ...\n\n"
		"  --pages N        pages to add to the pool (as many of 8192 x 2 MB as free\n"
		"                   memory allows, an eighth of it, 128 MiB at least, left free)\n"
		"  --size SIZE      of a page (2M)\n"
		"  --node N         all on one node; else the kernel spreads them over all\n"
		"  --pairs N        times that the pool grows and shrinks (10), after a warm-up\n"
		"  --fault          in between, map the pages and touch each: the fault clears\n"
		"                   them, whatever init_on_alloc says\n"
		"  -o FILE          keep it; --force overwrites\n"
		"  --show FILE ...  print what was kept; of several boots, one median each\n"
		"  -q               no progress\n\n"
		"Needs root, no module. Writes nr_hugepages and puts it back at the end, on\n"
		"Ctrl-C and on failure too. With hugepages= on the kernel's command line the\n"
		"time that the boot took is a row as well; scripts/hugetlb-boot boots for it.\n",
	.main = hugetlb_main,
};
