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

/*
 * A cell that is compared, or that is alone in its order and so stands in every
 * table of its variant: @before is NULL then. At small orders a batch may be
 * left out, since the whole extent says the same, so the baseline is that of the
 * cell's own order.
 */
struct entry {
	const struct cell *before;
	const struct cell *after;
	size_t at;
};

/* A table: what is compared with the same in one way, and who is alone */
struct pairs {
	const struct entry *pair;
	size_t nr;
	const struct entry *alone;
	size_t nr_alone;
};

static int compare_variants(const struct cell *a, const struct cell *b)
{
	int order;

	if (!a || !b)
		return !!a - !!b;
	order = strcmp(CELL_TEXT(a, method), CELL_TEXT(b, method));
	return order ? order : strcmp(or_dash(CELL_TEXT(a, batch)), or_dash(CELL_TEXT(b, batch)));
}

static int compare_entries(const void *va, const void *vb)
{
	const struct entry *a = va, *b = vb;
	int order = compare_variants(a->after, b->after);

	if (!order)
		order = compare_variants(a->before, b->before);
	return order ? order : (a->at > b->at) - (a->at < b->at);
}

/* As they first appear */
static int compare_tables(const void *va, const void *vb)
{
	const struct pairs *a = va, *b = vb;

	return (a->pair->at > b->pair->at) - (a->pair->at < b->pair->at);
}

/* The entries of a group, sorted: those of a table stand together. */
static size_t find_entries(const struct view *v, size_t from, size_t end, struct entry *entry)
{
	size_t start, stop, i, nr = 0;

	for (start = from; start < end; start = stop) {
		const struct cell *before;

		stop = view_order_end(v, start);
		before = view_baseline(v, start, stop);
		for (i = start; i < stop; i++) {
			if (v->cell[i] != before)
				entry[nr++] = (struct entry){ before, v->cell[i], i };
			else if (stop == start + 1)
				entry[nr++] = (struct entry){ NULL, v->cell[i], i };
		}
	}
	qsort(entry, nr, sizeof(*entry), compare_entries);
	return nr;
}

static size_t find_tables(const struct entry *entry, size_t nr, struct pairs *table)
{
	size_t i, k, tables = 0;
	struct pairs own = { 0 };

	for (i = 0; i < nr; i = k) {
		/* Who is alone comes before those that are not. */
		if (!i || compare_variants(entry[i - 1].after, entry[i].after))
			own.nr_alone = 0;
		for (k = i; k < nr; k++)
			if (compare_variants(entry[k].after, entry[i].after) ||
			    compare_variants(entry[k].before, entry[i].before))
				break;
		if (entry[i].before) {
			own.pair = &entry[i];
			own.nr = k - i;
			table[tables++] = own;
		} else {
			own.alone = &entry[i];
			own.nr_alone = k - i;
		}
	}
	qsort(table, tables, sizeof(*table), compare_tables);
	return tables;
}

/* The next of a table's entries in the order of the cells; NULL: no more */
static const struct entry *next_entry(struct pairs *left)
{
	if (left->nr_alone && (!left->nr || left->alone->at < left->pair->at)) {
		left->nr_alone--;
		return left->alone++;
	}
	if (!left->nr)
		return NULL;
	left->nr--;
	return left->pair++;
}

static void put_table(const struct view *v, FILE *to, const char *title,
		      const struct pairs *table)
{
	char *a = variant_name(table->pair->before), *b = variant_name(table->pair->after), *line;
	const char *const head[] = {
		"order", "size", "Before", "After", "Change", "95 % interval", "noise", "n"
	};
	const struct entry *e;
	struct pairs left;
	struct table t;
	unsigned int k;

	line = xasprintf("%s: %s -> %s", title, a, b);
	put_wrapped(to, "", "  ", line, MAIL_COLUMNS);
	free(line);
	table_init(&t, "rrrrrrrr");
	for (k = 0; k < ARRAY_SIZE(head); k++)
		table_cell(&t, "%s", head[k]);
	for (left = *table; (e = next_entry(&left));)
		put_row(&t, v, e->before ? e->before : e->after, e->after);
	table_print(&t, to, MAIL_COLUMNS);
	/* What has figures and a remark as well */
	for (left = *table; (e = next_entry(&left));) {
		char *remark = cell_is_measured(e->after) ? cell_remark(e->after) : NULL;

		if (remark) {
			line = xasprintf("order %.0f: %s", CELL_NUM(e->after, order), remark);
			put_wrapped(to, "  ", "    ", line, MAIL_COLUMNS);
			free(line);
		}
		free(remark);
	}
	fputc('\n', to);
	free(a);
	free(b);
}

static void put_group(const struct view *v, FILE *to, size_t from, size_t end)
{
	struct entry *entry = xrealloc(NULL, (end - from) * sizeof(*entry));
	struct pairs *table = xrealloc(NULL, (end - from) * sizeof(*table));
	char *title = group_title(v, from, end);
	size_t nr, i;

	nr = find_tables(entry, find_entries(v, from, end, entry), table);
	for (i = 0; i < nr; i++)
		put_table(v, to, title, &table[i]);
	if (!nr) {
		const struct cell *only = view_baseline(v, from, view_order_end(v, from));
		char *name = variant_name(only), *line;

		line = xasprintf("%s: %s only, nothing to compare it with; see --format table",
				 title, name);
		put_wrapped(to, "", "  ", line, MAIL_COLUMNS);
		fputc('\n', to);
		free(line);
		free(name);
	}
	free(title);
	free(table);
	free(entry);
}

void show_mail(const struct view *v, FILE *to)
{
	size_t from, end;
	char *intro;

	intro = xasprintf("Time of %s one extent, medians. Change is that of the time, by pairs: below 0 is faster. \"|x| < b %%\": no difference was seen, and one beyond b would have been. \"?\": too few extents (samples / extent_rounds) for an interval, no verdict. noise: what two copies of Before showed, in %%.",
			  view_after(v) ? "a read after clearing" : "clearing");
	put_wrapped(to, "", "", intro, MAIL_COLUMNS);
	free(intro);
	fputc('\n', to);
	for (from = 0; from < v->nr; from = end) {
		end = view_group_end(v, from);
		put_group(v, to, from, end);
	}
	put_about(to, v, "", MAIL_COLUMNS);
}
