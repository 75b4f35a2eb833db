// SPDX-License-Identifier: GPL-2.0
/*
 * workloads: the patch thread's workloads, runs of them, and what two sets of
 * runs say.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "workloads.h"

static const struct verb *const verbs[] = {
	&workload_graph500,
	&workload_pagerank,
	&workload_run,
	&workload_compare,
};

/* say() - one line for the user, on stderr: cause and next step */
void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs(WL_NAME ": ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
}

/* refuse() - say what is wrong with the command line. Return: the exit status. */
int refuse(const struct verb *verb, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, WL_NAME ": %s: ", verb->name);
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, " (" WL_NAME " help %s)\n", verb->name);
	va_end(ap);
	return CB_USAGE;
}

/**
 * number_option() - take an option and its number
 * @verb: whose
 * @options: those that it has; the last has no name
 * @argv: arguments
 * @i: where the option stands; moved to its number
 *
 * Return: 0, or the exit status.
 */
int number_option(const struct verb *verb, const struct number *options, char **argv, int *i)
{
	const char *name = argv[*i], *text = argv[*i + 1];
	const struct number *o = options;
	char *end;
	__u64 n;

	while (o->name && strcmp(o->name, name))
		o++;
	if (!o->name)
		return refuse(verb, "'%s' is no option of it", name);
	if (!o->max) {
		*o->value = 1;
		return 0;
	}
	errno = 0;
	n = text ? strtoull(text, &end, 10) : 0;
	/* strtoull() takes signs and blanks, too. */
	if (!text || *text < '0' || *text > '9' || *end || errno || n < o->min || n > o->max)
		return refuse(verb, "%s takes a whole number from %llu to %llu%s%s%s", name, o->min,
			      o->max, text ? ", not '" : "", text ? text : "", text ? "'" : "");
	*o->value = n;
	++*i;
	return 0;
}

/* now() - seconds, on a clock that nobody sets */
double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static double seconds(struct timeval t)
{
	return t.tv_sec + t.tv_usec / 1e6;
}

/**
 * report_usage() - what the whole process has taken
 * @start: now() of its start
 */
void report_usage(double start)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	printf("user_s: %.3f\nsys_s: %.3f\nwall_s: %.3f\n", seconds(u.ru_utime),
	       seconds(u.ru_stime), now() - start);
	printf("minor_faults: %ld\nmajor_faults: %ld\nmax_rss_kib: %ld\n", u.ru_minflt,
	       u.ru_majflt, u.ru_maxrss);
}

/* workload_find() - the verb of a name, or NULL */
const struct verb *workload_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(verbs[i]->name, name))
			return verbs[i];
	return NULL;
}

static void overview(FILE *to)
{
	unsigned int i;

	fputs("usage: " WL_NAME " VERB [ARGUMENTS]\n\n", to);
	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		fprintf(to, "  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
	fputs("  help       [VERB]: this text, or a verb's\n"
	      "\nExit status: 0 done, 1 a validation, a run or a file failed, 2 usage, 130 stopped.\n",
	      to);
}

int main(int argc, char **argv)
{
	const struct verb *verb;
	const char *name = argc > 1 ? argv[1] : NULL;
	bool help = name && (!strcmp(name, "help") || !strcmp(name, "--help") ||
			     !strcmp(name, "-h"));

	if (!name || (help && argc == 2)) {
		overview(name ? stdout : stderr);
		return finish_stdout(name ? CB_OK : CB_USAGE);
	}
	verb = workload_find(help ? argv[2] : name);
	if (!verb) {
		say("no verb '%s'; there are: graph500 pagerank run compare help",
		    help ? argv[2] : name);
		return CB_USAGE;
	}
	if (help || (argc > 2 && (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h")))) {
		printf("usage: " WL_NAME " %s %s", verb->name, verb->usage);
		return finish_stdout(CB_OK);
	}
	return verb->main(argc - 1, argv + 1);
}
