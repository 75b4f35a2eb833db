/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the formats of `show` share.
 */
#ifndef CLEARBENCH_SHOW_H
#define CLEARBENCH_SHOW_H

#include "result.h"

/**
 * struct view - a result, in the order in which it is shown
 * @r: the result
 * @cell: its cells: groups together, in each the orders ascending, in each of
 *	those the variants as they were run
 * @nr: how many
 * @page_size: bytes
 */
struct view {
	const struct result *r;
	const struct cell **cell;
	size_t nr;
	double page_size;
};

void view_init(struct view *v, const struct result *r);
void view_free(struct view *v);
size_t view_group_end(const struct view *v, size_t from);
size_t view_order_end(const struct view *v, size_t from);
const struct cell *view_baseline(const struct view *v, size_t from, size_t to);
char *group_title(const struct view *v, size_t from, size_t to);
char *variant_name(const struct cell *c);
bool cell_is_measured(const struct cell *c);
char *cell_remark(const struct cell *c);
const char *view_after(const struct view *v);
void put_about(FILE *to, const struct view *v, const char *bullet, unsigned int limit);

/* show.c */
enum table_form { TABLE_TEXT, TABLE_MD, TABLE_HTML };

void show_groups(const struct view *v, FILE *to, enum table_form form);

/* show_mail.c */
void show_mail(const struct view *v, FILE *to);

/* show_irq.c */
void show_irq_cell(void *arg, const struct cell *cell, const struct histogram *hist,
		   unsigned int nr);
void show_irq(const struct view *v, FILE *to, bool md);

/* show_hist.c */
void show_hist_cell(void *arg, const struct cell *cell, const struct histogram *hist,
		    unsigned int nr);

#endif /* CLEARBENCH_SHOW_H */
