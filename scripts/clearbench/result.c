// SPDX-License-Identifier: GPL-2.0
/*
 * Reading a result: a file of JSON lines, or a folder that collect.sh filled.
 *
 * Each line is checked on its own, so that a file cut or damaged anywhere gives
 * what is whole. The histograms, nine tenths of a file, are scanned by hand:
 * jansson would make an object of every number.
 */
#include <errno.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "result.h"

/* A day in ns. No clear takes so long, and no other figure of a cell is larger. */
#define MAX_FIGURE	86400e9

static const char *const column_names[] = {
#define CB_COLUMN_NAME(_name)	#_name,
	CB_COLUMNS(CB_COLUMN_NAME)
};

const char *column_name(enum cb_column column)
{
	return column_names[column];
}

/* Columns of words; all others are numbers. */
bool column_is_text(enum cb_column column)
{
	switch (column) {
	case CB_COL_context:
	case CB_COL_method:
	case CB_COL_batch:
	case CB_COL_cache:
	case CB_COL_model:
	case CB_COL_verify:
	case CB_COL_state:
	case CB_COL_note:
		return true;
	default:
		return false;
	}
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* One copy of each string: a file has few different ones. */
static const char *intern(struct result *r, const char *text)
{
	char **slot = tfind(text, &r->strings, compare_strings);
	char *copy;

	if (slot)
		return *slot;
	copy = xstrdup(text);
	slot = tsearch(copy, &r->strings, compare_strings);
	if (!slot) {
		msg("out of memory");
		exit(CB_FAILED);
	}
	return *slot;
}

/* Notes a damaged line; only the first one's reason is kept. */
static void bad(struct result *r, unsigned int line, const char *fmt, ...)
	__printf(3, 4);

static void bad(struct result *r, unsigned int line, const char *fmt, ...)
{
	va_list ap;

	r->bad_lines++;
	if (r->bad_reason)
		return;
	va_start(ap, fmt);
	if (vasprintf(&r->bad_reason, fmt, ap) < 0)
		r->bad_reason = NULL;
	va_end(ap);
	r->bad_line = line;
}

/* Histograms */

static const char *skip_blanks(const char *at)
{
	while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')
		at++;
	return at;
}

static const char *expect(const char *at, char c)
{
	at = skip_blanks(at);
	return *at == c ? at + 1 : NULL;
}

/* A number as JSON has it; null is the overflow bucket's upper bound. */
static const char *scan_number(const char *at, double *value)
{
	const char *from = skip_blanks(at);
	unsigned long whole = 0;
	char *end;

	/* Nearly all are whole and short: a tenth of strtod()'s time. */
	for (at = from; *at >= '0' && *at <= '9'; at++)
		whole = whole * 10 + *at - '0';
	if (at > from && at - from < 16 && (*from != '0' || at - from == 1) &&
	    (*at == ',' || *at == ']')) {
		*value = whole;
		return at;
	}
	if (*from == 'n' && !strncmp(from, "null", 4)) {
		*value = INFINITY;
		return from + 4;
	}
	/* strtod() alone would take "nan", "inf", "0x1", "01" and "1.". */
	if (at == from || *at == 'x' || *at == 'X' || (*from == '0' && at - from > 1) ||
	    (*at == '.' && !(at[1] >= '0' && at[1] <= '9')))
		return NULL;
	*value = strtod(from, &end);
	return isfinite(*value) ? end : NULL;
}

static const char *scan_bucket(const char *at, struct bucket *b)
{
	at = expect(at, '[');
	at = at ? scan_number(at, &b->lower) : NULL;
	at = at ? expect(at, ',') : NULL;
	at = at ? scan_number(at, &b->upper) : NULL;
	at = at ? expect(at, ',') : NULL;
	at = at ? scan_number(at, &b->count) : NULL;
	at = at ? expect(at, ']') : NULL;
	if (!at || !(b->lower < b->upper) || !isfinite(b->count))
		return NULL;
	return at;
}

/* One histogram: its name and its buckets, which must ascend. */
static const char *scan_histogram(const char *at, struct histogram *h)
{
	double below = 0;
	size_t cap = 0;
	size_t len;

	h->bucket = NULL;
	h->nr = 0;
	at = expect(at, '"');
	if (!at)
		return NULL;
	len = strcspn(at, "\"\\");
	if (at[len] != '"' || len >= sizeof(h->name))
		return NULL;
	memcpy(h->name, at, len);
	h->name[len] = '\0';
	at = expect(at + len + 1, ':');
	at = at ? expect(at, '[') : NULL;
	if (at && expect(at, ']'))
		return expect(at, ']');
	while (at) {
		struct bucket b;

		at = scan_bucket(at, &b);
		if (!at || b.lower < below)
			return NULL;
		below = b.upper;
		if (h->nr == cap) {
			cap = 2 * cap + 64;
			h->bucket = xrealloc(h->bucket, cap * sizeof(*h->bucket));
		}
		h->bucket[h->nr++] = b;
		at = skip_blanks(at);
		if (*at == ']')
			return at + 1;
		at = expect(at, ',');
	}
	return NULL;
}

/*
 * Scan the object that stands behind the key "hist", and leave [] in its
 * place. Return: the number of histograms, or -EINVAL.
 */
static int take_histograms(char *line, size_t *len, struct histogram *hist)
{
	const char *at;
	char *key, *from;
	int nr = 0;

	/* A quote within a string is escaped: this can be nothing but a name. */
	for (key = line; (key = strstr(key, "\"hist\"")); key++) {
		at = expect(key + strlen("\"hist\""), ':');
		if (at)
			break;
	}
	if (!key)
		return 0;
	at = skip_blanks(at);
	from = line + (at - line);
	at = expect(at, '{');
	if (!at)
		return -EINVAL;
	if (expect(at, '}')) {
		at = expect(at, '}');
	} else {
		for (;;) {
			if (nr == MAX_HISTOGRAMS)
				return -EINVAL;
			at = scan_histogram(at, &hist[nr++]);
			if (!at)
				return -EINVAL;
			at = skip_blanks(at);
			if (*at == '}')
				break;
			at = expect(at, ',');
			if (!at)
				return -EINVAL;
		}
		at++;
	}
	/* An object has two characters at least, and so has this. */
	*from++ = '[';
	*from++ = ']';
	memmove(from, at, line + *len - at + 1);
	*len -= at - from;
	return nr;
}

/* Cells */

static unsigned int hash_text(unsigned int hash, const char *text)
{
	for (text = or_dash(text); *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619U;
	return hash;
}

static unsigned int hash_number(unsigned int hash, double number)
{
	/* A file may hold any number; those that are used are small. */
	return (hash ^ (number < 1e9 ? (unsigned int)(int)number : 0)) * 16777619U;
}

/* What names a cell in one result */
static unsigned int hash_cell(const struct cell *c)
{
	unsigned int hash = 2166136261U;

	hash = hash_text(hash, CELL_TEXT(c, context));
	hash = hash_text(hash, CELL_TEXT(c, method));
	hash = hash_text(hash, CELL_TEXT(c, batch));
	hash = hash_text(hash, CELL_TEXT(c, cache));
	hash = hash_text(hash, CELL_TEXT(c, model));
	hash = hash_number(hash, CELL_NUM(c, order));
	hash = hash_number(hash, CELL_NUM(c, cpu));
	hash = hash_number(hash, CELL_NUM(c, nid));
	return hash_number(hash, CELL_NUM(c, load));
}

static bool same_text(const char *a, const char *b)
{
	return !strcmp(or_dash(a), or_dash(b));
}

static bool same_number(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* Same method and batch? */
bool same_variant(const struct cell *a, const struct cell *b)
{
	return same_text(CELL_TEXT(a, method), CELL_TEXT(b, method)) &&
	       same_text(CELL_TEXT(a, batch), CELL_TEXT(b, batch));
}

static bool same_key(const struct cell *a, const struct cell *b)
{
	return same_variant(a, b) && CELL_NUM(a, order) == CELL_NUM(b, order) &&
	       same_text(CELL_TEXT(a, context), CELL_TEXT(b, context)) &&
	       same_text(CELL_TEXT(a, cache), CELL_TEXT(b, cache)) &&
	       same_text(CELL_TEXT(a, model), CELL_TEXT(b, model)) &&
	       same_number(CELL_NUM(a, load), CELL_NUM(b, load)) &&
	       same_number(CELL_NUM(a, nid), CELL_NUM(b, nid)) &&
	       same_number(CELL_NUM(a, cpu), CELL_NUM(b, cpu));
}

/* The slot of a cell: of the same key, or the free one where it belongs. */
static unsigned int *find_slot(const struct result *r, const struct cell *c)
{
	size_t i = hash_cell(c) & (r->nr_slots - 1);

	while (r->slots[i] && !same_key(&r->cells[r->slots[i] - 1], c))
		i = (i + 1) & (r->nr_slots - 1);
	return &r->slots[i];
}

/* The cell with the key of @like, or NULL. */
const struct cell *find_cell(const struct result *r, const struct cell *like)
{
	unsigned int slot = r->nr_slots ? *find_slot(r, like) : 0;

	return slot ? &r->cells[slot - 1] : NULL;
}

static void grow(struct result *r)
{
	size_t i;

	if (r->nr_cells == r->cap_cells) {
		r->cap_cells = r->cap_cells + r->cap_cells / 2 + 256;
		r->cells = xrealloc(r->cells, r->cap_cells * sizeof(*r->cells));
	}
	if (2 * r->nr_cells < r->nr_slots)
		return;
	r->nr_slots = r->nr_slots ? 2 * r->nr_slots : 1024;
	free(r->slots);
	r->slots = xrealloc(NULL, r->nr_slots * sizeof(*r->slots));
	memset(r->slots, 0, r->nr_slots * sizeof(*r->slots));
	for (i = 0; i < r->nr_cells; i++)
		*find_slot(r, &r->cells[i]) = i + 1;
}

/* Take a column's value. Return: NULL, or what is wrong with it. */
static const char *take_value(struct result *r, struct cell *c, enum cb_column column,
			      const json_t *json)
{
	union value *value = &c->value[column];
	char number[32];

	if (column_is_text(column)) {
		value->text = NULL;
		if (json_is_string(json)) {
			value->text = intern(r, json_string_value(json));
		} else if (json_is_number(json) && column == CB_COL_batch) {
			snprintf(number, sizeof(number), "%.15g", json_number_value(json));
			value->text = intern(r, number);
		} else if (json && !json_is_null(json)) {
			return "is not a string";
		}
		return NULL;
	}
	value->num = NAN;
	if (!json || json_is_null(json))
		return NULL;
	if (!json_is_number(json))
		return "is not a number";
	value->num = json_number_value(json);
	if (value->num < 0 && !(column == CB_COL_nid && value->num == -1))
		return "is negative";
	return NULL;
}

/* Each figure on its own. Return: NULL, or what is wrong with @column. */
static const char *check_figure(const struct cell *c, enum cb_column column)
{
	static const enum cb_column whole[] = {
		CB_COL_cpu, CB_COL_nid, CB_COL_load, CB_COL_n, CB_COL_n_disturbed,
		CB_COL_not_available,
	};
	double value = c->value[column].num;
	unsigned int i;

	if (value > MAX_FIGURE && column != CB_COL_order)
		return "is larger than can be";
	for (i = 0; i < ARRAY_SIZE(whole); i++)
		if (column == whole[i] && !isnan(value) && value != floor(value))
			return "is not a whole number";
	return NULL;
}

/* What else a cell must fulfil. Return: NULL, or what is wrong. */
static const char *check_cell(const struct result *r, const struct cell *c)
{
	static const char *const states[] = { "ok", "refused", "failed", "partial" };
	static const enum cb_column ascending[] = {
		CB_COL_min_ns, CB_COL_p50_ns, CB_COL_p90_ns, CB_COL_p99_ns, CB_COL_p999_ns,
		CB_COL_max_ns,
	};
	const char *cache = env_get(r->knobs, "cache");
	double order = CELL_NUM(c, order), before = 0;
	unsigned int i;

	if (!CELL_TEXT(c, context) || !CELL_TEXT(c, method))
		return "has no context or no method";
	if (!(order >= 0 && order < LIST_NUMBERS && order == floor(order)))
		return "has no order, or one that cannot be";
	for (i = 0; i < ARRAY_SIZE(states); i++)
		if (same_text(CELL_TEXT(c, state), states[i]))
			break;
	if (i == ARRAY_SIZE(states))
		return "has a state other than ok, refused, failed, partial";
	for (i = 0; i < ARRAY_SIZE(ascending); i++) {
		double value = c->value[ascending[i]].num;

		if (value < before)
			return "has percentiles that do not ascend";
		if (!isnan(value))
			before = value;
	}
	if (CELL_NUM(c, ratio) < CELL_NUM(c, ratio_lo) ||
	    CELL_NUM(c, ratio) > CELL_NUM(c, ratio_hi))
		return "has a ratio outside its interval";
	if (CELL_NUM(c, floor_lo) > CELL_NUM(c, floor_hi))
		return "has a noise floor that ends below its beginning";
	if (cache && CELL_TEXT(c, cache) && strcmp(cache, CELL_TEXT(c, cache)))
		return "has another cache state than the knob in the header";
	return NULL;
}

static void check_counts(struct result *r, unsigned int line, const struct cell *c,
			 const struct histogram *hist, unsigned int nr)
{
	unsigned int i;
	size_t k;

	for (i = 0; i < nr; i++) {
		double sum = 0;

		if (strcmp(hist[i].name, "clear"))
			continue;
		for (k = 0; k < hist[i].nr; k++)
			sum += hist[i].bucket[k].count;
		if (k && (hist[i].bucket[0].upper <= CELL_NUM(c, min_ns) ||
			  hist[i].bucket[k - 1].lower > CELL_NUM(c, max_ns)))
			bad(r, line, "the histogram has samples outside min_ns to max_ns");
		if (sum != CELL_NUM(c, n) && !(sum == 0 && isnan(CELL_NUM(c, n))))
			bad(r, line, "the histogram counts %.15g samples, the cell %.15g",
			    sum, CELL_NUM(c, n));
	}
}

/* Read times without those of samples that were seen to be disturbed. */
bool result_undisturbed;

/* Add the cell that stands behind the last one. */
static void add_cell(struct result *r, unsigned int line, const struct histogram *hist,
		     unsigned int nr_hist)
{
	struct cell *c = &r->cells[r->nr_cells];
	const char *wrong;
	unsigned int i;

	for (i = 0; i < CB_NR_COLUMNS; i++) {
		wrong = column_is_text(i) ? NULL : check_figure(c, i);
		if (wrong) {
			bad(r, line, "%s %s", column_names[i], wrong);
			return;
		}
	}
	wrong = check_cell(r, c);
	if (wrong) {
		bad(r, line, "the cell %s", wrong);
		return;
	}
	if (*find_slot(r, c)) {
		bad(r, line, "a second cell of the same context, order, method and batch");
		return;
	}
	c->line = line;
	*find_slot(r, c) = ++r->nr_cells;
	check_counts(r, line, c, hist, nr_hist);
	if (result_undisturbed)
		cell_drop_disturbed(c, hist, nr_hist);
	if (CELL_TEXT(c, model) && strchr(CELL_TEXT(c, model), '!') &&
	    !has_mark(r->marks, "forced"))
		json_array_append_new(r->marks, json_string("forced"));
	if (r->hist_fn)
		r->hist_fn(r->hist_arg, c, hist, nr_hist);
}

static const char *after(const char *at, const char *text)
{
	size_t len = strlen(text);

	return strncmp(at, text, len) ? NULL : at + len;
}

static const char *scan_value(struct result *r, const char *at, enum cb_column column,
			      union value *value)
{
	const char *null = after(at, "null");
	char text[128];
	size_t len;

	if (column_is_text(column)) {
		value->text = NULL;
		if (null)
			return null;
		if (*at++ != '"')
			return NULL;
		for (len = 0; at[len] >= ' ' && at[len] != '"' && at[len] != '\\'; len++)
			if (len == sizeof(text) - 1)
				return NULL;
		if (at[len] != '"')
			return NULL;
		memcpy(text, at, len);
		text[len] = '\0';
		value->text = intern(r, text);
		return at + len + 1;
	}
	value->num = NAN;
	return null ? null : scan_number(at, &value->num);
}

/*
 * The form in which `run` writes a cell: every column in its place, no blanks,
 * nothing to be unescaped. Everything else, and everything that is wrong, is
 * left to jansson, at three times the cost.
 */
static bool scan_cell(struct result *r, const char *at)
{
	struct cell *c = &r->cells[r->nr_cells];
	unsigned int i;

	at = after(at, "{\"type\":\"cell\"");
	for (i = 0; at && i < CB_NR_COLUMNS; i++) {
		at = after(at, ",\"");
		at = at ? after(at, column_names[i]) : NULL;
		at = at ? after(at, "\":") : NULL;
		at = at ? scan_value(r, at, i, &c->value[i]) : NULL;
	}
	at = at ? after(at, ",\"hist\":[]}") : NULL;
	return at && !*skip_blanks(at);
}

static void take_cell(struct result *r, unsigned int line, const json_t *json,
		      const struct histogram *hist, unsigned int nr_hist)
{
	struct cell *c = &r->cells[r->nr_cells];
	unsigned int i;

	for (i = 0; i < CB_NR_COLUMNS; i++) {
		const char *wrong = take_value(r, c, i, json_object_get(json, column_names[i]));

		if (wrong) {
			bad(r, line, "%s %s", column_names[i], wrong);
			return;
		}
	}
	add_cell(r, line, hist, nr_hist);
}

/* Lines */

static void set_header(struct result *r, json_t *json)
{
	const json_t *marks = json_object_get(json, "marks");
	unsigned int i;

	r->header = json_incref(json);
	r->environment = json_object_get(json, "environment");
	r->knobs = json_object_get(json, "knobs");
	for (i = 0; i < json_array_size(marks); i++)
		if (json_is_string(json_array_get(marks, i)))
			json_array_append(r->marks, json_array_get(marks, i));
}

/* What the header must have. Return: NULL, or what it lacks. */
static const char *check_header(json_t *header)
{
	static const char *const objects[] = { "environment", "knobs" };
	const json_t *marks = json_object_get(header, "marks");
	json_t *object, *value;
	const char *key;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(objects); i++) {
		object = json_object_get(header, objects[i]);
		if (!json_is_object(object))
			return i ? "the header has no knobs" : "the header has no environment";
		json_object_foreach(object, key, value)
			if (!json_is_string(value))
				return i ? "a knob in the header is not a string" :
					   "the header's environment has what is not a string";
	}
	/* Without them an emulated figure would pass for a real one. */
	if (!json_is_array(marks))
		return "the header has no marks";
	for (i = 0; i < json_array_size(marks); i++)
		if (!json_is_string(json_array_get(marks, i)))
			return "a mark in the header is not a string";
	return NULL;
}

static int take_header(struct result *r, json_t *json, const char *text)
{
	const char *type = json_string_value(json_object_get(json, "type"));
	const json_t *format = json_object_get(json, "format");
	const char *wrong = json ? check_header(json) : NULL;

	if (!json) {
		msg("%s:1: no clearbench result: %s", r->path,
		    after(text, "{\"type\":\"header\"") ? "the header is cut or damaged" :
							   "the first line is no JSON object");
	} else if (type && !strcmp(type, "hugetlb")) {
		msg("%s:1: of clearbench hugetlb: clearbench hugetlb --show %s", r->path, r->path);
	} else if (type && !strcmp(type, "watch")) {
		msg("%s:1: of clearbench watch, and no sweep: it is JSON, to be read as such",
		    r->path);
	} else if (!type || strcmp(type, "header") || !json_is_integer(format)) {
		msg("%s:1: no clearbench result: it does not begin with a header", r->path);
	} else if (json_integer_value(format) != RESULT_FORMAT) {
		msg("%s:1: format %lld, this program reads %d: use the clearbench that wrote it",
		    r->path, (long long)json_integer_value(format), RESULT_FORMAT);
	} else if (wrong) {
		msg("%s:1: no clearbench result: %s", r->path, wrong);
	} else {
		set_header(r, json);
		return CB_OK;
	}
	return CB_USAGE;
}

static void take_footer(struct result *r, unsigned int line, json_t *json)
{
	const json_t *cells = json_object_get(json, "cells");

	if (!json_is_boolean(json_object_get(json, "complete"))) {
		bad(r, line, "the footer does not say whether the run is complete");
		return;
	}
	r->footer = json_incref(json);
	r->stopped = json_is_false(json_object_get(json, "complete"));
	if (json_is_integer(cells) && !r->bad_lines &&
	    (size_t)json_integer_value(cells) != r->nr_cells)
		bad(r, line, "the footer counts %lld cells, %zu are whole",
		    (long long)json_integer_value(cells), r->nr_cells);
}

/* A line that is not in the usual form. Return: CB_OK, or CB_USAGE: no result. */
static int take_json(struct result *r, unsigned int line, const char *text, size_t len,
		     const struct histogram *hist, unsigned int nr)
{
	json_error_t error;
	json_t *json = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	const char *type = json_string_value(json_object_get(json, "type"));
	int status = CB_OK;

	if (line == 1)
		status = take_header(r, json, text);
	else if (!*skip_blanks(text))
		bad(r, line, "the line is empty, or has a byte 0 in it");
	else if (!json)
		bad(r, line, "no JSON: %s", error.text);
	else if (type && !strcmp(type, "cell"))
		take_cell(r, line, json, hist, nr);
	else if (type && !strcmp(type, "footer"))
		take_footer(r, line, json);
	else
		bad(r, line, "neither a cell nor a footer");
	json_decref(json);
	return status;
}

/* One line; @text is changed. Return: CB_OK, or CB_USAGE: no result. */
static int take_line(struct result *r, unsigned int line, char *text, size_t len)
{
	struct histogram hist[MAX_HISTOGRAMS] = { 0 };
	int status = CB_OK, nr, i;

	if (line == 1)
		return take_json(r, line, text, len, NULL, 0);
	nr = take_histograms(text, &len, hist);
	grow(r);
	if (r->footer)
		bad(r, line, "something stands behind the footer");
	else if (nr < 0)
		bad(r, line, "the histogram is cut or damaged");
	else if (strlen(text) == len && scan_cell(r, text))
		add_cell(r, line, hist, nr);
	else
		status = take_json(r, line, text, len, hist, nr);
	for (i = 0; i < MAX_HISTOGRAMS; i++)
		free(hist[i].bucket);
	return status;
}

static int read_file(struct result *r)
{
	FILE *file = fopen(r->path, "re");
	unsigned int line = 0;
	bool whole = true;
	char *text = NULL;
	size_t size = 0;
	ssize_t len;
	int status = CB_OK;

	if (!file) {
		msg("%s: %s", r->path, strerror(errno));
		return CB_USAGE;
	}
	while (!status && (len = getline(&text, &size, file)) > 0) {
		whole = text[len - 1] == '\n';
		status = take_line(r, ++line, text, len);
	}
	if (!status && ferror(file)) {
		bad(r, line, "%s", strerror(EIO));
	} else if (!status && !line) {
		msg("%s: no clearbench result: %s", r->path,
		    ferror(file) ? "it cannot be read" : "the file is empty");
		status = CB_USAGE;
	} else if (!status && !r->footer && !whole && r->bad_line == line) {
		/* Not worth two complaints, nor one about JSON */
		free(r->bad_reason);
		r->bad_reason = xstrdup("the file is cut within this line");
	} else if (!status && !r->footer) {
		bad(r, line + 1, "the file is cut: it has no footer");
	}
	free(text);
	fclose(file);
	return status;
}

/* Folders */

static char *path_of(const struct result *r, const char *name)
{
	return xasprintf("%s/%s", r->path, name);
}

static json_t *read_keys(const struct result *r, const char *name)
{
	char *path = path_of(r, name), *text = read_text(path);
	json_t *keys = info_environment(text);

	free(text);
	free(path);
	return keys;
}

static void folder_header(struct result *r)
{
	json_t *env = read_keys(r, "info"), *host = read_keys(r, "host");
	json_t *header = json_object(), *marks = json_array();
	const char *words = env_get(env, "marks");
	char *copy = xstrdup(words ? words : ""), *word, *at;

	json_object_update_missing(env, host);
	json_decref(host);
	for (word = strtok_r(copy, " ", &at); word; word = strtok_r(NULL, " ", &at))
		if (strcmp(word, "none"))
			json_array_append_new(marks, json_string(word));
	free(copy);
	json_object_set_new(header, "type", json_string("header"));
	json_object_set_new(header, "format", json_integer(RESULT_FORMAT));
	if (env_get(env, "clearbench"))
		json_object_set_new(header, "tool", json_string(env_get(env, "clearbench")));
	json_object_set_new(header, "backend", json_string("module"));
	json_object_set_new(header, "marks", marks);
	json_object_set_new(header, "environment", env);
	json_object_set_new(header, "knobs", read_keys(r, "knobs"));
	json_object_set_new(header, "command", json_string("collect.sh"));
	set_header(r, header);
	json_decref(header);
}

/* collect.sh leaves the module's `status`: "done", or why not. */
static void folder_footer(struct result *r)
{
	char *path = path_of(r, "status"), *status = read_line(path);
	json_t *footer = json_object();

	r->stopped = status && strcmp(status, "done");
	json_object_set_new(footer, "type", json_string("footer"));
	json_object_set_new(footer, "complete", json_boolean(!r->stopped));
	if (r->stopped)
		json_object_set_new(footer, "status", json_string(status));
	r->footer = footer;
	free(status);
	free(path);
}

/*
 * A table's line is turned into the JSON line that `run` would have written,
 * and read as one: a single way in, and a single set of checks.
 */
static int read_folder(struct result *r)
{
	char *results_path = path_of(r, "results"), *hist_path = path_of(r, "histograms");
	struct tsv results, histograms;
	int ret, status = CB_OK;
	bool have_hist;

	tsv_init(&results, results_path, CB_RESULTS_MAGIC);
	tsv_init(&histograms, hist_path, CB_HISTOGRAMS_MAGIC);
	ret = tsv_refresh(&results);
	if (ret) {
		if (ret == -ENOENT)
			msg("%s: no clearbench result: a folder without the file results of collect.sh; name a FILE",
			    r->path);
		else
			msg("%s: no clearbench result: results: %s", r->path, strerror(-ret));
		status = CB_USAGE;
		goto out;
	}
	have_hist = !tsv_refresh(&histograms);
	folder_header(r);
	/* Without them an emulated figure would pass for a real one. */
	if (!env_get(r->environment, "marks")) {
		msg("%s: no clearbench result: no marks in its file info: copy the whole folder",
		    r->path);
		status = CB_USAGE;
		goto out;
	}
	while ((ret = tsv_next(&results)) > 0) {
		size_t len;
		char *text;
		FILE *to;

		to = open_memstream(&text, &len);
		if (!to)
			break;
		ret = tsv_put_cell(to, &results, have_hist ? &histograms : NULL);
		fclose(to);
		if (ret)
			bad(r, results.lines, "%u fields, there are %u columns", results.nr,
			    results.nr_names);
		else
			take_line(r, results.lines, text, len);
		free(text);
	}
	if (ret == -EPROTO || !results.names) {
		msg("%s/results:1: no clearbench result: it does not begin with \"%s\"",
		    r->path, CB_RESULTS_MAGIC);
		status = CB_USAGE;
	} else if (ret < 0) {
		bad(r, results.lines, "%s", strerror(-ret));
	} else if (results.partial) {
		bad(r, results.lines + 1, "the line is cut");
	} else if (have_hist && r->nr_cells && !histograms.names) {
		bad(r, results.lines, "the file histograms does not begin with \"%s\"",
		    CB_HISTOGRAMS_MAGIC);
	} else if (have_hist && histograms.partial) {
		bad(r, results.lines, "the file histograms is cut in line %u",
		    histograms.lines + 1);
	} else if (have_hist && histograms.have) {
		bad(r, results.lines, "line %u of the file histograms belongs to no cell",
		    histograms.lines);
	}
	folder_footer(r);
out:
	tsv_free(&results);
	tsv_free(&histograms);
	free(results_path);
	free(hist_path);
	return status;
}

/**
 * result_read() - read a result
 * @r: filled in; to be freed in any case
 * @path: file or folder
 * @fn: gets each cell with its histograms, which are not kept; may be NULL
 * @arg: for @fn
 *
 * Says on stderr, in one line, what is wrong.
 *
 * Return: CB_OK; CB_FAILED: cut or damaged, @r has what is whole; CB_USAGE: no
 * result at all.
 */
int result_read(struct result *r, const char *path, hist_fn fn, void *arg)
{
	bool folder;
	struct stat st;
	int status;

	memset(r, 0, sizeof(*r));
	r->path = path;
	r->hist_fn = fn;
	r->hist_arg = arg;
	r->marks = json_array();
	folder = !stat(path, &st) && S_ISDIR(st.st_mode);
	status = folder ? read_folder(r) : read_file(r);
	if (status || !r->bad_lines)
		return status;
	if (r->bad_lines > 1)
		msg("%s%s:%u: %s (and %u more)", path, folder ? "/results" : "", r->bad_line,
		    r->bad_reason, r->bad_lines - 1);
	else
		msg("%s%s:%u: %s", path, folder ? "/results" : "", r->bad_line, r->bad_reason);
	return CB_FAILED;
}

void result_free(struct result *r)
{
	json_decref(r->header);
	json_decref(r->footer);
	json_decref(r->marks);
	tdestroy(r->strings, free);
	free(r->cells);
	free(r->slots);
	free(r->bad_reason);
}
