/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of `plot` share.
 */
#ifndef CLEARBENCH_PLOT_H
#define CLEARBENCH_PLOT_H

#include "show.h"

enum picture { PIC_DISTRIBUTION, PIC_GBPS, PIC_GAIN, PIC_BATCH, PIC_LATENCY, NR_PICTURES };

#define PLOT_WIDTH	900	/* pixels */
#define MAX_INPUTS	32
#define MAX_SERIES	20	/* as many as a legend can tell apart */
#define MAX_PANELS	9

/**
 * struct curve - a cell's distribution, no finer than a picture shows it
 * @nr: points
 * @at: of each the time in ns, and the share of clears that took longer
 */
struct curve {
	unsigned int nr;
	float (*at)[2];
};

/**
 * struct input - one of the files
 * @r: as it was read
 * @v: its cells in order
 * @label: the file's name, unlike that of every other input
 * @kernel: its release
 * @marks: in capitals, and what else bends the figures; "" for none
 * @curve: by the index of the cell in @r
 * @nr_curves: how many
 * @base: baseline of each cell, by its index in @v
 */
struct input {
	struct result r;
	struct view v;
	char *label;
	char *kernel;
	char *marks;
	struct curve *curve;
	size_t nr_curves;
	const struct cell **base;
};

/**
 * struct plot - what is to be drawn
 * @in: the files
 * @nr: how many
 * @pictures: a bit each
 * @orders: those that are wanted; used where @some_orders
 * @some_orders: not all of them
 * @contexts: words, comma separated; NULL: all
 * @methods: likewise
 * @method: the files', in the order in which they first appear: one colour each
 * @nr_method: how many
 */
struct plot {
	struct input in[MAX_INPUTS];
	unsigned int nr;
	unsigned int pictures;
	struct list orders;
	bool some_orders;
	const char *contexts;
	const char *methods;
	const char *method[MAX_SERIES];
	unsigned int nr_method;
};

/* One cell in a panel */
struct spot {
	const struct cell *cell;
	const struct cell *base;
	const struct input *in;
	unsigned int panel;
	unsigned int series;
	double x;
};

/* What stands under one title; @order is -1 where it is the axis. */
struct panel {
	const char *context;
	const char *cache;
	double order;
	const struct spot *first;
	unsigned int condition;		/* context and cache, by number */
	unsigned int row, column;
	char *base;			/* what its ratios are over; "" for nothing */
};

/**
 * struct series - what has one colour and one line style
 * @like: a spot of it
 * @suffix: what it has beside method and batch; "" for nothing
 * @label: for the legend
 * @color: index
 * @style: index
 */
struct series {
	struct spot like;
	char *suffix;
	char *label;
	unsigned int color;
	unsigned int style;
};

/**
 * struct chart - the cells of one picture, sorted into panels and series
 * @picture: which
 * @spot: by panel, series and x
 * @nr: how many; 0: the files have nothing for this picture
 * @panel: in the order in which they are drawn
 * @nr_panels: how many
 * @series: in the order in which they first appeared
 * @nr_series: how many
 * @left_out: cells that found no panel or series
 * @note: what was chosen, where not everything is drawn; may be NULL
 * @mixed: within a panel not all ratios are over the same baseline
 * @rows: of panels
 * @columns: of panels
 */
struct chart {
	enum picture picture;
	struct spot *spot;
	size_t nr;
	struct panel panel[MAX_PANELS];
	unsigned int nr_panels;
	struct series series[MAX_SERIES];
	unsigned int nr_series;
	size_t left_out;
	char *note;
	bool mixed;
	unsigned int rows, columns;

	/* private: */
	size_t cap;
	unsigned int dimensions;
};

/* plot_chart.c */
void chart_init(struct chart *c, const struct plot *p, enum picture picture);
void chart_free(struct chart *c);
bool word_in_list(const char *list, const char *word);
const struct curve *curve_of(const struct input *in, const struct cell *cell);
bool batch_place(const char *batch, double *x);
#define BATCH_FULL	40	/* right of every number */
#define BATCH_AUTO	41

/* plot_draw.c */
extern const char *const picture_titles[NR_PICTURES];
extern const char *const picture_captions[NR_PICTURES];
char *draw_script(const struct plot *p, const struct chart *chart, unsigned int nr,
		  const char *terminal, size_t *len);

/* plot_gnuplot.c */
void gp_string(FILE *to, const char *text);
char *run_gnuplot(const char *script, size_t len, size_t *out_len);
void put_svg(FILE *to, const char *svg, const char *title, const char *prefix);

/* plot_html.c */
void put_page(FILE *to, const struct plot *p, const struct chart *chart,
	      char *const *svg, unsigned int nr);

#endif /* CLEARBENCH_PLOT_H */
