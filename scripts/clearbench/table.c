// SPDX-License-Identifier: GPL-2.0
/*
 * Text in columns. A table is kept as one run of bytes, each cell a kind, its
 * text and a NUL, so that one of a hundred thousand rows costs no more than
 * its text.
 */
#include <stdlib.h>
#include <string.h>

#include "result.h"

enum { KIND_CELL = 1, KIND_SPAN };

/* A last text is wrapped where it has at least this many columns. */
#define SPAN_MIN	20

void table_init(struct table *t, const char *align)
{
	memset(t, 0, sizeof(*t));
	t->align = align;
}

void table_free(struct table *t)
{
	free(t->text);
	table_init(t, t->align);
}

/* Columns on a terminal: bytes that begin a character */
static unsigned int text_width(const char *text)
{
	unsigned int width = 0;

	for (; *text; text++)
		width += (*text & 0xc0) != 0x80;
	return width;
}

static void add(struct table *t, char kind, const char *fmt, va_list ap)
{
	char *text, *at;
	size_t len;

	if (vasprintf(&text, fmt, ap) < 0)
		text = xstrdup("?");
	/* What a file holds must not steer the terminal or end the row. */
	for (at = text; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	len = at - text;
	if (t->len + len + 2 > t->cap) {
		t->cap = 2 * t->cap + len + 1024;
		t->text = xrealloc(t->text, t->cap);
	}
	t->text[t->len++] = kind;
	memcpy(t->text + t->len, text, len + 1);
	t->len += len + 1;
	if (kind == KIND_CELL) {
		unsigned int width = text_width(text);

		if (width > t->width[t->column])
			t->width[t->column] = width;
		t->column++;
	}
	if (kind == KIND_SPAN || t->column == strlen(t->align))
		t->column = 0;
	free(text);
}

/* The next cell; the last of a row ends it. */
void table_cell(struct table *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(t, KIND_CELL, fmt, ap);
	va_end(ap);
}

/* What stands over all the columns left, and ends the row. */
void table_span(struct table *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(t, KIND_SPAN, fmt, ap);
	va_end(ap);
}

/* Words from @column on; lines after the first begin with @rest. */
static void wrap(FILE *to, unsigned int column, const char *rest, const char *text,
		 unsigned int limit)
{
	bool begun = false;

	while (*text) {
		size_t len = strcspn(text, " ");

		if (limit && len > limit - strlen(rest))
			len = limit - strlen(rest);
		if (limit && begun && column + 1 + len > limit) {
			fprintf(to, "\n%s", rest);
			column = strlen(rest);
		} else if (begun) {
			fputc(' ', to);
			column++;
		}
		begun = true;
		for (column += len; len; len--, text++)
			fputc((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text, to);
		while (*text == ' ')
			text++;
	}
	fputc('\n', to);
}

/* Blanks are held back until something follows them: none end a line. */
static void pad(FILE *to, unsigned int *blanks)
{
	fprintf(to, "%*s", (int)*blanks, "");
	*blanks = 0;
}

static unsigned int total_width(const struct table *t, unsigned int gap)
{
	unsigned int i, sum = 0;

	for (i = 0; i < strlen(t->align); i++)
		sum += t->width[i] + (i ? gap : 0);
	return sum;
}

/**
 * table_print() - print and empty it
 * @t: table
 * @to: where
 * @limit: columns of a line; 0: as wide as it takes. A row's last text is
 *	wrapped, and the gap between columns narrowed, to keep to it
 */
void table_print(struct table *t, FILE *to, unsigned int limit)
{
	unsigned int gap = limit && total_width(t, 2) > limit ? 1 : 2;
	unsigned int column = 0, columns = strlen(t->align), blanks = 0, at = 0;
	const char *text = t->text, *end = t->text + t->len;

	while (text < end) {
		char kind = *text++;
		unsigned int width = text_width(text);
		unsigned int fill = t->width[column] > width ? t->width[column] - width : 0;

		if (column) {
			blanks += gap;
			at += gap;
		}
		if (kind == KIND_SPAN) {
			char *rest;

			pad(to, &blanks);
			rest = xasprintf("%*s", (int)at, "");
			wrap(to, at, rest, text, limit > at + SPAN_MIN ? limit : 0);
			free(rest);
			column = 0;
		} else {
			if (t->align[column] == 'r')
				blanks += fill;
			if (*text)
				pad(to, &blanks);
			fputs(text, to);
			if (t->align[column] == 'l')
				blanks += fill;
			at += t->width[column];
			if (++column == columns) {
				fputc('\n', to);
				column = 0;
			}
		}
		if (!column) {
			blanks = 0;
			at = 0;
		}
		text += strlen(text) + 1;
	}
	table_free(t);
}

/**
 * table_print_md() - print it as GitHub's Markdown, and empty it
 * @t: table, whose first row is the head
 * @to: where
 */
void table_print_md(struct table *t, FILE *to)
{
	unsigned int column = 0, columns = strlen(t->align), row = 0, i;
	const char *text = t->text, *end = t->text + t->len;

	while (text < end) {
		char kind = *text++;

		fputs(column ? " " : "| ", to);
		for (; *text; text++) {
			if (*text == '|' || *text == '<' || *text == '*' || *text == '_' ||
			    *text == '\\' || *text == '`')
				fputc('\\', to);
			fputc(*text, to);
		}
		fputs(" |", to);
		if (kind == KIND_SPAN) {
			for (; column + 1 < columns; column++)
				fputs(" |", to);
		}
		if (++column == columns) {
			fputc('\n', to);
			column = 0;
			if (!row++) {
				for (i = 0; i < columns; i++)
					fputs(t->align[i] == 'r' ? "| ---: " : "| --- ", to);
				fputs("|\n", to);
			}
		}
		text++;
	}
	table_free(t);
}

/* Text in a page: nothing in it is markup, and all of it is UTF-8. */
void put_html(FILE *to, const char *text)
{
	while (*text) {
		unsigned int len = utf8_len(text);

		if (*text == '<')
			fputs("&lt;", to);
		else if (*text == '>')
			fputs("&gt;", to);
		else if (*text == '&')
			fputs("&amp;", to);
		else if (*text == '"')
			fputs("&quot;", to);
		else if (*text == '\'')
			fputs("&#39;", to);
		else if (len)
			fwrite(text, 1, len, to);
		else
			fputc('?', to);
		text += len ? len : 1;
	}
}

/**
 * table_print_html() - print it as HTML, and empty it
 * @t: table, whose first row is the head
 * @to: where
 */
void table_print_html(struct table *t, FILE *to)
{
	unsigned int column = 0, columns = strlen(t->align), row = 0;
	const char *text = t->text, *end = t->text + t->len;

	fputs("<table>\n", to);
	while (text < end) {
		const char *tag = row ? "td" : "th";
		char kind = *text++;

		if (!column)
			fputs("<tr>", to);
		fprintf(to, "<%s", tag);
		if (t->align[column] == 'l')
			fputs(" class=\"l\"", to);
		if (kind == KIND_SPAN) {
			fprintf(to, " colspan=\"%u\"", columns - column);
			column = columns - 1;
		}
		fputc('>', to);
		put_html(to, text);
		fprintf(to, "</%s>", tag);
		if (++column == columns) {
			fputs("</tr>\n", to);
			column = 0;
			row++;
		}
		text += strlen(text) + 1;
	}
	fputs("</table>\n", to);
	table_free(t);
}

/* A field of RFC 4180, quoted only where it has to be. */
void put_csv(FILE *to, const char *text)
{
	if (!text)
		return;
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, to);
		return;
	}
	fputc('"', to);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', to);
		fputc(*text, to);
	}
	fputc('"', to);
}

/**
 * put_wrapped() - a paragraph
 * @to: where
 * @first: what the first line begins with
 * @rest: what the others begin with
 * @text: words; a longer one than a line is cut
 * @limit: columns of a line; 0: no limit
 */
void put_wrapped(FILE *to, const char *first, const char *rest, const char *text,
		 unsigned int limit)
{
	fputs(first, to);
	wrap(to, strlen(first), rest, text, limit);
}
