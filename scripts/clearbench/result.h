/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Result files: reading, and the way from the module's two tables to a line.
 */
#ifndef CLEARBENCH_RESULT_H
#define CLEARBENCH_RESULT_H

#include "clearbench.h"

#define RESULT_FORMAT	1

/* tsv.c */

/**
 * struct tsv - `results` or `histograms`, read as it grows
 * @path: of the file
 * @magic: its first line
 * @lines: read so far
 * @nr: fields of the current line
 * @field: the fields
 * @partial: the file ended within a line
 * @have: the current line is not used up yet
 * @names: of the columns, from the second line
 * @nr_names: how many
 */
struct tsv {
	const char *path;
	const char *magic;
	unsigned int lines;
	unsigned int nr;
	char **field;
	bool partial;
	bool have;
	char **names;
	unsigned int nr_names;

	/* private: */
	FILE *file;
	long offset;
	char *line;
	size_t size;
	char *name_line;
};

void tsv_init(struct tsv *tsv, const char *path, const char *magic);
int tsv_refresh(struct tsv *tsv);
int tsv_next(struct tsv *tsv);
const char *tsv_field(const struct tsv *tsv, const char *name);
void tsv_free(struct tsv *tsv);
void tsv_restart(struct tsv *tsv);
int tsv_put_cell(FILE *to, const struct tsv *results, struct tsv *histograms);
void put_string(FILE *to, const char *text);

/* result.c */

/* A column's value: NULL or NAN is what was not measured. */
union value {
	const char *text;
	double num;
};

/**
 * struct cell - one line of a result
 * @value: its columns, by enum cb_column
 * @line: of the file
 */
struct cell {
	union value value[CB_NR_COLUMNS];
	unsigned int line;
};

/* A bucket that holds values of [lower, upper); upper is INFINITY in the last. */
struct bucket {
	double lower;
	double upper;
	double count;
};

/**
 * struct histogram - one of a cell's histograms
 * @name: clear, alloc, free or ratio
 * @bucket: in ascending order
 * @nr: how many
 */
struct histogram {
	char name[16];
	struct bucket *bucket;
	size_t nr;
};

#define MAX_HISTOGRAMS	10

typedef void (*hist_fn)(void *arg, const struct cell *cell,
			const struct histogram *hist, unsigned int nr);

/**
 * struct result - a result file in memory, without its histograms
 * @path: as the user named it
 * @header: the header's object
 * @footer: the footer's object; NULL where the file was cut
 * @environment: of @header; never NULL
 * @knobs: of @header; never NULL
 * @marks: of @header, and "forced" where a cell says so; never NULL
 * @cells: whole lines
 * @nr_cells: how many
 * @stopped: the footer says that the run did not come to its end
 * @bad_line: line of the first damage; 0: none
 */
struct result {
	const char *path;
	json_t *header;
	json_t *footer;
	const json_t *environment;
	const json_t *knobs;
	json_t *marks;
	struct cell *cells;
	size_t nr_cells;
	bool stopped;
	unsigned int bad_line;

	/* private: */
	size_t cap_cells;
	void *strings;
	unsigned int *slots;
	size_t nr_slots;
	unsigned int bad_lines;
	char *bad_reason;
	hist_fn hist_fn;
	void *hist_arg;
};

extern bool result_undisturbed;
int result_read(struct result *r, const char *path, hist_fn fn, void *arg);
void result_free(struct result *r);
bool column_is_text(enum cb_column column);
const char *column_name(enum cb_column column);
bool same_variant(const struct cell *a, const struct cell *b);
const struct cell *find_cell(const struct result *r, const struct cell *like);

/* Columns by name: CELL_NUM(cell, p50_ns), CELL_TEXT(cell, method). */
#define CELL_NUM(_c, _name)	((_c)->value[CB_COL_##_name].num)
#define CELL_TEXT(_c, _name)	((_c)->value[CB_COL_##_name].text)

static inline const char *or_dash(const char *text)
{
	return text ? text : "-";
}

/* stats.c */

/**
 * struct verdict - what a paired ratio lets one say
 * @change: of the time, as a fraction; NAN where it is unknown
 * @lo: lower end of its 95 % interval; NAN where there is none
 * @hi: upper end
 * @floor: the largest change that two copies of the baseline showed; NAN
 * @known: there is an interval, so that the next two mean something
 * @differs: the interval holds neither "no change" nor the noise
 * @bound: of the change, where it does not differ
 */
struct verdict {
	double change;
	double lo;
	double hi;
	double floor;
	bool known;
	bool differs;
	double bound;
};

struct verdict judge(const struct cell *before, const struct cell *after);
int compare_doubles(const void *a, const void *b);
double median(double *value, unsigned int nr);
double value_at_rank(const struct histogram *h, double rank);
void cell_drop_disturbed(struct cell *c, const struct histogram *hist, unsigned int nr);
bool quantile_ranks(double n, double p, double *lo, double *hi);

/**
 * struct estimate - a ratio of two groups of independent values
 * @change: of the second against the first, as a fraction
 * @lo: lower end of its 95 % interval
 * @hi: upper end
 * @known: there are values enough for the interval
 */
struct estimate {
	double change;
	double lo;
	double hi;
	bool known;
};

struct estimate estimate_change(const double *before, unsigned int m, const double *after,
				unsigned int n);
bool estimate_has_interval(unsigned int m, unsigned int n);
struct estimate estimate_paired(const double *before, const double *after, unsigned int n);

/* table.c */

#define TABLE_COLUMNS	20

/**
 * struct table - text in columns, measured as it is added
 * @align: a letter a column, 'l' or 'r'
 */
struct table {
	const char *align;

	/* private: */
	unsigned int width[TABLE_COLUMNS];
	unsigned int column;
	char *text;
	size_t len;
	size_t cap;
};

void table_init(struct table *t, const char *align);
void table_cell(struct table *t, const char *fmt, ...) __printf(2, 3);
void table_span(struct table *t, const char *fmt, ...) __printf(2, 3);
void table_print(struct table *t, FILE *to, unsigned int limit);
void table_print_md(struct table *t, FILE *to);
void table_print_html(struct table *t, FILE *to);
void table_free(struct table *t);
void put_html(FILE *to, const char *text);
void put_csv(FILE *to, const char *text);
void put_wrapped(FILE *to, const char *first, const char *rest, const char *text,
		 unsigned int limit);

#endif /* CLEARBENCH_RESULT_H */
