// SPDX-License-Identifier: GPL-2.0
/*
 * The module's `results` and `histograms`, and the way from them to a line of
 * a result file. Numbers are passed on as they stand, digit by digit.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "result.h"

void tsv_init(struct tsv *tsv, const char *path, const char *magic)
{
	memset(tsv, 0, sizeof(*tsv));
	tsv->path = path;
	tsv->magic = magic;
}

static void close_file(struct tsv *tsv)
{
	if (tsv->file)
		fclose(tsv->file);
	tsv->file = NULL;
}

void tsv_free(struct tsv *tsv)
{
	close_file(tsv);
	free(tsv->line);
	free(tsv->field);
	free(tsv->names);
	free(tsv->name_line);
}

/* A new run empties the files: begin again at their first line. */
void tsv_restart(struct tsv *tsv)
{
	const char *path = tsv->path, *magic = tsv->magic;

	tsv_free(tsv);
	tsv_init(tsv, path, magic);
}

/* Cuts @line at its tabs. Return: the number of fields. */
static unsigned int split(char *line, char ***field)
{
	unsigned int nr = 0;
	char *at;

	for (at = line; at; at = strchr(at, '\t')) {
		if (nr)
			*at++ = '\0';
		*field = xrealloc(*field, (nr + 1) * sizeof(**field));
		(*field)[nr++] = at;
	}
	return nr;
}

/**
 * tsv_refresh() - look at the file again, for what has been added
 * @tsv: file
 *
 * The files only grow during a run. They are opened anew each time, for an
 * open one would keep the module from being unloaded.
 *
 * Return: 0 or a negative errno.
 */
int tsv_refresh(struct tsv *tsv)
{
	close_file(tsv);
	tsv->file = fopen(tsv->path, "re");
	if (!tsv->file)
		return -errno;
	if (tsv->offset && fseek(tsv->file, tsv->offset, SEEK_SET))
		return -errno;
	return 0;
}

static int read_whole_line(struct tsv *tsv)
{
	ssize_t len = getline(&tsv->line, &tsv->size, tsv->file);

	if (len < 0)
		return ferror(tsv->file) ? -EIO : 0;
	tsv->partial = tsv->line[len - 1] != '\n';
	if (tsv->partial)
		return 0;
	tsv->line[len - 1] = '\0';
	tsv->offset += len;
	tsv->lines++;
	return 1;
}

/**
 * tsv_next() - go to the next whole line
 * @tsv: file, after tsv_refresh()
 *
 * The two lines at the head are taken in on the way.
 *
 * Return: 1, 0 at the end for now, -EPROTO for another kind of file, or
 * another negative errno.
 */
int tsv_next(struct tsv *tsv)
{
	int ret;

	if (!tsv->file)
		return -EBADF;
	while ((ret = read_whole_line(tsv)) > 0) {
		if (tsv->lines == 1) {
			if (strcmp(tsv->line, tsv->magic))
				return -EPROTO;
		} else if (tsv->lines == 2) {
			tsv->name_line = xstrdup(tsv->line);
			tsv->nr_names = split(tsv->name_line, &tsv->names);
		} else {
			tsv->nr = split(tsv->line, &tsv->field);
			tsv->have = true;
			return 1;
		}
	}
	return ret;
}

/* A field of the current line by its column's name, or NULL. */
const char *tsv_field(const struct tsv *tsv, const char *name)
{
	unsigned int i;

	for (i = 0; i < tsv->nr && i < tsv->nr_names; i++)
		if (!strcmp(tsv->names[i], name))
			return tsv->field[i];
	return NULL;
}

/* Is this a number as JSON has it (RFC 8259, 6)? */
static bool is_number(const char *s)
{
	s += *s == '-';
	if (!isdigit((unsigned char)*s) || (*s == '0' && isdigit((unsigned char)s[1])))
		return false;
	s += strspn(s, "0123456789");
	if (*s == '.') {
		if (!isdigit((unsigned char)*++s))
			return false;
		s += strspn(s, "0123456789");
	}
	if (*s == 'e' || *s == 'E') {
		s++;
		s += *s == '+' || *s == '-';
		if (!isdigit((unsigned char)*s))
			return false;
		s += strspn(s, "0123456789");
	}
	return !*s;
}

/* A JSON string; bytes that are no UTF-8 become question marks. */
void put_string(FILE *to, const char *text)
{
	json_t *string = json_string(text);

	if (!string) {
		char *copy = xstrdup(text), *at;

		for (at = copy; *at; at++)
			if (*at & 0x80)
				*at = '?';
		string = json_string(copy);
		free(copy);
	}
	json_dumpf(string, to, JSON_ENCODE_ANY);
	json_decref(string);
}

static bool text_column(const char *name)
{
	unsigned int i;

	for (i = 0; i < CB_NR_COLUMNS; i++)
		if (!strcmp(name, column_name(i)))
			return column_is_text(i);
	return false;
}

static void put_value(FILE *to, const char *name, const char *text)
{
	/* A batch of "-" is a value: this method has none. */
	if (!strcmp(text, "-") && strcmp(name, "batch"))
		fputs("null", to);
	else if (!text_column(name) && is_number(text))
		fputs(text, to);
	else
		put_string(to, text);
}

static void put_bound(FILE *to, const char *text)
{
	/* JSON has no infinity: null is the overflow's upper bound. */
	if (text && is_number(text))
		fputs(text, to);
	else
		fputs("null", to);
}

/* Is the current line of @histograms one of the cell of @results? */
static bool same_cell(const struct tsv *results, const struct tsv *histograms)
{
	static const char *const key[] = { "context", "order", "method", "batch" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(key); i++) {
		const char *a = tsv_field(results, key[i]), *b = tsv_field(histograms, key[i]);

		if (!a || !b || strcmp(a, b))
			return false;
	}
	return true;
}

/**
 * tsv_put_cell() - write the current line as a cell's JSON line
 * @to: gets the line, with its newline
 * @results: at the cell
 * @histograms: at the cell's lines or somewhere before them; NULL: leave out
 *
 * Return: 0, -EINVAL when the line has not as many fields as there are names.
 */
int tsv_put_cell(FILE *to, const struct tsv *results, struct tsv *histograms)
{
	char current[16] = "";
	unsigned int i;

	if (results->nr != results->nr_names)
		return -EINVAL;
	fputs("{\"type\":\"cell\"", to);
	for (i = 0; i < results->nr; i++) {
		fprintf(to, ",\"%s\":", results->names[i]);
		put_value(to, results->names[i], results->field[i]);
	}
	fputs(",\"hist\":{", to);
	/* Both files hold the cells in the same order. */
	while (histograms && (histograms->have || tsv_next(histograms) > 0) &&
	       same_cell(results, histograms)) {
		const char *name = tsv_field(histograms, "hist");
		const char *count = tsv_field(histograms, "count");

		if (name && count && is_number(count)) {
			bool first = strncmp(name, current, sizeof(current) - 1);

			if (first) {
				fputs(*current ? "]," : "", to);
				snprintf(current, sizeof(current), "%s", name);
				put_string(to, name);
			}
			fputs(first ? ":[[" : ",[", to);
			put_bound(to, tsv_field(histograms, "lower"));
			fputc(',', to);
			put_bound(to, tsv_field(histograms, "upper"));
			fprintf(to, ",%s]", count);
		}
		histograms->have = false;
	}
	fputs(*current ? "]}}\n" : "}}\n", to);
	return 0;
}
