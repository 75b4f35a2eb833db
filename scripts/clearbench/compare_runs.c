// SPDX-License-Identifier: GPL-2.0
/*
 * compare, with several runs a side: each run gives one figure a cell, and how
 * those differ among themselves is what a change has to be larger than. A
 * thousand samples of one boot say nothing of that.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

/* A row's cells, one of each run; NULL where a run lacks it */
struct runs_row {
	const struct cell *before;
	const struct cell *after;
	double *a;
	double *b;
	unsigned int m;
	unsigned int n;
	size_t index;
};

static double spread(const double *value, unsigned int nr)
{
	double lo = INFINITY, hi = 0;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		lo = fmin(lo, value[i]);
		hi = fmax(hi, value[i]);
	}
	return hi / lo - 1;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(const double *value, unsigned int nr)
{
	double *copy = xrealloc(NULL, nr * sizeof(*copy)), middle;

	memcpy(copy, value, nr * sizeof(*copy));
	qsort(copy, nr, sizeof(*copy), compare_doubles);
	middle = (copy[(nr - 1) / 2] + copy[nr / 2]) / 2;
	free(copy);
	return middle;
}

static const char *unsigned_change(char *buf, double change)
{
	const char *text = fmt_change(buf, change);

	return text + (*text == '+');
}

static void add_row(struct comparison *cmp, struct table *t, const struct runs_row *row)
{
	struct estimate e = cmp->same_file ? estimate_paired(row->a, row->b, row->m) :
			    estimate_change(row->a, row->m, row->b, row->n);
	char a[UNIT_LEN], b[UNIT_LEN];
	double order = CELL_NUM(row->before, order);

	cmp->rows++;
	cmp->slower += !cmp->emulated && e.known && e.lo > 0 && 100 * e.change > cmp->fail_above;
	table_cell(t, "%.0f", order);
	table_cell(t, "%s", fmt_extent(a, ldexp(cmp->side[0].file->v.page_size, order)));
	table_cell(t, "%s", fmt_ns(a, median(row->a, row->m)));
	table_cell(t, "%s", fmt_ns(a, median(row->b, row->n)));
	if (e.known && e.lo <= 0 && e.hi >= 0)
		table_cell(t, "|x| < %s %%", unsigned_change(a, fmax(fabs(e.lo), fabs(e.hi))));
	else
		table_cell(t, "%s %%%s", fmt_change(a, e.change), e.known ? "" : " ?");
	if (e.known)
		table_cell(t, "[%s, %s]", fmt_change(a, e.lo), fmt_change(b, e.hi));
	else
		table_cell(t, "-");
	table_cell(t, "%s", unsigned_change(a, fmax(spread(row->a, row->m),
						    spread(row->b, row->n))));
	if (cmp->same_file)
		table_cell(t, "%u", row->m);
	else
		table_cell(t, "%u+%u", row->m, row->n);
}

static double figure(const struct cell *c)
{
	return c && CELL_NUM(c, p50_ns) > 0 ? CELL_NUM(c, p50_ns) : NAN;
}

/* The figures of all runs. Of the same runs only those that have both count. */
static bool fill_row(struct comparison *cmp, struct runs_row *row)
{
	struct side *before = &cmp->side[0], *after = &cmp->side[1];
	const struct comparison same = { .side = { *before, *before } };
	unsigned int i;
	double x, y;

	row->a = xrealloc(NULL, before->nr * sizeof(*row->a));
	row->b = xrealloc(NULL, after->nr * sizeof(*row->b));
	row->m = 0;
	row->n = 0;
	for (i = 0; i < before->nr; i++) {
		const struct cell *own = i ? compare_find(&same, &before->file[i], before,
							  row->before) : row->before;

		x = figure(own);
		if (cmp->same_file) {
			y = own ? figure(compare_find(cmp, &after->file[i], after, row->before)) :
			    NAN;
			if (isnan(x) || isnan(y))
				continue;
			row->b[row->n++] = y;
		}
		if (!isnan(x))
			row->a[row->m++] = x;
	}
	for (i = 0; i < after->nr && !cmp->same_file; i++) {
		y = figure(compare_find(cmp, &after->file[i], after, row->before));
		if (!isnan(y))
			row->b[row->n++] = y;
	}
	return row->m && row->n;
}

static int compare_rows(const void *va, const void *vb)
{
	const struct runs_row *a = va, *b = vb;
	int d = strcmp(CELL_TEXT(a->before, context), CELL_TEXT(b->before, context));

	if (!d)
		d = strcmp(CELL_TEXT(a->before, method), CELL_TEXT(b->before, method));
	if (!d)
		d = strcmp(or_dash(CELL_TEXT(a->before, batch)),
			   or_dash(CELL_TEXT(b->before, batch)));
	return d ? d : a->index < b->index ? -1 : 1;
}

/**
 * compare_runs() - print the tables of a comparison with several runs a side
 * @cmp: with its files read; counts rows, slowdowns and cells without a partner
 */
void compare_runs(struct comparison *cmp)
{
	static const char *const head[] = {
		"order", "size", "Before", "After", "Change", "95 % interval", "spread", "runs"
	};
	const struct view *v = &cmp->side[0].file->v;
	struct runs_row *row = xrealloc(NULL, (v->nr + 1) * sizeof(*row)), *last = NULL;
	struct table t;
	size_t i, nr = 0;
	unsigned int k;

	for (i = 0; i < v->nr; i++) {
		struct runs_row *r = &row[nr];

		if (!compare_of_variant(&cmp->side[0], v->cell[i]))
			continue;
		r->before = v->cell[i];
		r->after = compare_find(cmp, cmp->side[1].file, &cmp->side[1], v->cell[i]);
		r->index = i;
		if (r->after && fill_row(cmp, r)) {
			nr++;
			continue;
		}
		if (r->after) {
			free(r->a);
			free(r->b);
		}
		cmp->unmatched++;
	}
	qsort(row, nr, sizeof(*row), compare_rows);
	for (i = 0; i < nr; i++) {
		if (!last || !compare_same_table(last->before, last->after, row[i].before,
						 row[i].after)) {
			if (last)
				compare_print(cmp, &t);
			compare_put_title(cmp, row[i].before, row[i].after);
			table_init(&t, "rrrrrrrr");
			for (k = 0; k < ARRAY_SIZE(head); k++)
				table_cell(&t, "%s", head[k]);
		}
		add_row(cmp, &t, &row[i]);
		last = &row[i];
	}
	if (last)
		compare_print(cmp, &t);
	for (i = 0; i < nr; i++) {
		free(row[i].a);
		free(row[i].b);
	}
	free(row);
}
