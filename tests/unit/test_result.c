// SPDX-License-Identifier: GPL-2.0
/*
 * result.c and tsv.c: what is whole is read, and what is not is named.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"
#include "result.h"

#define CELLS	5

static char *sample(void)
{
	size_t len;
	char *text;
	FILE *to = open_memstream(&text, &len);

	fixture_write(to, CELLS, 4);
	fclose(to);
	return text;
}

static int read_text_as_result(struct result *r, const char *text, char **err)
{
	char *path = temp_file("r.jsonl", text);
	struct capture c = capture_begin(STDERR_FILENO);
	int status = result_read(r, path, NULL, NULL);

	*err = capture_end(&c);
	free(path);
	return status;
}

static void test_good(void **state)
{
	char *text = sample(), *err;
	const struct cell *c;
	struct result r;

	(void)state;
	assert_int_equal(read_text_as_result(&r, text, &err), CB_OK);
	assert_string_equal(err, "");
	assert_int_equal(r.nr_cells, CELLS);
	assert_false(r.stopped);
	assert_true(has_mark(r.marks, "emulated"));
	assert_string_equal(env_get(r.environment, "cpu_model"), "Test CPU");
	c = &r.cells[1];
	assert_string_equal(CELL_TEXT(c, method), "batched");
	assert_string_equal(CELL_TEXT(c, batch), "full");
	assert_null(CELL_TEXT(c, note));
	assert_true(CELL_NUM(c, p50_ns) == 393);
	assert_true(CELL_NUM(c, ratio) == 1.01);
	assert_true(isnan(CELL_NUM(c, irq_p50_ns)));
	assert_ptr_equal(find_cell(&r, c), c);
	result_free(&r);
	free(err);
	free(text);
}

/* Blanks, another order of the members and unknown ones take the long way. */
static void test_other_spelling(void **state)
{
	static const char cell[] =
		"{ \"type\" : \"cell\", \"hist\" : { \"clear\" : [ [ 1.5e0 , 2 , 7 ], [3,null,1] ] },\n"
		" \"future\": {\"a\": [1]}, \"state\": \"ok\", \"n\": 8, \"p50_ns\": 1.0e1,\n"
		" \"note\": \"\\\"hist\\\": \\u00b5\", \"batch\": 32,\n"
		" \"method\": \"m\", \"order\": 3, \"context\": \"process\" }";
	char *text, *one, *at, *err;
	struct result r;

	(void)state;
	one = xstrdup(cell);
	for (at = one; *at; at++)
		if (*at == '\n')
			*at = ' ';
	text = xasprintf("%s\n%s\n{\"type\":\"footer\",\"complete\":true}\n", fixture_header(), one);
	assert_int_equal(read_text_as_result(&r, text, &err), CB_OK);
	assert_string_equal(err, "");
	assert_int_equal(r.nr_cells, 1);
	assert_string_equal(CELL_TEXT(r.cells, batch), "32");
	assert_string_equal(CELL_TEXT(r.cells, note), "\"hist\": \u00b5");
	assert_true(CELL_NUM(r.cells, p50_ns) == 10);
	result_free(&r);
	free(err);
	free(text);
	free(one);
}

/* Cut at every byte: whole lines are read, one line says so, nothing crashes. */
static void test_cut_anywhere(void **state)
{
	char *text = sample(), *err;
	size_t len = strlen(text), header = strlen(fixture_header()), cut;
	struct result r;

	(void)state;
	for (cut = 0; cut < len - 1; cut++) {
		char *part = strndup(text, cut);
		unsigned int lines = count_lines(part);
		int status = read_text_as_result(&r, part, &err);

		assert_int_equal(count_lines(err), 1);
		if (cut < header) {
			assert_int_equal(status, CB_USAGE);
		} else {
			unsigned int whole = lines ? lines - 1 : 0;

			/* A line may lack its newline and nothing else. */
			whole += text[cut] == '\n' && lines && lines <= CELLS;
			assert_int_equal(status, CB_FAILED);
			assert_int_equal(r.nr_cells, whole);
			assert_non_null(strstr(err, "r.jsonl:"));
		}
		result_free(&r);
		free(err);
		free(part);
	}
	text[len - 1] = '\0';
	assert_int_equal(read_text_as_result(&r, text, &err), CB_OK);
	result_free(&r);
	free(err);
	free(text);
}

static char *replaced(const char *text, const char *old, const char *new)
{
	const char *at = strstr(text, old);

	assert_non_null(at);
	return xasprintf("%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
}

/* What a hand may do to a line, and the reason that must be given. */
static void test_hand_edited(void **state)
{
	static const struct {
		const char *old;
		const char *new;
		const char *reason;
		unsigned int cells;	/* that are left */
	} edits[] = {
		{ "\"p50_ns\":400.0", "\"p50_ns\":NaN", "2: ", CELLS - 1 },
		{ "\"p50_ns\":400.0", "\"p50_ns\":Infinity", "2: ", CELLS - 1 },
		{ "\"p50_ns\":400.0", "\"p50_ns\":1e999", "2: no JSON: real number overflow", CELLS - 1 },
		{ "\"p50_ns\":400.0", "\"p50_ns\":-400.0", "2: p50_ns is negative", CELLS - 1 },
		{ "\"p50_ns\":400.0", "\"p50_ns\":\"fast\"", "2: p50_ns is not a number", CELLS - 1 },
		{ "\"p50_ns\":400.0", "\"p50_ns\":[]", "2: p50_ns is not a number", CELLS - 1 },
		{ "\"p50_ns\":400.0", "\"p50_ns\":0400.0", "2: ", CELLS - 1 },
		{ "\"p50_ns\":400.0", "\"p50_ns\":0x10", "2: ", CELLS - 1 },
		{ "\"p50_ns\":400.0", "\"p50_ns\":4000.0", "2: the cell has percentiles", CELLS - 1 },
		{ "\"p50_ns\":400.0", "\"p50_ns\":1,\"p50_ns\":2", "2: no JSON: duplicate object key",
		  CELLS - 1 },
		{ "\"method\":\"legacy\"", "\"method\":null", "2: the cell has no context", CELLS - 1 },
		{ "\"method\":\"legacy\"", "\"method\":7", "2: method is not a string", CELLS - 1 },
		{ "\"method\":\"legacy\"", "\"method\":\"a\x01\"", "2: ", CELLS - 1 },
		{ "\"method\":\"legacy\"", "\"method\":\"\xff\"", "2: ", CELLS - 1 },
		{ "\"order\":0", "\"order\":0.5", "2: the cell has no order", CELLS - 1 },
		{ "\"order\":0", "\"order\":1e300", "2: the cell has no order", CELLS - 1 },
		{ "\"order\":0", "\"order\":99999999999999999999", "2: the cell has no order", CELLS - 1 },
		{ "\"state\":\"ok\"", "\"state\":\"fine\"", "2: the cell has a state", CELLS - 1 },
		{ "\"type\":\"cell\"", "\"type\":\"sell\"", "2: neither a cell nor a footer", CELLS - 1 },
		{ "[400,404,2]", "[400,404,3]", "2: the histogram counts 9 samples, the cell 8", CELLS },
		{ "[400,404,2]", "[400,404,-2]", "2: the histogram is cut or damaged", CELLS - 1 },
		{ "[400,404,2]", "[400,404,nan]", "2: the histogram is cut or damaged", CELLS - 1 },
		{ "[400,404,2]", "[400,404,1e999]", "2: the histogram is cut or damaged", CELLS - 1 },
		{ "[400,404,2]", "[404,400,2]", "2: the histogram is cut or damaged", CELLS - 1 },
		{ "[400,404,2]", "[400,404]", "2: the histogram is cut or damaged", CELLS - 1 },
		{ "[404,408,2]", "[402,408,2]", "2: the histogram is cut or damaged", CELLS - 1 },
		{ "\"min_ns\":360,\"p50_ns\":400.0", "\"min_ns\":404,\"p50_ns\":404",
		  "2: the histogram has samples outside min_ns to max_ns", CELLS },
		{ "\"max_ns\":600", "\"max_ns\":1e300", "2: max_ns is larger than can be", CELLS - 1 },
		{ "\"gb_per_s\":10.240", "\"gb_per_s\":1e15", "2: gb_per_s is larger than can be",
		  CELLS - 1 },
		{ "\"cpu\":1", "\"cpu\":1.5", "2: cpu is not a whole number", CELLS - 1 },
		{ "\"n\":8", "\"n\":8.5", "2: n is not a whole number", CELLS - 1 },
		{ "\"ratio\":1.0100", "\"ratio\":0", "3: the cell has a ratio outside", CELLS - 1 },
		{ "\"ratio\":1.0100", "\"ratio\":1.02", "3: the cell has a ratio outside", CELLS - 1 },
		{ "\"floor_lo\":0.9990", "\"floor_lo\":1.5", "3: the cell has a noise floor", CELLS - 1 },
		{ "\"cold\",\"model\"", "\"warm\",\"model\"", "2: the cell has another cache state",
		  CELLS - 1 },
		{ "\"type\":\"cell\"", "\n{\"type\":\"cell\"", "2: no JSON", CELLS },
		{ "\n{\"type\":\"cell\"", "\n\n{\"type\":\"cell\"", "2: the line is empty", CELLS },
		{ "\"cells\":5", "\"cells\":6", "7: the footer counts 6 cells, 5 are whole", CELLS },
		{ "\"complete\":true", "\"complete\":1", "7: the footer does not say", CELLS },
	};
	char *text = sample(), *err;
	struct result r;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(edits); i++) {
		char *edited = replaced(text, edits[i].old, edits[i].new);

		if (read_text_as_result(&r, edited, &err) != CB_FAILED ||
		    r.nr_cells != edits[i].cells || count_lines(err) != 1 ||
		    !strstr(err, edits[i].reason))
			fail_msg("%s: %zu cells, %s", edits[i].new, r.nr_cells, err);
		result_free(&r);
		free(err);
		free(edited);
	}
	free(text);
}

static void check_text(const char *text, int status, size_t cells, const char *reason)
{
	struct result r;
	char *err;

	assert_int_equal(read_text_as_result(&r, text, &err), status);
	assert_int_equal(r.nr_cells, cells);
	if (!strstr(err, reason))
		fail_msg("no \"%s\" in: %s", reason, err);
	assert_int_equal(count_lines(err), 1);
	result_free(&r);
	free(err);
}

static void test_twice(void **state)
{
	char *text = sample(), *cell = fixture_cell(0, 4), *twice, *lines;

	(void)state;
	lines = xasprintf("%s\n%s", cell, cell);
	twice = replaced(text, cell, lines);
	check_text(twice, CB_FAILED, CELLS, "3: a second cell");
	free(twice);
	twice = xasprintf("%s%s", text, text);
	check_text(twice, CB_FAILED, CELLS, "8: something stands behind the footer");
	free(twice);
	free(lines);
	free(cell);
	free(text);
}

static void test_foreign(void **state)
{
	char *text;

	(void)state;
	check_text("", CB_USAGE, 0, "the file is empty");
	check_text("\n", CB_USAGE, 0, "no clearbench result");
	check_text("hello\n", CB_USAGE, 0, "no clearbench result");
	check_text("[1,2,3]\n", CB_USAGE, 0, "no clearbench result");
	check_text("{\"type\":\"cell\"}\n", CB_USAGE, 0, "does not begin with a header");
	check_text("{\"type\":\"header\",\"format\":\"1\"}\n", CB_USAGE, 0, "no clearbench result");
	check_text("{\"type\":\"header\",\"format\":1}\n", CB_USAGE, 0, "no environment");
	check_text("{\"type\":\"header\",\"format\":1,\"environment\":{}}\n", CB_USAGE, 0, "no knobs");
	check_text("{\"type\":\"header\",\"format\":1,\"environment\":{\"a\":1},\"knobs\":{}}\n", CB_USAGE,
		   0, "not a string");
	check_text("{\"type\":\"header\",\"format\":1,\"environment\":{},\"knobs\":{}}\n", CB_USAGE, 0,
		   "no marks");
	check_text("{\"type\":\"header\",\"format\":1,\"environment\":{},\"knobs\":{},\"marks\":[1]}\n",
		   CB_USAGE, 0, "a mark");
	check_text("{\"type\":\"header\",\"for", CB_USAGE, 0, "the header is cut");
	check_text("{\"type\":\"hugetlb\",\"format\":1}\n", CB_USAGE, 0, "clearbench hugetlb --show ");
	check_text("{\"type\":\"watch\",\"format\":1}\n", CB_USAGE, 0, "of clearbench watch");
	check_text("{\"type\":\"header\",\"format\":2,\"environment\":{}}\n", CB_USAGE, 0, "format 2");
	text = xasprintf("%s\n%s\n", fixture_header(), "null");
	check_text(text, CB_FAILED, 0, "2: ");
	free(text);
}

static void test_missing_file(void **state)
{
	char *path = temp_file("no-such-file", NULL), *err;
	struct capture c = capture_begin(STDERR_FILENO);
	struct result r;
	int status = result_read(&r, path, NULL, NULL);

	(void)state;
	err = capture_end(&c);
	assert_int_equal(status, CB_USAGE);
	assert_non_null(strstr(err, "No such file"));
	result_free(&r);
	free(err);
	free(path);
}

static void test_long_line(void **state)
{
	size_t len = 3000000;
	char *blanks = xrealloc(NULL, len + 1), *text, *cell = fixture_cell(0, 4);

	(void)state;
	memset(blanks, ' ', len);
	blanks[len] = '\0';
	text = xasprintf("%s\n%s%s\n", fixture_header(), blanks, cell);
	check_text(text, CB_FAILED, 1, "3: the file is cut");
	free(text);
	memset(blanks, 'x', len);
	text = xasprintf("%s\n%s\n%s\n", fixture_header(), blanks, cell);
	check_text(text, CB_FAILED, 1, "2: ");
	free(text);
	free(blanks);
	free(cell);
}

/* Folders */

static const char tsv_head[] =
	CB_RESULTS_MAGIC "\n"
	"context\torder\tmethod\tbatch\tstate\tnote\tn\tp50_ns\tnew_column\n";

static char *folder(const char *results, const char *histograms, const char *status)
{
	char *dir = temp_file("folder", NULL), *path;

	mkdir(dir, 0755);
	free(temp_file("folder/results", results));
	path = temp_file("folder/histograms", histograms);
	if (!histograms)
		unlink(path);
	free(path);
	path = temp_file("folder/status", status);
	if (!status)
		unlink(path);
	free(path);
	free(temp_file("folder/info", "preempt: lazy\nmarks: guest um\nodd line\nclock: a: b\n"));
	free(temp_file("folder/host", "preempt: full\nmicrocode: 0x1\n"));
	free(temp_file("folder/knobs", "samples: 2\n"));
	return dir;
}

static void keep_histograms(void *arg, const struct cell *c, const struct histogram *h,
			    unsigned int nr)
{
	unsigned int *counts = arg;

	(void)c;
	counts[0] += nr;
	if (nr)
		counts[1] += h[0].nr;
}

static void check_folder(const char *results, const char *histograms, const char *status,
			 int expected, size_t cells, const char *reason)
{
	char *text = xasprintf("%s%s", tsv_head, results);
	char *dir = folder(text, histograms, status), *err;
	struct capture c = capture_begin(STDERR_FILENO);
	unsigned int counts[2] = { 0 };
	struct result r;
	int got = result_read(&r, dir, keep_histograms, counts);

	err = capture_end(&c);
	if (got != expected || r.nr_cells != cells || !strstr(err, reason))
		fail_msg("%d, %zu cells: %s", got, r.nr_cells, err);
	if (histograms && cells == 2 && expected == CB_OK) {
		assert_int_equal(counts[0], 3);
		assert_int_equal(counts[1], 3);
	}
	result_free(&r);
	free(err);
	free(dir);
	free(text);
}

#define ROW1	"process\t0\tlegacy\t-\tok\t-\t2\t45.3\t7\n"
#define ROW2	"process\t0\tbatched\tfull\tok\tnote\t2\t45.3\tword\n"
#define HIST	CB_HISTOGRAMS_MAGIC "\n" \
		"context\torder\tmethod\tbatch\thist\tlower\tupper\tcount\n" \
		"process\t0\tlegacy\t-\tclear\t45\t46\t2\n" \
		"process\t0\tbatched\tfull\tclear\t45\t46\t1\n" \
		"process\t0\tbatched\tfull\tclear\t68719476736\tinf\t1\n" \
		"process\t0\tbatched\tfull\tratio\t0.999756\t1.000000\t2\n"

static void test_folder(void **state)
{
	char *dir = folder(CB_RESULTS_MAGIC "\n", NULL, NULL), *err;
	struct capture c;
	struct result r;

	(void)state;
	check_folder(ROW1 ROW2, HIST, "done\n", CB_OK, 2, "");
	check_folder(ROW1 ROW2, NULL, NULL, CB_OK, 2, "");
	check_folder(ROW1 "process\t0\tbat", HIST, "done\n", CB_FAILED, 1, "4: the line is cut");
	check_folder(ROW1 "process\t0\tbat\n", NULL, "done\n", CB_FAILED, 1, "4: 3 fields");
	check_folder(ROW1, HIST, "done\n", CB_FAILED, 1, "belongs to no cell");
	check_folder(ROW1, "hello\n", "done\n", CB_FAILED, 1, "the file histograms does not begin");
	check_folder("process\t0\tlegacy\t-\tok\t-\t3\t45.3\t7\n" ROW2, HIST, NULL, CB_FAILED, 2,
		     "3: the histogram counts 2 samples, the cell 3");

	c = capture_begin(STDERR_FILENO);
	free(folder("hello\n", NULL, NULL));
	assert_int_equal(result_read(&r, dir, NULL, NULL), CB_USAGE);
	result_free(&r);
	free(folder(CB_RESULTS_MAGIC "\ncontext\torder\tmethod\tstate\nprocess\t1\tm\tok\n", NULL,
		    "stopped\n"));
	assert_int_equal(result_read(&r, dir, NULL, NULL), CB_OK);
	err = capture_end(&c);
	assert_true(r.stopped);
	assert_string_equal(env_get(r.environment, "preempt"), "lazy");
	assert_string_equal(env_get(r.environment, "microcode"), "0x1");
	assert_string_equal(env_get(r.environment, "clock"), "a: b");
	assert_string_equal(env_get(r.knobs, "samples"), "2");
	assert_true(has_mark(r.marks, "um"));
	result_free(&r);
	free(err);
	free(temp_file("folder/info", "preempt: lazy\n"));
	c = capture_begin(STDERR_FILENO);
	assert_int_equal(result_read(&r, dir, NULL, NULL), CB_USAGE);
	err = capture_end(&c);
	assert_non_null(strstr(err, "no marks in its file info"));
	result_free(&r);
	free(err);
	free(dir);
}

/* Numbers go through as they stand; what is not measured is null. */
static void test_tsv_to_json(void **state)
{
	char *path = temp_file("results", CB_RESULTS_MAGIC "\n"
			       "context\torder\tbatch\tnote\tp50_ns\tratio\tmax_ns\n"
			       "process\t3\t-\ta \"b\"\\\t45.30\t1.0031\t-\n"
			       "process\t3\t32\t12\tinf\t01\t-1e+5\n");
	static const char *const expected[] = {
		"{\"type\":\"cell\",\"context\":\"process\",\"order\":3,\"batch\":\"-\","
		"\"note\":\"a \\\"b\\\"\\\\\",\"p50_ns\":45.30,\"ratio\":1.0031,\"max_ns\":null,"
		"\"hist\":{}}\n",
		"{\"type\":\"cell\",\"context\":\"process\",\"order\":3,\"batch\":\"32\","
		"\"note\":\"12\",\"p50_ns\":\"inf\",\"ratio\":\"01\",\"max_ns\":-1e+5,\"hist\":{}}\n",
	};
	unsigned int i;
	struct tsv tsv;

	(void)state;
	tsv_init(&tsv, path, CB_RESULTS_MAGIC);
	assert_int_equal(tsv_refresh(&tsv), 0);
	for (i = 0; i < ARRAY_SIZE(expected); i++) {
		size_t len;
		char *text;
		FILE *to = open_memstream(&text, &len);

		assert_int_equal(tsv_next(&tsv), 1);
		assert_int_equal(tsv_put_cell(to, &tsv, NULL), 0);
		fclose(to);
		assert_string_equal(text, expected[i]);
		free(text);
	}
	assert_int_equal(tsv_next(&tsv), 0);
	tsv_free(&tsv);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_other_spelling),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_hand_edited),
		cmocka_unit_test(test_twice),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_missing_file),
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_folder),
		cmocka_unit_test(test_tsv_to_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
