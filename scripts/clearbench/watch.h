/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a watch has counted.
 */
#ifndef CLEARBENCH_WATCH_H
#define CLEARBENCH_WATCH_H

#include <sys/time.h>

#include "debugfs.h"

/**
 * struct watched - the module's `watch_results`
 * @records: array of objects, the columns that apply by name
 */
struct watched {
	json_t *records;
};

int watched_read(struct watched *w, const struct module *m);
void watched_print(const struct watched *w, const json_t *env, FILE *to);
void watched_free(struct watched *w);

static inline double seconds(const struct timeval *tv)
{
	return tv->tv_sec + tv->tv_usec / 1e6;
}

#endif /* CLEARBENCH_WATCH_H */
