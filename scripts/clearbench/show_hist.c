// SPDX-License-Identifier: GPL-2.0
/*
 * show --format hist: the distributions, coarsened until they fit a terminal.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "show.h"

#define ROWS		20
#define BAR		40

static const char *bound(char *buf, double value, bool ratio)
{
	return ratio ? fmt_ratio(buf, value) : fmt_ns(buf, value);
}

static void put_row(FILE *to, const char *lower, const char *upper, double count,
		    double most, double all)
{
	int bar = most > 0 ? ceil(count / most * BAR) : 0;

	fprintf(to, "  %8s .. %-8s %10.0f %5.1f%% |%.*s\n", lower, upper, count,
		100 * count / all, bar, "########################################");
}

static void put_histogram(FILE *to, const struct histogram *h)
{
	bool ratio = !strcmp(h->name, "ratio") || !strcmp(h->name, "floor");
	double first, last, all = 0, most = 0, over = 0, count[ROWS] = { 0 };
	unsigned int rows = ROWS, row;
	char lo[UNIT_LEN], hi[UNIT_LEN];
	bool by_factor;
	size_t i, nr = h->nr;

	for (i = 0; i < nr; i++)
		all += h->bucket[i].count;
	if (!(all > 0))
		return;
	if (nr && isinf(h->bucket[nr - 1].upper))
		over = h->bucket[--nr].count;
	fprintf(to, " %s, %.0f values\n", h->name, all);
	if (nr) {
		double edge[ROWS + 1];

		first = h->bucket[0].lower;
		last = h->bucket[nr - 1].upper;
		/* A long tail in equal steps would leave the rest in one row. */
		by_factor = first > 0 && last / first > 4;
		if (nr < rows)
			rows = nr;
		for (row = 0; row <= rows; row++)
			edge[row] = by_factor ? first * pow(last / first, (double)row / rows) :
				    first + (last - first) * row / rows;
		for (i = 0, row = 0; i < nr; i++) {
			while (row + 1 < rows && h->bucket[i].lower >= edge[row + 1])
				row++;
			count[row] += h->bucket[i].count;
		}
		for (row = 0; row < rows; row++)
			most = fmax(most, count[row]);
		for (row = 0; row < rows; row++)
			put_row(to, bound(lo, edge[row], ratio), bound(hi, edge[row + 1], ratio),
				count[row], most, all);
	}
	if (over)
		put_row(to, bound(lo, h->bucket[nr].lower, ratio), "overflow", over,
			fmax(most, over), all);
}

/* hist_fn: prints a cell's histograms as they are read. */
void show_hist_cell(void *arg, const struct cell *c, const struct histogram *hist,
		    unsigned int nr)
{
	static const struct {
		const char *name;
		enum cb_column column;
	} points[] = {
		{ "min", CB_COL_min_ns }, { "p50", CB_COL_p50_ns }, { "p90", CB_COL_p90_ns },
		{ "p99", CB_COL_p99_ns }, { "p99.9", CB_COL_p999_ns }, { "max", CB_COL_max_ns },
	};
	char *name = variant_name(c), *remark = cell_remark(c);
	char buf[UNIT_LEN], *head;
	FILE *to = arg;
	unsigned int i;

	head = xasprintf("%s order %.0f %s, cache %s, model %s%s%s", CELL_TEXT(c, context),
			 CELL_NUM(c, order), name, or_dash(CELL_TEXT(c, cache)),
			 or_dash(CELL_TEXT(c, model)), remark ? ": " : "", remark ? remark : "");
	put_wrapped(to, "", "  ", head, 0);
	if (cell_is_measured(c)) {
		for (i = 0; i < ARRAY_SIZE(points); i++)
			fprintf(to, "%s%s %s", i ? ", " : " ", points[i].name,
				fmt_ns(buf, c->value[points[i].column].num));
		fputc('\n', to);
	}
	for (i = 0; i < nr; i++)
		put_histogram(to, &hist[i]);
	fputc('\n', to);
	free(head);
	free(remark);
	free(name);
}
