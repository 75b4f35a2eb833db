// SPDX-License-Identifier: GPL-2.0
/*
 * compare --vary batch FILE: what a batch gains, and what it costs others. Rows
 * are the batches of a method in a context and order, columns the models that
 * the file has: the gain against the baseline of the run, and with latency=1 the
 * longest time without a switch. The smallest batch within the noise of the best
 * is named: the knee.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

#define MODELS	8

static bool same_sweep(const struct cell *a, const struct cell *b)
{
	return CELL_NUM(a, order) == CELL_NUM(b, order) &&
	       !strcmp(CELL_TEXT(a, context), CELL_TEXT(b, context)) &&
	       !strcmp(CELL_TEXT(a, method), CELL_TEXT(b, method)) &&
	       !strcmp(or_dash(CELL_TEXT(a, cache)), or_dash(CELL_TEXT(b, cache))) &&
	       !(CELL_NUM(a, load) != CELL_NUM(b, load));
}

/* Pages of a batch. `auto` is the kernel's own rule and has no number here. */
static double pages(const struct cell *c)
{
	const char *batch = or_dash(CELL_TEXT(c, batch));

	if (!strcmp(batch, "full"))
		return ldexp(1, CELL_NUM(c, order));
	return *batch >= '0' && *batch <= '9' ? strtod(batch, NULL) : NAN;
}

/* Of the time, against the baseline: 1 for the baseline itself */
static double gain(const struct cell *c, const struct cell *baseline)
{
	return c == baseline ? 1 : CELL_NUM(c, ratio);
}

static double noise(const struct cell *c)
{
	double lo = CELL_NUM(c, floor_lo), hi = CELL_NUM(c, floor_hi);

	return lo > 0 && hi > 0 ? fmax(fabs(hi - 1), fabs(1 - lo)) : NAN;
}

/**
 * struct sweep - one method in one context and order
 * @v: the result
 * @like: its first cell
 * @batch: a cell for each batch, as they stand in the file
 * @nr: how many
 * @model: the file's models in it
 * @nr_models: how many
 * @latency: there are times without a switch
 */
struct sweep {
	const struct view *v;
	const struct cell *like;
	const struct cell *batch[CB_LIST_MAX];
	unsigned int nr;
	const char *model[MODELS];
	unsigned int nr_models;
	bool latency;
};

static bool is_batch(const struct cell *a, const struct cell *b)
{
	return !strcmp(or_dash(CELL_TEXT(a, batch)), or_dash(CELL_TEXT(b, batch)));
}

static void find_sweep(struct sweep *s, const struct view *v, size_t from)
{
	unsigned int k;
	size_t i;

	*s = (struct sweep){ .v = v, .like = v->cell[from] };
	for (i = from; i < v->nr; i++) {
		const struct cell *c = v->cell[i];

		if (!same_sweep(s->like, c) || !cell_is_measured(c))
			continue;
		for (k = 0; k < s->nr && !is_batch(s->batch[k], c); k++)
			;
		if (k == s->nr && k < CB_LIST_MAX)
			s->batch[s->nr++] = c;
		for (k = 0; k < s->nr_models &&
		     strcmp(s->model[k], or_dash(CELL_TEXT(c, model))); k++)
			;
		s->latency |= !isnan(CELL_NUM(c, resched_max_ns));
		if (k == s->nr_models && k < MODELS)
			s->model[s->nr_models++] = or_dash(CELL_TEXT(c, model));
	}
}

static const struct cell *find(const struct sweep *s, const struct cell *batch, const char *model,
			       const struct cell **baseline)
{
	size_t i, from = 0, end = 0;

	for (i = 0; i < s->v->nr; i++) {
		const struct cell *c = s->v->cell[i];

		if (i == end) {
			from = i;
			end = view_order_end(s->v, i);
		}
		if (!same_sweep(c, batch) || !is_batch(c, batch) ||
		    strcmp(or_dash(CELL_TEXT(c, model)), model) || !cell_is_measured(c))
			continue;
		*baseline = view_baseline(s->v, from, end);
		return c;
	}
	return NULL;
}

static void put_knee(const struct comparison *cmp, const struct sweep *s, const char *model)
{
	const struct cell *best = NULL, *knee = NULL, *baseline = NULL, *c;
	double best_gain = 0, floor = NAN;
	char extent[UNIT_LEN], *line;
	unsigned int i;

	for (i = 0; i < s->nr; i++) {
		c = find(s, s->batch[i], model, &baseline);
		if (!c || isnan(pages(c)) || !(gain(c, baseline) > best_gain))
			continue;
		best = c;
		best_gain = gain(c, baseline);
		floor = isnan(noise(c)) ? noise(baseline) : noise(c);
	}
	if (!best || isnan(floor))
		return;
	for (i = 0; i < s->nr; i++) {
		c = find(s, s->batch[i], model, &baseline);
		if (c && !isnan(pages(c)) && gain(c, baseline) >= best_gain * (1 - floor) &&
		    (!knee || pages(c) < pages(knee)))
			knee = c;
	}
	line = xasprintf("knee%s%s: batch %s (%s), the smallest within the noise (%.2f %%) of batch %s",
			 strcmp(model, "-") ? ", " : "", strcmp(model, "-") ? model : "",
			 CELL_TEXT(knee, batch),
			 fmt_extent(extent, pages(knee) * s->v->page_size), 100 * floor,
			 CELL_TEXT(best, batch));
	put_wrapped(stdout, "", "  ", line, compare_limit(cmp));
	free(line);
}

static void put_sweep(const struct comparison *cmp, const struct sweep *s)
{
	char *align = xasprintf("lr%.*s", (1 + s->latency) * s->nr_models, "rrrrrrrrrrrrrrrr");
	char buf[UNIT_LEN], lo[UNIT_LEN], hi[UNIT_LEN], *title;
	const struct cell *c, *baseline;
	unsigned int i, k;
	struct table t;

	title = xasprintf("%s, order %.0f (%s), cache %s, %s: gain by batch%s",
			  CELL_TEXT(s->like, context), CELL_NUM(s->like, order),
			  fmt_extent(buf, ldexp(s->v->page_size, CELL_NUM(s->like, order))),
			  or_dash(CELL_TEXT(s->like, cache)), CELL_TEXT(s->like, method),
			  s->latency ? ", and the longest time without a switch" : "");
	put_wrapped(stdout, compare_is(cmp, "md") ? "### " : "", "  ", title, compare_limit(cmp));
	free(title);
	if (compare_is(cmp, "md"))
		putchar('\n');
	table_init(&t, align);
	table_cell(&t, "batch");
	table_cell(&t, "size");
	for (k = 0; k < s->nr_models; k++) {
		table_cell(&t, "%s", strcmp(s->model[k], "-") ? s->model[k] : "gain");
		if (s->latency)
			table_cell(&t, "no switch");
	}
	for (i = 0; i < s->nr; i++) {
		table_cell(&t, "%s", or_dash(CELL_TEXT(s->batch[i], batch)));
		table_cell(&t, "%s", isnan(pages(s->batch[i])) ? "-" :
			   fmt_extent(buf, pages(s->batch[i]) * s->v->page_size));
		for (k = 0; k < s->nr_models; k++) {
			c = find(s, s->batch[i], s->model[k], &baseline);
			if (!c || isnan(gain(c, baseline)))
				table_cell(&t, "-");
			else if (c == baseline || isnan(CELL_NUM(c, ratio_lo)))
				table_cell(&t, "%s", fmt_ratio(buf, gain(c, baseline)));
			else
				table_cell(&t, "%s [%s, %s]", fmt_ratio(buf, CELL_NUM(c, ratio)),
					   fmt_ratio(lo, CELL_NUM(c, ratio_lo)),
					   fmt_ratio(hi, CELL_NUM(c, ratio_hi)));
			if (s->latency)
				table_cell(&t, "%s",
					   fmt_ns(buf, c ? CELL_NUM(c, resched_max_ns) : NAN));
		}
	}
	compare_print(cmp, &t);
	free(align);
	for (k = 0; k < s->nr_models; k++)
		put_knee(cmp, s, s->model[k]);
	putchar('\n');
}

/**
 * compare_batches() - print a table for each method that has several batches
 * @cmp: with one file read
 *
 * Return: how many tables.
 */
unsigned int compare_batches(struct comparison *cmp)
{
	const struct view *v = &cmp->side[0].file->v;
	unsigned int tables = 0;
	struct sweep s;
	size_t i, k;

	for (i = 0; i < v->nr; i++) {
		if (!compare_of_variant(&cmp->side[0], v->cell[i]) || !cell_is_measured(v->cell[i]))
			continue;
		for (k = 0; k < i; k++)
			if (cell_is_measured(v->cell[k]) && same_sweep(v->cell[k], v->cell[i]))
				break;
		if (k < i)
			continue;
		find_sweep(&s, v, i);
		if (s.nr < 2)
			continue;
		put_sweep(cmp, &s);
		tables++;
	}
	return tables;
}
