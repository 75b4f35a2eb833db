// SPDX-License-Identifier: GPL-2.0
/*
 * clearbench show: one result, in the form that is asked for.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "show.h"

/* table, md */

static void add_row(struct table *t, const struct view *v, const struct cell *c)
{
	char buf[UNIT_LEN], *remark = cell_remark(c);
	unsigned int i;
	static const enum cb_column times[] = {
		CB_COL_min_ns, CB_COL_p50_ns, CB_COL_p90_ns, CB_COL_p99_ns, CB_COL_p999_ns,
		CB_COL_max_ns,
	};

	table_cell(t, "%.0f", CELL_NUM(c, order));
	table_cell(t, "%s", fmt_extent(buf, ldexp(v->page_size, CELL_NUM(c, order))));
	table_cell(t, "%s", CELL_TEXT(c, method));
	table_cell(t, "%s", or_dash(CELL_TEXT(c, batch)));
	if (!cell_is_measured(c)) {
		table_span(t, "%s", remark ? remark : "not measured");
		free(remark);
		return;
	}
	table_cell(t, "%s", fmt_count(buf, CELL_NUM(c, n)));
	table_cell(t, "%s", fmt_count(buf, CELL_NUM(c, not_available)));
	table_cell(t, "%s", fmt_count(buf, CELL_NUM(c, n_disturbed)));
	for (i = 0; i < ARRAY_SIZE(times); i++)
		table_cell(t, "%s", fmt_ns(buf, c->value[times[i]].num));
	table_cell(t, "%s", fmt_gbps(buf, CELL_NUM(c, gb_per_s)));
	table_cell(t, "%s", fmt_ratio(buf, CELL_NUM(c, ratio)));
	table_cell(t, "%s", remark ? remark : "");
	free(remark);
}

static void add_head(struct table *t)
{
	static const char *const head[] = {
		"order", "size", "method", "batch", "n", "n/a", "dist", "min", "p50", "p90",
		"p99", "p99.9", "max", "GB/s", "ratio", ""
	};
	unsigned int i;

	table_init(t, "rrllrrrrrrrrrrrl");
	for (i = 0; i < ARRAY_SIZE(head); i++)
		table_cell(t, "%s", head[i]);
}

/* What a clear does to others: columns of their own, in a table of their own */
static void add_latency_row(struct table *t, const struct view *v, const struct cell *c)
{
	static const unsigned char times[] = {
		CB_COL_p50_ns, CB_COL_irq_p50_ns, CB_COL_irq_p99_ns, CB_COL_irq_max_ns,
		CB_COL_fifo_p50_ns, CB_COL_fifo_p99_ns, CB_COL_fifo_max_ns,
		CB_COL_normal_p50_ns, CB_COL_normal_p99_ns, CB_COL_normal_max_ns,
		CB_COL_irqoff_max_ns, CB_COL_resched_max_ns,
	};
	char buf[UNIT_LEN];
	unsigned int k;

	table_cell(t, "%.0f", CELL_NUM(c, order));
	table_cell(t, "%s", fmt_extent(buf, ldexp(v->page_size, CELL_NUM(c, order))));
	table_cell(t, "%s", CELL_TEXT(c, method));
	table_cell(t, "%s", or_dash(CELL_TEXT(c, batch)));
	for (k = 0; k < ARRAY_SIZE(times); k++)
		table_cell(t, "%s", isnan(c->value[times[k]].num) ? "-" :
			   fmt_ns(buf, c->value[times[k]].num));
}

static void put_table(struct table *t, FILE *to, enum table_form form)
{
	if (form == TABLE_MD)
		table_print_md(t, to);
	else if (form == TABLE_HTML)
		table_print_html(t, to);
	else
		table_print(t, to, 0);
	fputc('\n', to);
}

/* A headline or a paragraph over a table */
static void put_text(FILE *to, const char *text, enum table_form form, const char *md,
		     const char *tag)
{
	if (form == TABLE_HTML) {
		fprintf(to, "<%s>", tag);
		put_html(to, text);
		fprintf(to, "</%s>\n", tag);
		return;
	}
	put_wrapped(to, form == TABLE_MD ? md : "", "", text, 0);
	if (form == TABLE_MD)
		fputc('\n', to);
}

static void put_latencies(const struct view *v, FILE *to, size_t from, size_t end,
			  enum table_form form)
{
	static const char *const head[] = {
		"order", "size", "method", "batch", "clear", "irq p50", "p99", "max",
		"FIFO p50", "p99", "max", "normal p50", "p99", "max", "irq off", "no switch"
	};
	struct table t;
	unsigned int k;
	bool any = false;
	size_t i;

	/* Where no thread was woken, show_irq() says more. */
	for (i = from; i < end; i++)
		any |= !isnan(CELL_NUM(v->cell[i], fifo_p50_ns)) ||
		       !isnan(CELL_NUM(v->cell[i], normal_p50_ns));
	if (!any)
		return;
	put_text(to,
		 "What it does to others: delay from the expiry of a timer inside the clear to its interrupt, to a SCHED_FIFO and to a SCHED_NORMAL thread; the longest seen from the start of a clear without interrupt and without switch.",
		 form, "", "p");
	table_init(&t, "rrllrrrrrrrrrrrr");
	for (k = 0; k < ARRAY_SIZE(head); k++)
		table_cell(&t, "%s", head[k]);
	for (i = from; i < end; i++)
		if (!isnan(CELL_NUM(v->cell[i], irq_p50_ns)))
			add_latency_row(&t, v, v->cell[i]);
	put_table(&t, to, form);
}

/**
 * show_groups() - every cell, a table for each context, cache state and model
 * @v: result
 * @to: where
 * @form: plain text, Markdown or HTML
 */
void show_groups(const struct view *v, FILE *to, enum table_form form)
{
	size_t from, end, i;
	struct table t;

	for (from = 0; from < v->nr; from = end) {
		char *title;

		end = view_group_end(v, from);
		title = group_title(v, from, end);
		put_text(to, title, form, "### ", "h4");
		free(title);
		add_head(&t);
		for (i = from; i < end; i++)
			add_row(&t, v, v->cell[i]);
		put_table(&t, to, form);
		put_latencies(v, to, from, end, form);
	}
}

static void show_table(const struct view *v, FILE *to)
{
	show_groups(v, to, TABLE_TEXT);
	show_irq(v, to, false);
	put_about(to, v, "", 0);
}

static void show_md(const struct view *v, FILE *to)
{
	show_groups(v, to, TABLE_MD);
	show_irq(v, to, true);
	put_about(to, v, "- ", 0);
}

/* csv, json: every column by its name, as it was recorded */

static void put_number(FILE *to, double value)
{
	fprintf(to, "%.15g", value);
}

static char *marks_text(const json_t *marks)
{
	char *text = xstrdup(""), *old;
	unsigned int i;

	for (i = 0; i < json_array_size(marks); i++) {
		old = text;
		text = xasprintf("%s%s%s", old, *old ? " " : "",
				 json_string_value(json_array_get(marks, i)));
		free(old);
	}
	return text;
}

static void show_csv(const struct view *v, FILE *to)
{
	char *marks = marks_text(v->r->marks);
	unsigned int k;
	size_t i;

	for (k = 0; k < CB_NR_COLUMNS; k++)
		fprintf(to, "%s,", column_name(k));
	fputs("marks\n", to);
	for (i = 0; i < v->nr; i++) {
		for (k = 0; k < CB_NR_COLUMNS; k++) {
			const union value *value = &v->cell[i]->value[k];

			if (column_is_text(k))
				put_csv(to, value->text);
			else if (!isnan(value->num))
				put_number(to, value->num);
			fputc(',', to);
		}
		put_csv(to, marks);
		fputc('\n', to);
	}
	free(marks);
}

static void put_member(FILE *to, const char *name, const json_t *json)
{
	fprintf(to, "\"%s\":", name);
	if (json)
		json_dumpf(json, to, JSON_ENCODE_ANY | JSON_COMPACT);
	else
		fputs("null", to);
	fputs(",\n", to);
}

static void show_json(const struct view *v, FILE *to)
{
	static const char *const header[] = {
		"format", "tool", "backend", "environment", "knobs", "command"
	};
	static const char *const footer[] = { "warnings", "changed" };
	unsigned int k;
	size_t i;

	fputs("{\n", to);
	for (k = 0; k < ARRAY_SIZE(header); k++)
		put_member(to, header[k], json_object_get(v->r->header, header[k]));
	put_member(to, "marks", v->r->marks);
	fprintf(to, "\"complete\":%s,\n",
		v->r->footer && !v->r->stopped && !v->r->bad_line ? "true" : "false");
	for (k = 0; k < ARRAY_SIZE(footer); k++)
		put_member(to, footer[k], json_object_get(v->r->footer, footer[k]));
	fputs("\"cells\":[", to);
	for (i = 0; i < v->nr; i++) {
		for (k = 0; k < CB_NR_COLUMNS; k++) {
			const union value *value = &v->cell[i]->value[k];

			fprintf(to, "%s\"%s\":", k ? "," : i ? ",\n{" : "\n{", column_name(k));
			if (column_is_text(k) ? !value->text : isnan(value->num))
				fputs("null", to);
			else if (column_is_text(k))
				put_string(to, value->text);
			else
				put_number(to, value->num);
		}
		fputc('}', to);
	}
	fputs("\n]}\n", to);
}

/* The histograms went by while the file was read. */
static void show_hist(const struct view *v, FILE *to)
{
	put_about(to, v, "", 0);
}

static const struct format {
	const char *name;
	void (*show)(const struct view *v, FILE *to);
	hist_fn hist;
} formats[] = {
	{ "table", show_table, show_irq_cell },
	{ "mail", show_mail, NULL },
	{ "csv", show_csv, NULL },
	{ "json", show_json, NULL },
	{ "hist", show_hist, show_hist_cell },
	{ "md", show_md, show_irq_cell },
};

static const struct format *find_format(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(formats); i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

static int show_main(int argc, char **argv)
{
	const char *path = NULL, *name = "table";
	const struct format *format;
	struct result r;
	struct view v;
	int i, status;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--format") && i + 1 < argc)
			name = argv[++i];
		else if (!strcmp(argv[i], "--undisturbed"))
			result_undisturbed = true;
		else if (!strncmp(argv[i], "--format=", strlen("--format=")))
			name = argv[i] + strlen("--format=");
		else if (!path && *argv[i] != '-')
			path = argv[i];
		else
			return usage_error(&verb_show, "'%s' is neither an option nor the one FILE",
					   argv[i]);
	}
	if (!path)
		return usage_error(&verb_show, "which FILE?");
	format = find_format(name);
	if (!format)
		return usage_error(&verb_show, "no format '%s'", name);

	status = result_read(&r, path, format->hist, stdout);
	if (status != CB_USAGE) {
		view_init(&v, &r);
		format->show(&v, stdout);
		view_free(&v);
		status = finish_stdout(status);
	}
	result_free(&r);
	return status;
}

const struct verb verb_show = {
	.name = "show",
	.summary = "a result as a table, for a mail, or for another program",
	.usage = "[--undisturbed] [--format table|mail|csv|json|hist|md] FILE|FOLDER\n\n"
		"FOLDER is one that scripts/collect.sh filled. Formats:\n"
		"  table  for a terminal; dist counts samples that were disturbed, ratio is the\n"
		"         baseline's time over the row's: above 1 is faster\n"
		"  mail   Before, After and Change, 75 columns, for under a patch\n"
		"  csv    a row a cell, all columns; empty: not measured\n"
		"  json   one object: environment, knobs, cells\n"
		"  hist   each cell's distributions\n"
		"  md     a table for GitHub\n\n"
		"--undisturbed leaves out the times of samples that were seen to be disturbed (dist);\n"
		"percentiles have them otherwise.\n\n"
		"A cut or damaged file gives what is whole, a warning, and exit status 1.\n",
	.main = show_main,
};
