// SPDX-License-Identifier: GPL-2.0
/*
 * The table of HugeTLB figures, and the files that they are kept in.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../module/hist.h"
#include "hugetlb.h"
#include "output.h"

#define LINE_WIDTH	75	/* of a mail */

static const char *const kind_names[HUGETLB_KINDS] = {
	[HUGETLB_GROW] = "run time",
	[HUGETLB_SHRINK] = "freed",
	[HUGETLB_FAULT] = "fault",
	[HUGETLB_BOOT] = "boot",
};

const char *hugetlb_kind_name(enum hugetlb_kind kind)
{
	return kind_names[kind];
}

void hugetlb_row_add(struct hugetlb_row *row, double seconds)
{
	row->seconds = xrealloc(row->seconds, (row->nr + 1) * sizeof(*row->seconds));
	row->seconds[row->nr++] = seconds;
}

void hugetlb_result_free(struct hugetlb_result *r)
{
	unsigned int i;

	for (i = 0; i < r->nr; i++)
		free(r->row[i].seconds);
	free(r->row);
	json_decref(r->header);
	memset(r, 0, sizeof(*r));
}

/* Files */

static json_t *row_json(const struct hugetlb_row *row)
{
	json_t *seconds = json_array();
	unsigned int i;

	for (i = 0; i < row->nr; i++)
		json_array_append_new(seconds, json_real(row->seconds[i]));
	return json_pack("{s:s, s:s, s:f, s:i, s:i, s:I, s:I, s:i, s:i, s:f, s:o}",
			 "type", "row", "row", kind_names[row->kind], "size", row->size,
			 "node", row->node, "threads", (int)row->threads,
			 "asked", (json_int_t)row->asked, "pages", (json_int_t)row->pages,
			 "left_out", (int)row->left_out, "stalled", (int)row->stalled,
			 "tick", row->tick, "seconds", seconds);
}

static int put(struct output *out, json_t *json)
{
	int ret = output_json(out, json);

	json_decref(json);
	return ret;
}

/**
 * hugetlb_write() - keep a result
 * @r: result
 * @path: of the file
 * @force: it may be there
 *
 * Return: 0, or a negative errno after a message.
 */
int hugetlb_write(const struct hugetlb_result *r, const char *path, bool force)
{
	struct output out;
	unsigned int i;
	int ret;

	ret = output_open(&out, path, force);
	if (ret)
		return ret;
	ret = output_json(&out, r->header);
	for (i = 0; i < r->nr && !ret; i++)
		ret = put(&out, row_json(&r->row[i]));
	if (!ret)
		ret = put(&out, json_pack("{s:s, s:b}", "type", "footer", "complete", r->complete));
	output_close(&out);
	return ret;
}

static int read_row(struct hugetlb_result *r, json_t *json)
{
	struct hugetlb_row row = { .node = -1 };
	json_int_t asked, pages;
	const char *name;
	json_t *seconds;
	int threads, left_out, stalled;
	unsigned int i;

	if (json_unpack(json, "{s:s, s:F, s:i, s:i, s:I, s:I, s:i, s:i, s:F, s:o}", "row", &name,
			"size", &row.size, "node", &row.node, "threads", &threads,
			"asked", &asked, "pages", &pages, "left_out", &left_out,
			"stalled", &stalled, "tick", &row.tick, "seconds", &seconds))
		return -EINVAL;
	for (i = 0; i < HUGETLB_KINDS; i++)
		if (!strcmp(name, kind_names[i]))
			break;
	if (i == HUGETLB_KINDS || !json_is_array(seconds) || !(row.size > 0) || threads < 0)
		return -EINVAL;
	row.kind = i;
	row.threads = threads;
	row.asked = asked;
	row.pages = pages;
	row.left_out = left_out;
	row.stalled = stalled;
	for (i = 0; i < json_array_size(seconds); i++) {
		if (!json_is_number(json_array_get(seconds, i)))
			return -EINVAL;
		hugetlb_row_add(&row, json_number_value(json_array_get(seconds, i)));
	}
	r->row = xrealloc(r->row, (r->nr + 1) * sizeof(row));
	r->row[r->nr++] = row;
	return 0;
}

static int read_line_of(struct hugetlb_result *r, unsigned int line, json_t *json)
{
	const char *type = json_string_value(json_object_get(json, "type"));

	if (line == 1) {
		if (!type || strcmp(type, "hugetlb") ||
		    json_integer_value(json_object_get(json, "format")) != 1 ||
		    !json_is_object(json_object_get(json, "environment")))
			return -EINVAL;
		r->header = json_incref(json);
		return 0;
	}
	if (!type || r->complete)
		return -EINVAL;
	if (!strcmp(type, "footer")) {
		r->complete = json_is_true(json_object_get(json, "complete"));
		return 0;
	}
	return strcmp(type, "row") ? -EINVAL : read_row(r, json);
}

/**
 * hugetlb_read() - a file that hugetlb_write() made
 * @r: filled in, also with what stands before a damage
 * @path: of the file
 *
 * Return: exit status; CB_FAILED, after a message, where it is not whole.
 */
int hugetlb_read(struct hugetlb_result *r, const char *path)
{
	unsigned int line = 0;
	char *text = NULL;
	size_t size = 0;
	FILE *from;
	int ret = 0;

	memset(r, 0, sizeof(*r));
	from = fopen(path, "re");
	if (!from) {
		msg("%s: %s", path, strerror(errno));
		return CB_FAILED;
	}
	while (!ret && getline(&text, &size, from) > 0) {
		json_t *json = json_loads(text, 0, NULL);

		line++;
		ret = json ? read_line_of(r, line, json) : -EINVAL;
		json_decref(json);
	}
	free(text);
	fclose(from);
	if (!r->header) {
		msg("%s: no result of clearbench hugetlb (format 1)", path);
		return CB_USAGE;
	}
	if (ret)
		msg("%s: line %u is damaged: what stands before it is shown", path, line);
	else if (!r->complete)
		msg("%s: not whole: what was done is shown", path);
	return ret || !r->complete ? CB_FAILED : CB_OK;
}

/* Statistics */

/* Median, and the order statistics that enclose it with 95 %; NAN where too few */
static void row_median(const struct hugetlb_row *row, double value[3])
{
	double *sorted = xrealloc(NULL, row->nr * sizeof(*sorted));
	unsigned int n = row->nr, k = hist_median_rank(n);

	value[0] = NAN;
	value[1] = NAN;
	value[2] = NAN;
	if (n) {
		memcpy(sorted, row->seconds, n * sizeof(*sorted));
		value[0] = median(sorted, n);
	}
	if (k) {
		value[1] = sorted[k - 1];
		value[2] = sorted[n - k];
	}
	free(sorted);
}

/* The table */

/**
 * struct line - rows of one kind, of all files
 * @row: what they have in common; its times are one a file where there are several
 * @init: init_on_alloc
 * @files: that it comes from
 */
struct line {
	struct hugetlb_row row;
	const char *init;
	unsigned int files;
};

struct lines {
	struct line *line;
	unsigned int nr;
};

static const char *init_of(const struct hugetlb_result *r)
{
	const char *init = json_string_value(json_object_get(r->header, "init_on_alloc"));

	return init ? init : "unknown";
}

static const json_t *env_of(const struct hugetlb_result *r)
{
	return json_object_get(r->header, "environment");
}

static struct line *find_line(struct lines *lines, const struct hugetlb_row *row, const char *init)
{
	struct line *line;
	unsigned int i;

	for (i = 0; i < lines->nr; i++) {
		line = &lines->line[i];
		if (line->row.kind == row->kind && line->row.size == row->size &&
		    line->row.node == row->node && line->row.threads == row->threads &&
		    line->row.pages == row->pages && !strcmp(line->init, init))
			return line;
	}
	lines->line = xrealloc(lines->line, (lines->nr + 1) * sizeof(*line));
	line = &lines->line[lines->nr++];
	line->row = *row;
	line->row.seconds = NULL;
	line->row.nr = 0;
	line->row.left_out = 0;
	line->row.stalled = 0;
	line->init = init;
	line->files = 0;
	return line;
}

/* Boots first, then what this boot did; within them by threads, the cleared ones first */
static int compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int order = (y->row.kind == HUGETLB_BOOT) - (x->row.kind == HUGETLB_BOOT);

	if (!order)
		order = (int)x->row.kind - (int)y->row.kind;
	if (!order)
		order = -strcmp(x->init, y->init);	/* "on" behind "off" in the alphabet */
	if (!order)
		order = (int)x->row.threads - (int)y->row.threads;
	if (!order)
		order = (x->row.pages > y->row.pages) - (x->row.pages < y->row.pages);
	return order;
}

/* Rounds of one boot are not independent of its memory: of several, each gives its median. */
static void collect(struct lines *lines, const struct hugetlb_result *r, unsigned int nr)
{
	unsigned int i, k, j;

	for (i = 0; i < nr; i++) {
		for (k = 0; k < r[i].nr; k++) {
			const struct hugetlb_row *row = &r[i].row[k];
			struct line *line = find_line(lines, row, init_of(&r[i]));
			double value[3];

			line->files++;
			line->row.left_out += row->left_out;
			line->row.stalled += row->stalled;
			row_median(row, value);
			if (nr > 1 && row->nr)
				hugetlb_row_add(&line->row, value[0]);
			for (j = 0; nr == 1 && j < row->nr; j++)
				hugetlb_row_add(&line->row, row->seconds[j]);
		}
	}
	if (lines->nr)
		qsort(lines->line, lines->nr, sizeof(*lines->line), compare_lines);
}

/* Seconds with three digits, as the mail has them, and no less than 10 us */
static const char *fmt_seconds(char *buf, double s)
{
	int places = s < 0.00995 ? 5 : s < 0.0995 ? 4 : s < 9.995 ? 3 : 1;

	if (isnan(s))
		return "-";
	snprintf(buf, UNIT_LEN, "%.*f", places, s);
	return buf;
}

/* What is not cleared has no bandwidth. */
static bool is_cleared(const struct line *line)
{
	if (line->row.kind == HUGETLB_FAULT)
		return true;
	return line->row.kind != HUGETLB_SHRINK && strcmp(line->init, "off");
}

static void put_numbers(struct table *t, double bytes, const double value[3], double tick,
			bool cleared)
{
	char lo[UNIT_LEN], hi[UNIT_LEN], buf[UNIT_LEN];

	/* Shorter than the clock's step is no length. */
	if (value[0] < tick)
		table_cell(t, "<%s", fmt_seconds(buf, tick));
	else
		table_cell(t, "%s", fmt_seconds(buf, value[0]));
	if (isnan(value[1]))
		table_cell(t, "-");
	else
		table_cell(t, "[%s, %s]", fmt_seconds(lo, value[1]), fmt_seconds(hi, value[2]));
	table_cell(t, "%s", cleared && value[0] >= tick && value[0] > 0 ?
		   fmt_gbps(buf, bytes / value[0] / 1e9) : "-");
}

static void put_line(struct table *t, const struct line *line)
{
	const struct hugetlb_row *row = &line->row;
	double value[3], bytes = row->pages * row->size, share;
	char buf[UNIT_LEN], *name;

	if (row->threads)
		name = xasprintf("boot, %u thread%s", row->threads, row->threads > 1 ? "s" : "");
	else if (row->node >= 0)
		name = xasprintf("%s, node %d", kind_names[row->kind], row->node);
	else
		name = xstrdup(kind_names[row->kind]);
	table_cell(t, "%s", name);
	free(name);
	table_cell(t, "%s", strcmp(line->init, "unknown") ? line->init : "?");
	table_cell(t, "%lu", row->pages);
	table_cell(t, "%s", fmt_extent(buf, row->size));
	share = 100 * bytes / HUGETLB_V1_BYTES;
	table_cell(t, "%.*g %%", share < 1 ? 2 : 3, share);
	row_median(row, value);
	put_numbers(t, bytes, value, row->tick, is_cleared(line));
	table_cell(t, "%u", row->nr);
}

static void put_published(struct table *t, const char *name, double seconds)
{
	const double value[3] = { seconds, NAN, NAN };

	table_cell(t, "%s", name);
	table_cell(t, "on");
	table_cell(t, "8192");
	table_cell(t, "2M");
	table_cell(t, "100 %%");
	put_numbers(t, HUGETLB_V1_BYTES, value, 0, true);
	table_cell(t, "-");
}

static void put_table(const struct lines *lines, FILE *to)
{
	static const char *const head[] = {
		"row", "init", "pages", "size", "of v1", "seconds", "95 % interval", "GB/s", "n"
	};
	struct table t;
	unsigned int i;

	table_init(&t, "llrrrrlrr");
	for (i = 0; i < ARRAY_SIZE(head); i++)
		table_cell(&t, "%s", head[i]);
	put_published(&t, "v1, before", HUGETLB_V1_BEFORE);
	put_published(&t, "v1, after", HUGETLB_V1_AFTER);
	for (i = 0; i < lines->nr; i++)
		put_line(&t, &lines->line[i]);
	table_print(&t, to, LINE_WIDTH);
}

static void put_note(FILE *to, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	put_wrapped(to, "", "  ", text ? text : "", LINE_WIDTH);
	free(text);
}

/* Growing with clearing and without, of as many pages: what is left is not clearing. */
static void put_share(const struct lines *lines, FILE *to)
{
	unsigned int i, k;
	bool any = false, told = false;

	for (i = 0; i < lines->nr; i++) {
		const struct line *on = &lines->line[i];

		if (on->row.kind != HUGETLB_GROW || strcmp(on->init, "on"))
			continue;
		any = true;
		for (k = 0; k < lines->nr; k++) {
			const struct line *off = &lines->line[k];
			double with[3], without[3];
			char a[UNIT_LEN], b[UNIT_LEN];

			if (off->row.kind != HUGETLB_GROW || strcmp(off->init, "off") ||
			    off->row.size != on->row.size || off->row.node != on->row.node ||
			    off->row.pages != on->row.pages || !on->row.nr || !off->row.nr)
				continue;
			row_median(&on->row, with);
			row_median(&off->row, without);
			put_note(to, "Not clearing: %s of %s s, %.2g %%, by boots with init_on_alloc=0.",
				 fmt_seconds(a, without[0]), fmt_seconds(b, with[0]),
				 100 * without[0] / with[0]);
			told = true;
		}
	}
	if (any && !told)
		put_note(to, "What of the run time is not clearing, a boot with init_on_alloc=0 says (scripts/hugetlb-boot).");
}

static void print_mark(void *arg, const char *text)
{
	put_wrapped(arg, "", "  ", text, LINE_WIDTH);
}

static void put_environment(const struct hugetlb_result *r, unsigned int nr, FILE *to)
{
	const json_t *env = env_of(r);
	const char *kernel = env_get(env, "kernel"), *cpu = env_get(env, "cpu_model");
	const char *cpus = env_get(env, "cpus"), *options = env_get(env, "cmdline");
	const char *distorts = env_get(env, "distorts");
	bool same = true;
	unsigned int i;

	put_note(to, "Kernel %s; %s CPUs; %s", or_dash(kernel), or_dash(cpus), or_dash(cpu));
	for (i = 1; i < nr; i++) {
		const char *other = env_get(env_of(&r[i]), "cmdline");

		same &= !strcmp(other ? other : "", options ? options : "");
	}
	if (options && same)
		put_note(to, "Options that bear on it: %s", options);
	put_note(to, "Debug options of this kernel: %s",
		 distorts ? distorts : "not known without the module");
}

static void put_notes(const struct hugetlb_result *r, unsigned int nr, const struct lines *lines,
		      FILE *to)
{
	unsigned int i, left_out = 0, stalled = 0;
	const char *why;
	double tick = 0;
	bool off = false, unknown = false;

	for (i = 0; i < lines->nr; i++) {
		const struct line *line = &lines->line[i];

		tick = line->row.tick > tick ? line->row.tick : tick;
		off |= line->row.kind == HUGETLB_GROW && !strcmp(line->init, "off");
		unknown |= !strcmp(line->init, "unknown");
		if (line->row.kind != HUGETLB_GROW)
			continue;
		left_out += line->row.left_out;
		stalled += line->row.stalled;
	}
	if (nr > 1)
		put_note(to, "n counts boots, each with the median of its rounds.");
	else
		put_note(to, "n counts rounds of this boot; a first one was a warm-up.");
	if (off)
		put_note(to, "init off: init_on_alloc is off, and growing a pool clears nothing: such a time is what is not clearing, and has no bandwidth.");
	if (unknown)
		put_note(to, "init ?: neither the log nor the command line says whether init_on_alloc is on: boot with init_on_alloc=1.");
	put_share(lines, to);
	if (left_out)
		put_note(to, "Rounds that got another number of pages and are left out: %u.",
			 left_out);
	if (stalled)
		put_note(to, "Rounds in which memory was reclaimed or compacted, which is in their time: %u.",
			 stalled);
	if (tick > 0)
		put_note(to, "boot: whole jiffies by the kernel's own clock, so +-%g ms each.",
			 1e3 * tick);
	why = json_string_value(json_object_get(r->header, "no_boot_row"));
	if (why && !(tick > 0))
		put_note(to, "No boot row: %s.", why);
	put_environment(r, nr, to);
}

static bool same_machine(const struct hugetlb_result *a, const struct hugetlb_result *b)
{
	static const char *const keys[] = { "kernel", "cpu_model", "cpus" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *x = env_get(env_of(a), keys[i]), *y = env_get(env_of(b), keys[i]);

		if (strcmp(x ? x : "", y ? y : "")) {
			msg("the files differ in %s, %s and %s: show them one by one", keys[i],
			    or_dash(x), or_dash(y));
			return false;
		}
	}
	if (!json_equal(json_object_get(a->header, "marks"), json_object_get(b->header, "marks"))) {
		msg("the files differ in their marks: show them one by one");
		return false;
	}
	return true;
}

/**
 * hugetlb_show() - print one table of all results
 * @r: results, of one kernel on one machine
 * @nr: how many
 * @to: where
 *
 * Return: exit status, after a message where they do not belong together.
 */
int hugetlb_show(const struct hugetlb_result *r, unsigned int nr, FILE *to)
{
	struct lines lines = { NULL, 0 };
	unsigned int i;

	for (i = 1; i < nr; i++)
		if (!same_machine(&r[0], &r[i]))
			return CB_FAILED;
	collect(&lines, r, nr);
	put_note(to, "HugeTLB: time to fill a pool, median; v1: first posting, machine unknown");
	list_marks(json_object_get(r->header, "marks"), print_mark, to);
	put_table(&lines, to);
	put_notes(r, nr, &lines, to);
	for (i = 0; i < lines.nr; i++)
		free(lines.line[i].row.seconds);
	free(lines.line);
	return CB_OK;
}
