// SPDX-License-Identifier: GPL-2.0
/*
 * clearbench compare: two variants of one result, or two results.
 *
 * Variants of one run are paired round by round when one is the baseline of the
 * other, and then there is an interval and a noise floor to judge by. Between
 * two files the unit is the boot: with one boot a side nothing is known of how
 * boots differ, so the change of the medians is shown and no verdict is given.
 */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compare.h"

/* What makes two cells comparable, unless it is what is compared */
static const enum cb_column keys[] = {
	CB_COL_context, CB_COL_order, CB_COL_method, CB_COL_batch, CB_COL_cache,
	CB_COL_model, CB_COL_load, CB_COL_nid,
};

/* What must not differ between two runs, by the names of the header */
static const char *const environment[] = {
	"machine", "kernel", "cpu_model", "microcode", "hypervisor", "marks", "page_size",
	"clear_pages", "clear_page", "init_on_alloc", "init_on_free", "huge_pages",
	"distorts", "clock", "governor", "boost", "smt",
};

/* Likewise of the knobs; with what held before there was one, where that is known */
static const struct {
	const char *name;
	const char *before;
} knobs[] = {
	{ "cache", NULL }, { "drain", NULL }, { "extent_rounds", NULL },
	{ "after", "none" }, { "victim_kib", "256" }, { "victim_cpu", "same" },
};

/* Words for --vary that mean more than the one of that name */
static const struct {
	const char *word;
	const char *means;
} aliases[] = {
	{ "kernel", "clear_pages" }, { "kernel", "clear_page" },
	{ "cpu", "cpu_model" }, { "cpu", "microcode" }, { "model", "preempt" },
};

/* Is @word one of the comma separated @list, or meant by one? */
bool compare_varies(const char *list, const char *word)
{
	unsigned int i;
	size_t len;

	for (; list && *list; list += len + !!list[len]) {
		len = strcspn(list, ",");
		if (len == strlen(word) && !strncmp(list, word, len))
			return true;
		for (i = 0; i < ARRAY_SIZE(aliases); i++)
			if (!strcmp(aliases[i].means, word) && len == strlen(aliases[i].word) &&
			    !strncmp(list, aliases[i].word, len))
				return true;
	}
	return false;
}

/* Return: the first word of --vary that means nothing, to be freed; or NULL. */
static char *unknown_word(const char *list)
{
	unsigned int i;
	size_t len;

	for (; list && *list; list += len + !!list[len]) {
		char *word;
		bool known = false;

		len = strcspn(list, ",");
		word = strndup(list, len);
		for (i = 0; i < ARRAY_SIZE(aliases); i++)
			known |= !strcmp(aliases[i].word, word);
		for (i = 0; i < ARRAY_SIZE(keys); i++)
			known |= !strcmp(column_name(keys[i]), word);
		for (i = 0; i < ARRAY_SIZE(environment); i++)
			known |= !strcmp(environment[i], word);
		for (i = 0; i < ARRAY_SIZE(knobs); i++)
			known |= !strcmp(knobs[i].name, word);
		if (!known)
			return word;
		free(word);
	}
	return NULL;
}

/* "table", "mail" or "md" */
bool compare_is(const struct comparison *cmp, const char *format)
{
	return !strcmp(cmp->format, format);
}

/* Columns of a line; 0: no limit */
unsigned int compare_limit(const struct comparison *cmp)
{
	return compare_is(cmp, "mail") ? COMPARE_COLUMNS : 0;
}

static void add_file(struct side *s, char *path)
{
	s->file = xrealloc(s->file, (s->nr + 1) * sizeof(*s->file));
	memset(&s->file[s->nr], 0, sizeof(*s->file));
	s->file[s->nr++].path = path;
}

static int is_result(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && !strcmp(dot, ".jsonl");
}

static int any_entry(const struct dirent *entry)
{
	return *entry->d_name != '.';
}

/* Calls @fn for the entries of a folder that pass @filter, 2 before 10. */
static void walk_folder(struct side *s, const char *path,
			int (*filter)(const struct dirent *entry),
			void (*fn)(struct side *s, char *path))
{
	struct dirent **entry;
	int nr = scandir(path, &entry, filter, versionsort), i;

	for (i = 0; i < nr; i++) {
		fn(s, xasprintf("%s/%s", path, entry[i]->d_name));
		free(entry[i]);
	}
	if (nr >= 0)
		free(entry);
}

static void add_files_of(struct side *s, char *path)
{
	walk_folder(s, path, is_result, add_file);
	free(path);
}

/*
 * The runs of a folder, or of the folders in it (a boot each, as scripts/vm exec
 * --boots leaves them), unless it is one that scripts/collect.sh filled
 */
static int add_folder(struct side *s)
{
	char *own = xasprintf("%s/results", s->name);
	bool collected = !access(own, F_OK);

	free(own);
	if (collected) {
		add_file(s, xstrdup(s->name));
		return CB_OK;
	}
	walk_folder(s, s->name, is_result, add_file);
	if (!s->nr)
		walk_folder(s, s->name, any_entry, add_files_of);
	if (s->nr)
		return CB_OK;
	msg("%s: there is no .jsonl file in this folder, and no results of collect.sh", s->name);
	return CB_USAGE;
}

/* FILE, FILE,FILE..., or FOLDER; of each :METHOD or :METHOD@BATCH */
static int parse_side(struct side *s, const char *arg)
{
	char *colon, *word, *list;
	struct stat st;

	s->name = xstrdup(arg);
	colon = strrchr(s->name, ':');
	if (colon && access(arg, F_OK)) {
		*colon = '\0';
		s->method = colon + 1;
		s->batch = strchr(s->method, '@');
		if (s->batch)
			*s->batch++ = '\0';
	}
	if (!stat(s->name, &st)) {
		if (S_ISDIR(st.st_mode))
			return add_folder(s);
		add_file(s, xstrdup(s->name));
		return CB_OK;
	}
	list = xstrdup(s->name);
	for (word = list; (word = strtok(word, ",")); word = NULL)
		add_file(s, xstrdup(word));
	free(list);
	if (s->nr)
		return CB_OK;
	return usage_error(&verb_compare, "'%s' is no file", arg);
}

bool compare_of_variant(const struct side *s, const struct cell *c)
{
	return !s->method || (!strcmp(CELL_TEXT(c, method), s->method) &&
			      (!s->batch || !strcmp(or_dash(CELL_TEXT(c, batch)), s->batch)));
}

static bool is_key(const struct comparison *cmp, enum cb_column k)
{
	if (cmp->by_variant && (k == CB_COL_method || k == CB_COL_batch))
		return false;
	return !compare_varies(cmp->vary, column_name(k));
}

static bool comparable(const struct comparison *cmp, const struct cell *a, const struct cell *b)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		const union value *x = &a->value[keys[i]], *y = &b->value[keys[i]];

		if (!is_key(cmp, keys[i]))
			continue;
		if (column_is_text(keys[i])) {
			if (strcmp(or_dash(x->text), or_dash(y->text)))
				return false;
		} else if (x->num != y->num && !isnan(x->num) && !isnan(y->num)) {
			return false;
		}
	}
	return true;
}

/**
 * compare_find() - the cell of a file that @like is to be compared with
 * @cmp: the comparison
 * @f: the file
 * @s: its side
 * @like: a cell of Before, which is not found itself
 *
 * All files are in the same order as a rule, so the search goes on where the
 * last one ended.
 *
 * Return: it, or NULL.
 */
const struct cell *compare_find(const struct comparison *cmp, struct run_file *f,
				const struct side *s, const struct cell *like)
{
	size_t i;

	for (i = 0; i < f->v.nr; i++) {
		const struct cell *other = f->v.cell[(f->at + i) % f->v.nr];

		if (other == like || !compare_of_variant(s, other) ||
		    !comparable(cmp, like, other))
			continue;
		f->at = (f->at + i) % f->v.nr;
		return other;
	}
	return NULL;
}

/*
 * @paired: the module compared them with each other, round by round, for
 * @before is the baseline of @after
 */
static void add_row(struct comparison *cmp, struct table *t, const struct cell *before,
		    const struct cell *after, bool paired)
{
	char a[UNIT_LEN], b[UNIT_LEN], lo[UNIT_LEN], hi[UNIT_LEN], *remark;
	const struct cell *missing;
	struct verdict v;

	if (!cell_is_measured(before) || !cell_is_measured(after)) {
		missing = cell_is_measured(before) ? after : before;
		remark = cell_remark(missing);
		table_span(t, "%s: %s", missing == before ? "before" : "after",
			   remark ? remark : "not measured");
		free(remark);
		return;
	}
	v = judge(before, after);
	if (!paired) {
		v.known = false;
		v.floor = NAN;
		v.change = CELL_NUM(before, p50_ns) > 0 ?
			   CELL_NUM(after, p50_ns) / CELL_NUM(before, p50_ns) - 1 : NAN;
	}
	cmp->rows++;
	cmp->slower += !cmp->emulated && v.known && v.differs && 100 * v.change > cmp->fail_above;
	table_cell(t, "%s", fmt_ns(a, CELL_NUM(before, p50_ns)));
	table_cell(t, "%s", fmt_ns(b, CELL_NUM(after, p50_ns)));
	if (v.known && !v.differs) {
		fmt_change(a, v.bound);
		table_cell(t, "|x| < %s %%", a + (*a == '+'));
	} else if (isnan(v.change)) {
		table_cell(t, "-");
	} else {
		table_cell(t, "%s %%%s", fmt_change(a, v.change), v.known ? "" : " ?");
	}
	if (v.known)
		table_cell(t, "[%s, %s]", fmt_change(lo, v.lo), fmt_change(hi, v.hi));
	else
		table_cell(t, "-");
	if (isnan(v.floor)) {
		table_cell(t, "-");
	} else {
		fmt_change(a, v.floor);
		table_cell(t, "%s", a + (*a == '+'));
	}
	table_cell(t, "%s", fmt_count(a, fmin(CELL_NUM(before, n), CELL_NUM(after, n))));
}

/* compare_print() - print a table, and empty it */
void compare_print(const struct comparison *cmp, struct table *t)
{
	if (compare_is(cmp, "md"))
		table_print_md(t, stdout);
	else
		table_print(t, stdout, compare_limit(cmp));
	putchar('\n');
}

/* The variants that a table is of: a new one for each pair of them */
static bool same_table(const struct cell *a, const struct cell *b, const struct cell *c,
		       const struct cell *d)
{
	return a && !strcmp(CELL_TEXT(a, context), CELL_TEXT(c, context)) && same_variant(a, c) &&
	       same_variant(b, d);
}

static void put_title(const struct comparison *cmp, const struct cell *before,
		      const struct cell *after)
{
	char *a = variant_name(before), *b = variant_name(after);
	char *line = xasprintf("%s, cache %s: %s, %s -> %s, %s", CELL_TEXT(before, context),
			       or_dash(CELL_TEXT(before, cache)), a,
			       or_dash(CELL_TEXT(before, model)), b,
			       or_dash(CELL_TEXT(after, model)));

	put_wrapped(stdout, "", "  ", line, compare_limit(cmp));
	if (compare_is(cmp, "md"))
		putchar('\n');
	free(line);
	free(a);
	free(b);
}

struct row {
	const struct cell *before;
	const struct cell *after;
	bool paired;
	size_t index;
};

/* Rows of one table together: context, then variants; orders ascend already. */
static int compare_rows(const void *va, const void *vb)
{
	const struct row *a = va, *b = vb;
	int d = strcmp(CELL_TEXT(a->before, context), CELL_TEXT(b->before, context));

	if (!d)
		d = strcmp(CELL_TEXT(a->before, method), CELL_TEXT(b->before, method));
	if (!d)
		d = strcmp(or_dash(CELL_TEXT(a->before, batch)),
			   or_dash(CELL_TEXT(b->before, batch)));
	return d ? d : a->index < b->index ? -1 : 1;
}

static void put_rows(struct comparison *cmp)
{
	static const char *const head[2][8] = {
		{ "order", "size", "Before", "After", "Change", "95 % interval", "noise", "n" },
		{ "order", "size", "Before", "After", "Change", "95 % interval", "spread", "runs" },
	};
	bool several = cmp->side[0].nr > 1 || cmp->side[1].nr > 1;
	const struct side *s = &cmp->side[0];
	const struct view *v = &s->file->v;
	struct row *row = xrealloc(NULL, (v->nr + 1) * sizeof(*row));
	const struct row *last = NULL;
	struct table t;
	const struct cell *baseline = NULL;
	size_t i, end = 0, nr = 0;
	char buf[UNIT_LEN];
	unsigned int k;

	for (i = 0; i < v->nr; i++) {
		const struct cell *c = v->cell[i], *other;

		if (i == end) {
			end = view_order_end(v, i);
			baseline = view_baseline(v, i, end);
		}
		if (!compare_of_variant(s, c))
			continue;
		other = compare_find(cmp, cmp->side[1].file, &cmp->side[1], c);
		if (other)
			row[nr++] = (struct row){
				c, other, cmp->same_file && c == baseline &&
					  isnan(CELL_NUM(c, ratio)) &&
					  !isnan(CELL_NUM(other, ratio)), i
			};
		else
			cmp->unmatched++;
	}
	qsort(row, nr, sizeof(*row), compare_rows);
	for (i = 0; i < nr; i++) {
		if (!last || !same_table(last->before, last->after, row[i].before, row[i].after)) {
			if (last)
				compare_print(cmp, &t);
			put_title(cmp, row[i].before, row[i].after);
			table_init(&t, "rrrrrrrr");
			for (k = 0; k < ARRAY_SIZE(*head); k++)
				table_cell(&t, "%s", head[several][k]);
		}
		table_cell(&t, "%.0f", CELL_NUM(row[i].before, order));
		table_cell(&t, "%s", fmt_extent(buf, ldexp(v->page_size,
							   CELL_NUM(row[i].before, order))));
		if (several)
			compare_add_runs(cmp, &t, row[i].before);
		else
			add_row(cmp, &t, row[i].before, row[i].after, row[i].paired);
		last = &row[i];
	}
	if (last)
		compare_print(cmp, &t);
	free(row);
}

static unsigned int differ(const struct comparison *cmp, const char *name, const char *a,
			   const char *b)
{
	/* What stands behind a comma is a measured rate, of every boot its own. */
	size_t len = strcspn(or_dash(a), ",");

	if (compare_varies(cmp->vary, name) || !strcmp(or_dash(a), or_dash(b)) ||
	    (!strcmp(name, "clock") && !strncmp(or_dash(a), or_dash(b), len + 1)))
		return 0;
	msg("%s: %s before, %s after", name, or_dash(a), or_dash(b));
	return 1;
}

static const char *knob_held(const struct result *r, unsigned int i)
{
	const char *value = env_get(r->knobs, knobs[i].name);

	return value ? value : knobs[i].before;
}

/* @list: what may differ */
static unsigned int differences(const struct comparison *cmp, const struct result *a,
				const struct result *b)
{
	unsigned int i, nr = 0;

	for (i = 0; i < ARRAY_SIZE(environment); i++)
		nr += differ(cmp, environment[i], env_get(a->environment, environment[i]),
			     env_get(b->environment, environment[i]));
	for (i = 0; i < ARRAY_SIZE(knobs); i++)
		nr += differ(cmp, knobs[i].name, knob_held(a, i), knob_held(b, i));
	return nr;
}

/* Between the sides what is varied may differ, among the runs of a side nothing. */
static unsigned int all_differences(struct comparison *cmp)
{
	const char *vary = cmp->vary;
	unsigned int i, k, nr = 0;

	if (!cmp->same_file)
		nr += differences(cmp, &cmp->side[0].file->r, &cmp->side[1].file->r);
	cmp->vary = NULL;
	for (i = 0; i < 2; i++)
		for (k = 1; k < cmp->side[i].nr; k++)
			nr += differences(cmp, &cmp->side[i].file[0].r, &cmp->side[i].file[k].r);
	cmp->vary = vary;
	return nr;
}

static int read_file(struct comparison *cmp, struct run_file *f)
{
	int status = result_read(&f->r, f->path, NULL, NULL);

	view_init(&f->v, &f->r);
	if (status == CB_USAGE)
		return status;
	if ((status || !f->r.footer) && !cmp->force) {
		msg("%s is cut or damaged: repair it with run --resume, or compare what is whole with --force",
		    f->path);
		return CB_FAILED;
	}
	cmp->emulated |= has_mark(f->r.marks, "emulated");
	return CB_OK;
}

/* FILE:METHOD names a variant only where the method has one batch. */
static int one_batch(const struct side *s)
{
	const struct view *v = &s->file->v;
	const char *first = NULL;
	size_t i;

	for (i = 0; i < v->nr && !s->batch; i++) {
		const struct cell *c = v->cell[i];

		if (!compare_of_variant(s, c))
			continue;
		if (first && strcmp(first, or_dash(CELL_TEXT(c, batch))))
			return usage_error(&verb_compare, "%s has %s with batches %s, %s...: name one, %s@%s",
					   s->name, s->method, first, or_dash(CELL_TEXT(c, batch)),
					   s->method, first);
		first = or_dash(CELL_TEXT(c, batch));
	}
	return CB_OK;
}

/* How many boots the runs of a side are of; 0: not known */
static unsigned int boots(const struct side *s)
{
	unsigned int i, k, nr = 0;

	for (i = 0; i < s->nr; i++) {
		const char *boot = env_get(s->file[i].r.environment, "boot");

		if (!boot)
			return 0;
		for (k = 0; k < i; k++)
			if (!strcmp(boot, env_get(s->file[k].r.environment, "boot")))
				break;
		nr += k == i;
	}
	return nr;
}

static void put_sentence(const struct comparison *cmp, char *line)
{
	put_wrapped(stdout, compare_is(cmp, "md") ? "- " : "", "  ", line, compare_limit(cmp));
	free(line);
}

static void put_units(const struct comparison *cmp)
{
	static const char *const how[] = {
		"Change by Hodges and Lehmann, with the interval of Mann and Whitney's test (four runs a side at least)",
		"Both variants are of the same runs: the median ratio, with the sign test's interval (six runs at least)",
	};
	const char *note = "; how one boot differs from another is not in the interval";
	unsigned int a = boots(&cmp->side[0]), b = boots(&cmp->side[1]);

	if (cmp->side[0].nr == 1 && cmp->side[1].nr == 1) {
		if (!cmp->same_file)
			put_wrapped(stdout, compare_is(cmp, "md") ? "- " : "", "  ",
				    "within one boot only: one file a side says nothing of how boots differ, so no verdict is given (\"?\")",
				    compare_limit(cmp));
		return;
	}
	put_sentence(cmp, xasprintf("runs: %u before, %u after; a run is the unit. %s",
				    cmp->side[0].nr, cmp->side[1].nr, how[cmp->same_file]));
	if (a && b)
		put_sentence(cmp, xasprintf("boots: %u before, %u after%s", a, b,
					    a == 1 || b == 1 ? note : ""));
}

static void put_footer(const struct comparison *cmp, unsigned int differing)
{
	put_units(cmp);
	if (cmp->vary && !cmp->same_file)
		put_sentence(cmp, xasprintf("compared on purpose: %s", cmp->vary));
	if (differing)
		put_sentence(cmp, xstrdup("FORCED: the conditions differ, see above"));
	if (cmp->unmatched)
		put_sentence(cmp, xasprintf("%u cells of %s have nothing to be compared with",
					    cmp->unmatched, file_name(cmp->side[0].name)));
	if (!cmp->same_file) {
		printf("\nBefore:\n");
		put_about(stdout, &cmp->side[0].file->v, "", compare_limit(cmp));
		printf("\nAfter:\n");
	}
	put_about(stdout, &cmp->side[1].file->v, "", compare_limit(cmp));
}

static int read_sides(struct comparison *cmp)
{
	unsigned int i, k;
	int status;

	for (i = 0; i < 2; i++) {
		for (k = 0; k < cmp->side[i].nr; k++) {
			status = read_file(cmp, &cmp->side[i].file[k]);
			if (status)
				return status;
		}
		status = cmp->by_variant ? one_batch(&cmp->side[i]) : CB_OK;
		if (status)
			return status;
	}
	return CB_OK;
}

static int compare(struct comparison *cmp)
{
	unsigned int differing;
	int status;

	cmp->same_file = !strcmp(cmp->side[0].name, cmp->side[1].name);
	cmp->by_variant = cmp->side[0].method && cmp->side[1].method;
	if (cmp->same_file && !cmp->by_variant)
		return usage_error(&verb_compare, "which two variants of %s? FILE:METHOD@BATCH, or --vary batch FILE",
				   cmp->side[0].name);
	status = read_sides(cmp);
	if (status)
		return status;
	differing = all_differences(cmp);
	if (differing && !cmp->force) {
		msg("%u conditions differ: name what is compared by --vary, or use --force",
		    differing);
		return CB_FAILED;
	}
	put_rows(cmp);
	if (!cmp->rows && !cmp->unmatched) {
		msg("%s has no cell of that variant", cmp->side[0].name);
		return CB_FAILED;
	}
	if (!cmp->rows) {
		msg("%s and %s have no measured cell in common: run both with the same orders, methods, batches and contexts, or name what differs by --vary",
		    cmp->side[0].name, cmp->side[1].name);
		return CB_FAILED;
	}
	put_footer(cmp, differing);
	if (cmp->fail_above < INFINITY && cmp->emulated)
		msg("--fail-above: the CPU is emulated, no slowdown is a real one");
	return finish_stdout(cmp->slower ? CB_SLOWER : CB_OK);
}

/* compare --vary batch FILE: the batches of one run */
static int compare_one(struct comparison *cmp)
{
	int status = CB_OK;

	if (!cmp->vary || strcmp(cmp->vary, "batch") || cmp->side[0].nr > 1)
		return usage_error(&verb_compare, "BEFORE and AFTER are missing; of one FILE there is --vary batch");
	status = read_file(cmp, cmp->side[0].file);
	if (status)
		return status;
	if (!compare_batches(cmp)) {
		msg("%s has no method with several batches", cmp->side[0].name);
		return CB_FAILED;
	}
	put_about(stdout, &cmp->side[0].file->v, compare_is(cmp, "md") ? "- " : "",
		  compare_limit(cmp));
	return finish_stdout(CB_OK);
}

static void free_side(struct side *s)
{
	unsigned int i;

	for (i = 0; i < s->nr; i++) {
		if (s->file[i].r.path) {
			view_free(&s->file[i].v);
			result_free(&s->file[i].r);
		}
		free(s->file[i].path);
	}
	free(s->file);
	free(s->name);
}

static int compare_main(int argc, char **argv)
{
	static const char *const formats[] = { "table", "mail", "md" };
	struct comparison cmp = { .format = "table", .fail_above = INFINITY };
	unsigned int nr = 0, k;
	const char *pct = NULL, *side[2];
	int i, status = CB_OK;
	char *end, *word;

	for (i = 1; i < argc; i++) {
		const char *next = i + 1 < argc ? argv[i + 1] : NULL;

		if (!strcmp(argv[i], "--force"))
			cmp.force = true;
		else if (!strcmp(argv[i], "--vary") && next)
			cmp.vary = argv[++i];
		else if (!strcmp(argv[i], "--format") && next)
			cmp.format = argv[++i];
		else if (!strcmp(argv[i], "--fail-above") && next)
			pct = argv[++i];
		else if (*argv[i] != '-' && nr < 2)
			side[nr++] = argv[i];
		else
			return usage_error(&verb_compare, "'%s' is neither an option nor one of the two",
					   argv[i]);
	}
	if (!nr)
		return usage_error(&verb_compare, "BEFORE and AFTER are missing");
	for (k = 0; k < ARRAY_SIZE(formats) && strcmp(formats[k], cmp.format); k++)
		;
	if (k == ARRAY_SIZE(formats))
		return usage_error(&verb_compare, "no format '%s'; there are: table mail md",
				   cmp.format);
	word = unknown_word(cmp.vary);
	if (word) {
		status = usage_error(&verb_compare, "--vary '%s' names no condition", word);
		free(word);
		return status;
	}
	if (pct) {
		cmp.fail_above = strtod(pct, &end);
		if (end == pct || *end || !(cmp.fail_above >= 0 && cmp.fail_above < INFINITY))
			return usage_error(&verb_compare, "--fail-above takes a percentage from 0 on, not '%s'",
					   pct);
	}
	for (k = 0; k < nr && !status; k++)
		status = parse_side(&cmp.side[k], side[k]);
	if (!status)
		status = nr == 1 ? compare_one(&cmp) : compare(&cmp);
	for (i = 0; i < 2; i++)
		free_side(&cmp.side[i]);
	return status;
}

const struct verb verb_compare = {
	.name = "compare",
	.summary = "two variants of a result, or two results: Before, After, Change",
	.usage = "[--vary WHAT,...] [--format table|mail|md] [--fail-above PCT] [--force] BEFORE AFTER\n"
		"       clearbench compare --vary batch FILE\n\n"
		"BEFORE and AFTER are FILE, or several runs: FILE,FILE,... or a FOLDER of them; each\n"
		"with :METHOD or :METHOD@BATCH behind it for one variant.\n\n"
		"  --vary WHAT       what is compared on purpose: kernel, cpu, model, batch, method,\n"
		"                    cache, load, or the name of a condition or knob; all other\n"
		"                    conditions must be the same. --vary batch FILE: the batches of\n"
		"                    one run, with the smallest that is as good as the best\n"
		"  --force           compare all the same, and say so\n"
		"  --fail-above PCT  exit 3 when a slowdown of more than PCT % is significant\n\n"
		"Two variants of one run are paired, and judged, when one of them is the baseline.\n"
		"Of two files the change is shown and no verdict given: each is one boot. Several\n"
		"a side are judged, with the run as the unit: four a side at least, or six runs of\n"
		"two variants each. scripts/vm matrix --boots N collects such.\n",
	.main = compare_main,
};
