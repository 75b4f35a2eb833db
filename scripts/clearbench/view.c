// SPDX-License-Identifier: GPL-2.0
/*
 * A result in the order in which it is shown, and the words round it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "show.h"

/* Cells under one headline differ in order, method, batch and CPU only. */
static bool same_group(const struct cell *a, const struct cell *b)
{
	static const enum cb_column words[] = { CB_COL_context, CB_COL_cache, CB_COL_model };
	static const enum cb_column numbers[] = { CB_COL_nid, CB_COL_load };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(or_dash(a->value[words[i]].text), or_dash(b->value[words[i]].text)))
			return false;
	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		double x = a->value[numbers[i]].num, y = b->value[numbers[i]].num;

		/* A cell that was refused has no node, and belongs to the others. */
		if (x != y && !isnan(x) && !isnan(y))
			return false;
	}
	return true;
}

struct place {
	const struct cell *cell;
	unsigned int group;
	unsigned int index;
};

static int compare_places(const void *va, const void *vb)
{
	const struct place *a = va, *b = vb;
	double x = CELL_NUM(a->cell, order), y = CELL_NUM(b->cell, order);

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (x != y)
		return x < y ? -1 : 1;
	return a->index < b->index ? -1 : 1;
}

/* The group of @c, by its first cell; a new one's are many and follow another. */
static unsigned int find_group(const struct cell ***first, unsigned int *nr,
			       unsigned int last, const struct cell *c)
{
	unsigned int i;

	if (*nr && same_group((*first)[last], c))
		return last;
	for (i = 0; i < *nr; i++)
		if (same_group((*first)[i], c))
			return i;
	*first = xrealloc(*first, (*nr + 1) * sizeof(**first));
	(*first)[*nr] = c;
	return (*nr)++;
}

/**
 * view_init() - put cells in order
 * @v: filled in
 * @r: the result; a resumed one may have its blocks in any order
 */
void view_init(struct view *v, const struct result *r)
{
	const char *page_size = env_get(r->environment, "page_size");
	const struct cell **first = NULL;
	struct place *place;
	unsigned int nr = 0, group = 0;
	size_t i;

	v->r = r;
	v->nr = r->nr_cells;
	v->page_size = page_size ? atof(page_size) : 0;
	if (!(v->page_size >= 1024 && v->page_size <= 1 << 20))
		v->page_size = 4096;
	place = xrealloc(NULL, v->nr * sizeof(*place));
	for (i = 0; i < v->nr; i++) {
		group = find_group(&first, &nr, group, &r->cells[i]);
		place[i] = (struct place){ &r->cells[i], group, i };
	}
	qsort(place, v->nr, sizeof(*place), compare_places);
	v->cell = xrealloc(NULL, v->nr * sizeof(*v->cell));
	for (i = 0; i < v->nr; i++)
		v->cell[i] = place[i].cell;
	free(place);
	free(first);
}

void view_free(struct view *v)
{
	free(v->cell);
}

/* The end of the group that begins at @from. */
size_t view_group_end(const struct view *v, size_t from)
{
	size_t to = from;

	while (to < v->nr && same_group(v->cell[from], v->cell[to]))
		to++;
	return to;
}

/* The end of the order that begins at @from, within its group. */
size_t view_order_end(const struct view *v, size_t from)
{
	size_t to = from;

	while (to < v->nr && same_group(v->cell[from], v->cell[to]) &&
	       CELL_NUM(v->cell[from], order) == CELL_NUM(v->cell[to], order))
		to++;
	return to;
}

/*
 * The variant that the others of an order are compared with, by the module's
 * own rule: legacy, else the first; in either case of those that were measured.
 * It alone has no ratio, wherever a hand or a merge has put it.
 */
const struct cell *view_baseline(const struct view *v, size_t from, size_t to)
{
	const struct cell *first = NULL;
	size_t i;

	for (i = from; i < to; i++) {
		if (!cell_is_measured(v->cell[i]) || !isnan(CELL_NUM(v->cell[i], ratio)))
			continue;
		if (!strcmp(CELL_TEXT(v->cell[i], method), "legacy"))
			return v->cell[i];
		if (!first)
			first = v->cell[i];
	}
	return first ? first : from < to ? v->cell[from] : NULL;
}

char *variant_name(const struct cell *c)
{
	const char *batch = or_dash(CELL_TEXT(c, batch));

	if (!strcmp(batch, "-"))
		return xstrdup(CELL_TEXT(c, method));
	return xasprintf("%s %s", CELL_TEXT(c, method), batch);
}

bool cell_is_measured(const struct cell *c)
{
	return !isnan(CELL_NUM(c, p50_ns));
}

/* Why a cell has no figures, or what has to be said of them; NULL: nothing. */
char *cell_remark(const struct cell *c)
{
	const char *state = or_dash(CELL_TEXT(c, state)), *note = CELL_TEXT(c, note);
	bool ok = !strcmp(state, "ok");

	if (note && *note)
		return ok ? xstrdup(note) : xasprintf("%s: %s", state, note);
	if (!ok)
		return xstrdup(state);
	if (!cell_is_measured(c))
		return xstrdup(CELL_NUM(c, not_available) > 0 ?
			       "not available: no extent of this order could be allocated" :
			       "not measured");
	return NULL;
}

/* The number that all cells share, or NAN. */
static double shared(const struct view *v, size_t from, size_t to, enum cb_column column)
{
	double value = NAN;
	size_t i;

	for (i = from; i < to; i++) {
		double has = v->cell[i]->value[column].num;

		if (isnan(has) || (!isnan(value) && has != value))
			return NAN;
		value = has;
	}
	return value;
}

/* "process, cache cold, model lazy, CPU 1, node 0" */
char *group_title(const struct view *v, size_t from, size_t to)
{
	const struct cell *c = v->cell[from];
	double cpu = shared(v, from, to, CB_COL_cpu), nid = CELL_NUM(c, nid);
	char where[64] = "", *title;

	if (!isnan(cpu))
		snprintf(where, sizeof(where), ", CPU %.0f", cpu);
	if (!isnan(nid))
		snprintf(where + strlen(where), sizeof(where) - strlen(where), ", node %.0f", nid);
	if (CELL_NUM(c, load) > 0)
		snprintf(where + strlen(where), sizeof(where) - strlen(where), ", load %.0f",
			 CELL_NUM(c, load));
	title = xasprintf("%s, cache %s, model %s%.60s", CELL_TEXT(c, context),
			  or_dash(CELL_TEXT(c, cache)), or_dash(CELL_TEXT(c, model)), where);
	return title;
}

struct about {
	FILE *to;
	const char *bullet;
	unsigned int limit;
};

static void put_sentence(void *arg, const char *text)
{
	const struct about *about = arg;

	put_wrapped(about->to, about->bullet, "  ", text, about->limit);
}

static void put_line(const struct about *about, char *text)
{
	put_sentence((void *)about, text);
	free(text);
}

static const char *known(const json_t *env, const char *key)
{
	const char *value = env_get(env, key);

	return value ? value : "unknown";
}

/* What was timed in place of the clear, or NULL */
const char *view_after(const struct view *v)
{
	const char *after = env_get(v->r->knobs, "after");

	return after && strcmp(after, "none") ? after : NULL;
}

static void put_strings(const struct about *about, const char *what, const json_t *lines)
{
	unsigned int i;

	for (i = 0; i < json_array_size(lines); i++) {
		const char *line = json_string_value(json_array_get(lines, i));

		if (line)
			put_line(about, xasprintf("%s: %s", what, line));
	}
}

/* As sysfs has it, else as the module knows it from the CPU itself */
static char *llc_size(const json_t *env)
{
	unsigned long long bytes = strtoull(known(env, "llc_bytes"), NULL, 10);

	if (env_get(env, "llc_size") || !bytes)
		return xstrdup(known(env, "llc_size"));
	return xasprintf("%lluK", bytes >> 10);
}

/**
 * put_about() - what a reader has to know to believe the figures
 * @to: where
 * @v: the result
 * @bullet: what each paragraph begins with, two columns or none
 * @limit: columns of a line; 0: no limit
 */
void put_about(FILE *to, const struct view *v, const char *bullet, unsigned int limit)
{
	const struct about about = { to, bullet, limit };
	const json_t *env = v->r->environment, *knobs = v->r->knobs;
	const char *cache = v->nr ? or_dash(CELL_TEXT(v->cell[0], cache)) : "unknown";
	const char *how = strcmp(cache, "cold") ? NULL : env_get(env, "cold_by");
	char *llc;

	llc = llc_size(env);
	put_line(&about, xasprintf("CPU: %s, microcode %s, LLC %s", known(env, "cpu_model"),
				   known(env, "microcode"), llc));
	free(llc);
	put_line(&about, xasprintf("kernel: %s, preempt %s", known(env, "kernel"),
				   known(env, "preempt")));
	if (has_mark(v->r->marks, "user")) {
		put_line(&about, xasprintf("user space: legacy and batched are %s, what clear_page() would be on this CPU; huge pages: %s",
					   known(env, "clear_page"),
					   known(env, "huge_pages")));
		put_line(&about, xasprintf("clock: %s, an empty window takes %s ns; not subtracted",
					   known(env, "clock"), known(env, "clock_ns_process")));
	} else {
		put_line(&about, xasprintf("clear_pages(): %s, clear_page() by %s; init_on_alloc=%s, init_on_free=%s",
					   known(env, "clear_pages"), known(env, "clear_page"),
					   known(env, "init_on_alloc"),
					   known(env, "init_on_free")));
		put_line(&about, xasprintf("clock: %s, an empty window takes %s ns in process, %s ns in softirq context; not subtracted",
					   known(env, "clock"), known(env, "clock_ns_process"),
					   known(env, "clock_ns_softirq")));
	}
	put_line(&about, xasprintf("cache: %s%s%s before each sample; samples %s, extent_rounds %s, seed %s, verify %s",
				   cache, how ? ", by " : "", how ? how : "",
				   known(knobs, "samples"), known(knobs, "extent_rounds"),
				   known(knobs, "seed"), known(knobs, "verify")));
	if (view_after(v))
		put_line(&about, xasprintf("after: %s, so a time is that of a read after the clear, not of the clear; victim_kib %s, victim_cpu %s",
					   view_after(v), known(knobs, "victim_kib"),
					   known(knobs, "victim_cpu")));
	if (env_get(env, "cmdline") && strcmp(env_get(env, "cmdline"), "none"))
		put_line(&about, xasprintf("command line: %s", env_get(env, "cmdline")));
	if (result_undisturbed)
		put_sentence((void *)&about, "UNDISTURBED: times without the samples in which a switch or an interrupt was seen; ratios are of all");
	list_marks(v->r->marks, put_sentence, (void *)&about);
	list_distortions(env, put_sentence, (void *)&about);
	if (has_mark(v->r->marks, "emulated"))
		put_sentence((void *)&about, "no difference in speed above is a real one: the CPU is emulated");
	put_strings(&about, "the kernel warned", json_object_get(v->r->footer, "warnings"));
	put_strings(&about, "changed during the run", json_object_get(v->r->footer, "changed"));
	if (json_is_true(json_object_get(v->r->footer, "resumed")))
		put_sentence((void *)&about, "the run was cut and resumed: its cells are of more than one start");
	if (v->r->stopped || !v->r->footer)
		put_sentence((void *)&about, "INCOMPLETE: the run was stopped, or the file was cut");
	else if (v->r->bad_line)
		put_sentence((void *)&about, "DAMAGED: lines of the file could not be read");
}
