// SPDX-License-Identifier: GPL-2.0
/*
 * clearbench compare: two variants of one result, or two results.
 *
 * Variants of one run are paired round by round when one is the baseline of the
 * other, and then there is an interval and a noise floor to judge by. Between
 * two files the unit is the boot: with one boot a side nothing is known of how
 * boots differ, so the change of the medians is shown and no verdict is given.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "show.h"

#define MAIL_COLUMNS	75

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

static const char *const knobs[] = { "cache", "drain", "extent_rounds" };

/* Words for --vary that mean more than the one of that name */
static const struct {
	const char *word;
	const char *means;
} aliases[] = {
	{ "kernel", "clear_pages" }, { "kernel", "clear_page" },
	{ "cpu", "cpu_model" }, { "cpu", "microcode" }, { "model", "preempt" },
};

/**
 * struct side - one of the two
 * @path: the file
 * @method: of the variant; NULL: all that both have
 * @batch: of the variant; NULL: the only one that it has
 */
struct side {
	const char *path;
	char *method;
	char *batch;
	struct result r;
	struct view v;
};

struct comparison {
	struct side side[2];
	const char *vary;
	const char *format;
	double fail_above;
	bool force;
	bool same_file;
	bool by_variant;
	bool emulated;
	unsigned int rows;
	unsigned int slower;
	unsigned int unmatched;
};

/* Is @word one of the comma separated @list, or meant by one? */
static bool varies(const char *list, const char *word)
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

/* FILE, or FILE:METHOD or FILE:METHOD@BATCH */
static void parse_side(struct side *s, char *arg)
{
	char *colon = strrchr(arg, ':');

	s->path = arg;
	if (!colon || !access(arg, F_OK))
		return;
	*colon = '\0';
	s->method = colon + 1;
	s->batch = strchr(s->method, '@');
	if (s->batch)
		*s->batch++ = '\0';
}

static bool of_variant(const struct side *s, const struct cell *c)
{
	return !s->method || (!strcmp(CELL_TEXT(c, method), s->method) &&
			      (!s->batch || !strcmp(or_dash(CELL_TEXT(c, batch)), s->batch)));
}

static bool is_key(const struct comparison *cmp, enum cb_column k)
{
	if (cmp->by_variant && (k == CB_COL_method || k == CB_COL_batch))
		return false;
	return !varies(cmp->vary, column_name(k));
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

/*
 * The cell that @c is to be compared with. Both files are in the same order as
 * a rule, so the search goes on where the last one ended.
 */
static const struct cell *find_after(const struct comparison *cmp, const struct cell *c)
{
	static size_t at;
	const struct side *s = &cmp->side[1];
	size_t i;

	for (i = 0; i < s->v.nr; i++) {
		const struct cell *other = s->v.cell[(at + i) % s->v.nr];

		if ((cmp->same_file && other->line == c->line) || !of_variant(s, other) ||
		    !comparable(cmp, c, other))
			continue;
		at = (at + i) % s->v.nr;
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

	table_cell(t, "%.0f", CELL_NUM(before, order));
	table_cell(t, "%s", fmt_extent(a, ldexp(cmp->side[0].v.page_size,
						CELL_NUM(before, order))));
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

static void print(const struct comparison *cmp, struct table *t)
{
	if (!strcmp(cmp->format, "md"))
		table_print_md(t, stdout);
	else
		table_print(t, stdout, strcmp(cmp->format, "mail") ? 0 : MAIL_COLUMNS);
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

	put_wrapped(stdout, "", "  ", line, strcmp(cmp->format, "mail") ? 0 : MAIL_COLUMNS);
	if (!strcmp(cmp->format, "md"))
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
	static const char *const head[] = {
		"order", "size", "Before", "After", "Change", "95 % interval", "noise", "n"
	};
	const struct side *s = &cmp->side[0];
	struct row *row = xrealloc(NULL, (s->v.nr + 1) * sizeof(*row));
	const struct row *last = NULL;
	struct table t;
	const struct cell *baseline = NULL;
	size_t i, end = 0, nr = 0;
	unsigned int k;

	for (i = 0; i < s->v.nr; i++) {
		const struct cell *c = s->v.cell[i], *other;

		if (i == end) {
			end = view_order_end(&s->v, i);
			baseline = view_baseline(&s->v, i, end);
		}
		if (!of_variant(s, c))
			continue;
		other = find_after(cmp, c);
		if (other)
			row[nr++] = (struct row){
				c, other, cmp->same_file && c == baseline &&
					  !isnan(CELL_NUM(other, ratio)), i
			};
		else
			cmp->unmatched++;
	}
	qsort(row, nr, sizeof(*row), compare_rows);
	for (i = 0; i < nr; i++) {
		if (!last || !same_table(last->before, last->after, row[i].before, row[i].after)) {
			if (last)
				print(cmp, &t);
			put_title(cmp, row[i].before, row[i].after);
			table_init(&t, "rrrrrrrr");
			for (k = 0; k < ARRAY_SIZE(head); k++)
				table_cell(&t, "%s", head[k]);
		}
		add_row(cmp, &t, row[i].before, row[i].after, row[i].paired);
		last = &row[i];
	}
	if (last)
		print(cmp, &t);
	free(row);
}

static unsigned int differ(const struct comparison *cmp, const char *name, const char *a,
			   const char *b, bool say)
{
	/* What stands behind a comma is a measured rate, of every boot its own. */
	size_t len = strcspn(or_dash(a), ",");

	if (varies(cmp->vary, name) || !strcmp(or_dash(a), or_dash(b)) ||
	    (!strcmp(name, "clock") && !strncmp(or_dash(a), or_dash(b), len + 1)))
		return 0;
	if (say)
		msg("%s: %s before, %s after", name, or_dash(a), or_dash(b));
	return 1;
}

static unsigned int differences(const struct comparison *cmp, bool say)
{
	const struct result *a = &cmp->side[0].r, *b = &cmp->side[1].r;
	unsigned int i, nr = 0;

	for (i = 0; i < ARRAY_SIZE(environment); i++)
		nr += differ(cmp, environment[i], env_get(a->environment, environment[i]),
			     env_get(b->environment, environment[i]), say);
	for (i = 0; i < ARRAY_SIZE(knobs); i++)
		nr += differ(cmp, knobs[i], env_get(a->knobs, knobs[i]),
			     env_get(b->knobs, knobs[i]), say);
	return nr;
}

static int read_side(struct comparison *cmp, struct side *s)
{
	int status = result_read(&s->r, s->path, NULL, NULL);

	if (status == CB_USAGE)
		return status;
	view_init(&s->v, &s->r);
	if ((status || !s->r.footer) && !cmp->force) {
		msg("%s is cut or damaged: repair it with run --resume, or compare what is whole with --force",
		    s->path);
		return CB_FAILED;
	}
	cmp->emulated |= has_mark(s->r.marks, "emulated");
	return CB_OK;
}

/* FILE:METHOD names a variant only where the method has one batch. */
static int one_batch(const struct side *s)
{
	const char *first = NULL;
	size_t i;

	for (i = 0; i < s->v.nr && !s->batch; i++) {
		const struct cell *c = s->v.cell[i];

		if (!of_variant(s, c))
			continue;
		if (first && strcmp(first, or_dash(CELL_TEXT(c, batch))))
			return usage_error(&verb_compare, "%s has %s with batches %s, %s...: name one, %s@%s",
					   s->path, s->method, first, or_dash(CELL_TEXT(c, batch)),
					   s->method, first);
		first = or_dash(CELL_TEXT(c, batch));
	}
	return CB_OK;
}

static void put_footer(const struct comparison *cmp, unsigned int differing)
{
	unsigned int limit = strcmp(cmp->format, "mail") ? 0 : MAIL_COLUMNS;
	char *line;

	if (!cmp->same_file) {
		put_wrapped(stdout, "", "  ",
			    "within one boot only: one file a side says nothing of how boots differ, so no verdict is given (\"?\")",
			    limit);
		if (cmp->vary) {
			line = xasprintf("compared on purpose: %s", cmp->vary);
			put_wrapped(stdout, "", "  ", line, limit);
			free(line);
		}
	}
	if (differing)
		put_wrapped(stdout, "", "  ", "FORCED: the conditions differ, see above", limit);
	if (cmp->unmatched) {
		line = xasprintf("%u cells of %s have nothing to be compared with",
				 cmp->unmatched, file_name(cmp->side[0].path));
		put_wrapped(stdout, "", "  ", line, limit);
		free(line);
	}
	if (!cmp->same_file) {
		printf("\nBefore:\n");
		put_about(stdout, &cmp->side[0].v, "", limit);
		printf("\nAfter:\n");
	}
	put_about(stdout, &cmp->side[1].v, "", limit);
}

static int compare(struct comparison *cmp)
{
	unsigned int differing = 0;
	int status, i;

	cmp->same_file = !strcmp(cmp->side[0].path, cmp->side[1].path);
	cmp->by_variant = cmp->side[0].method && cmp->side[1].method;
	if (cmp->same_file && !cmp->by_variant)
		return usage_error(&verb_compare, "which two variants of %s? FILE:METHOD@BATCH",
				   cmp->side[0].path);
	for (i = 0; i < 2; i++) {
		status = read_side(cmp, &cmp->side[i]);
		if (!status && cmp->by_variant)
			status = one_batch(&cmp->side[i]);
		if (status)
			return status;
	}
	if (!cmp->same_file)
		differing = differences(cmp, true);
	if (differing && !cmp->force) {
		msg("%u conditions differ: name what is compared by --vary, or use --force",
		    differing);
		return CB_FAILED;
	}
	put_rows(cmp);
	if (!cmp->rows && !cmp->unmatched) {
		msg("%s has no cell of that variant", cmp->side[0].path);
		return CB_FAILED;
	}
	if (!cmp->rows) {
		msg("%s and %s have no measured cell in common", cmp->side[0].path,
		    cmp->side[1].path);
		return CB_FAILED;
	}
	put_footer(cmp, differing);
	if (cmp->fail_above < INFINITY && cmp->emulated)
		msg("--fail-above: the CPU is emulated, no slowdown is a real one");
	return finish_stdout(cmp->slower ? CB_SLOWER : CB_OK);
}

static int compare_main(int argc, char **argv)
{
	static const char *const formats[] = { "table", "mail", "md" };
	struct comparison cmp = { .format = "table", .fail_above = INFINITY };
	unsigned int nr = 0, k;
	const char *pct = NULL;
	char *end;
	int i, status;

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
			parse_side(&cmp.side[nr++], argv[i]);
		else
			return usage_error(&verb_compare, "'%s' is neither an option nor one of the two",
					   argv[i]);
	}
	if (nr < 2)
		return usage_error(&verb_compare, "BEFORE and AFTER are missing");
	for (k = 0; k < ARRAY_SIZE(formats) && strcmp(formats[k], cmp.format); k++)
		;
	if (k == ARRAY_SIZE(formats))
		return usage_error(&verb_compare, "no format '%s'; there are: table mail md",
				   cmp.format);
	if (pct) {
		cmp.fail_above = strtod(pct, &end);
		if (end == pct || *end || !(cmp.fail_above >= 0 && cmp.fail_above < INFINITY))
			return usage_error(&verb_compare, "--fail-above takes a percentage from 0 on, not '%s'",
					   pct);
	}
	status = compare(&cmp);
	for (i = 0; i < 2; i++) {
		view_free(&cmp.side[i].v);
		if (cmp.side[i].r.path)
			result_free(&cmp.side[i].r);
	}
	return status;
}

const struct verb verb_compare = {
	.name = "compare",
	.summary = "two variants of a result, or two results: Before, After, Change",
	.usage = "[--vary WHAT,...] [--format table|mail|md] [--fail-above PCT] [--force] BEFORE AFTER\n\n"
		"BEFORE and AFTER are FILE, FILE:METHOD or FILE:METHOD@BATCH.\n\n"
		"  --vary WHAT       what is compared on purpose: kernel, cpu, model, batch, method,\n"
		"                    cache, load, or the name of a condition or knob; all other\n"
		"                    conditions must be the same\n"
		"  --force           compare all the same, and say so\n"
		"  --fail-above PCT  exit 3 when a slowdown of more than PCT % is significant\n\n"
		"Two variants of one run are paired, and judged, when one of them is the baseline.\n"
		"Two files are two boots: the change is shown, no verdict is given.\n",
	.main = compare_main,
};
