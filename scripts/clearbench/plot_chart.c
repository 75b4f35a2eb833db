// SPDX-License-Identifier: GPL-2.0
/*
 * Which cells a picture shows, in which panel and as which series.
 *
 * A panel is a context and a cache state (and an order, where order is not the
 * axis), a series a method and a batch. What else differs within a panel (model,
 * kernel, file and so on) is added to the series, and nothing that does not.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"

enum {
	DIM_MODEL	= 1 << 0,
	DIM_KERNEL	= 1 << 1,
	DIM_LOAD	= 1 << 2,
	DIM_NID		= 1 << 3,
	DIM_FILE	= 1 << 4,
	DIM_CPU		= 1 << 5,
};

/* Is @word one of the comma separated words? NULL holds every word. */
bool word_in_list(const char *list, const char *word)
{
	size_t len = strlen(word);

	if (!list)
		return true;
	for (;;) {
		size_t n = strcspn(list, ",");

		if (n == len && !strncmp(list, word, len))
			return true;
		if (!list[n])
			return false;
		list += n + 1;
	}
}

const struct curve *curve_of(const struct input *in, const struct cell *cell)
{
	size_t i = cell - in->r.cells;

	return i < in->nr_curves && in->curve[i].nr ? &in->curve[i] : NULL;
}

/* Where a batch stands on its axis; false for what is none. */
bool batch_place(const char *batch, double *x)
{
	unsigned long pages;
	char *end;

	*x = BATCH_FULL;
	if (!strcmp(batch, "full"))
		return true;
	*x = BATCH_AUTO;
	if (!strcmp(batch, "auto"))
		return true;
	if (*batch < '1' || *batch > '9')
		return false;
	pages = strtoul(batch, &end, 10);
	*x = log2(pages);
	return !*end && pages <= CB_BATCH_MAX;
}

/* The gain of a cell; that of a baseline is 1. */
static bool has_gain(const struct spot *s)
{
	return CELL_NUM(s->cell, ratio) > 0;
}

static bool has_data(enum picture picture, const struct spot *s)
{
	const struct cell *c = s->cell;
	double x;

	switch (picture) {
	case PIC_DISTRIBUTION:
		return curve_of(s->in, c);
	case PIC_GBPS:
		return CELL_NUM(c, p50_ns) > 0;
	case PIC_GAIN:
		return has_gain(s);
	case PIC_BATCH:
		return batch_place(or_dash(CELL_TEXT(c, batch)), &x) &&
		       (has_gain(s) || s->base == c);
	case PIC_LATENCY:
		return CELL_NUM(c, irq_p50_ns) > 0 || CELL_NUM(c, fifo_p50_ns) > 0 ||
		       CELL_NUM(c, normal_p50_ns) > 0;
	default:
		return false;
	}
}

static bool same_words(const char *a, const char *b)
{
	return !strcmp(or_dash(a), or_dash(b));
}

static bool same_numbers(double a, double b)
{
	return a == b || isnan(a) || isnan(b);
}

static unsigned int differences(const struct spot *a, const struct spot *b)
{
	unsigned int dims = 0;

	if (!same_words(CELL_TEXT(a->cell, model), CELL_TEXT(b->cell, model)))
		dims |= DIM_MODEL;
	if (!same_numbers(CELL_NUM(a->cell, load), CELL_NUM(b->cell, load)))
		dims |= DIM_LOAD;
	if (!same_numbers(CELL_NUM(a->cell, nid), CELL_NUM(b->cell, nid)))
		dims |= DIM_NID;
	if (!same_numbers(CELL_NUM(a->cell, cpu), CELL_NUM(b->cell, cpu)))
		dims |= DIM_CPU;
	if (a->in != b->in) {
		dims |= DIM_FILE;
		if (strcmp(a->in->kernel, b->in->kernel))
			dims |= DIM_KERNEL;
	}
	return dims;
}

static unsigned int max_panels(enum picture picture)
{
	switch (picture) {
	case PIC_LATENCY:	/* each is three */
		return 3;
	case PIC_GBPS:
	case PIC_GAIN:
		return 6;
	default:
		return MAX_PANELS;
	}
}

static int find_panel(struct chart *c, const struct spot *s)
{
	bool by_order = c->picture == PIC_DISTRIBUTION || c->picture == PIC_BATCH;
	struct panel want = {
		.context = CELL_TEXT(s->cell, context), .cache = or_dash(CELL_TEXT(s->cell, cache)),
		.order = by_order ? CELL_NUM(s->cell, order) : -1,
	};
	unsigned int i;

	for (i = 0; i < c->nr_panels; i++)
		if (!strcmp(c->panel[i].context, want.context) &&
		    !strcmp(c->panel[i].cache, want.cache) && c->panel[i].order == want.order)
			return i;
	if (c->nr_panels == max_panels(c->picture))
		return -1;
	c->panel[c->nr_panels] = want;
	return c->nr_panels++;
}

static int find_series(struct chart *c, const struct spot *s)
{
	unsigned int i;

	for (i = 0; i < c->nr_series; i++) {
		const struct spot *like = &c->series[i].like;

		if (!same_words(CELL_TEXT(like->cell, method), CELL_TEXT(s->cell, method)) ||
		    differences(like, s) & c->dimensions)
			continue;
		if (c->picture == PIC_BATCH ||
		    same_words(CELL_TEXT(like->cell, batch), CELL_TEXT(s->cell, batch)))
			return i;
	}
	if (c->nr_series == MAX_SERIES)
		return -1;
	memset(&c->series[c->nr_series], 0, sizeof(*c->series));
	c->series[c->nr_series].like = *s;
	return c->nr_series++;
}

static void add_spot(struct chart *c, struct spot *s)
{
	unsigned int before = c->nr_series;
	int series = find_series(c, s), panel = series < 0 ? -1 : find_panel(c, s);

	/* Neither a panel nor a series stays that has nothing in it. */
	if (panel < 0) {
		c->nr_series = before;
		c->left_out++;
		return;
	}
	s->panel = panel;
	s->series = series;
	s->x = CELL_NUM(s->cell, order);
	if (c->picture == PIC_BATCH)
		batch_place(CELL_TEXT(s->cell, batch), &s->x);
	if (c->nr == c->cap) {
		c->cap = 2 * c->cap + 256;
		c->spot = xrealloc(c->spot, c->cap * sizeof(*c->spot));
	}
	c->spot[c->nr++] = *s;
}

static int compare_spots(const void *va, const void *vb)
{
	const struct spot *a = va, *b = vb;

	if (a->panel != b->panel)
		return a->panel < b->panel ? -1 : 1;
	if (a->series != b->series)
		return a->series < b->series ? -1 : 1;
	return (a->x > b->x) - (a->x < b->x);
}

static bool wanted(const struct plot *p, const struct cell *c)
{
	return (!p->some_orders || p->orders.in[(int)CELL_NUM(c, order)]) &&
	       word_in_list(p->contexts, CELL_TEXT(c, context)) &&
	       word_in_list(p->methods, CELL_TEXT(c, method));
}

/* One condition that has orders of its own to choose from */
struct row {
	const char *context;
	const char *cache;
	struct list has;
	struct list chosen;
};

/**
 * struct choice - the panels of a picture that has one for each order
 * @row: conditions
 * @nr: how many
 * @contexts: more than one was there
 * @orders: not all of them were chosen
 */
struct choice {
	struct row row[MAX_PANELS];
	unsigned int nr;
	bool contexts;
	bool orders;
};

static struct row *find_row(struct choice *choice, const struct cell *cell)
{
	const char *context = CELL_TEXT(cell, context), *cache = or_dash(CELL_TEXT(cell, cache));
	unsigned int i;

	for (i = 0; i < choice->nr; i++)
		if (!strcmp(choice->row[i].context, context) &&
		    !strcmp(choice->row[i].cache, cache))
			return &choice->row[i];
	return NULL;
}

#define SWEEP_REACH	64	/* variants; a sweep's stand together */

static bool is_batch_of(const struct input *in, size_t at, size_t of)
{
	double x;

	return in->base[at] == in->base[of] &&
	       !strcmp(CELL_TEXT(in->v.cell[at], method), CELL_TEXT(in->v.cell[of], method)) &&
	       batch_place(or_dash(CELL_TEXT(in->v.cell[at], batch)), &x);
}

/* A batch sweep is one of at least three batches of one method. */
static bool in_sweep(const struct input *in, size_t at)
{
	size_t from = at > SWEEP_REACH ? at - SWEEP_REACH : 0, i;
	unsigned int nr = 0;

	for (i = from; i < in->v.nr && i <= at + SWEEP_REACH && nr < 3; i++)
		nr += is_batch_of(in, i, at);
	return nr == 3;
}

typedef void (*spot_fn)(void *arg, struct spot *s);

/* Call @fn for each measured cell that is wanted and has data to be drawn. */
static void walk_spots(const struct plot *p, enum picture which, spot_fn fn, void *arg)
{
	unsigned int i;
	size_t k;

	for (i = 0; i < p->nr; i++) {
		const struct input *in = &p->in[i];

		for (k = 0; k < in->v.nr; k++) {
			struct spot s = {
				.cell = in->v.cell[k], .base = in->base[k], .in = in
			};

			if (!cell_is_measured(s.cell) || !wanted(p, s.cell) ||
			    !has_data(which, &s))
				continue;
			if (which == PIC_BATCH && !in_sweep(in, k))
				continue;
			fn(arg, &s);
		}
	}
}

static void note_order(void *arg, struct spot *s)
{
	struct choice *choice = arg;
	struct row *row = find_row(choice, s->cell);

	if (!row && choice->nr && strcmp(choice->row[0].context, CELL_TEXT(s->cell, context)))
		choice->contexts = true;
	if (!row && choice->nr == MAX_PANELS)
		return;
	if (!row) {
		row = &choice->row[choice->nr++];
		row->context = CELL_TEXT(s->cell, context);
		row->cache = or_dash(CELL_TEXT(s->cell, cache));
	}
	row->has.in[(int)CELL_NUM(s->cell, order)] = true;
}

/* The smallest, the middle and the largest order, or all that were asked for */
static void choose_orders(const struct plot *p, struct choice *choice)
{
	unsigned int i, k, nr, seen;

	for (i = 0; i < choice->nr; i++) {
		struct row *row = &choice->row[i];

		for (k = 0, nr = 0; k < LIST_NUMBERS; k++)
			nr += row->has.in[k];
		for (k = 0, seen = 0; k < LIST_NUMBERS; k++) {
			if (!row->has.in[k])
				continue;
			row->chosen.in[k] = p->some_orders || !seen || seen == nr / 2 ||
					    seen == nr - 1;
			choice->orders |= !row->chosen.in[k];
			seen++;
		}
	}
}

struct build {
	struct chart *c;
	struct choice *choice;
	const char *context;
};

static void take_spot(void *arg, struct spot *s)
{
	struct build *b = arg;
	struct row *row;

	if (b->choice) {
		row = find_row(b->choice, s->cell);
		if (b->context && strcmp(b->context, CELL_TEXT(s->cell, context)))
			return;
		if (row && !row->chosen.in[(int)CELL_NUM(s->cell, order)])
			return;
	}
	add_spot(b->c, s);
}

static int compare_panels(const void *va, const void *vb)
{
	const struct panel *a = va, *b = vb;

	if (a->condition != b->condition)
		return a->condition < b->condition ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* Panels of one condition stand side by side. */
static void sort_panels(struct chart *c)
{
	unsigned int i, k, map[MAX_PANELS];
	struct panel old[MAX_PANELS];
	size_t n;

	for (i = 0; i < c->nr_panels; i++) {
		for (k = 0; k < i; k++)
			if (!strcmp(c->panel[k].context, c->panel[i].context) &&
			    !strcmp(c->panel[k].cache, c->panel[i].cache))
				break;
		c->panel[i].condition = k < i ? c->panel[k].condition : i;
	}
	memcpy(old, c->panel, sizeof(old));
	qsort(c->panel, c->nr_panels, sizeof(*c->panel), compare_panels);
	for (i = 0; i < c->nr_panels; i++)
		for (k = 0; k < c->nr_panels; k++)
			if (!compare_panels(&old[i], &c->panel[k]))
				map[i] = k;
	for (n = 0; n < c->nr; n++)
		c->spot[n].panel = map[c->spot[n].panel];
}

static void build(struct chart *c, const struct plot *p, struct choice *choice)
{
	struct build b = { c, choice, NULL };

	c->nr = 0;
	c->nr_panels = 0;
	c->nr_series = 0;
	c->left_out = 0;
	/* All contexts side by side are too many, unless they were named. */
	if (choice && choice->nr && !p->contexts)
		b.context = choice->row[0].context;
	walk_spots(p, c->picture, take_spot, &b);
	sort_panels(c);
	if (c->nr)
		qsort(c->spot, c->nr, sizeof(*c->spot), compare_spots);
}

/* What tells the cells of one panel apart, beside method and batch? */
static unsigned int find_dimensions(struct chart *c)
{
	unsigned int dims = 0;
	size_t i;

	for (i = 0; i < c->nr; i++) {
		struct panel *panel = &c->panel[c->spot[i].panel];

		if (!panel->first)
			panel->first = &c->spot[i];
		dims |= differences(panel->first, &c->spot[i]);
	}
	dims &= ~DIM_CPU;
	if (dims & (DIM_MODEL | DIM_KERNEL))
		dims &= ~DIM_FILE;
	return dims;
}

static unsigned int clashes(const struct chart *c)
{
	unsigned int dims = 0;
	size_t i;

	for (i = 1; i < c->nr; i++)
		if (!compare_spots(&c->spot[i - 1], &c->spot[i]))
			dims |= differences(&c->spot[i - 1], &c->spot[i]);
	return dims;
}

static void add_part(char **text, const char *fmt, const char *part)
{
	char *one = xasprintf(fmt, part), *all;

	all = **text ? xasprintf("%s, %s", *text, one) : xstrdup(one);
	free(one);
	free(*text);
	*text = all;
}

static void add_number(char **text, const char *fmt, double number)
{
	char digits[UNIT_LEN];

	if (!isnan(number))
		add_part(text, fmt, fmt_count(digits, number));
}

static void name_series(struct chart *c, struct series *s)
{
	const struct cell *cell = s->like.cell;
	char *suffix = xstrdup(""), *name;

	if (c->dimensions & DIM_MODEL)
		add_part(&suffix, "%s", or_dash(CELL_TEXT(cell, model)));
	if (c->dimensions & DIM_KERNEL)
		add_part(&suffix, "%s", s->like.in->kernel);
	if (c->dimensions & DIM_LOAD)
		add_number(&suffix, "load %s", CELL_NUM(cell, load));
	if (c->dimensions & DIM_NID)
		add_number(&suffix, "node %s", CELL_NUM(cell, nid));
	if (c->dimensions & DIM_CPU)
		add_number(&suffix, "CPU %s", CELL_NUM(cell, cpu));
	if (c->dimensions & DIM_FILE)
		add_part(&suffix, "%s", s->like.in->label);
	name = c->picture == PIC_BATCH ? xstrdup(CELL_TEXT(cell, method)) : variant_name(cell);
	s->suffix = suffix;
	s->label = *suffix ? xasprintf("%s, %s", name, suffix) : xstrdup(name);
	free(name);
}

enum { PART_METHOD, PART_BATCH, PART_SUFFIX, NR_PARTS };

static const char *part_of(const struct chart *c, const struct series *s, unsigned int part)
{
	switch (part) {
	case PART_METHOD:
		return CELL_TEXT(s->like.cell, method);
	case PART_BATCH:
		return c->picture == PIC_BATCH ? "" : or_dash(CELL_TEXT(s->like.cell, batch));
	default:
		return s->suffix;
	}
}

/* Do two series differ in nothing but @part? */
static bool same_rest(const struct chart *c, const struct series *a, const struct series *b,
		      unsigned int part)
{
	unsigned int i;

	for (i = 0; i < NR_PARTS; i++)
		if (i != part && strcmp(part_of(c, a, i), part_of(c, b, i)))
			return false;
	return true;
}

/*
 * What takes the most values has the colours, the rest is in dashes and points;
 * of latencies that is what differs between kernels, where there is anything.
 */
static void style_series(struct chart *c, const struct plot *p)
{
	unsigned int i, k, part, best = 0, most = 0, styles = 0;

	for (part = 0; part < NR_PARTS; part++) {
		unsigned int values = 0;

		for (i = 0; i < c->nr_series; i++) {
			for (k = 0; k < i; k++)
				if (!strcmp(part_of(c, &c->series[k], part),
					    part_of(c, &c->series[i], part)))
					break;
			c->series[i].color = k < i ? c->series[k].color : values++;
		}
		if (part == PART_SUFFIX && c->picture == PIC_LATENCY && values > 1)
			most = 0;
		if (values > most) {
			most = values;
			best = part;
		}
	}
	for (i = 0, most = 0; i < c->nr_series; i++) {
		struct series *s = &c->series[i];

		for (k = 0; k < i; k++)
			if (!strcmp(part_of(c, &c->series[k], best), part_of(c, s, best)))
				break;
		s->color = k < i ? c->series[k].color : most++;
		/* A method has the same colour in every picture. */
		for (k = 0; best == PART_METHOD && k < p->nr_method; k++)
			if (!strcmp(p->method[k], part_of(c, s, best)))
				s->color = k;
		for (k = 0; k < i; k++)
			if (same_rest(c, &c->series[k], s, best))
				break;
		s->style = k < i ? c->series[k].style : styles++;
	}
}

static void place_panels(struct chart *c)
{
	unsigned int i, row = 0, column = 0;

	c->columns = c->picture == PIC_GBPS || c->picture == PIC_GAIN ? 2 : 3;
	if (c->nr_panels < c->columns && c->picture != PIC_LATENCY)
		c->columns = c->nr_panels;
	for (i = 0; i < c->nr_panels; i++) {
		struct panel *panel = &c->panel[i];
		bool fresh = i && panel->order >= 0 && panel[-1].condition != panel->condition;

		if (i && (column == c->columns || fresh || c->picture == PIC_LATENCY)) {
			row++;
			column = 0;
		}
		panel->row = row;
		panel->column = column++;
	}
	c->rows = row + 1;
}

/* What the ratios of each panel are over: that of the largest order */
static void find_baselines(struct chart *c)
{
	const struct cell *base[MAX_PANELS] = { NULL };
	double order[MAX_PANELS];
	unsigned int i;
	size_t k;

	for (k = 0; k < c->nr; k++) {
		const struct spot *s = &c->spot[k];

		if (!s->base)
			continue;
		if (base[s->panel] && !same_variant(base[s->panel], s->base))
			c->mixed = c->picture == PIC_GAIN;
		if (!base[s->panel] || CELL_NUM(s->cell, order) > order[s->panel]) {
			base[s->panel] = s->base;
			order[s->panel] = CELL_NUM(s->cell, order);
		}
	}
	for (i = 0; i < c->nr_panels; i++)
		c->panel[i].base = base[i] ? variant_name(base[i]) : xstrdup("");
}

/**
 * chart_init() - sort what a picture shows
 * @c: filled in; to be freed by chart_free()
 * @p: files and what is wanted of them
 * @picture: which
 */
void chart_init(struct chart *c, const struct plot *p, enum picture picture)
{
	struct choice *choice = NULL;
	unsigned int i, clash;

	memset(c, 0, sizeof(*c));
	c->picture = picture;
	if (picture == PIC_DISTRIBUTION || picture == PIC_BATCH) {
		choice = xrealloc(NULL, sizeof(*choice));
		memset(choice, 0, sizeof(*choice));
		walk_spots(p, picture, note_order, choice);
		choose_orders(p, choice);
	}
	build(c, p, choice);
	c->dimensions = find_dimensions(c);
	if (c->dimensions)
		build(c, p, choice);
	clash = clashes(c);
	if (clash) {
		c->dimensions |= clash & DIM_FILE ? DIM_FILE : clash;
		build(c, p, choice);
		clash = clashes(c);
		c->dimensions |= clash;
		if (clash)
			build(c, p, choice);
	}
	for (i = 0; i < c->nr_series; i++)
		name_series(c, &c->series[i]);
	style_series(c, p);
	place_panels(c);
	find_baselines(c);
	if (choice && choice->orders)
		c->note = xstrdup("smallest, middle and largest order; --orders chooses others");
	if (choice && choice->contexts && !p->contexts) {
		char *note = xasprintf("%s%sof the contexts the first; --contexts chooses others",
				       c->note ? c->note : "", c->note ? "; " : "");

		free(c->note);
		c->note = note;
	}
	free(choice);
}

void chart_free(struct chart *c)
{
	unsigned int i;

	for (i = 0; i < c->nr_series; i++) {
		free(c->series[i].suffix);
		free(c->series[i].label);
	}
	free(c->spot);
	for (i = 0; i < c->nr_panels; i++)
		free(c->panel[i].base);
	free(c->note);
}
