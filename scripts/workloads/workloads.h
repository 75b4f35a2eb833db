/* SPDX-License-Identifier: GPL-2.0 */
/*
 * workloads: what the program's files share. What does not concern graphs
 * (tables, memory, units, the hypervisor) is clearbench's own.
 */
#ifndef WORKLOADS_H
#define WORKLOADS_H

#include <linux/types.h>
#include <stdio.h>

#include "../clearbench/result.h"

#define WL_NAME		"workloads"
#define RUNS_MAX	10000U
#define THREADS_MAX	4096U

/**
 * struct number - an option that takes a whole number, or a flag
 * @name: with its dashes
 * @value: where it goes; holds the default
 * @min: smallest legal one
 * @max: largest; 0: a flag, which takes no number and sets 1
 */
struct number {
	const char *name;
	__u64 *value;
	__u64 min;
	__u64 max;
};

/* main.c */
extern const struct verb workload_graph500;
extern const struct verb workload_pagerank;
extern const struct verb workload_run;
extern const struct verb workload_compare;

void say(const char *fmt, ...) __printf(1, 2);
int refuse(const struct verb *verb, const char *fmt, ...) __printf(2, 3);
int number_option(const struct verb *verb, const struct number *options, char **argv, int *i);
const struct verb *workload_find(const char *name);
double now(void);
void report_usage(double start);

/* run.c */
#define RUNS_MAGIC	"# clearbench runs v1"

/* The columns of a file of runs: conditions, then what one run took */
enum run_column {
	RUN_BOOT, RUN_KERNEL, RUN_INIT_ON_ALLOC, RUN_THP, RUN_CPU_MODEL, RUN_CPUS, RUN_MARKS,
	RUN_COMMAND, RUN_STATUS, RUN_USER, RUN_SYS, RUN_REAL, RUN_MINOR, RUN_MAJOR, RUN_RSS,
	RUN_COLUMNS
};

extern const char *const run_column_name[RUN_COLUMNS];

/* The rows of the thread's table */
enum { TIME_USER, TIME_SYS, TIME_REAL, TIMES };

extern const char *const time_name[TIMES];

const char *fmt_minutes(char *buf, double seconds);
const char *mark_sentence(const char *marks);

/* The kernel splits user from sys by its ticks, 1 to 10 ms apart, as a rule. */
#define SHORT_SYS	1.0
#define SHORT_SYS_SENTENCE	\
	"sys of less than a second rests on few of the kernel's ticks: take a larger --scale"

#endif /* WORKLOADS_H */
