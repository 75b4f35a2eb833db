// SPDX-License-Identifier: GPL-2.0
/*
 * Two files of runs, before and after. The unit is the boot: runs of one boot
 * share its placement and are not independent, so each boot counts once, with
 * the median of its runs.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workloads.h"

/* More than anyone boots */
#define BOOTS_MAX	100U

/**
 * struct boot - what one boot showed
 * @id: the kernel's boot_id
 * @value: times of its runs, in seconds
 * @nr: how many
 * @median: of @value
 */
struct boot {
	char *id;
	double *value[TIMES];
	unsigned int nr;
	double median[TIMES];
};

/**
 * struct side - a file of runs
 * @path: of the file
 * @condition: what stands in the columns before the times, those of its first run
 * @boot: in the order of the file
 * @nr: how many
 * @failed: runs that did not end well, which do not count
 */
struct side {
	const char *path;
	char *condition[RUN_STATUS];
	struct boot boot[BOOTS_MAX];
	unsigned int nr;
	unsigned int failed;
};

static bool parse_time(const char *text, double *value)
{
	char *end;

	*value = strtod(text, &end);
	return end != text && !*end && *value >= 0 && *value < INFINITY;
}

static struct boot *find_boot(struct side *s, const char *id)
{
	unsigned int i;

	for (i = 0; i < s->nr; i++)
		if (!strcmp(s->boot[i].id, id))
			return &s->boot[i];
	if (s->nr == BOOTS_MAX)
		return NULL;
	s->boot[s->nr].id = xstrdup(id);
	return &s->boot[s->nr++];
}

/* One run. Return: 0, or the exit status. */
static int add_run(struct side *s, char **field, unsigned int line)
{
	double value[TIMES];
	struct boot *boot;
	int i;

	for (i = RUN_BOOT + 1; i < RUN_STATUS; i++) {
		if (!s->condition[i])
			s->condition[i] = xstrdup(field[i]);
		if (strcmp(s->condition[i], field[i])) {
			say("compare: %s, line %u: %s is '%s', and '%s' before: one side is one setting",
			    s->path, line, run_column_name[i], field[i], s->condition[i]);
			return CB_FAILED;
		}
	}
	for (i = 0; i < TIMES; i++)
		if (!parse_time(field[RUN_USER + i], &value[i])) {
			say("compare: %s, line %u: '%s' is no time", s->path, line,
			    field[RUN_USER + i]);
			return CB_FAILED;
		}
	if (strcmp(field[RUN_STATUS], "0")) {
		s->failed++;
		return 0;
	}
	boot = find_boot(s, field[RUN_BOOT]);
	if (!boot) {
		say("compare: %s: more than %u boots", s->path, BOOTS_MAX);
		return CB_FAILED;
	}
	for (i = 0; i < TIMES; i++) {
		boot->value[i] = xrealloc(boot->value[i], (boot->nr + 1) * sizeof(double));
		boot->value[i][boot->nr] = value[i];
	}
	boot->nr++;
	return 0;
}

/* Files that are put behind each other repeat the two lines of the head. */
static int read_side(struct side *s)
{
	unsigned int line = 0, i;
	char *text = read_text(s->path), *at, *next;
	int ret = 0;

	if (!text) {
		say("compare: %s: %s", s->path, strerror(errno));
		return CB_FAILED;
	}
	if (strncmp(text, RUNS_MAGIC "\n", strlen(RUNS_MAGIC "\n"))) {
		say("compare: %s is no file of runs: `" WL_NAME " run -o FILE` makes one", s->path);
		free(text);
		return CB_USAGE;
	}
	for (at = text; *at && !ret; at = next) {
		char *field[RUN_COLUMNS], *end = strchr(at, '\n');

		line++;
		if (!end) {
			say("compare: %s: its last line is cut, and does not count", s->path);
			break;
		}
		*end = '\0';
		next = end + 1;
		if (*at == '#')
			continue;
		for (i = 0; i < RUN_COLUMNS && at; i++) {
			field[i] = at;
			at = strchr(at, '\t');
			if (at)
				*at++ = '\0';
		}
		if (i < RUN_COLUMNS || at) {
			say("compare: %s, line %u: it should have %d columns", s->path, line,
			    RUN_COLUMNS);
			ret = CB_FAILED;
		} else if (strcmp(field[RUN_BOOT], run_column_name[RUN_BOOT])) {
			ret = add_run(s, field, line);
		}
	}
	free(text);
	if (!ret && !s->nr) {
		say("compare: %s: no run in it ended well", s->path);
		ret = CB_FAILED;
	}
	for (line = 0; line < s->nr; line++)
		for (i = 0; i < TIMES; i++)
			s->boot[line].median[i] = median(s->boot[line].value[i], s->boot[line].nr);
	return ret;
}

static void free_side(struct side *s)
{
	unsigned int i, k;

	for (i = 0; i < RUN_STATUS; i++)
		free(s->condition[i]);
	for (i = 0; i < s->nr; i++) {
		free(s->boot[i].id);
		for (k = 0; k < TIMES; k++)
			free(s->boot[i].value[k]);
	}
}

/* A file's name is enough where the whole path only takes room. */
static void put_side(const char *which, const struct side *s)
{
	unsigned int i, runs = 0;

	for (i = 0; i < s->nr; i++)
		runs += s->boot[i].nr;
	printf("%s %s: %u %s, %u runs; init_on_alloc=%s, kernel %s\n", which, file_name(s->path),
	       s->nr, s->nr == 1 ? "boot" : "boots", runs, s->condition[RUN_INIT_ON_ALLOC],
	       s->condition[RUN_KERNEL]);
	if (s->failed)
		printf("  %u runs that failed are left out\n", s->failed);
}

/* A figure of each boot: the median of its runs; the least of them comes back */
static double figures(const struct side *s, int time, double value[BOOTS_MAX])
{
	double least = INFINITY;
	unsigned int i;

	for (i = 0; i < s->nr; i++) {
		value[i] = s->boot[i].median[time];
		least = fmin(least, value[i]);
	}
	return least;
}

static double shortest(const struct side *s, int time)
{
	double value[BOOTS_MAX];

	return figures(s, time, value);
}

/* @verdict: may one be given? */
static void put_row(struct table *t, const struct side *side, int time, bool verdict)
{
	double before[BOOTS_MAX], after[BOOTS_MAX];
	double least = fmin(figures(&side[0], time, before), figures(&side[1], time, after));
	char buf[UNIT_LEN], lo[UNIT_LEN], hi[UNIT_LEN];
	struct estimate e;

	table_cell(t, "%s", time_name[time]);
	table_cell(t, "%s", fmt_minutes(buf, median(before, side[0].nr)));
	table_cell(t, "%s", fmt_minutes(buf, median(after, side[1].nr)));
	/* A clock of ticks shows 0 where there was less than one. */
	if (least <= 0) {
		table_cell(t, "-");
		table_cell(t, "%s", "");
		table_cell(t, "too short to be measured");
		return;
	}
	e = estimate_change(before, side[0].nr, after, side[1].nr);
	table_cell(t, "%s %%", fmt_change(buf, e.change));
	if (verdict) {
		table_cell(t, "[%s, %s]", fmt_change(lo, e.lo), fmt_change(hi, e.hi));
		table_cell(t, "%s", e.lo > 0 || e.hi < 0 ? "differs" : "no difference seen");
	} else {
		table_cell(t, "-");
		table_cell(t, "%s", "");
	}
}

static bool same_boot(const struct side *side)
{
	unsigned int i, j;

	for (i = 0; i < side[0].nr; i++)
		for (j = 0; j < side[1].nr; j++)
			if (!strcmp(side[0].boot[i].id, side[1].boot[j].id))
				return true;
	return false;
}

/* What both sides must have in common; the kernel and init_on_alloc may differ. */
static bool comparable(const struct side *side)
{
	static const enum run_column same[] = {
		RUN_COMMAND, RUN_CPU_MODEL, RUN_CPUS, RUN_MARKS, RUN_THP,
	};
	bool good = true;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(same); i++) {
		if (!strcmp(side[0].condition[same[i]], side[1].condition[same[i]]))
			continue;
		say("compare: %s: '%s' before, '%s' after", run_column_name[same[i]],
		    side[0].condition[same[i]], side[1].condition[same[i]]);
		good = false;
	}
	return good;
}

static void put_comparison(const struct side *side, bool alike)
{
	const char *marks = side[0].condition[RUN_MARKS];
	bool overlap = same_boot(side);
	bool emulated = !strcmp(marks, "emulated");
	bool enough = estimate_has_interval(side[0].nr, side[1].nr);
	bool verdict = enough && !overlap && alike && !emulated;
	struct table t;
	int i;

	printf("%s, %s CPUs, huge pages %s\n", side[0].condition[RUN_COMMAND],
	       side[0].condition[RUN_CPUS], side[0].condition[RUN_THP]);
	put_side("Before:", &side[0]);
	put_side("After: ", &side[1]);
	table_init(&t, "lrrrll");
	table_cell(&t, "%s", "");
	table_cell(&t, "Before");
	table_cell(&t, "After");
	table_cell(&t, "Change");
	table_cell(&t, "95 %% interval");
	table_cell(&t, "%s", "");
	for (i = 0; i < TIMES; i++)
		put_row(&t, side, i, verdict);
	table_print(&t, stdout, 0);
	if (!alike)
		puts("FORCED: the conditions differ, see above: no verdict");
	else if (overlap)
		puts("one boot stands on both sides: no verdict");
	else if (side[0].nr == 1 && side[1].nr == 1)
		puts("one boot a side: no verdict");
	else if (!enough)
		printf("%u and %u boots: too few for an interval, no verdict; take 4 a side\n",
		       side[0].nr, side[1].nr);
	else if (emulated)
		puts("no difference in speed is a real one on an emulated CPU: no verdict");
	if (fmin(shortest(&side[0], TIME_SYS), shortest(&side[1], TIME_SYS)) < SHORT_SYS)
		puts(SHORT_SYS_SENTENCE);
	if (mark_sentence(marks))
		puts(mark_sentence(marks));
}

static int compare_main(int argc, char **argv)
{
	static struct side side[2];
	bool force = false, alike;
	unsigned int nr = 0;
	int i, ret = 0;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--force"))
			force = true;
		else if (*argv[i] != '-' && nr < 2)
			side[nr++].path = argv[i];
		else
			return refuse(&workload_compare, "'%s' is neither --force nor one of two files",
				      argv[i]);
	}
	if (nr < 2)
		return refuse(&workload_compare, "BEFORE and AFTER are missing");
	for (i = 0; i < 2 && !ret; i++)
		ret = read_side(&side[i]);
	if (!ret) {
		alike = comparable(side);
		if (alike || force) {
			put_comparison(side, alike);
		} else {
			say("compare: only the kernel and init_on_alloc may differ; --force compares all the same");
			ret = CB_FAILED;
		}
	}
	for (i = 0; i < 2; i++)
		free_side(&side[i]);
	return finish_stdout(ret);
}

const struct verb workload_compare = {
	.name = "compare",
	.summary = "two files of runs: Before, After, Change",
	.usage = "[--force] BEFORE AFTER\n\n"
		"Both are files of `" WL_NAME " run -o`, with the runs of one boot or of several.\n"
		"Each boot counts once, by the median of its runs. With 4 boots a side (or 3 and 5)\n"
		"the change has a 95 % interval: Hodges and Lehmann's ratio, and the exact interval of\n"
		"Mann and Whitney's test. With fewer there is no verdict. Only the kernel and\n"
		"init_on_alloc may differ, unless --force is given.\n",
	.main = compare_main,
};
