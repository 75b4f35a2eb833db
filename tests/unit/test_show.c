// SPDX-License-Identifier: GPL-2.0
/*
 * What people and programs read: units, tables, mails, CSV, JSON.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "result.h"

static void test_units(void **state)
{
	static const struct {
		double ns;
		const char *text;
	} times[] = {
		{ 0, "0.0 ns" }, { 0.04, "0.0 ns" }, { 45.34, "45.3 ns" }, { 99.96, "100 ns" },
		{ 999.4, "999 ns" }, { 999.6, "1.00 us" }, { 1234, "1.23 us" }, { 12345, "12.3 us" },
		{ 999600, "1.00 ms" }, { 6543210, "6.54 ms" }, { 1e9, "1.00 s" }, { 68e9, "68.0 s" },
		{ 99e12, "99000s" }, { 1e15, ">99999s" }, { 1e300, ">99999s" }, { -1, "-" },
		{ NAN, "-" }, { INFINITY, ">99999s" },
	};
	static const struct {
		double bytes;
		const char *text;
	} sizes[] = {
		{ 4096, "4K" }, { 65536, "64K" }, { 2097152, "2M" }, { 1073741824, "1G" },
		{ NAN, "-" }, { 1e300, "-" }, { 1e24, "-" },
	};
	static const struct {
		double fraction;
		const char *text;
	} changes[] = {
		{ 0, "+0.00" }, { -0.00001, "+0.00" }, { 0.0123, "+1.23" }, { -0.09996, "-10.0" },
		{ 0.5, "+50.0" }, { -0.9996, "-100" }, { 15, "+1500" }, { 1e9, ">99999" },
		{ NAN, "-" }, { INFINITY, ">99999" },
	};
	char buf[UNIT_LEN];
	unsigned int i;
	double v;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(times); i++)
		assert_string_equal(fmt_ns(buf, times[i].ns), times[i].text);
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		assert_string_equal(fmt_extent(buf, sizes[i].bytes), sizes[i].text);
	for (i = 0; i < ARRAY_SIZE(changes); i++)
		assert_string_equal(fmt_change(buf, changes[i].fraction), changes[i].text);
	assert_string_equal(fmt_gbps(buf, 38.64), "38.6");
	assert_string_equal(fmt_ratio(buf, 1.0031), "1.003");
	assert_string_equal(fmt_count(buf, 10000000), "10000000");
	for (v = 1e-6; v < 1e300; v *= 3.7) {
		assert_true(strlen(fmt_ns(buf, v)) <= 7);
		assert_true(strlen(fmt_change(buf, v)) <= 7);
		assert_true(strlen(fmt_gbps(buf, v)) <= 7);
		assert_true(strlen(fmt_ratio(buf, v)) <= 7);
		assert_true(strlen(fmt_count(buf, v)) <= 8);
		assert_true(strlen(fmt_extent(buf, v)) <= 5);
	}
}

static void test_lists(void **state)
{
	static const struct {
		const char *text;
		int ret;
		const char *back;
	} lists[] = {
		{ "0-10", 0, "0-10" }, { "3", 0, "3" }, { "0,1,2,9", 0, "0-2,9" },
		{ "9,0-2,1", 0, "0-2,9" }, { "63", 0, "63" }, { "64", -ERANGE, NULL },
		{ "99999999999999999999", -ERANGE, NULL }, { "", -EINVAL, NULL },
		{ "3-1", -EINVAL, NULL }, { "1,", -EINVAL, NULL }, { ",1", -EINVAL, NULL },
		{ "-1", -EINVAL, NULL }, { "1-", -EINVAL, NULL }, { "1 2", -EINVAL, NULL },
		{ " 1", -EINVAL, NULL }, { "a", -EINVAL, NULL }, { "0x1", -EINVAL, NULL },
	};
	struct list list;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		char *text;

		assert_int_equal(list_parse(&list, lists[i].text), lists[i].ret);
		if (lists[i].ret)
			continue;
		text = list_text(&list);
		assert_string_equal(text, lists[i].back);
		free(text);
	}
}

static void test_scrub(void **state)
{
	static const struct {
		const char *text;
		const char *clean;
	} texts[] = {
		{ "-o /tmp/a/b.jsonl", "-o b.jsonl" }, { "/b", "b" }, { "--out=/x/y", "--out=y" },
		{ "a/b native/generic", "a/b native/generic" }, { "/", "/" },
		{ "x // y", "x // y" }, { "http://a/b", "http://a/b" }, { "'/x/y/'", "'y/'" },
	};
	unsigned int i;
	char host[256], *clean, *text;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		clean = scrub(texts[i].text);
		assert_string_equal(clean, texts[i].clean);
		free(clean);
	}
	assert_int_equal(gethostname(host, sizeof(host)), 0);
	if (!strcmp(host, "localhost") || !strcmp(host, "(none)"))
		return;
	text = xasprintf("on %s: x%sx", host, host);
	clean = scrub(text);
	free(text);
	text = xasprintf("on HOST: x%sx", host);
	assert_string_equal(clean, text);
	free(clean);
	free(text);
}

static void check_csv(const char *text, const char *expected)
{
	size_t len;
	char *got;
	FILE *to = open_memstream(&got, &len);

	put_csv(to, text);
	fclose(to);
	assert_string_equal(got, expected);
	free(got);
}

static void test_csv_quoting(void **state)
{
	(void)state;
	check_csv(NULL, "");
	check_csv("", "");
	check_csv("plain words", "plain words");
	check_csv("a,b", "\"a,b\"");
	check_csv("say \"no\"", "\"say \"\"no\"\"\"");
	check_csv("two\nlines", "\"two\nlines\"");
	check_csv("\r", "\"\r\"");
}

static void test_table(void **state)
{
	struct table t;
	size_t len;
	char *got;
	FILE *to = open_memstream(&got, &len);

	(void)state;
	table_init(&t, "rl");
	table_cell(&t, "%d", 1);
	table_cell(&t, "a");
	table_cell(&t, "%d", 1000);
	table_cell(&t, "b\x1b[2J\n");
	table_cell(&t, "%s", "\u00b5s");
	table_span(&t, "words that go over all that is left");
	table_cell(&t, "7");
	table_cell(&t, "%s", "");
	table_print(&t, to, 30);
	fclose(to);
	assert_string_equal(got,
			    "   1  a\n"
			    "1000  b?[2J?\n"
			    "  \u00b5s  words that go over all\n"
			    "      that is left\n"
			    "   7\n");
	free(got);

	/* Too wide: the gaps give first. */
	to = open_memstream(&got, &len);
	table_init(&t, "lll");
	table_cell(&t, "1234567");
	table_cell(&t, "1234567");
	table_cell(&t, "1234567");
	table_print(&t, to, 24);
	fclose(to);
	assert_string_equal(got, "1234567 1234567 1234567\n");
	free(got);
	table_free(&t);
}

static void check_widths(const char *text, unsigned int limit)
{
	while (*text) {
		unsigned int len = strcspn(text, "\n");

		if (len > limit)
			fail_msg("%u columns: %.*s", len, len, text);
		if (len && text[len - 1] == ' ')
			fail_msg("ends in a blank: %.*s", len, text);
		text += len + (text[len] == '\n');
	}
}

/* Rows of a table: every column ends, or begins, where its head does. */
static void check_alignment(const char *text, const char *head, unsigned int rows)
{
	const char *line = strstr(text, head);
	unsigned int end;

	assert_non_null(line);
	while (line > text && line[-1] != '\n')
		line--;
	end = strcspn(line, "\n");
	while (rows--) {
		line = strchr(line, '\n') + 1;
		assert_int_equal(strcspn(line, "\n"), end);
	}
}

static const char *const formats[] = { "table", "mail", "csv", "json", "hist", "md" };

static char *fixture_file(unsigned int cells)
{
	size_t len;
	char *text, *path;
	FILE *to = open_memstream(&text, &len);

	fixture_write(to, cells, 6);
	fclose(to);
	path = temp_file("s.jsonl", text);
	free(text);
	return path;
}

static void test_formats(void **state)
{
	char *path = fixture_file(44), *out, *err;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(formats); i++) {
		assert_int_equal(run_verb(&verb_show, &out, &err, "--format", formats[i], path, NULL),
				 CB_OK);
		assert_string_equal(err, "");
		/* The mark is in every one of them. */
		assert_true(strstr(out, "EMULATED") || strstr(out, "emulated"));
		if (!strcmp(formats[i], "mail")) {
			check_widths(out, 75);
			check_alignment(out, "95 % interval", 11);
			assert_non_null(strstr(out, "no difference in speed above is a real one"));
			assert_non_null(strstr(out, "process, cache cold, model lazy, CPU 1, node 0: legacy -> batched full"));
		} else if (!strcmp(formats[i], "csv")) {
			assert_int_equal(count_lines(out), 45);
			assert_non_null(strstr(out, "\nprocess,0,legacy,-,cold,lazy,1,0,0,12,0,0,ok,ok,,360,400,"));
		} else if (!strcmp(formats[i], "json")) {
			json_t *json = json_loads(out, JSON_REJECT_DUPLICATES, NULL);

			assert_non_null(json);
			assert_int_equal(json_array_size(json_object_get(json, "cells")), 44);
			json_decref(json);
		} else if (!strcmp(formats[i], "hist")) {
			assert_non_null(strstr(out, " clear, 12 values"));
			assert_non_null(strstr(out, "  400 ns .. 404 ns            2"));
		} else if (!strcmp(formats[i], "table")) {
			check_widths(out, 200);
		}
		free(out);
		free(err);
	}
	free(path);
}

/* A cell's line with some of its members changed: "old=new" pairs */
static char *edited(unsigned int index, const char *const (*edits)[2], unsigned int nr)
{
	char *cell = fixture_cell(index, 6);
	unsigned int i;

	for (i = 0; i < nr; i++) {
		char *at = strstr(cell, edits[i][0]), *next;

		assert_non_null(at);
		next = xasprintf("%.*s%s%s", (int)(at - cell), cell, edits[i][1],
				 at + strlen(edits[i][0]));
		free(cell);
		cell = next;
	}
	return cell;
}

static char *show_pair(const char *format, const char *const (*edits)[2], unsigned int nr)
{
	char *before = fixture_cell(0, 6), *after = edited(1, edits, nr), *text, *path, *out;

	text = xasprintf("%s\n%s\n%s\n{\"type\":\"footer\",\"complete\":true}\n", fixture_header(),
			 before, after);
	path = temp_file("pair.jsonl", text);
	assert_int_equal(run_verb(&verb_show, &out, NULL, "--format", format, path, NULL), CB_OK);
	free(path);
	free(text);
	free(before);
	free(after);
	return out;
}

static void expect(char *out, const char *what)
{
	if (!strstr(out, what))
		fail_msg("no \"%s\" in:\n%s", what, out);
	free(out);
}

#define PAIR(_format, ...) ({						\
	static const char *const edits[][2] = { __VA_ARGS__ };		\
									\
	show_pair(_format, edits, ARRAY_SIZE(edits));			\
})

#define RATIO(_r, _lo, _hi)						\
	{ "\"ratio\":1.0100,\"ratio_lo\":1.0050,\"ratio_hi\":1.0150",	\
	  "\"ratio\":" _r ",\"ratio_lo\":" _lo ",\"ratio_hi\":" _hi }
#define FLOOR(_lo, _hi)							\
	{ "\"floor_lo\":0.9990,\"floor_hi\":1.0010", "\"floor_lo\":" _lo ",\"floor_hi\":" _hi }

/* What is said, and what is not */
static void test_verdicts(void **state)
{
	(void)state;
	/* clear of 1 and of the noise: a change of the time, so 1/ratio - 1 */
	expect(PAIR("mail", RATIO("2.0", "1.9", "2.1")), "-50.0 %  [-52.4, -47.4]   0.10  12\n");
	expect(PAIR("mail", RATIO("0.5", "0.4", "0.6")), "+100 %  [+66.7, +150]   0.10  12\n");
	/* spans 1 */
	expect(PAIR("mail", RATIO("1.001", "0.99", "1.02")), "|x| < 1.96 %");
	/* inside the noise */
	expect(PAIR("mail", RATIO("1.01", "1.005", "1.015"), FLOOR("0.98", "1.02")),
	       "|x| < 2.04 %");
	expect(PAIR("mail", RATIO("0.99", "0.985", "0.995"), FLOOR("0.98", "1.02")),
	       "|x| < 2.04 %");
	/* beyond it, and an interval that excludes no change */
	expect(PAIR("mail", RATIO("1.01", "1.005", "1.015"), FLOOR("0.993", "1.007")),
	       "-0.99 %  [-1.48, -0.50]");
	expect(PAIR("mail", RATIO("0.99", "0.985", "0.995"), FLOOR("0.993", "1.007")),
	       "+1.01 %  [+0.50, +1.52]");
	/* beyond it, and an interval that does not */
	expect(PAIR("mail", RATIO("1.01", "0.999", "1.021"), FLOOR("0.993", "1.007")),
	       "|x| < 2.06 %");
	/* noise that happened to fall on one side was noise of either sign */
	expect(PAIR("mail", RATIO("1.01", "1.005", "1.015"), FLOOR("0.98", "1.001")),
	       "|x| < 2.04 %");
	expect(PAIR("mail", RATIO("0.99", "0.985", "0.995"), FLOOR("0.999", "1.02")),
	       "|x| < 1.96 %");
	/* no interval: no verdict */
	expect(PAIR("mail", RATIO("1.25", "null", "null")), "-20.0 % ?");
	/* no noise floor */
	expect(PAIR("mail", RATIO("2.0", "1.9", "2.1"), FLOOR("null", "null")),
	       "-50.0 %  [-52.4, -47.4]      -  12\n");
	/* no pairs at all: from the medians, and no verdict */
	expect(PAIR("mail", RATIO("null", "null", "null"), FLOOR("null", "null")), "-1.75 % ?");
	/* nonsense is not an interval */
	expect(PAIR("mail", RATIO("1.25", "0", "2")), "-20.0 % ?");
}

/* Rows without figures are rows, and say why. */
static void test_remarks(void **state)
{
	(void)state;
	expect(PAIR("table", { "\"state\":\"ok\",\"note\":null", "\"state\":\"refused\",\"note\":\"sleeps\"" },
		    { "\"p50_ns\":393.0", "\"p50_ns\":null" }), "batched  full   refused: sleeps\n");
	expect(PAIR("mail", { "\"state\":\"ok\",\"note\":null", "\"state\":\"refused\",\"note\":\"sleeps\"" },
		    { "\"p50_ns\":393.0", "\"p50_ns\":null" }), "batched full: refused: sleeps\n");
	expect(PAIR("md", { "\"state\":\"ok\",\"note\":null", "\"state\":\"failed\",\"note\":null" },
		    { "\"p50_ns\":393.0", "\"p50_ns\":null" }), "| full | failed |");
	expect(PAIR("mail", { "\"not_available\":0", "\"not_available\":100" },
		    { "\"p50_ns\":393.0", "\"p50_ns\":null" }), "batched full: not available");
	expect(PAIR("mail", { "\"note\":null", "\"note\":\"label\"" }), "  order 0: label\n");
	expect(PAIR("csv", { "\"note\":null", "\"note\":\"a,\\\"b\\\"\"" }), ",ok,\"a,\"\"b\"\"\",354,");
	expect(PAIR("table", { "\"model\":\"lazy\"", "\"model\":\"none!\"" }), "FORCED");
	/* what a file holds does not steer the terminal */
	expect(PAIR("table", { "\"note\":null", "\"note\":\"\\u001b[2J\"" }), "?[2J");
}

static void test_extreme_mail(void **state)
{
	char *out = PAIR("mail", RATIO("0.00001", "0.000001", "0.1"), FLOOR("0.00001", "99999"),
			 { "\"n\":12", "\"n\":10000000" },
			 { "\"min_ns\":354", "\"min_ns\":0" },
			 { "\"p50_ns\":393.0,\"p90_ns\":432.3,\"p99_ns\":471.6,\"p999_ns\":510.9,\"max_ns\":590",
			   "\"p50_ns\":8e13,\"p90_ns\":8e13,\"p99_ns\":8e13,\"p999_ns\":8e13,\"max_ns\":8e13" },
			 { ",\"hist\":{\"clear\":[[400,404,2],[404,408,2],[408,412,2],[412,416,2],[416,420,2],[420,424,2]]}",
			   "" },
			 { "\"order\":0", "\"order\":63" },
			 { "\"note\":null",
			   "\"note\":\"averyveryveryveryveryveryveryveryveryveryveryveryveryveryveryveryveryverylongword and more words than one line can take at all, as it is\"" });

	(void)state;
	check_widths(out, 75);
	free(out);
}

static void test_usage(void **state)
{
	char *path = fixture_file(2), *err;

	(void)state;
	assert_int_equal(run_verb(&verb_show, NULL, &err, NULL), CB_USAGE);
	free(err);
	assert_int_equal(run_verb(&verb_show, NULL, &err, "--format", "xml", path, NULL), CB_USAGE);
	expect(err, "table|mail|csv|json|hist|md");
	assert_int_equal(run_verb(&verb_show, NULL, &err, "--frobnicate", path, NULL), CB_USAGE);
	free(err);
	assert_int_equal(run_verb(&verb_show, NULL, &err, path, path, NULL), CB_USAGE);
	free(err);
	free(path);
}

/* Ranks that enclose a percentile, against exact sums of the binomial distribution */
static void test_quantile_ranks(void **state)
{
	static const struct {
		double n, p, lo, hi;	/* lo 0: too few values */
	} known[] = {
		{ 5, 0.5, 0, 0 }, { 6, 0.5, 1, 6 }, { 10, 0.5, 2, 9 }, { 25, 0.5, 8, 18 },
		{ 100, 0.5, 40, 61 }, { 100, 0.99, 0, 0 }, { 400, 0.99, 392, 400 },
	};
	double lo, hi;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(known) / sizeof(*known); i++) {
		bool has = quantile_ranks(known[i].n, known[i].p, &lo, &hi);

		assert_int_equal(has, known[i].lo > 0);
		if (has) {
			assert_int_equal(lo, known[i].lo);
			assert_int_equal(hi, known[i].hi);
		}
	}
}

/* A reader that goes away is no failure; a full disk is. */
static void test_output_errors(void **state)
{
	char *path = fixture_file(2000);
	int fd[2], full, saved = dup(STDOUT_FILENO);
	char *argv[] = { "show", path };
	struct capture c;

	(void)state;
	assert_int_equal(pipe(fd), 0);
	close(fd[0]);
	signal(SIGPIPE, SIG_IGN);
	fflush(NULL);
	c = capture_begin(STDERR_FILENO);
	dup2(fd[1], STDOUT_FILENO);
	assert_int_equal(verb_show.main(2, argv), CB_OK);
	full = open("/dev/full", O_WRONLY);
	clearerr(stdout);
	dup2(full, STDOUT_FILENO);
	assert_int_equal(verb_show.main(2, argv), CB_FAILED);
	clearerr(stdout);
	dup2(saved, STDOUT_FILENO);
	signal(SIGPIPE, SIG_DFL);
	expect(capture_end(&c), "clearbench: standard output: No space left on device\n");
	close(saved);
	close(full);
	close(fd[1]);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_scrub),
		cmocka_unit_test(test_csv_quoting),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_quantile_ranks),
		cmocka_unit_test(test_remarks),
		cmocka_unit_test(test_extreme_mail),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_output_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
