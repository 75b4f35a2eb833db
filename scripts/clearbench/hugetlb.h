/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The time that a HugeTLB pool takes to grow.
 */
#ifndef CLEARBENCH_HUGETLB_H
#define CLEARBENCH_HUGETLB_H

#include "clearbench.h"

/* What v1 of the patch names: 8192 x 2 MB before and after, in seconds */
#define HUGETLB_V1_BYTES	(8192.0 * (2 << 20))
#define HUGETLB_V1_BEFORE	0.445
#define HUGETLB_V1_AFTER	0.166

/**
 * enum hugetlb_kind - what is timed
 * @HUGETLB_GROW: a write to nr_hugepages that makes the pool larger
 * @HUGETLB_SHRINK: the one that takes it back
 * @HUGETLB_FAULT: first touch of every page, which clears it
 * @HUGETLB_BOOT: hugepages= on the kernel's command line, by the kernel's log
 */
enum hugetlb_kind {
	HUGETLB_GROW,
	HUGETLB_SHRINK,
	HUGETLB_FAULT,
	HUGETLB_BOOT,
	HUGETLB_KINDS,
};

/**
 * struct hugetlb_row - one line of the table
 * @kind: what is timed
 * @size: bytes of a page
 * @node: -1 for any
 * @threads: that the boot used; 0 elsewhere
 * @asked: pages
 * @pages: what the kernel gave
 * @seconds: the times that count
 * @nr: how many
 * @left_out: rounds that got another number of pages than the warm-up
 * @stalled: rounds in which memory was reclaimed or compacted, which count
 * @tick: seconds that the clock of @seconds moves by; 0: nothing to speak of
 */
struct hugetlb_row {
	enum hugetlb_kind kind;
	double size;
	int node;
	unsigned int threads;
	unsigned long asked;
	unsigned long pages;
	double *seconds;
	unsigned int nr;
	unsigned int left_out;
	unsigned int stalled;
	double tick;
};

void hugetlb_row_add(struct hugetlb_row *row, double seconds);
const char *hugetlb_kind_name(enum hugetlb_kind kind);

/* hugetlb_pool.c */
#define HUGETLB_NODES	1024

/**
 * struct hugetlb_pool - the pool of one page size, of all nodes or of one
 * @size: bytes of a page
 * @node: -1 for all
 * @dir: its folder in sysfs
 * @fd: of its nr_hugepages, for writing
 * @before: pages in it when it was found
 * @node_before: the same of each node; -1 where there is none
 * @changed: it may hold something else now
 */
struct hugetlb_pool {
	unsigned long size;
	int node;
	char *dir;
	int fd;
	unsigned long before;
	long node_before[HUGETLB_NODES];
	bool changed;
};

int hugetlb_pool_open(struct hugetlb_pool *pool, unsigned long size, int node);
int hugetlb_pool_pages(const struct hugetlb_pool *pool, unsigned long *pages);
int hugetlb_pool_measure(struct hugetlb_pool *pool, unsigned long pages, unsigned int rounds,
			 bool quiet, struct hugetlb_row *grow, struct hugetlb_row *shrink,
			 struct hugetlb_row *fault);
int hugetlb_pool_close(struct hugetlb_pool *pool);
void hugetlb_catch_signals(void);
bool hugetlb_stopped(void);

/* hugetlb_log.c */
const char *hugetlb_init_on_alloc(void);
const char *hugetlb_boot_row(struct hugetlb_row *row, double size);

/* hugetlb_show.c */

/**
 * struct hugetlb_result - what one boot showed, as a file holds it
 * @header: environment, marks, init_on_alloc
 * @row: the lines
 * @nr: how many
 * @complete: it came to its end
 */
struct hugetlb_result {
	json_t *header;
	struct hugetlb_row *row;
	unsigned int nr;
	bool complete;
};

int hugetlb_write(const struct hugetlb_result *r, const char *path, bool force);
int hugetlb_read(struct hugetlb_result *r, const char *path);
int hugetlb_show(const struct hugetlb_result *r, unsigned int nr, FILE *to);
void hugetlb_result_free(struct hugetlb_result *r);

#endif /* CLEARBENCH_HUGETLB_H */
