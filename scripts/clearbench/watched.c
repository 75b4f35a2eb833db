// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of `clearbench watch`.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "result.h"
#include "watch.h"

#define COLUMNS		79
#define CALLERS_SHOWN	10
#define FRAMES_SHOWN	4
#define ORDERS		LIST_NUMBERS

#define COLUMN_NAME(_name)	#_name,
static const char *const columns[] = { CB_WATCH_COLUMNS(COLUMN_NAME) };

static void add_record(struct watched *w, const struct tsv *tsv)
{
	json_t *record = json_object();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(columns); i++) {
		const char *text = tsv_field(tsv, columns[i]);

		if (!text || !strcmp(text, "-"))
			continue;
		if (strcmp(columns[i], "text") && !text[strspn(text, "0123456789")])
			json_object_set_new(record, columns[i], json_integer(atoll(text)));
		else
			json_object_set_new(record, columns[i], json_string(text));
	}
	json_array_append_new(w->records, record);
}

/**
 * watched_read() - take in what the module counted
 * @w: filled in
 * @m: module, whose watch has ended
 *
 * Return: exit status, after a message.
 */
int watched_read(struct watched *w, const struct module *m)
{
	char *path = module_path(m, "watch_results");
	struct tsv tsv;
	int ret;

	w->records = json_array();
	tsv_init(&tsv, path, CB_WATCH_MAGIC);
	ret = tsv_refresh(&tsv);
	while (!ret && (ret = tsv_next(&tsv)) > 0) {
		add_record(w, &tsv);
		ret = 0;
	}
	if (ret)
		msg("%s: %s", path, ret == -EPROTO ?
		    "not what this program reads: use the clearbench that came with the module" :
		    strerror(-ret));
	tsv_free(&tsv);
	free(path);
	return ret ? CB_FAILED : CB_OK;
}

void watched_free(struct watched *w)
{
	json_decref(w->records);
	w->records = NULL;
}

static const char *text_of(const json_t *record, const char *key)
{
	const char *text = json_string_value(json_object_get(record, key));

	return text ? text : "";
}

static double number_of(const json_t *record, const char *key)
{
	return json_integer_value(json_object_get(record, key));
}

static bool is(const json_t *record, const char *key, const char *text)
{
	return !strcmp(text_of(record, key), text);
}

/* The value of an `about` record, or NULL */
static const char *about(const struct watched *w, const char *key)
{
	const json_t *record;
	size_t i;

	json_array_foreach(w->records, i, record) {
		const char *text = text_of(record, "text");

		if (is(record, "record", "about") && !strncmp(text, key, strlen(key)) &&
		    !strncmp(text + strlen(key), ": ", 2))
			return text + strlen(key) + 2;
	}
	return NULL;
}

/* Does a record stand for pages that were cleared? A timed fault is one itself. */
static bool is_clear(const json_t *record)
{
	if (is(record, "record", "alloc"))
		return is(record, "cleared", "gfp_zero") || is(record, "cleared", "init_on_alloc");
	return is(record, "record", "clear") && is(record, "cleared", "fault");
}

static double pages_cleared(const struct watched *w)
{
	const json_t *record;
	double pages = 0;
	size_t i;

	json_array_foreach(w->records, i, record)
		if (is_clear(record))
			pages += number_of(record, "pages");
	return pages;
}

static const char *percent(char *buf, double part, double whole)
{
	snprintf(buf, UNIT_LEN, "%.1f", whole > 0 ? 100 * part / whole : 0);
	return buf;
}

/**
 * struct row - what is said of one order
 * @allocated: allocations
 * @request: of them cleared because the caller asked for it,
 * @init: by init_on_alloc
 * @fault: cleared by a page fault afterwards
 * @failed: allocations that failed
 * @pages: cleared
 * @time: where the allocator's clears were timed, their record; else the faults'
 */
struct row {
	double allocated;
	double request;
	double init;
	double fault;
	double failed;
	double pages;
	const json_t *time;
};

static void add_up(struct row *rows, const struct watched *w)
{
	const json_t *record;
	size_t i;

	json_array_foreach(w->records, i, record) {
		unsigned int order = number_of(record, "order");
		double n = number_of(record, "count");
		struct row *row = &rows[order < ORDERS ? order : 0];

		if (is_clear(record))
			row->pages += number_of(record, "pages");
		if (is(record, "record", "clear")) {
			if (is(record, "cleared", "fault"))
				row->fault += n;
			if (!row->time || number_of(row->time, "count") < n)
				row->time = record;
		} else if (is(record, "record", "alloc")) {
			if (is(record, "cleared", "failed"))
				row->failed += n;
			else
				row->allocated += n;
			if (is(record, "cleared", "gfp_zero"))
				row->request += n;
			else if (is(record, "cleared", "init_on_alloc"))
				row->init += n;
		}
	}
}

static void print_orders(const struct watched *w, double page_size, double whole, FILE *to)
{
	struct row rows[ORDERS] = { 0 };
	char a[UNIT_LEN], b[UNIT_LEN];
	struct table t;
	unsigned int i;

	table_init(&t, "rrrrrrrrrrr");
	add_up(rows, w);
	for (i = 0; i < 11; i++) {
		static const char *const head[] = {
			"order", "size", "allocs", "gfp_zero", "init", "fault", "failed", "% bytes",
			"timed", "p50", "p99"
		};

		table_cell(&t, "%s", head[i]);
	}
	for (i = 0; i < ORDERS; i++) {
		const struct row *row = &rows[i];

		if (!row->allocated && !row->failed && !row->time)
			continue;
		table_cell(&t, "%u", i);
		table_cell(&t, "%s", fmt_extent(a, page_size * (1ULL << i)));
		table_cell(&t, "%.0f", row->allocated);
		table_cell(&t, "%.0f", row->request);
		table_cell(&t, "%.0f", row->init);
		table_cell(&t, "%.0f", row->fault);
		table_cell(&t, "%.0f", row->failed);
		table_cell(&t, "%s", percent(a, row->pages, whole));
		if (row->time) {
			table_cell(&t, "%.0f", number_of(row->time, "count"));
			table_cell(&t, "%s", fmt_ns(a, number_of(row->time, "p50_ns")));
			table_cell(&t, "%s", fmt_ns(b, number_of(row->time, "p99_ns")));
		} else {
			table_cell(&t, "-");
			table_cell(&t, "-");
			table_cell(&t, "-");
		}
	}
	table_print(&t, to, COLUMNS);
	table_free(&t);
}

static void print_contexts(const struct watched *w, FILE *to)
{
	static const struct {
		const char *name, *words;
	} contexts[] = {
		{ "process", "process context" },
		{ "nowait", "process context, an allocation that may not wait" },
		{ "softirq", "softirq" },
		{ "hardirq", "hard interrupt" },
		{ "nmi", "NMI" },
	};
	double pages, clears, whole = 0;
	char share[UNIT_LEN];
	const json_t *record;
	unsigned int pass, c;
	struct table t;
	size_t i;

	table_init(&t, "rrl");
	table_cell(&t, "clears");
	table_cell(&t, "%% bytes");
	table_cell(&t, "by the allocator, in");
	for (pass = 0; pass < 2; pass++) {
		for (c = 0; c < ARRAY_SIZE(contexts); c++) {
			pages = 0;
			clears = 0;
			json_array_foreach(w->records, i, record) {
				if (!is_clear(record) || !is(record, "context", contexts[c].name))
					continue;
				clears += number_of(record, "count");
				pages += number_of(record, "pages");
			}
			whole += pass ? 0 : pages;
			if (!pass || !clears)
				continue;
			table_cell(&t, "%.0f", clears);
			table_cell(&t, "%s", percent(share, pages, whole));
			table_cell(&t, "%s", contexts[c].words);
		}
	}
	table_print(&t, to, COLUMNS);
	table_free(&t);
}

/*
 * Frames that say nothing about who wanted the memory: of the allocator's own
 * interface, and of what calls a probe.
 */
static const char *const dull[] = {
	"0x", "__traceiter_", "sees_alloc", "look_at_caller", "cb_watch_enter", "enters",
	"fprobe_", "function_graph_enter", "ftrace_", "arch_ftrace", "kretprobe_", "pre_handler_",
	"kprobe_ftrace_", "rethook_", "aggr_pre_handler", "opt_pre_handler", "optimized_callback",
	"__alloc_frozen_pages", "alloc_frozen_pages", "__alloc_pages", "alloc_pages",
	"__folio_alloc", "folio_alloc", "vma_alloc_folio", "__get_free_page", "get_free_page",
	"get_zeroed_page",
};

static bool is_dull(const char *frame)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(dull); i++)
		if (!strncmp(frame, dull[i], strlen(dull[i])))
			return true;
	return false;
}

/* The few frames that tell callers apart; to be freed */
static char *who(const char *frames)
{
	static const char separator[] = " < ";
	const char *end, *at;
	unsigned int n;

	for (at = frames; is_dull(at) && strstr(at, separator);)
		at = strstr(at, separator) + strlen(separator);
	for (end = at, n = 0; n < FRAMES_SHOWN && *end; n++) {
		const char *next = strstr(end + (n ? strlen(separator) : 0), separator);

		end = next ? next : end + strlen(end);
	}
	return strndup(at, end - at);
}

struct seen {
	char *who;
	double pages;
	double looks;
};

static int more_pages(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	return (x->pages < y->pages) - (x->pages > y->pages);
}

static void print_callers(const struct watched *w, FILE *to)
{
	struct seen *seen = NULL;
	const json_t *record;
	char share[UNIT_LEN];
	size_t nr = 0, i, k;
	double whole = 0, looks = 0;
	struct table t;

	json_array_foreach(w->records, i, record) {
		char *name;

		if (!is(record, "record", "caller"))
			continue;
		name = who(text_of(record, "text"));
		if (!is(record, "context", "task")) {
			char *old = name;

			name = xasprintf("%s (%s)", old, text_of(record, "context"));
			free(old);
		}
		whole += number_of(record, "pages");
		looks += number_of(record, "count");
		for (k = 0; k < nr && strcmp(seen[k].who, name); k++)
			;
		if (k < nr) {
			free(name);
		} else {
			seen = xrealloc(seen, (nr + 1) * sizeof(*seen));
			seen[nr++] = (struct seen) { .who = name };
		}
		seen[k].pages += number_of(record, "pages");
		seen[k].looks += number_of(record, "count");
	}
	if (nr)
		qsort(seen, nr, sizeof(*seen), more_pages);
	table_init(&t, "rrl");
	table_cell(&t, "looks");
	table_cell(&t, "%% bytes");
	table_cell(&t, "on behalf of, by %.0f looks, one in %s pages", looks,
		   about(w, "caller_period_pages") ? : "?");
	for (k = 0; k < nr; k++) {
		if (k < CALLERS_SHOWN) {
			table_cell(&t, "%.0f", seen[k].looks);
			table_cell(&t, "%s", percent(share, seen[k].pages, whole));
			table_span(&t, "%s", seen[k].who);
		}
		free(seen[k].who);
	}
	free(seen);
	table_print(&t, to, COLUMNS);
	if (nr > CALLERS_SHOWN)
		fprintf(to, "and %zu more\n", nr - CALLERS_SHOWN);
	table_free(&t);
}

static void print_line(void *arg, const char *text)
{
	put_wrapped(arg, "", "  ", text, COLUMNS);
}

/* Why clears of a kind were not timed, in one paragraph */
static void print_not_timed(const struct watched *w, const char *kind, const char *words, FILE *to)
{
	const json_t *record;
	char *text = NULL;
	size_t i;

	json_array_foreach(w->records, i, record) {
		char *old = text;

		if (!is(record, "record", "not_timed") || !is(record, "cleared", kind))
			continue;
		text = old ? xasprintf("%s; %s", old, text_of(record, "text")) :
			     xasprintf("not timed: %s: %s", words, text_of(record, "text"));
		free(old);
	}
	if (text)
		print_line(to, text);
	free(text);
}

/* What was not counted, not timed, and what counting cost */
static void print_notes(const struct watched *w, FILE *to)
{
	const char *free_note = about(w, "init_on_free");
	const json_t *record;
	char *text;
	size_t i;

	if (free_note)
		print_line(to, free_note);
	json_array_foreach(w->records, i, record) {
		if (!is(record, "record", "lost"))
			continue;
		text = xasprintf("lost: %.0f %s", number_of(record, "count"),
				 text_of(record, "text"));
		print_line(to, text);
		free(text);
	}
	print_not_timed(w, "allocator", "the allocator's clears", to);
	print_not_timed(w, "fault", "clears by page faults", to);
	text = xasprintf("the watch itself: %s ns an allocation, and %s more where its clear is timed",
			 about(w, "cost_count_ns") ? : "?", about(w, "cost_time_ns") ? : "?");
	print_line(to, text);
	free(text);
}

/**
 * watched_print() - for people
 * @w: as read
 * @env: environment, for its marks
 * @to: where
 */
void watched_print(const struct watched *w, const json_t *env, FILE *to)
{
	const char *marks = env_get(env, "marks"), *size = env_get(env, "page_size");
	double whole = pages_cleared(w), page_size = size ? atof(size) : sysconf(_SC_PAGESIZE);
	char *copy = xstrdup(marks ? marks : ""), *word, *at;
	json_t *list = json_array();

	fputc('\n', to);
	for (word = strtok_r(copy, " ", &at); word; word = strtok_r(NULL, " ", &at))
		if (strcmp(word, "none"))
			json_array_append_new(list, json_string(word));
	list_marks(list, print_line, to);
	print_orders(w, page_size, whole, to);
	fputc('\n', to);
	print_contexts(w, to);
	fputc('\n', to);
	print_callers(w, to);
	fputc('\n', to);
	print_notes(w, to);
	json_decref(list);
	free(copy);
}
