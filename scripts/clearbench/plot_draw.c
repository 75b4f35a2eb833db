// SPDX-License-Identifier: GPL-2.0
/*
 * Charts as a script for gnuplot.
 *
 * All text stands on one canvas whose coordinates are pixels from the top left;
 * the panels are laid over it. So nothing is left to gnuplot's own layout, and
 * labels do not run into each other.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"

#define MARGIN		14
#define LINE		17	/* height of a line of text */
#define CHAR		7.0	/* width of a character, on the safe side */
#define HEAD_LINES	12	/* at most; what is left out is said */

#define DARK		"#222222"
#define GREY		"#666666"

/* Okabe and Ito's, which the colour-blind can tell apart; brown for yellow */
static const char *const colors[] = {
	"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5c1e", "#444444",
};

/* Line and point: the second is hollow. */
static const struct {
	const char *dash;
	unsigned int full, hollow;
} styles[] = {
	{ "1", 7, 6 }, { "(7,4)", 5, 4 }, { "(2,3)", 9, 8 }, { "(9,3,2,3)", 13, 12 },
	{ "(4,2)", 11, 10 },
};

const char *const picture_titles[NR_PICTURES] = {
	[PIC_DISTRIBUTION] = "Time of one sample: share of samples that took longer",
	[PIC_GBPS] = "Bandwidth by size of the extent",
	[PIC_GAIN] = "Gain over the baseline by size of the extent",
	[PIC_BATCH] = "Gain over the baseline by batch",
	[PIC_LATENCY] = "What a clear does to others on its CPU",
};

/* One sentence each, which the page has as well */
const char *const picture_captions[NR_PICTURES] = {
	[PIC_DISTRIBUTION] = "Further left is faster, steeper is steadier; where a curve ends is the slowest seen.",
	[PIC_GBPS] = "10^9 bytes a second from the median time, higher is faster; bars reach down to what the p90 gives.",
	[PIC_GAIN] = "Baseline's time over the variant's, by pairs, above 1 is faster; bars: 95 % interval; grey: noise floor; filled: a difference beyond both.",
	[PIC_BATCH] = "Baseline's time over the variant's, by pages a call; grey: noise floor; ring: the knee, the smallest batch within the noise floor of the best.",
	[PIC_LATENCY] = "Delay from the expiry of a timer inside the clear to the interrupt, to a SCHED_FIFO and to a SCHED_NORMAL thread; filled: p50, tick: p99, hollow: longest; grey dash: the clear itself, p50.",
};

/**
 * struct canvas - where the script grows
 * @gp: script
 * @height: of the picture in pixels
 * @arrows: numbered so far
 * @labels: likewise
 */
struct canvas {
	FILE *gp;
	unsigned int height;
	unsigned int arrows;
	unsigned int labels;
};

static void put_label(struct canvas *cv, double x, double y, unsigned int size,
		      const char *color, const char *align, const char *text)
{
	fprintf(cv->gp, "set label %u ", ++cv->labels);
	gp_string(cv->gp, text);
	fprintf(cv->gp, " at %.1f,%.1f %s font ',%u' tc rgb '%s'\n", x, y, align, size, color);
}

static void put_bar(struct canvas *cv, double x, double y, double width, const char *color,
		    const char *dash)
{
	fprintf(cv->gp, "set arrow %u from %.1f,%.1f to %.1f,%.1f nohead lw 1.6 dt %s lc rgb '%s'\n",
		++cv->arrows, x, y, x + width, y, dash, color);
}

static const char *series_color(const struct series *s)
{
	return colors[s->color % ARRAY_SIZE(colors)];
}

/* Where there are more values than colours, the styles go on. */
static unsigned int series_style(const struct series *s)
{
	return (s->style + s->color / ARRAY_SIZE(colors)) % ARRAY_SIZE(styles);
}

/* Text in lines of a picture's width; the number of lines */
static unsigned int put_lines(struct canvas *cv, double y, unsigned int size, const char *color,
			      const char *text)
{
	unsigned int limit = (PLOT_WIDTH - 2 * MARGIN) / (size * 0.66), lines = 0;

	while (*text) {
		size_t len = strlen(text), cut = len;
		char *line;

		if (len > limit) {
			for (cut = limit; cut > limit / 2 && text[cut] != ' '; cut--)
				;
			if (cut == limit / 2)
				cut = limit;
			while (cut > 1 && (text[cut] & 0xc0) == 0x80)
				cut--;
		}
		line = xasprintf("%.*s", (int)cut, text);
		if (cv->gp)
			put_label(cv, MARGIN, y + lines * LINE, size, color, "left", line);
		free(line);
		lines++;
		text += cut;
		while (*text == ' ')
			text++;
	}
	return lines;
}

/* Head: what was measured, and every mark */

static char *first_word(const char *text)
{
	return xasprintf("%.*s", (int)strcspn(text, " ,"), text);
}

static char *count_range(const struct input *in)
{
	char lo_text[UNIT_LEN], hi_text[UNIT_LEN];
	double lo = NAN, hi = NAN;
	size_t i;

	for (i = 0; i < in->v.nr; i++) {
		double n = CELL_NUM(in->v.cell[i], n);

		if (!cell_is_measured(in->v.cell[i]))
			continue;
		lo = fmin(lo, n);
		hi = fmax(hi, n);
	}
	if (lo == hi || isnan(lo))
		return xstrdup(fmt_count(lo_text, lo));
	return xasprintf("%s to %s", fmt_count(lo_text, lo), fmt_count(hi_text, hi));
}

static const char *known(const struct input *in, const char *key)
{
	const char *value = env_get(in->r.environment, key);

	return value ? value : "unknown";
}

/* The same text for two files: one line for both */
static char *describe(const struct input *in)
{
	char *clock = first_word(known(in, "clock")), *n = count_range(in), *text;
	const char *preempt = env_get(in->r.environment, "preempt");
	const char *llc = env_get(in->r.environment, "llc_size");

	text = xasprintf("%s%s%.60s%s%.20s, kernel %.60s%s%.20s, n %s, clock %.30s",
			 in->marks, *in->marks ? "; " : "", known(in, "cpu_model"),
			 llc ? ", LLC " : "", llc ? llc : "", in->kernel,
			 preempt ? ", preempt " : "", preempt ? preempt : "", n, clock);
	free(clock);
	free(n);
	return text;
}

static char *head_title(const struct plot *p)
{
	char *text = xstrdup("clearbench: "), *more;
	unsigned int i;

	for (i = 0; i < p->nr && i < 4; i++) {
		more = xasprintf("%s%s%s", text, i ? ", " : "", p->in[i].label);
		free(text);
		text = more;
	}
	if (p->nr > i) {
		more = xasprintf("%s and %u more", text, p->nr - i);
		free(text);
		text = more;
	}
	return text;
}

/* Return: the height. Without a script it is only measured. */
static double put_head(struct canvas *cv, const struct plot *p, double y)
{
	char *title = head_title(p), *text[MAX_INPUTS], *line;
	unsigned int i, k, lines;

	lines = put_lines(cv, y + 20, 15, DARK, title);
	y += 26 + (lines - 1) * LINE;
	free(title);
	for (i = 0, lines = 0; i < p->nr; i++) {
		unsigned int same = 0;

		text[i] = describe(&p->in[i]);
		for (k = 0; k < i; k++)
			same += !strcmp(text[k], text[i]);
		if (same)
			continue;
		/* Named only where not all are the same */
		for (k = 0, same = 0; k < p->nr; k++) {
			char *other = describe(&p->in[k]);

			same += !strcmp(other, text[i]);
			free(other);
		}
		if (lines >= HEAD_LINES && *p->in[i].marks)
			line = xasprintf("%s: %s", p->in[i].label, p->in[i].marks);
		else if (same == p->nr)
			line = xstrdup(text[i]);
		else if (same == 1)
			line = xasprintf("%s: %s", p->in[i].label, text[i]);
		else
			line = xasprintf("%s and %u more: %s", p->in[i].label, same - 1, text[i]);
		lines += put_lines(cv, y + 14 + lines * LINE, 11, DARK, line);
		free(line);
	}
	for (i = 0; i < p->nr; i++)
		free(text[i]);
	return y + lines * LINE + 8;
}

/* Sections: a chart with its title, legend, panels and notes */

static double panel_height(const struct chart *c)
{
	return c->columns == 1 ? 320 : c->columns == 2 ? 275 : 240;
}

static double panel_width(const struct chart *c)
{
	return (PLOT_WIDTH - 2.0 * MARGIN) / c->columns;
}

struct legend {
	unsigned int columns, rows;
	double width;
};

static struct legend legend_of(const struct chart *c)
{
	struct legend l;
	size_t longest = 4;
	unsigned int i;

	for (i = 0; i < c->nr_series; i++)
		longest = strlen(c->series[i].label) > longest ? strlen(c->series[i].label) :
								 longest;
	l.width = 50 + longest * CHAR;
	if (l.width > PLOT_WIDTH - 2 * MARGIN)
		l.width = PLOT_WIDTH - 2 * MARGIN;
	l.columns = (PLOT_WIDTH - 2 * MARGIN) / l.width;
	if (l.columns > c->nr_series)
		l.columns = c->nr_series;
	l.rows = (c->nr_series + l.columns - 1) / l.columns;
	return l;
}

static char *notes_of(const struct chart *c)
{
	char *text = xstrdup(""), *more;

	if (c->mixed) {
		more = xstrdup("At some orders the baseline is another, since the named one was not run there. ");
		free(text);
		text = more;
	}
	if (c->note) {
		more = xasprintf("%sDrawn: %s. ", text, c->note);
		free(text);
		text = more;
	}
	if (c->left_out) {
		more = xasprintf("%sNot drawn: %zu more cells; --orders, --contexts and --methods choose.",
				 text, c->left_out);
		free(text);
		text = more;
	}
	return text;
}

static void put_legend(struct canvas *cv, const struct chart *c, double y)
{
	struct legend l = legend_of(c);
	unsigned int i;

	for (i = 0; i < c->nr_series; i++) {
		const struct series *s = &c->series[i];
		double x = MARGIN + i / l.rows * l.width, at = y + i % l.rows * LINE;
		char *label = xasprintf("%.*s", (int)((l.width - 40) / (CHAR - 0.6)), s->label);

		put_bar(cv, x, at, 30, series_color(s), styles[series_style(s)].dash);
		if (c->picture != PIC_DISTRIBUTION)
			fprintf(cv->gp, "set label %u '' at %.1f,%.1f point pt %u ps 0.6 lc rgb '%s'\n",
				++cv->labels, x + 15, at, styles[series_style(s)].full,
				series_color(s));
		put_label(cv, x + 36, at, 11, DARK, "left", label);
		free(label);
	}
}

/* Return: where the panels begin. */
static double put_section_head(struct canvas *cv, const struct chart *c, double y)
{
	struct legend l = legend_of(c);
	unsigned int lines;

	y += 20;
	if (cv->gp)
		put_label(cv, MARGIN, y, 14, DARK, "left", picture_titles[c->picture]);
	lines = put_lines(cv, y + LINE + 2, 11, GREY, picture_captions[c->picture]);
	y += (lines + 1) * LINE + 6;
	if (cv->gp)
		put_legend(cv, c, y);
	return y + l.rows * LINE;
}

/* Return: where the section ends. */
static double put_section_foot(struct canvas *cv, const struct chart *c, double y)
{
	char *notes = notes_of(c);

	y += put_lines(cv, y + 13, 11, GREY, notes) * LINE + 14;
	free(notes);
	return y;
}

/* Axes */

static void begin_tics(FILE *gp, char axis)
{
	fprintf(gp, "set %ctics scale 0.5 nomirror font ',10' tc rgb '%s' (", axis, DARK);
}

static double nice_step(double span, unsigned int steps)
{
	double raw = span / steps, unit = pow(10, floor(log10(raw)));

	if (raw / unit > 5)
		return 10 * unit;
	return raw / unit > 2 ? 5 * unit : raw / unit > 1 ? 2 * unit : unit;
}

static void put_time_tic(FILE *gp, double ns, bool *first)
{
	static const char *const unit[] = { "ns", "us", "ms", "s" };
	double value = ns;
	unsigned int u = 0;

	while (value > 999.5 && u < ARRAY_SIZE(unit) - 1) {
		value /= 1000;
		u++;
	}
	fprintf(gp, "%s'%.6g %s' %.9g", *first ? "" : ", ", value, unit[u], ns);
	*first = false;
}

/* On a logarithmic axis: as many as there is room for, @room of them at most */
static void put_time_tics(FILE *gp, char axis, double lo, double hi, unsigned int room)
{
	static const double all[] = { 1, 2, 5 }, some[] = { 1 };
	double decades = log10(hi / lo), decade, at, step;
	bool first = true, many = decades * 3 <= room;
	const double *in = many ? all : some;
	unsigned int nr = many ? 3 : 1, i, skip = ceil(decades / room);

	begin_tics(gp, axis);
	if (hi / lo < 4) {
		step = nice_step(hi - lo, room);
		for (at = ceil(lo / step) * step; at <= hi; at += step)
			put_time_tic(gp, at, &first);
	} else {
		for (decade = floor(log10(lo)); decade <= log10(hi); decade += skip ? skip : 1)
			for (i = 0; i < nr; i++) {
				at = in[i] * pow(10, decade);
				if (at >= lo && at <= hi)
					put_time_tic(gp, at, &first);
			}
	}
	fputs(")\n", gp);
}

static void put_number_tics(FILE *gp, char axis, double lo, double hi, bool by_two)
{
	double step = by_two ? 0 : nice_step(hi - lo, 5), at;
	bool first = true;

	begin_tics(gp, axis);
	for (at = by_two ? pow(2, ceil(log2(lo))) : ceil(lo / step) * step; at <= hi * 1.000001;
	     at = by_two ? 2 * at : at + step) {
		fprintf(gp, "%s'%.6g' %.9g", first ? "" : ", ", fabs(at) < step / 1e6 ? 0 : at, at);
		first = false;
	}
	fputs(")\n", gp);
}

/* "64 KiB" */
static const char *size_text(char *buf, const struct plot *p, double order)
{
	static const char *const unit[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double size = ldexp(p->in[0].v.page_size, order) / 1024;
	unsigned int u = 0;

	while (size >= 1024 && u < ARRAY_SIZE(unit) - 1) {
		size /= 1024;
		u++;
	}
	snprintf(buf, UNIT_LEN, "%.0f %s", size, unit[u]);
	return buf;
}

static void put_size_tics(FILE *gp, const struct plot *p, double lo, double hi, double width)
{
	unsigned int step = ceil((hi - lo + 1) * 52 / width), order;
	char buf[UNIT_LEN];

	begin_tics(gp, 'x');
	for (order = lo; order <= hi; order += step ? step : 1)
		fprintf(gp, "%s'%s' %u", order > lo ? ", " : "", size_text(buf, p, order), order);
	fputs(")\n", gp);
}

/* Where a panel's axes are, in pixels from the top left */
struct frame {
	double left, right, top, bottom;
};

static struct frame frame_of(const struct chart *c, unsigned int row, unsigned int column,
			     double y)
{
	struct frame f;

	f.left = MARGIN + column * panel_width(c) + 50;
	f.right = MARGIN + (column + 1) * panel_width(c) - 14;
	f.top = y + row * panel_height(c) + 34;
	f.bottom = y + (row + 1) * panel_height(c) - 40;
	return f;
}

static void begin_panel(const struct canvas *cv, const struct frame *f)
{
	fprintf(cv->gp, "unset logscale\nset lmargin at screen %.5f\nset rmargin at screen %.5f\n",
		f->left / PLOT_WIDTH, f->right / PLOT_WIDTH);
	fprintf(cv->gp, "set tmargin at screen %.5f\nset bmargin at screen %.5f\nunset arrow\n",
		1 - f->top / cv->height, 1 - f->bottom / cv->height);
}

/* The title over a panel and what its horizontal axis is */
static void put_panel_text(struct canvas *cv, const struct frame *f, const char *title,
			   const char *axis)
{
	char *text = xasprintf("%.*s", (int)((f->right - f->left + 44) / 6.1), title);

	put_label(cv, f->left - 44, f->top - 16, 12, DARK, "left", text);
	put_label(cv, (f->left + f->right) / 2, f->bottom + 31, 11, GREY, "center", axis);
	free(text);
}

/* Panels */

static const struct spot *spots_of(const struct chart *c, unsigned int panel, size_t *nr)
{
	size_t from = 0, to;

	while (from < c->nr && c->spot[from].panel < panel)
		from++;
	for (to = from; to < c->nr && c->spot[to].panel == panel; to++)
		;
	*nr = to - from;
	return c->spot + from;
}

static char *panel_title(const struct plot *p, const struct panel *panel)
{
	char size[UNIT_LEN];

	if (panel->order < 0)
		return xasprintf("%s, %s", panel->context, panel->cache);
	return xasprintf("%s (order %.0f), %s, %s", size_text(size, p, panel->order),
			 panel->order, panel->context, panel->cache);
}

struct range {
	double lo, hi;
};

static void widen(struct range *r, double value)
{
	if (!isfinite(value))
		return;
	r->lo = fmin(r->lo, value);
	r->hi = fmax(r->hi, value);
}

/* For a logarithmic axis; a file may hold anything */
static void pad(struct range *r, double least, double most, double narrowest)
{
	if (!(r->lo > least))
		r->lo = least;
	if (!(r->hi < most))
		r->hi = most;
	if (r->hi < r->lo)
		r->hi = r->lo;
	if (r->hi / r->lo < narrowest) {
		double middle = sqrt(r->hi * r->lo);

		r->lo = middle / sqrt(narrowest);
		r->hi = middle * sqrt(narrowest);
	}
	narrowest = pow(r->hi / r->lo, 0.06);
	r->lo /= narrowest;
	r->hi *= narrowest;
}

static void put_range(FILE *gp, char axis, const struct range *r)
{
	fprintf(gp, "set %crange [%.9g:%.9g]\n", axis, r->lo, r->hi);
}

#define TIME_LEAST	0.1
#define TIME_MOST	1e14

/* A plot's clauses, each of a block of data of its own */
struct clauses {
	FILE *gp;		/* the data */
	FILE *to;		/* the clauses */
	char *text;
	size_t len;
	unsigned int nr;
};

static void clauses_begin(struct clauses *cl, FILE *gp)
{
	memset(cl, 0, sizeof(*cl));
	cl->gp = gp;
	cl->to = open_memstream(&cl->text, &cl->len);
	if (!cl->to) {
		msg("out of memory");
		exit(CB_FAILED);
	}
}

static void block_begin(struct clauses *cl)
{
	fprintf(cl->gp, "$d%u << EOD\n", cl->nr);
}

static void block_end(struct clauses *cl, const char *fmt, ...) __printf(2, 3);

static void block_end(struct clauses *cl, const char *fmt, ...)
{
	va_list ap;

	fputs("EOD\n", cl->gp);
	fprintf(cl->to, "%s$d%u ", cl->nr ? ", " : "", cl->nr);
	cl->nr++;
	va_start(ap, fmt);
	vfprintf(cl->to, fmt, ap);
	va_end(ap);
	fputs(" notitle", cl->to);
}

static void clauses_end(struct clauses *cl)
{
	fclose(cl->to);
	/* A block without a point would be an error. */
	fprintf(cl->gp, "plot %s%s1/0 notitle\n", cl->text, cl->nr ? ", " : "");
	free(cl->text);
}

static void draw_distribution(const struct canvas *cv, const struct plot *p,
			      const struct chart *c, unsigned int panel, const struct frame *f)
{
	struct range time = { INFINITY, 0 }, share = { 1, 1 };
	struct clauses cl;
	const struct spot *s;
	size_t nr, i;
	unsigned int k, decade;

	(void)p;
	s = spots_of(c, panel, &nr);
	for (i = 0; i < nr; i++) {
		const struct curve *curve = curve_of(s[i].in, s[i].cell);

		widen(&time, curve->at[0][0]);
		widen(&time, curve->at[curve->nr - 1][0]);
		for (k = 0; k < curve->nr; k++)
			if (curve->at[k][1] > 0)
				widen(&share, curve->at[k][1]);
	}
	pad(&time, TIME_LEAST, TIME_MOST, 1.1);
	share.lo = fmin(0.08, share.lo / 2);
	clauses_begin(&cl, cv->gp);
	for (i = 0; i < nr; i++) {
		const struct curve *curve = curve_of(s[i].in, s[i].cell);
		const struct series *series = &c->series[s[i].series];

		block_begin(&cl);
		for (k = 0; k < curve->nr; k++)
			fprintf(cl.gp, "%.6g %.6g\n", curve->at[k][0],
				fmax(curve->at[k][1], share.lo));
		block_end(&cl, "with lines lw 1.6 dt %s lc rgb '%s'",
			  styles[series_style(series)].dash, series_color(series));
	}
	fputs("set logscale xy\n", cv->gp);
	put_range(cv->gp, 'x', &time);
	put_range(cv->gp, 'y', &share);
	put_time_tics(cv->gp, 'x', time.lo, time.hi, (f->right - f->left) / 65);
	begin_tics(cv->gp, 'y');
	for (decade = 0; pow(10, -(double)decade) >= share.lo; decade++)
		fprintf(cv->gp, "%s'%g %%%%' %.9g", decade ? ", " : "", pow(10, 2 - (double)decade),
			pow(10, -(double)decade));
	fputs(")\n", cv->gp);
	clauses_end(&cl);
}

/* Series side by side at one place rather than on top of each other */
static double dodge(const struct chart *c, unsigned int series, double width)
{
	if (c->nr_series < 2)
		return 0;
	width = fmin(width, width / 5 * (c->nr_series - 1));
	return width * ((double)series / (c->nr_series - 1) - 0.5);
}

/* The last level cache, where all files agree about it; NAN */
static double llc_order(const struct plot *p)
{
	double order = NAN;
	unsigned int i;

	for (i = 0; i < p->nr; i++) {
		const char *text = env_get(p->in[i].r.environment, "llc_bytes");
		double bytes = text ? strtod(text, NULL) : 0, at;

		if (!(bytes >= 1024)) {
			text = env_get(p->in[i].r.environment, "llc_size");
			bytes = text && strchr(text, 'K') ? 1024 * strtod(text, NULL) : 0;
		}
		at = log2(bytes / p->in[0].v.page_size);
		if (!isfinite(at) || (i && at != order))
			return NAN;
		order = at;
	}
	return order;
}

static void put_llc(const struct canvas *cv, const struct plot *p, const struct range *x)
{
	double order = llc_order(p);
	char buf[UNIT_LEN];

	if (!(order > x->lo && order < x->hi))
		return;
	fprintf(cv->gp, "set arrow 1 from first %.4f, graph 0 to first %.4f, graph 1 nohead back lw 1 dt (2,3) lc rgb '%s'\n",
		order, order, GREY);
	fprintf(cv->gp, "set label 1 'LLC %s' at first %.4f, graph 0.96 offset character -0.5,0 right font ',10' tc rgb '%s'\n",
		size_text(buf, p, order), order, GREY);
}

static struct range order_range(const struct spot *s, size_t nr)
{
	struct range x = { INFINITY, 0 };
	size_t i;

	for (i = 0; i < nr; i++)
		widen(&x, s[i].x);
	return x;
}

static void put_order_axis(const struct canvas *cv, const struct plot *p, struct range x,
			   const struct frame *f)
{
	put_size_tics(cv->gp, p, x.lo, x.hi, f->right - f->left);
	x.lo -= 0.6;
	x.hi += 0.6;
	put_range(cv->gp, 'x', &x);
	put_llc(cv, p, &x);
}

static size_t series_end(const struct spot *s, size_t nr, size_t from)
{
	size_t to = from;

	while (to < nr && s[to].series == s[from].series)
		to++;
	return to;
}

static double gbps_at(const struct spot *s, double ns)
{
	return ns > 0 ? ldexp(s->in->v.page_size, CELL_NUM(s->cell, order)) / ns : NAN;
}

static void draw_gbps(const struct canvas *cv, const struct plot *p, const struct chart *c,
		      unsigned int panel, const struct frame *f)
{
	struct range y = { 0, 0 };
	struct clauses cl;
	const struct spot *s;
	size_t nr, i, from, to;

	s = spots_of(c, panel, &nr);
	clauses_begin(&cl, cv->gp);
	for (from = 0; from < nr; from = to) {
		const struct series *series = &c->series[s[from].series];
		unsigned int style = series_style(series);

		to = series_end(s, nr, from);
		block_begin(&cl);
		for (i = from; i < to; i++) {
			double value = gbps_at(&s[i], CELL_NUM(s[i].cell, p50_ns));
			double low = gbps_at(&s[i], CELL_NUM(s[i].cell, p90_ns));

			value = fmin(value, 1e6);
			widen(&y, value);
			fprintf(cl.gp, "%.4f %.6g %.6g\n", s[i].x + dodge(c, s[from].series, 0.3),
				value, isnan(low) ? value : fmin(low, value));
		}
		block_end(&cl, "using 1:3:(0):($2-$3) with vectors nohead lw 0.9 lc rgb '%s'",
			  series_color(series));
		fprintf(cl.to, ", $d%u with linespoints pt %u ps 0.55 lw 1.4 dt %s lc rgb '%s' notitle",
			cl.nr - 1, styles[style].full, styles[style].dash, series_color(series));
	}
	y.hi = y.hi > 0 ? y.hi * 1.08 : 1;
	put_order_axis(cv, p, order_range(s, nr), f);
	put_range(cv->gp, 'y', &y);
	put_number_tics(cv->gp, 'y', 0, y.hi, false);
	clauses_end(&cl);
}

static double gain_of(const struct spot *s)
{
	return s->cell == s->base ? 1 : CELL_NUM(s->cell, ratio);
}

/* The noise floor of a spot's baseline as ratios; false: unknown */
static bool floor_of(const struct spot *s, struct range *r)
{
	const struct cell *from[] = { s->cell, s->base };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(from); i++) {
		if (!from[i])
			continue;
		r->lo = CELL_NUM(from[i], floor_lo);
		r->hi = CELL_NUM(from[i], floor_hi);
		if (r->lo > 0 && r->hi >= r->lo && isfinite(r->hi))
			return true;
	}
	return false;
}

/* A difference that may be called one: never on an emulated CPU */
static bool is_difference(const struct spot *s)
{
	return s->base && s->cell != s->base && !has_mark(s->in->r.marks, "emulated") &&
	       judge(s->base, s->cell).differs;
}

static int compare_x(const void *va, const void *vb)
{
	const struct spot *a = va, *b = vb;

	return (a->x > b->x) - (a->x < b->x);
}

/*
 * Of each place the widest noise floor, half a step to either side. Where the
 * whole panel is of one order, and so of one floor, @x is that of the panel.
 */
static void put_floor(struct clauses *cl, const struct spot *s, size_t nr,
		      const struct range *x, struct range *y)
{
	struct spot *by_x = xrealloc(NULL, nr * sizeof(*by_x));
	size_t i, k;

	memcpy(by_x, s, nr * sizeof(*by_x));
	qsort(by_x, nr, sizeof(*by_x), compare_x);
	block_begin(cl);
	for (i = 0; i < nr; i = k) {
		struct range all = { INFINITY, 0 }, one;

		for (k = i; k < nr && (x || by_x[k].x == by_x[i].x); k++) {
			if (floor_of(&by_x[k], &one)) {
				widen(&all, one.lo);
				widen(&all, one.hi);
			}
		}
		if (all.hi < all.lo)
			continue;
		widen(y, all.lo);
		widen(y, all.hi);
		fprintf(cl->gp, "%.4f 1 %.4f %.4f %.6g %.6g\n", by_x[i].x,
			x ? x->lo : by_x[i].x - 0.5, x ? x->hi : by_x[i].x + 0.5, all.lo, all.hi);
	}
	fputs("-9 1 -9 -9 1 1\n", cl->gp);	/* out of sight, for no block is empty */
	block_end(cl, "using 1:2:3:4:5:6 with boxxyerror fs solid 1 noborder lc rgb '#dcdcdc'");
	free(by_x);
}

/* One series with its intervals; what is a difference is filled */
static void put_gains(struct clauses *cl, const struct chart *c, const struct spot *s, size_t nr,
		      struct range *y)
{
	const struct series *series = &c->series[s->series];
	unsigned int style = series_style(series);
	size_t i;

	block_begin(cl);
	for (i = 0; i < nr; i++) {
		double lo = CELL_NUM(s[i].cell, ratio_lo), hi = CELL_NUM(s[i].cell, ratio_hi);
		double gain = gain_of(&s[i]);
		bool known = lo > 0 && lo <= gain && hi >= gain && isfinite(hi);

		widen(y, known ? lo : gain);
		widen(y, known ? hi : gain);
		fprintf(cl->gp, "%.4f %.6g %.6g %.6g %.6g\n", s[i].x + dodge(c, s->series, 0.3),
			gain, known ? lo : gain, known ? hi : gain,
			is_difference(&s[i]) ? gain : -1);
	}
	block_end(cl, "using 1:3:(0):($4-$3) with vectors nohead lw 1 lc rgb '%s'",
		  series_color(series));
	fprintf(cl->to, ", $d%u using 1:2 with lines lw 1.2 dt %s lc rgb '%s' notitle",
		cl->nr - 1, styles[style].dash, series_color(series));
	/* Hollow also where a bar goes through it */
	fprintf(cl->to, ", $d%u using 1:($5 > 0 ? NaN : $2) with points pt %u ps 0.65 lc rgb '#ffffff' notitle",
		cl->nr - 1, styles[style].full);
	fprintf(cl->to, ", $d%u using 1:($5 > 0 ? NaN : $2) with points pt %u ps 0.65 lc rgb '%s' notitle",
		cl->nr - 1, styles[style].hollow, series_color(series));
	fprintf(cl->to, ", $d%u using 1:($5 > 0 ? $5 : NaN) with points pt %u ps 0.65 lc rgb '%s' notitle",
		cl->nr - 1, styles[style].full, series_color(series));
}

static void put_gain_axis(const struct canvas *cv, struct range *y)
{
	bool by_two;

	pad(y, 0.001, 1000, 1.05);
	by_two = y->hi / y->lo > 6;
	fputs("set logscale y 2\n", cv->gp);
	put_range(cv->gp, 'y', y);
	put_number_tics(cv->gp, 'y', y->lo, y->hi, by_two);
	fprintf(cv->gp, "set arrow 2 from graph 0, first 1 to graph 1, first 1 nohead back lw 1 lc rgb '%s'\n",
		GREY);
}

static void draw_gain(const struct canvas *cv, const struct plot *p, const struct chart *c,
		      unsigned int panel, const struct frame *f)
{
	struct range y = { 1, 1 };
	struct clauses cl;
	const struct spot *s;
	size_t nr, from, to;

	s = spots_of(c, panel, &nr);
	clauses_begin(&cl, cv->gp);
	put_floor(&cl, s, nr, NULL, &y);
	for (from = 0; from < nr; from = to) {
		to = series_end(s, nr, from);
		put_gains(&cl, c, s + from, to - from, &y);
	}
	put_order_axis(cv, p, order_range(s, nr), f);
	put_gain_axis(cv, &y);
	clauses_end(&cl);
}

/* The smallest batch whose gain lies within the noise floor of the best */
static const struct spot *find_knee(const struct spot *s, size_t nr)
{
	double best = 0;
	struct range r;
	size_t i;

	for (i = 0; i < nr; i++)
		best = fmax(best, gain_of(&s[i]));
	for (i = 0; i < nr; i++) {
		if (!floor_of(&s[i], &r) || s[i].x == BATCH_AUTO)
			continue;
		if (gain_of(&s[i]) * fmax(r.hi, 1 / r.lo) >= best)
			return &s[i];
	}
	return NULL;
}

static void draw_batch(const struct canvas *cv, const struct plot *p, const struct chart *c,
		       unsigned int panel, const struct frame *f)
{
	struct range y = { 1, 1 }, x = { 0, 0 }, axis;
	bool full = false, automatic = false, first = true;
	const struct spot *in_file, *knee;
	unsigned int power, knees = 0;
	struct clauses cl;
	struct spot *s;
	size_t nr, i, from, to;

	(void)p;
	in_file = spots_of(c, panel, &nr);
	s = xrealloc(NULL, nr * sizeof(*s));
	memcpy(s, in_file, nr * sizeof(*s));
	for (i = 0; i < nr; i++) {
		full |= s[i].x == BATCH_FULL;
		automatic |= s[i].x == BATCH_AUTO;
		if (s[i].x < BATCH_FULL)
			widen(&x, s[i].x);
	}
	clauses_begin(&cl, cv->gp);
	/* The words stand right of the numbers. */
	for (i = 0; i < nr; i++)
		if (s[i].x >= BATCH_FULL)
			s[i].x = ceil(x.hi) + (s[i].x == BATCH_AUTO && full ? 2 : 1);
	axis = (struct range){ -0.6, ceil(x.hi) + full + automatic + 0.6 };
	put_floor(&cl, s, nr, &axis, &y);
	for (from = 0; from < nr; from = to) {
		to = series_end(s, nr, from);
		put_gains(&cl, c, s + from, to - from, &y);
		knee = find_knee(in_file + from, to - from);
		if (!knee)
			continue;
		i = knee - in_file;
		block_begin(&cl);
		fprintf(cl.gp, "%.4f %.6g\n", s[i].x + dodge(c, s[i].series, 0.3),
			gain_of(&s[i]));
		block_end(&cl, "with points pt 6 ps 1.5 lw 1.6 lc rgb '%s'",
			  series_color(&c->series[s[i].series]));
		fprintf(cv->gp, "set label %u ", ++knees);
		gp_string(cv->gp, CELL_TEXT(knee->cell, batch));
		fprintf(cv->gp, " at first %.4f, first %.6g center offset character 0,%s font ',10' tc rgb '%s'\n",
			s[i].x + dodge(c, s[i].series, 0.3), gain_of(&s[i]),
			s[i].series & 1 ? "-1.1" : "1.1", series_color(&c->series[s[i].series]));
	}
	begin_tics(cv->gp, 'x');
	for (power = 0; power <= ceil(x.hi);
	     power += ceil((x.hi + 3) * 42 / (f->right - f->left))) {
		fprintf(cv->gp, "%s'%.0f' %u", first ? "" : ", ", ldexp(1, power), power);
		first = false;
	}
	if (full)
		fprintf(cv->gp, ", 'full' %g", ceil(x.hi) + 1);
	if (automatic)
		fprintf(cv->gp, ", 'auto' %g", ceil(x.hi) + (full ? 2 : 1));
	fputs(")\n", cv->gp);
	put_range(cv->gp, 'x', &axis);
	put_gain_axis(cv, &y);
	clauses_end(&cl);
	free(s);
}

#define NR_KINDS	3
static const struct {
	const char *title;
	enum cb_column p50, p99, max;
} kinds[NR_KINDS] = {
	{ "interrupt", CB_COL_irq_p50_ns, CB_COL_irq_p99_ns, CB_COL_irq_max_ns },
	{ "FIFO", CB_COL_fifo_p50_ns, CB_COL_fifo_p99_ns, CB_COL_fifo_max_ns },
	{ "NORMAL", CB_COL_normal_p50_ns, CB_COL_normal_p99_ns, CB_COL_normal_max_ns },
};

/* The three kinds side by side, and so on one scale */
static struct range delay_range(const struct spot *s, size_t nr)
{
	struct range y = { INFINITY, 0 };
	unsigned int kind;
	size_t i;

	for (i = 0; i < nr; i++) {
		widen(&y, CELL_NUM(s[i].cell, p50_ns));
		for (kind = 0; kind < NR_KINDS; kind++) {
			widen(&y, s[i].cell->value[kinds[kind].p50].num);
			widen(&y, s[i].cell->value[kinds[kind].max].num);
		}
	}
	pad(&y, TIME_LEAST, TIME_MOST, 2);
	return y;
}

static void draw_delay(const struct canvas *cv, const struct plot *p, const struct chart *c,
		       unsigned int panel, const struct frame *f, unsigned int kind)
{
	struct clauses cl;
	const struct spot *s;
	struct range y;
	size_t nr, i, from, to;

	s = spots_of(c, panel, &nr);
	y = delay_range(s, nr);
	clauses_begin(&cl, cv->gp);
	for (from = 0; from < nr; from = to) {
		const struct series *series = &c->series[s[from].series];
		unsigned int style = series_style(series), points = 0;

		to = series_end(s, nr, from);
		block_begin(&cl);
		for (i = from; i < to; i++) {
			const union value *v = s[i].cell->value;
			double p50 = v[kinds[kind].p50].num, p99 = v[kinds[kind].p99].num;
			double max = v[kinds[kind].max].num;

			if (!(p50 > 0) || !(p99 >= p50) || !(max >= p99))
				continue;
			fprintf(cl.gp, "%.4f %.6g %.6g %.6g %.6g\n",
				s[i].x + dodge(c, s[from].series, 0.8), p50, p99, max,
				fmax(v[CB_COL_p50_ns].num, TIME_LEAST));
			points++;
		}
		if (!points)
			fputs("-9 1 1 1 1\n", cl.gp);
		block_end(&cl, "using ($1-%.4f):5:(%.4f):(0) with vectors nohead lw 3 lc rgb '#bbbbbb'",
			  0.42 / c->nr_series, 0.84 / c->nr_series);
		fprintf(cl.to, ", $d%u using 1:2:(0):($4-$2) with vectors nohead lw 1.2 lc rgb '%s' notitle",
			cl.nr - 1, series_color(series));
		fprintf(cl.to, ", $d%u using 1:2 with points pt %u ps 0.6 lc rgb '%s' notitle",
			cl.nr - 1, styles[style].full, series_color(series));
		fprintf(cl.to, ", $d%u using ($1-0.02):3:(0.04):(0) with vectors nohead lw 2.2 lc rgb '%s' notitle",
			cl.nr - 1, series_color(series));
		fprintf(cl.to, ", $d%u using 1:4 with points pt %u ps 0.65 lc rgb '%s' notitle",
			cl.nr - 1, styles[style].hollow, series_color(series));
	}
	fputs("set logscale y\n", cv->gp);
	put_order_axis(cv, p, order_range(s, nr), f);
	put_range(cv->gp, 'y', &y);
	put_time_tics(cv->gp, 'y', y.lo, y.hi, 8);
	clauses_end(&cl);
}

/* All of it */

static void put_panel_texts(struct canvas *cv, const struct plot *p, const struct chart *c,
			    double y)
{
	static const char *const axes[NR_PICTURES] = {
		[PIC_DISTRIBUTION] = "time of one sample", [PIC_GBPS] = "size of the extent",
		[PIC_GAIN] = "size of the extent", [PIC_BATCH] = "pages a call",
		[PIC_LATENCY] = "size of the extent",
	};
	unsigned int i, kind;

	for (i = 0; i < c->nr_panels; i++) {
		const struct panel *panel = &c->panel[i];
		char *title = panel_title(p, panel), *text;
		struct frame f;

		for (kind = 0; kind < (c->picture == PIC_LATENCY ? NR_KINDS : 1); kind++) {
			f = frame_of(c, panel->row, panel->column + kind, y);
			if (c->picture == PIC_LATENCY)
				text = xasprintf("%s: %s", kinds[kind].title, title);
			else if (c->picture == PIC_GBPS)
				text = xasprintf("GB/s: %s", title);
			else if (c->picture == PIC_GAIN && *panel->base)
				text = xasprintf("over %s: %s", panel->base, title);
			else
				text = xstrdup(title);
			put_panel_text(cv, &f, text, axes[c->picture]);
			free(text);
		}
		free(title);
	}
}

static void draw_panels(const struct canvas *cv, const struct plot *p, const struct chart *c,
			double y)
{
	static void (*const draw[NR_PICTURES])(const struct canvas *cv, const struct plot *p,
					       const struct chart *c, unsigned int panel,
					       const struct frame *f) = {
		[PIC_DISTRIBUTION] = draw_distribution, [PIC_GBPS] = draw_gbps,
		[PIC_GAIN] = draw_gain, [PIC_BATCH] = draw_batch,
	};
	unsigned int i, kind;
	struct frame f;

	for (i = 0; i < c->nr_panels; i++) {
		const struct panel *panel = &c->panel[i];

		for (kind = 0; kind < (c->picture == PIC_LATENCY ? NR_KINDS : 1); kind++) {
			f = frame_of(c, panel->row, panel->column + kind, y);
			begin_panel(cv, &f);
			if (c->picture == PIC_LATENCY)
				draw_delay(cv, p, c, i, &f, kind);
			else
				draw[c->picture](cv, p, c, i, &f);
			fputs("unset label\nunset arrow\n", cv->gp);
		}
	}
}

/* All text, or without a script only its height; @y: where each chart's panels begin */
static double put_texts(struct canvas *cv, const struct plot *p, const struct chart *chart,
			unsigned int nr, double *y)
{
	double at = put_head(cv, p, 0);
	unsigned int i;

	for (i = 0; i < nr; i++) {
		y[i] = put_section_head(cv, &chart[i], at);
		if (cv->gp)
			put_panel_texts(cv, p, &chart[i], y[i]);
		at = put_section_foot(cv, &chart[i],
				      y[i] + chart[i].rows * panel_height(&chart[i]));
	}
	return at;
}

/**
 * draw_script() - what gnuplot is told
 * @p: files
 * @chart: one below the other, each with data
 * @nr: how many
 * @terminal: name and options, but for size and enhanced
 * @len: set to the script's length
 *
 * Return: the script, to be freed.
 */
char *draw_script(const struct plot *p, const struct chart *chart, unsigned int nr,
		  const char *terminal, size_t *len)
{
	double y[NR_PICTURES];
	struct canvas cv = { 0 };
	unsigned int i;
	char *text;

	cv.height = put_texts(&cv, p, chart, nr, y) + 4;
	cv.gp = open_memstream(&text, len);
	if (!cv.gp) {
		msg("out of memory");
		exit(CB_FAILED);
	}
	fprintf(cv.gp, "set encoding utf8\nset terminal %s size %u,%u noenhanced\n", terminal,
		PLOT_WIDTH, cv.height);
	fputs("set multiplot\nunset key\nunset border\nunset tics\nset samples 2\n", cv.gp);
	fputs("set lmargin at screen 0\nset rmargin at screen 1\n", cv.gp);
	fputs("set tmargin at screen 1\nset bmargin at screen 0\n", cv.gp);
	fprintf(cv.gp, "set xrange [0:%u]\nset yrange [%u:0]\n", PLOT_WIDTH, cv.height);
	put_texts(&cv, p, chart, nr, y);
	fputs("plot 1e9 notitle\nunset label\nunset arrow\n", cv.gp);
	fprintf(cv.gp, "set border 3 lw 0.8 lc rgb '%s'\nset grid back lt 1 lw 0.8 lc rgb '#e4e4e4'\n",
		GREY);
	for (i = 0; i < nr; i++)
		draw_panels(&cv, p, &chart[i], y[i]);
	fputs("unset multiplot\n", cv.gp);
	fclose(cv.gp);
	return text;
}
