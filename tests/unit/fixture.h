/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Result files to test with, and ways to look at what is printed.
 */
#ifndef CLEARBENCH_FIXTURE_H
#define CLEARBENCH_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "clearbench.h"

/**
 * fixture_write() - write a result file
 * @to: where
 * @cells: how many, in blocks of two variants
 * @buckets: of each histogram
 *
 * The figures follow from the cell's number alone.
 */
void fixture_write(FILE *to, unsigned int cells, unsigned int buckets);

/* The line of one cell, without its newline; to be freed. */
char *fixture_cell(unsigned int index, unsigned int buckets);

const char *fixture_header(void);

/* A file in a folder of its own that goes at exit; NULL: only the path. */
char *temp_file(const char *name, const char *text);

/**
 * struct capture - a descriptor, caught
 * @fd: which
 */
struct capture {
	int fd;
	int saved;
	int caught;
};

struct capture capture_begin(int fd);
char *capture_end(struct capture *c);

/* A verb as main() would call it; what it prints is to be freed. */
int run_verb(const struct verb *verb, char **out, char **err, const char *first, ...);

unsigned int count_lines(const char *text);

#endif /* CLEARBENCH_FIXTURE_H */
