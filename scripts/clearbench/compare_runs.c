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

static const char *unsigned_change(char *buf, double change)
{
	const char *text = fmt_change(buf, change);

	return text + (*text == '+');
}

static double figure(const struct cell *c)
{
	return c && CELL_NUM(c, p50_ns) > 0 ? CELL_NUM(c, p50_ns) : NAN;
}

/*
 * The figures of all runs, as far as they have them. Of the same runs only those
 * that have both count.
 */
static void collect(struct comparison *cmp, const struct cell *before, double *a, unsigned int *m,
		    double *b, unsigned int *n)
{
	struct side *s = cmp->side;
	const struct comparison same = { .side = { s[0], s[0] } };
	unsigned int i;
	double x, y;

	for (i = 0; i < s[0].nr; i++) {
		const struct cell *own = i ? compare_find(&same, &s[0].file[i], &s[0], before) :
					     before;

		x = figure(own);
		if (cmp->same_file) {
			y = figure(compare_find(cmp, &s[1].file[i], &s[1], before));
			if (isnan(x) || isnan(y))
				continue;
			b[(*n)++] = y;
		}
		if (!isnan(x))
			a[(*m)++] = x;
	}
	for (i = 0; i < s[1].nr && !cmp->same_file; i++) {
		y = figure(compare_find(cmp, &s[1].file[i], &s[1], before));
		if (!isnan(y))
			b[(*n)++] = y;
	}
}

static void add_cells(struct comparison *cmp, struct table *t, double *a, unsigned int m,
		      double *b, unsigned int n)
{
	struct estimate e = cmp->same_file ? estimate_paired(a, b, m) :
					     estimate_change(a, m, b, n);
	char lo[UNIT_LEN], hi[UNIT_LEN];

	cmp->rows++;
	cmp->slower += !cmp->emulated && e.known && e.lo > 0 && 100 * e.change > cmp->fail_above;
	table_cell(t, "%s", fmt_ns(lo, median(a, m)));
	table_cell(t, "%s", fmt_ns(lo, median(b, n)));
	if (e.known && e.lo <= 0 && e.hi >= 0)
		table_cell(t, "|x| < %s %%", unsigned_change(lo, fmax(fabs(e.lo), fabs(e.hi))));
	else
		table_cell(t, "%s %%%s", fmt_change(lo, e.change), e.known ? "" : " ?");
	if (e.known)
		table_cell(t, "[%s, %s]", fmt_change(lo, e.lo), fmt_change(hi, e.hi));
	else
		table_cell(t, "-");
	table_cell(t, "%s", unsigned_change(lo, fmax(spread(a, m), spread(b, n))));
	if (cmp->same_file)
		table_cell(t, "%u", m);
	else
		table_cell(t, "%u+%u", m, n);
}

/**
 * compare_add_runs() - the rest of a row, behind order and size
 * @cmp: with its files read; counts rows and slowdowns
 * @t: table
 * @before: the cell in the first of Before's files
 */
void compare_add_runs(struct comparison *cmp, struct table *t, const struct cell *before)
{
	double *a = xrealloc(NULL, cmp->side[0].nr * sizeof(*a));
	double *b = xrealloc(NULL, cmp->side[1].nr * sizeof(*b));
	unsigned int m = 0, n = 0;

	collect(cmp, before, a, &m, b, &n);
	if (m && n)
		add_cells(cmp, t, a, m, b, n);
	else
		table_span(t, "%s: not measured in any run", m ? "after" : "before");
	free(a);
	free(b);
}
