// SPDX-License-Identifier: GPL-2.0
/*
 * show --format mail: what goes under a patch.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "show.h"

#define MAIL_COLUMNS	75

static void put_interval(struct table *t, const struct verdict *v)
{
	char lo[UNIT_LEN], hi[UNIT_LEN];

	if (v->known)
		table_cell(t, "[%s, %s]", fmt_change(lo, v->lo), fmt_change(hi, v->hi));
	else
		table_cell(t, "-");
}

/* Without its sign, for what has none */
static const char *fmt_bound(char *buf, double fraction)
{
	const char *text = fmt_change(buf, fraction);

	return text + (*text == '+');
}

/*
 * No difference is never just left out: it has a bound. Where there is no
 * interval the change stands without a verdict.
 */
static void put_change(struct table *t, const struct verdict *v)
{
	char buf[UNIT_LEN];

	if (v->known && !v->differs)
		table_cell(t, "|x| < %s %%", fmt_bound(buf, v->bound));
	else if (isnan(v->change))
		table_cell(t, "-");
	else
		table_cell(t, "%s %%%s", fmt_change(buf, v->change), v->known ? "" : " ?");
}

static void put_row(struct table *t, const struct view *v, const struct cell *before,
		    const struct cell *after)
{
	char a[UNIT_LEN], b[UNIT_LEN];
	struct verdict verdict;
	char *remark;

	table_cell(t, "%.0f", CELL_NUM(after, order));
	table_cell(t, "%s", fmt_extent(a, ldexp(v->page_size, CELL_NUM(after, order))));
	if (before == after && cell_is_measured(after)) {	/* alone in its order */
		table_cell(t, "-");
		table_cell(t, "%s", fmt_ns(b, CELL_NUM(after, p50_ns)));
		table_cell(t, "-");
		table_cell(t, "-");
		table_cell(t, "-");
		table_cell(t, "%s", fmt_count(a, CELL_NUM(after, n)));
		return;
	}
	if (!cell_is_measured(before) || !cell_is_measured(after)) {
		const struct cell *missing = cell_is_measured(after) ? before : after;
		char *name = variant_name(missing);

		remark = cell_remark(missing);
		table_span(t, "%s: %s", name, remark ? remark : "not measured");
		free(remark);
		free(name);
		return;
	}
	verdict = judge(before, after);
	table_cell(t, "%s", fmt_ns(a, CELL_NUM(before, p50_ns)));
	table_cell(t, "%s", fmt_ns(b, CELL_NUM(after, p50_ns)));
	put_change(t, &verdict);
	put_interval(t, &verdict);
	if (isnan(verdict.floor))
		table_cell(t, "-");
	else
		table_cell(t, "%s", fmt_bound(a, verdict.floor));
	table_cell(t, "%s", fmt_count(a, CELL_NUM(after, n)));
}

/* A comparison that a table is made of */
struct pair {
	const struct cell *before;
	const struct cell *after;
};

/*
 * The comparison that the cell @at is the later half of; false for a baseline.
 * At small orders a batch may be left out, since the whole extent says the
 * same, so the baseline is that of the cell's own order.
 */
static bool pair_of(const struct view *v, size_t from, size_t at, struct pair *pair)
{
	size_t start = at;

	while (start > from &&
	       CELL_NUM(v->cell[start - 1], order) == CELL_NUM(v->cell[at], order))
		start--;
	pair->before = view_baseline(v, start, view_order_end(v, start));
	pair->after = v->cell[at];
	return pair->before != pair->after;
}

static bool same_pair(const struct pair *a, const struct pair *b)
{
	return same_variant(a->before, b->before) && same_variant(a->after, b->after);
}

/* Does the cell @at belong into the table of @pair? */
static bool in_table(const struct view *v, size_t from, size_t at, const struct pair *pair)
{
	struct pair own;

	if (!same_variant(v->cell[at], pair->after))
		return false;
	if (pair_of(v, from, at, &own))
		return same_pair(&own, pair);
	/* A baseline that nothing is compared with has no table of its own. */
	return (at == from || CELL_NUM(v->cell[at - 1], order) != CELL_NUM(v->cell[at], order)) &&
	       view_order_end(v, at) == at + 1;
}

/* Everything compared with the same in one way: a table. */
static void put_pair(const struct view *v, FILE *to, size_t from, size_t end,
		     const struct pair *pair)
{
	char *title = group_title(v, from, end), *line;
	char *a = variant_name(pair->before), *b = variant_name(pair->after);
	const char *const head[] = {
		"order", "size", "Before", "After", "Change", "95 % interval", "noise", "n"
	};
	struct pair own;
	struct table t;
	unsigned int k;
	size_t i;

	line = xasprintf("%s: %s -> %s", title, a, b);
	put_wrapped(to, "", "  ", line, MAIL_COLUMNS);
	free(line);
	table_init(&t, "rrrrrrrr");
	for (k = 0; k < ARRAY_SIZE(head); k++)
		table_cell(&t, "%s", head[k]);
	for (i = from; i < end; i++) {
		if (!in_table(v, from, i, pair))
			continue;
		pair_of(v, from, i, &own);
		put_row(&t, v, own.before, own.after);
	}
	table_print(&t, to, MAIL_COLUMNS);
	/* What has figures and a remark as well */
	for (i = from; i < end; i++) {
		char *remark;

		if (!cell_is_measured(v->cell[i]) || !in_table(v, from, i, pair))
			continue;
		remark = cell_remark(v->cell[i]);
		if (remark) {
			line = xasprintf("order %.0f: %s", CELL_NUM(v->cell[i], order), remark);
			put_wrapped(to, "  ", "    ", line, MAIL_COLUMNS);
			free(line);
		}
		free(remark);
	}
	fputc('\n', to);
	free(title);
	free(a);
	free(b);
}

/* Is @pair, which the cell @at makes, seen for the first time in the group? */
static bool first_of_pair(const struct view *v, size_t from, size_t at, const struct pair *pair)
{
	struct pair other;
	size_t i;

	for (i = from; i < at; i++)
		if (pair_of(v, from, i, &other) && same_pair(&other, pair))
			return false;
	return true;
}

static void put_group(const struct view *v, FILE *to, size_t from, size_t end)
{
	const struct cell *before = view_baseline(v, from, view_order_end(v, from));
	struct pair pair;
	bool alone = true;
	size_t i;

	for (i = from; i < end; i++) {
		if (!pair_of(v, from, i, &pair) || !first_of_pair(v, from, i, &pair))
			continue;
		put_pair(v, to, from, end, &pair);
		alone = false;
	}
	if (alone) {
		char *title = group_title(v, from, end), *name = variant_name(before), *line;

		line = xasprintf("%s: %s only, nothing to compare it with; see --format table",
				 title, name);
		put_wrapped(to, "", "  ", line, MAIL_COLUMNS);
		fputc('\n', to);
		free(line);
		free(name);
		free(title);
	}
}

void show_mail(const struct view *v, FILE *to)
{
	size_t from, end;

	put_wrapped(to, "", "",
		    "Time of clearing one extent, medians. Change is that of the time, by pairs: below 0 is faster. \"|x| < b %\": no difference was seen, and one beyond b would have been. \"?\": too few extents (samples / extent_rounds) for an interval, no verdict. noise: what two copies of Before showed, in %.",
		    MAIL_COLUMNS);
	fputc('\n', to);
	for (from = 0; from < v->nr; from = end) {
		end = view_group_end(v, from);
		put_group(v, to, from, end);
	}
	put_about(to, v, "", MAIL_COLUMNS);
}
