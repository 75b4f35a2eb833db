/* SPDX-License-Identifier: GPL-2.0 */
/*
 * clearbench: what the program's files share.
 */
#ifndef CLEARBENCH_H
#define CLEARBENCH_H

#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "../../module/record.h"

#define ARRAY_SIZE(_a)	(sizeof(_a) / sizeof((_a)[0]))
/* The kernel's short name for it */
#define __printf(_f, _a) __attribute__((__format__(printf, _f, _a)))

/* Exit statuses, the same for every verb. */
enum {
	CB_OK		= 0,
	CB_FAILED	= 1,	/* the run, a verification or a file */
	CB_USAGE	= 2,	/* or a file that is no result at all */
	CB_SLOWER	= 3,	/* compare --fail-above */
	CB_STOPPED	= 130,
};

/**
 * struct verb - one row of the program's table
 * @name: what the user types
 * @summary: a line for the overview
 * @usage: the arguments and options, as `help NAME` shows them
 * @main: gets argv[0] = @name; returns the exit status
 */
struct verb {
	const char *name;
	const char *summary;
	const char *usage;
	int (*main)(int argc, char **argv);
};

extern const struct verb verb_info;
extern const struct verb verb_run;
extern const struct verb verb_show;
extern const struct verb verb_compare;
extern const struct verb verb_matrix;
extern const struct verb verb_plot;
extern const struct verb verb_hugetlb;
extern const struct verb verb_watch;

/* usage.c */
void verb_help(const struct verb *verb, FILE *to);
int usage_error(const struct verb *verb, const char *fmt, ...) __printf(2, 3);
int finish_stdout(int status);

/* util.c */
void msg(const char *fmt, ...) __printf(1, 2);
void *xrealloc(void *old, size_t size);
char *xstrdup(const char *s);
char *xasprintf(const char *fmt, ...) __printf(1, 2);
char *read_text(const char *path);
char *read_line(const char *path);
int write_text(const char *path, const char *text);
const char *file_name(const char *path);
char *scrub(const char *text);
unsigned int utf8_len(const char *text);

/* units.c: every string fits UNIT_LEN */
#define UNIT_LEN	16
const char *fmt_ns(char *buf, double ns);
const char *fmt_extent(char *buf, double bytes);
const char *fmt_change(char *buf, double fraction);
const char *fmt_gbps(char *buf, double gbps);
const char *fmt_ratio(char *buf, double ratio);
const char *fmt_count(char *buf, double n);

/* list.c */
/**
 * struct list - a set of orders, as the knob's text "0-3,9" names it
 * @in: which numbers are in it
 */
#define LIST_NUMBERS	64
struct list {
	bool in[LIST_NUMBERS];
};

int list_parse(struct list *list, const char *text);
char *list_text(const struct list *list);

/* host.c */
void host_environment(json_t *env, int cpu);
json_t *info_environment(const char *text);
const char *env_get(const json_t *env, const char *key);

/* hypervisor.c */
#define HYPERVISOR_LEN	16
bool user_mode_linux(void);
void hypervisor_name(char vendor[HYPERVISOR_LEN]);
/* user_info.c */
char *machine_marks(void);

/* distort.c */
typedef void (*sentence_fn)(void *arg, const char *text);
void list_marks(const json_t *marks, sentence_fn fn, void *arg);
void list_distortions(const json_t *env, sentence_fn fn, void *arg);
bool has_mark(const json_t *marks, const char *mark);

/* kmsg.c */
int kmsg_open(void);
int kmsg_open_first(void);
char *kmsg_line(int fd);
void kmsg_warnings(int fd, json_t *lines);
char *kmsg_last(int fd, const char *word);

#endif /* CLEARBENCH_H */
