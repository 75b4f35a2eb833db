/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of `compare` share: compare.c two results, or two variants of
 * one; compare_runs.c several runs a side; compare_batch.c the batches of one.
 */
#ifndef CLEARBENCH_COMPARE_H
#define CLEARBENCH_COMPARE_H

#include "show.h"

#define COMPARE_COLUMNS	75	/* of a mail */

/* One file of a side */
struct run_file {
	char *path;
	struct result r;
	struct view v;
	size_t at;	/* where a search goes on */
};

/**
 * struct side - one of the two
 * @name: as the user wrote it
 * @file: its runs
 * @nr: how many
 * @method: of the variant; NULL: all that both have
 * @batch: of the variant; NULL: the only one that it has
 */
struct side {
	char *name;
	struct run_file *file;
	unsigned int nr;
	char *method;
	char *batch;
};

/**
 * struct comparison - what is asked for, and what was found
 * @side: Before and After
 * @vary: conditions that may differ; NULL
 * @format: table, mail or md
 * @fail_above: per cent
 * @force: compare in spite of conditions
 * @same_file: both sides are the same files
 * @by_variant: both sides name one
 * @emulated: no difference is a real one
 * @rows: that were compared
 * @slower: of these, by more than @fail_above
 * @unmatched: cells of Before that After does not have
 */
struct comparison {
	struct side side[2];
	const char *vary;
	const char *format;
	double fail_above;
	bool force;
	bool same_file;
	bool by_variant;
	bool emulated;
	unsigned int rows;
	unsigned int slower;
	unsigned int unmatched;
};

bool compare_varies(const char *list, const char *word);
bool compare_of_variant(const struct side *s, const struct cell *c);
bool compare_is(const struct comparison *cmp, const char *format);
unsigned int compare_limit(const struct comparison *cmp);
const struct cell *compare_find(const struct comparison *cmp, struct run_file *f,
				const struct side *s, const struct cell *like);
void compare_print(const struct comparison *cmp, struct table *t);

void compare_add_runs(struct comparison *cmp, struct table *t, const struct cell *before);
unsigned int compare_batches(struct comparison *cmp);

#endif /* CLEARBENCH_COMPARE_H */
