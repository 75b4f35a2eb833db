// SPDX-License-Identifier: GPL-2.0
/*
 * show: what an interrupt waits that comes in the middle of a clear, beside what
 * it waits that comes in the middle of as long a spin. From the histograms of
 * the user backend with latency=1, which has no thread to wake.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "show.h"

/* A percentile with its rank-based 95 % interval; NAN where ranks bound nothing */
struct point {
	double value;
	double lo;
	double hi;
};

struct delays {
	double n;
	struct point p50;
	struct point p99;
	double p999;
	double max;
};

struct irq_cell {
	struct cell copy;
	char *name;
	struct delays clear;
	struct delays spin;
};

static struct irq_cell *cells;
static size_t nr_cells;

static double count_of(const struct histogram *h)
{
	double n = 0;
	size_t i;

	for (i = 0; i < h->nr; i++)
		n += h->bucket[i].count;
	return n;
}

static struct point point_at(const struct histogram *h, double n, double p)
{
	struct point point = { value_at_rank(h, fmax(1, fmin(n, p * n + 0.5))), NAN, NAN };
	double lo, hi;

	if (quantile_ranks(n, p, &lo, &hi)) {
		point.lo = value_at_rank(h, lo);
		point.hi = value_at_rank(h, hi);
	}
	return point;
}

static struct delays delays_of(const struct histogram *h)
{
	struct delays d = { .n = h ? count_of(h) : 0 };

	if (!(d.n > 0))
		return d;
	d.p50 = point_at(h, d.n, 0.5);
	d.p99 = point_at(h, d.n, 0.99);
	d.p999 = point_at(h, d.n, 0.999).value;
	d.max = value_at_rank(h, d.n);
	return d;
}

/* hist_fn: keeps what the table needs, in the order of the file */
void show_irq_cell(void *arg, const struct cell *c, const struct histogram *hist, unsigned int nr)
{
	const struct histogram *irq = NULL, *spin = NULL;
	struct irq_cell *new;
	unsigned int i;

	(void)arg;
	for (i = 0; i < nr; i++) {
		if (!strcmp(hist[i].name, "irq"))
			irq = &hist[i];
		else if (!strcmp(hist[i].name, "spin"))
			spin = &hist[i];
	}
	if (!irq || !spin)
		return;
	cells = xrealloc(cells, (nr_cells + 1) * sizeof(*cells));
	new = &cells[nr_cells++];
	new->copy = *c;
	new->name = variant_name(c);
	new->clear = delays_of(irq);
	new->spin = delays_of(spin);
}

static void put_point(struct table *t, const struct point *p)
{
	char a[UNIT_LEN], b[UNIT_LEN], c[UNIT_LEN];

	if (isnan(p->lo))
		table_cell(t, "%s", fmt_ns(a, p->value));
	else
		table_cell(t, "%s [%s, %s]", fmt_ns(a, p->value), fmt_ns(b, p->lo),
			   fmt_ns(c, p->hi));
}

static int compare_cells(const void *va, const void *vb)
{
	const struct irq_cell *a = va, *b = vb;
	double x = CELL_NUM(&a->copy, order), y = CELL_NUM(&b->copy, order);

	return x < y ? -1 : x > y ? 1 : a->copy.line < b->copy.line ? -1 : 1;
}

/* The most and the least that the interval ends of both leave for the difference */
static void put_difference(struct table *t, const struct irq_cell *c)
{
	table_cell(t, "[%+.1f, %+.1f] us", (c->clear.p50.lo - c->spin.p50.hi) / 1000,
		   (c->clear.p50.hi - c->spin.p50.lo) / 1000);
}

/**
 * show_irq() - print the table, where there is anything for it
 * @v: the result
 * @to: where
 * @md: as Markdown
 */
void show_irq(const struct view *v, FILE *to, bool md)
{
	static const char *const head[] = {
		"order", "size", "variant", "clear", "n", "p50", "p99", "p99.9", "max",
		"spin p50", "p99", "p99.9", "max", "p50 over spin's"
	};
	char buf[UNIT_LEN];
	struct table t;
	size_t i;

	if (nr_cells) {
		put_wrapped(to, "", "",
			    "What an interrupt waits that another CPU sends at a random moment of a clear, from sending it to the answer (membarrier), and the same of as long a spin in its place, in turn. A clear that could not be interrupted would make the median wait for half of it. 95 % intervals by rank, within this run.",
			    0);
		if (md)
			fputc('\n', to);
		table_init(&t, "rrlrrrrrrrrrrr");
		for (i = 0; i < ARRAY_SIZE(head); i++)
			table_cell(&t, "%s", head[i]);
		qsort(cells, nr_cells, sizeof(*cells), compare_cells);
	}
	for (i = 0; i < nr_cells; i++) {
		const struct irq_cell *c = &cells[i];

		table_cell(&t, "%.0f", CELL_NUM(&c->copy, order));
		table_cell(&t, "%s", fmt_extent(buf, ldexp(v->page_size,
							   CELL_NUM(&c->copy, order))));
		table_cell(&t, "%s", c->name);
		table_cell(&t, "%s", fmt_ns(buf, CELL_NUM(&c->copy, p50_ns)));
		table_cell(&t, "%s", fmt_count(buf, c->clear.n));
		put_point(&t, &c->clear.p50);
		put_point(&t, &c->clear.p99);
		table_cell(&t, "%s", fmt_ns(buf, c->clear.p999));
		table_cell(&t, "%s", fmt_ns(buf, c->clear.max));
		put_point(&t, &c->spin.p50);
		put_point(&t, &c->spin.p99);
		table_cell(&t, "%s", fmt_ns(buf, c->spin.p999));
		table_cell(&t, "%s", fmt_ns(buf, c->spin.max));
		put_difference(&t, c);
		free(c->name);
	}
	if (nr_cells) {
		if (md)
			table_print_md(&t, to);
		else
			table_print(&t, to, 0);
		fputc('\n', to);
	}
	free(cells);
	cells = NULL;
	nr_cells = 0;
}
