// SPDX-License-Identifier: GPL-2.0
/*
 * Everything about one or several results on one page that needs nothing else.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"

#define TABLE_CELLS	2000	/* rows of a file's tables; more make no mail */
#define FLOOR_GROUPS	40

static const char style[] =
	"body{font:15px/1.5 sans-serif;max-width:940px;margin:0 auto;padding:1em;color:#222;background:#fff}\n"
	"h1{font-size:1.4em}h2{font-size:1.15em;margin-top:2em;border-bottom:1px solid #ccc}\n"
	".mark{font-weight:bold;border-left:4px solid #d55e00;padding-left:.6em;margin:.3em 0}\n"
	"svg{width:100%;height:auto;display:block}\n"
	"div.t{overflow-x:auto}\n"
	"table{border-collapse:collapse;font:12px/1.35 monospace;white-space:nowrap}\n"
	"th,td{text-align:right;padding:1px 7px;border-bottom:1px solid #e4e4e4}\n"
	".l{text-align:left}h4{margin:1.2em 0 .3em}\n"
	"@media(prefers-color-scheme:dark){body{color:#ddd;background:#161616}\n"
	"th,td{border-color:#333}h2{border-color:#444}svg{filter:invert(1) hue-rotate(180deg)}}\n"
	"@media print{svg{break-inside:avoid}}\n";

/* How to read it, beside the caption that stands in the picture */
static const char *const reading[NR_PICTURES] = {
	[PIC_DISTRIBUTION] = "Where a curve crosses 50 % is its median, where it crosses 1 % its p99: one sample in a hundred took longer.",
	[PIC_GBPS] = "Compare curves within one panel only: another cache state is another question. The dotted line is the size of the last level cache.",
	[PIC_GAIN] = "A hollow point is no difference: its interval holds 1, or it lies within what two copies of the baseline showed against each other.",
	[PIC_BATCH] = "Right of the ring a larger batch gains nothing that this run could have seen.",
	[PIC_LATENCY] = "A delay as long as the grey dash is one that waits for the clear to end; one far below it is let in on the way.",
};

static void put_element(FILE *to, const char *open, const char *text, const char *close)
{
	fputs(open, to);
	put_html(to, text);
	fputs(close, to);
}

static void put_mark(void *arg, const char *text)
{
	put_element(arg, "<p class=\"mark\">", text, "</p>\n");
}

static void put_marks(FILE *to, const struct plot *p)
{
	json_t *all = json_array();
	unsigned int i, k;

	for (i = 0; i < p->nr; i++)
		for (k = 0; k < json_array_size(p->in[i].r.marks); k++) {
			json_t *mark = json_array_get(p->in[i].r.marks, k);

			if (!has_mark(all, json_string_value(mark)))
				json_array_append(all, mark);
		}
	list_marks(all, put_mark, to);
	json_decref(all);
}

/* put_about() gives a sentence a line, for a mail as for this. */
static void put_environment(FILE *to, const struct input *in)
{
	char *text, *line, *at;
	size_t len;
	FILE *mem = open_memstream(&text, &len);

	if (!mem)
		return;
	put_about(mem, &in->v, "", 0);
	fclose(mem);
	put_element(to, "<h3>", in->label, "</h3>\n<ul>\n");
	for (line = strtok_r(text, "\n", &at); line; line = strtok_r(NULL, "\n", &at))
		put_element(to, "<li>", line, "</li>\n");
	fputs("</ul>\n", to);
	free(text);
}

/* What two copies of the baseline showed, of one group: smallest, middle, largest */
static bool add_floor(struct table *t, const struct view *v, size_t from, size_t end)
{
	double *floor = xrealloc(NULL, (end - from) * sizeof(*floor)), order = NAN;
	char *title = group_title(v, from, end), buf[UNIT_LEN];
	size_t i, nr = 0;

	for (i = from; i < end; i++) {
		const struct cell *c = v->cell[i];
		double one;

		if (CELL_NUM(c, order) == order || !cell_is_measured(c))
			continue;
		one = judge(c, c).floor;
		if (isnan(one))
			continue;
		floor[nr++] = one;
		order = CELL_NUM(c, order);
	}
	if (nr) {
		qsort(floor, nr, sizeof(*floor), compare_doubles);
		table_cell(t, "%s", title);
		table_cell(t, "%zu", nr);
		table_cell(t, "%s %%", fmt_change(buf, floor[0]) + (*buf == '+'));
		table_cell(t, "%s %%", fmt_change(buf, floor[nr / 2]) + (*buf == '+'));
		table_cell(t, "%s %%", fmt_change(buf, floor[nr - 1]) + (*buf == '+'));
	}
	free(floor);
	free(title);
	return nr;
}

static void put_floors(FILE *to, const struct input *in)
{
	const struct view *v = &in->v;
	unsigned int groups = 0;
	size_t from, end = 0;
	struct table t;

	table_init(&t, "lrrrr");
	table_cell(&t, "%s", in->label);
	table_cell(&t, "orders");
	table_cell(&t, "smallest");
	table_cell(&t, "median");
	table_cell(&t, "largest");
	for (from = 0; from < v->nr && groups < FLOOR_GROUPS; from = end) {
		end = view_group_end(v, from);
		groups += add_floor(&t, v, from, end);
	}
	if (from < v->nr)
		table_span(&t, "more in the file");
	fputs("<div class=\"t\">\n", to);
	table_print_html(&t, to);
	fputs("</div>\n", to);
}

static const char *knob(const struct input *in, const char *key)
{
	const char *value = env_get(in->r.knobs, key);

	return value ? value : "unknown";
}

static void put_method(FILE *to, const struct plot *p)
{
	const struct input *in = &p->in[0];
	char *line = xasprintf("%s rounds a cell (warm-up %s), %s on one extent before another is taken; the unit of the statistics is the extent. Seed %s, orders %s.",
			       knob(in, "samples"), knob(in, "warmup"), knob(in, "extent_rounds"),
			       knob(in, "seed"), knob(in, "orders"));

	fputs("<ol>\n<li>A sample is one clear of one extent, timed from before its first store to after its last instruction; nothing is subtracted.</li>\n"
	      "<li>In each round every variant runs once on the same extent, in a freshly shuffled sequence, each after the same cache state step; the ratio is taken within the round.</li>\n",
	      to);
	put_element(to, "<li>", line, p->nr > 1 ? " (The first file's.)</li>\n" : "</li>\n");
	fputs("<li>A hidden second copy of the baseline runs in every round: what it shows against the first is the noise floor.</li>\n"
	      "<li>A difference is called one only where its whole 95 % interval lies outside both 1 and the noise floor. One boot, one machine.</li>\n</ol>\n",
	      to);
	free(line);
}

static void put_tables(FILE *to, const struct input *in)
{
	struct view v = in->v;

	put_element(to, "<h3>", in->label, "</h3>\n<div class=\"t\">\n");
	if (v.nr > TABLE_CELLS)
		v.nr = TABLE_CELLS;
	show_groups(&v, to, TABLE_HTML);
	fputs("</div>\n", to);
	if (v.nr < in->v.nr) {
		fprintf(to, "<p>%zu more cells are left out here: ", in->v.nr - v.nr);
		put_element(to, "clearbench show ", in->label, "</p>\n");
	}
}

/**
 * put_page() - the page
 * @to: where
 * @p: files
 * @chart: charts
 * @svg: of each its picture
 * @nr: how many
 */
void put_page(FILE *to, const struct plot *p, const struct chart *chart,
	      char *const *svg, unsigned int nr)
{
	unsigned int i;

	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" content=\"width=device-width\"/>\n<meta name=\"color-scheme\" content=\"light dark\"/>\n",
	      to);
	put_element(to, "<title>clearbench: ", p->in[0].label, "</title>\n");
	fprintf(to, "<style>\n%s</style>\n</head>\n<body>\n<h1>clearbench: ", style);
	for (i = 0; i < p->nr; i++)
		put_element(to, i ? ", " : "", p->in[i].label, "");
	fputs("</h1>\n", to);
	put_marks(to, p);
	fputs("<h2>Pictures</h2>\n", to);
	for (i = 0; i < nr; i++) {
		const char prefix[] = { 'a' + i, '\0' };

		put_svg(to, svg[i], picture_titles[chart[i].picture], prefix);
		put_element(to, "<p>", reading[chart[i].picture], "</p>\n");
	}
	fputs("<h2>Environment, marks, distortions</h2>\n", to);
	for (i = 0; i < p->nr; i++)
		put_environment(to, &p->in[i]);
	fputs("<h2>How it was measured</h2>\n", to);
	put_method(to, p);
	fputs("<h2>Noise floor</h2>\n<p>What two copies of the baseline showed against each other in the same run, in time, by order. A change within it is none.</p>\n",
	      to);
	for (i = 0; i < p->nr; i++)
		put_floors(to, &p->in[i]);
	fputs("<h2>Tables</h2>\n<p>dist: samples that were disturbed; ratio: the baseline's time over the row's, above 1 is faster.</p>\n",
	      to);
	for (i = 0; i < p->nr; i++)
		put_tables(to, &p->in[i]);
	fprintf(to, "<p>clearbench %s</p>\n</body>\n</html>\n", CB_VERSION);
}
