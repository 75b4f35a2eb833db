// SPDX-License-Identifier: GPL-2.0
/*
 * clearbench: runs the module's sweep, keeps what comes out, and shows it.
 */
#include <string.h>

#include "clearbench.h"

static const struct verb *const verbs[] = {
	&verb_info,
	&verb_run,
	&verb_show,
	&verb_compare,
	&verb_matrix,
	&verb_plot,
	&verb_hugetlb,
	&verb_watch,
};

static void overview(FILE *to)
{
	unsigned int i;

	fputs("usage: clearbench VERB [ARGUMENTS]\n\n", to);
	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		fprintf(to, "  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
	fputs("  help       [VERB]: this text, or a verb's\n"
	      "\nExit status: 0 done, 1 the run or a file failed, 2 usage or no result file,\n"
	      "3 compare --fail-above, 130 stopped.\n", to);
}

static const struct verb *find_verb(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(verbs[i]->name, name))
			return verbs[i];
	fprintf(stderr, CB_NAME ": no verb '%s'; there are:", name);
	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		fprintf(stderr, " %s", verbs[i]->name);
	fputs(" help\n", stderr);
	return NULL;
}

int main(int argc, char **argv)
{
	const struct verb *verb;
	const char *name = argc > 1 ? argv[1] : NULL;

	if (!name) {
		overview(stderr);
		return CB_USAGE;
	}
	if (!strcmp(name, "--version")) {
		puts(CB_NAME " " CB_VERSION);
		return finish_stdout(CB_OK);
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
		verb = NULL;
		if (argc > 2 && strcmp(argv[2], "help")) {
			verb = find_verb(argv[2]);
			if (!verb)
				return CB_USAGE;
		}
		if (verb)
			verb_help(verb, stdout);
		else
			overview(stdout);
		return finish_stdout(CB_OK);
	}
	verb = find_verb(name);
	if (!verb)
		return CB_USAGE;
	if (argc > 2 && (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h"))) {
		verb_help(verb, stdout);
		return finish_stdout(CB_OK);
	}
	return verb->main(argc - 1, argv + 1);
}
