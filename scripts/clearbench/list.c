// SPDX-License-Identifier: GPL-2.0
/*
 * Lists of numbers as the knobs write them: "0-3,9".
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clearbench.h"

/* strtoul() would take blanks and signs. */
static int number(const char **at, unsigned int *value)
{
	*value = 0;
	if (!isdigit((unsigned char)**at))
		return -EINVAL;
	for (; isdigit((unsigned char)**at); (*at)++) {
		*value = *value * 10 + **at - '0';
		if (*value >= LIST_NUMBERS)
			return -ERANGE;
	}
	return 0;
}

/**
 * list_parse() - read a list knob
 * @list: set to the numbers
 * @text: numbers and ranges, comma separated, and nothing else
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int list_parse(struct list *list, const char *text)
{
	memset(list, 0, sizeof(*list));
	for (;;) {
		unsigned int first, last;
		int ret;

		ret = number(&text, &first);
		last = first;
		if (!ret && *text == '-') {
			text++;
			ret = number(&text, &last);
		}
		if (ret)
			return ret;
		if (last < first)
			return -EINVAL;
		while (first <= last)
			list->in[first++] = true;
		if (!*text)
			return 0;
		if (*text++ != ',')
			return -EINVAL;
	}
}

/* The shortest text for a list; empty for an empty one. To be freed. */
char *list_text(const struct list *list)
{
	unsigned int i, end;
	char *text, *to;

	text = xrealloc(NULL, LIST_NUMBERS * 4);
	to = text;
	*to = '\0';
	for (i = 0; i < LIST_NUMBERS; i = end + 1) {
		end = i;
		if (!list->in[i])
			continue;
		while (end + 1 < LIST_NUMBERS && list->in[end + 1])
			end++;
		to += sprintf(to, "%s%u", to == text ? "" : ",", i);
		if (end > i)
			to += sprintf(to, "-%u", end);
	}
	return text;
}
