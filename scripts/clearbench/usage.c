// SPDX-License-Identifier: GPL-2.0
/*
 * What every verb says in the same way.
 */
#include <errno.h>
#include <string.h>

#include "clearbench.h"

/* The usage of a verb. */
void verb_help(const struct verb *verb, FILE *to)
{
	fprintf(to, "usage: clearbench %s %s", verb->name, verb->usage);
}

/**
 * usage_error() - refuse the command line
 * @verb: whose usage is shown
 * @fmt: what is wrong with it
 *
 * Return: the exit status.
 */
int usage_error(const struct verb *verb, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, CB_NAME " %s: ", verb->name);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	verb_help(verb, stderr);
	return CB_USAGE;
}

/**
 * finish_stdout() - make sure that what was printed arrived
 * @status: exit status if it did
 *
 * A reader that has gone away (head, less) has what it wants; a full disk is
 * a failure.
 *
 * Return: the exit status.
 */
int finish_stdout(int status)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	if (errno != EPIPE)
		msg("standard output: %s", errno ? strerror(errno) : "write error");
	return errno == EPIPE ? status : CB_FAILED;
}
