// SPDX-License-Identifier: GPL-2.0
/*
 * clearbench matrix: results of several kernels and preemption models side by
 * side, as `scripts/vm matrix` collects them: rows are the cells, columns the
 * models. Several files of one kernel and model are boots of it; then a value is
 * the median of the boots' own, and a maximum the largest of all.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "show.h"

#define MAIL_COLUMNS	75

/* What stands in a row of its own, with the columns that it is made of */
static const struct {
	const char *name;
	enum cb_column value[3];	/* p50, p99, maximum; the same: a maximum alone */
} measures[] = {
	{ "clear", { CB_COL_p50_ns, CB_COL_p99_ns, CB_COL_max_ns } },
	{ "interrupt", { CB_COL_irq_p50_ns, CB_COL_irq_p99_ns, CB_COL_irq_max_ns } },
	{ "FIFO", { CB_COL_fifo_p50_ns, CB_COL_fifo_p99_ns, CB_COL_fifo_max_ns } },
	{ "normal", { CB_COL_normal_p50_ns, CB_COL_normal_p99_ns, CB_COL_normal_max_ns } },
	{ "irqs off", { CB_COL_irqoff_max_ns, CB_COL_irqoff_max_ns, CB_COL_irqoff_max_ns } },
	{ "no switch", { CB_COL_resched_max_ns, CB_COL_resched_max_ns, CB_COL_resched_max_ns } },
};

static const char *const value_names[] = { "p50", "p99", "max" };

struct input {
	struct result r;
	struct view v;
	const char *kernel;
};

/**
 * struct matrix - the files, and one kernel's part of them
 * @format: table, mail or md
 * @input: files
 * @nr: how many
 * @kernel: the one whose table is made
 * @model: its columns
 * @nr_models: how many
 * @row: one cell for each row: of several with the same key the first
 * @nr_rows: how many
 */
struct matrix {
	const char *format;
	struct input *input;
	unsigned int nr;
	const char *kernel;
	const char *model[16];
	unsigned int nr_models;
	const struct cell **row;
	unsigned int nr_rows;
};

static bool is(const struct matrix *m, const char *format)
{
	return !strcmp(m->format, format);
}

/* A model's place among the columns: the less can be preempted, the further left */
static unsigned int model_rank(const char *model)
{
	static const char *const order[] = {
		"none", "voluntary", "lazy", "full", "rt-lazy", "rt-full"
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(order); i++)
		if (!strncmp(model, order[i], strlen(order[i])))
			break;
	return i;
}

static void add_model(struct matrix *m, const char *model)
{
	unsigned int i;

	for (i = 0; i < m->nr_models; i++)
		if (!strcmp(m->model[i], model))
			return;
	if (m->nr_models == ARRAY_SIZE(m->model))
		return;
	for (i = m->nr_models++; i && model_rank(m->model[i - 1]) > model_rank(model); i--)
		m->model[i] = m->model[i - 1];
	m->model[i] = model;
}

/* Do two cells stand in one row? Their models, CPUs and nodes may differ. */
static bool same_row(const struct cell *a, const struct cell *b)
{
	return CELL_NUM(a, order) == CELL_NUM(b, order) && same_variant(a, b) &&
	       !strcmp(CELL_TEXT(a, context), CELL_TEXT(b, context)) &&
	       !strcmp(or_dash(CELL_TEXT(a, cache)), or_dash(CELL_TEXT(b, cache))) &&
	       !(CELL_NUM(a, load) != CELL_NUM(b, load));
}

static void add_row(struct matrix *m, const struct cell *c)
{
	unsigned int i;

	for (i = m->nr_rows; i; i--)
		if (same_row(m->row[i - 1], c))
			return;
	m->row = xrealloc(m->row, (m->nr_rows + 1) * sizeof(*m->row));
	m->row[m->nr_rows++] = c;
}

/* Over all boots: their median, or the largest for a maximum; NAN without any */
static double over_boots(const struct matrix *m, const struct cell *row, const char *model,
			 enum cb_column column, bool largest)
{
	double *value = xrealloc(NULL, m->nr * sizeof(*value)), result = NAN;
	unsigned int nr = 0, i;
	size_t k;

	for (i = 0; i < m->nr; i++) {
		const struct view *v = &m->input[i].v;

		if (strcmp(m->input[i].kernel, m->kernel))
			continue;
		for (k = 0; k < v->nr; k++)
			if (!strcmp(or_dash(CELL_TEXT(v->cell[k], model)), model) &&
			    same_row(v->cell[k], row) && !isnan(v->cell[k]->value[column].num)) {
				value[nr++] = v->cell[k]->value[column].num;
				break;
			}
	}
	if (nr) {
		result = median(value, nr);	/* sorts */
		if (largest)
			result = value[nr - 1];
	}
	free(value);
	return result;
}

static const char *number(char *buf, double ns)
{
	return isnan(ns) ? "-" : fmt_ns(buf, ns);
}

static void put_value(const struct matrix *m, struct table *t, const struct cell *row,
		      unsigned int measure, const char *model, int which)
{
	const enum cb_column *column = measures[measure].value;
	char a[UNIT_LEN], b[UNIT_LEN], c[UNIT_LEN];
	double max = over_boots(m, row, model, column[2], true);

	if (which == 2 || (which < 0 && column[0] == column[2]))
		table_cell(t, "%s", number(a, max));
	else if (which >= 0)
		table_cell(t, "%s", number(a, over_boots(m, row, model, column[which], false)));
	else if (isnan(max))
		table_cell(t, "-");
	else
		table_cell(t, "%s %s %s",
			   number(a, over_boots(m, row, model, column[0], false)),
			   number(b, over_boots(m, row, model, column[1], false)),
			   number(c, max));
}

static bool any_value(const struct matrix *m, const struct cell *row, unsigned int measure)
{
	unsigned int i;

	for (i = 0; i < m->nr_models; i++)
		if (!isnan(over_boots(m, row, m->model[i], measures[measure].value[2], true)))
			return true;
	return false;
}

/* @which: of the three values, or -1: all of them in one column */
static void put_table(const struct matrix *m, int which)
{
	char *align = xasprintf("lrll%.*s", m->nr_models, "rrrrrrrrrrrrrrrr");
	unsigned int i, k, measure;
	bool first;
	struct table t;

	table_init(&t, align);
	table_cell(&t, "context");
	table_cell(&t, "order");
	table_cell(&t, "variant");
	table_cell(&t, "%s", which < 0 ? "" : value_names[which]);
	for (i = 0; i < m->nr_models; i++)
		table_cell(&t, "%s", m->model[i]);
	for (i = 0; i < m->nr_rows; i++) {
		const struct cell *row = m->row[i];
		char *variant = variant_name(row);

		first = true;
		for (measure = 0; measure < ARRAY_SIZE(measures); measure++) {
			const enum cb_column *column = measures[measure].value;

			if ((which >= 0 && which < 2 && column[0] == column[2]) ||
			    !any_value(m, row, measure))
				continue;
			table_cell(&t, "%s", first ? CELL_TEXT(row, context) : "");
			table_cell(&t, first ? "%.0f" : "", CELL_NUM(row, order));
			table_cell(&t, "%s", first ? variant : "");
			table_cell(&t, "%s", measures[measure].name);
			for (k = 0; k < m->nr_models; k++)
				put_value(m, &t, row, measure, m->model[k], which);
			first = false;
		}
		free(variant);
	}
	if (is(m, "md"))
		table_print_md(&t, stdout);
	else
		table_print(&t, stdout, is(m, "mail") ? MAIL_COLUMNS : 0);
	putchar('\n');
	free(align);
}

/* What a context became, or why a cell was refused: once a kernel */
static void put_remarks(const struct matrix *m, unsigned int limit)
{
	char **said = NULL;
	unsigned int nr = 0, i, k;
	size_t j;

	for (i = 0; i < m->nr; i++) {
		const struct view *v = &m->input[i].v;

		if (strcmp(m->input[i].kernel, m->kernel))
			continue;
		for (j = 0; j < v->nr; j++) {
			const struct cell *c = v->cell[j];
			char *remark = cell_remark(c), *line;

			if (!remark)
				continue;
			line = xasprintf("%s %s: %s", CELL_TEXT(c, context), CELL_TEXT(c, method),
					 remark);
			free(remark);
			for (k = 0; k < nr && strcmp(said[k], line); k++)
				;
			if (k < nr) {
				free(line);
				continue;
			}
			said = xrealloc(said, (nr + 1) * sizeof(*said));
			said[nr++] = line;
			put_wrapped(stdout, is(m, "md") ? "- " : "", "  ", line, limit);
		}
	}
	for (i = 0; i < nr; i++)
		free(said[i]);
	free(said);
	if (nr)
		putchar('\n');
}

static void put_kernel(struct matrix *m, const char *kernel)
{
	unsigned int limit = is(m, "mail") ? MAIL_COLUMNS : 0, i, files = 0;
	char *title;
	size_t k;

	m->kernel = kernel;
	m->nr_models = 0;
	m->nr_rows = 0;
	for (i = 0; i < m->nr; i++) {
		const struct view *v = &m->input[i].v;

		if (strcmp(m->input[i].kernel, kernel))
			continue;
		files++;
		for (k = 0; k < v->nr; k++) {
			if (!cell_is_measured(v->cell[k]))
				continue;
			add_model(m, or_dash(CELL_TEXT(v->cell[k], model)));
			add_row(m, v->cell[k]);
		}
	}
	title = xasprintf("Linux %.*s, %u file%s%s", (int)strcspn(kernel, " "), kernel, files,
			  files == 1 ? "" : "s", is(m, "mail") ? "" : "; p50 p99 max");
	put_wrapped(stdout, is(m, "md") ? "### " : "", "  ", title, limit);
	free(title);
	if (is(m, "md"))
		putchar('\n');
	if (!is(m, "mail"))
		put_table(m, -1);
	else
		for (i = 0; i < ARRAY_SIZE(value_names); i++)
			put_table(m, i);
	put_remarks(m, limit);
	put_wrapped(stdout, "", "", files == 1 ? "The file:" : "The first of the files:", limit);
	if (is(m, "md"))
		putchar('\n');
	for (i = 0; strcmp(m->input[i].kernel, kernel); i++)
		;
	put_about(stdout, &m->input[i].v, is(m, "md") ? "- " : "", limit);
	putchar('\n');
}

static void put_matrix(struct matrix *m)
{
	unsigned int limit = is(m, "mail") ? MAIL_COLUMNS : 0, i, k;

	for (i = 0; i < m->nr; i++) {
		for (k = 0; k < i && strcmp(m->input[k].kernel, m->input[i].kernel); k++)
			;
		if (k == i)
			put_kernel(m, m->input[i].kernel);
	}
	put_wrapped(stdout, "", "  ",
		    "clear: its own time. interrupt, FIFO, normal: from a timer that expires inside the clear to its interrupt, to a SCHED_FIFO and to a SCHED_NORMAL thread that it wakes. irqs off, no switch: the longest from the start of a clear. With several boots p50 and p99 are the median of the boots', max is the largest. A model with \"!\" was forced.",
		    limit);
}

static int read_input(struct input *in, const char *path)
{
	int status = result_read(&in->r, path, NULL, NULL);

	if (status == CB_USAGE)
		return status;
	view_init(&in->v, &in->r);
	in->kernel = env_get(in->r.environment, "kernel");
	if (!in->kernel)
		in->kernel = "unknown";
	return status;
}

static int matrix_main(int argc, char **argv)
{
	struct matrix m = { .format = "table" };
	int status = CB_OK, ret, i;
	unsigned int k;

	m.input = xrealloc(NULL, argc * sizeof(*m.input));
	for (i = 1; i < argc && status != CB_USAGE; i++) {
		if (!strcmp(argv[i], "--format") && i + 1 < argc) {
			m.format = argv[++i];
			if (!is(&m, "table") && !is(&m, "mail") && !is(&m, "md"))
				status = usage_error(&verb_matrix, "no format '%s'; there are: table mail md",
						     m.format);
			continue;
		}
		if (*argv[i] == '-') {
			status = usage_error(&verb_matrix, "no option '%s'", argv[i]);
			break;
		}
		ret = read_input(&m.input[m.nr], argv[i]);
		if (ret)
			status = ret;
		if (ret != CB_USAGE)
			m.nr++;
	}
	if (status != CB_USAGE && !m.nr)
		status = usage_error(&verb_matrix, "FILE is missing");
	if (status != CB_USAGE) {
		put_matrix(&m);
		status = finish_stdout(status);
	}
	for (k = 0; k < m.nr; k++) {
		view_free(&m.input[k].v);
		result_free(&m.input[k].r);
	}
	free(m.input);
	free(m.row);
	return status;
}

const struct verb verb_matrix = {
	.name = "matrix",
	.summary = "several results side by side: a table a kernel, a column a model",
	.usage = "[--format table|mail|md] FILE...\n\n"
		"The files that `scripts/vm matrix` leaves, or any others: rows are context,\n"
		"order and variant, columns the preemption models. Files of the same kernel\n"
		"and model are boots of it.\n",
	.main = matrix_main,
};
