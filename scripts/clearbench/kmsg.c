// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's log, from now on or from its first line.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clearbench.h"

#define LEVEL_WARNING	4
#define KEEP_LINES	200

/* Return: a descriptor at the first line that is kept; negative where it is not readable. */
int kmsg_open_first(void)
{
	return open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

/* Return: a descriptor at the end of the log; negative where it is not readable. */
int kmsg_open(void)
{
	int fd = kmsg_open_first();

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return fd;
}

/*
 * Next record: its text, without the prefix "priority,sequence,time,flags;"
 * and the dictionary lines. Return: NULL at the end.
 */
static char *next(int fd, char *buf, size_t size, int *level)
{
	ssize_t len;
	char *text;

	if (fd < 0)
		return NULL;
	do {
		len = read(fd, buf, size - 1);
		/* EPIPE: records were overwritten before they could be read. */
	} while (len < 0 && (errno == EPIPE || errno == EINTR));
	if (len <= 0)
		return NULL;
	buf[len] = '\0';
	*level = atoi(buf) & 7;
	text = strchr(buf, ';');
	if (!text)
		return buf + len;
	text++;
	text[strcspn(text, "\n")] = '\0';
	return text;
}

/**
 * kmsg_warnings() - take what the kernel warned of since the last look
 * @fd: as kmsg_open() gave it
 * @lines: array that gets the lines
 */
void kmsg_warnings(int fd, json_t *lines)
{
	char buf[8192], *text;
	int level = LEVEL_WARNING + 1;

	while ((text = next(fd, buf, sizeof(buf), &level))) {
		json_t *string;
		char *line;

		if (level > LEVEL_WARNING || !*text)
			continue;
		/* Of every module that is not the kernel's own; `taint` says it too. */
		if (strstr(text, "taints kernel") || strstr(text, "tainting kernel"))
			continue;
		if (json_array_size(lines) >= KEEP_LINES)
			continue;
		line = scrub(text);
		string = json_string(line);
		if (string)
			json_array_append_new(lines, string);
		free(line);
	}
}

/**
 * kmsg_last() - the last line since the last look that has a word in it
 * @fd: as kmsg_open() gave it
 * @word: to look for
 *
 * Return: the line, to be freed, or NULL.
 */
char *kmsg_last(int fd, const char *word)
{
	char buf[8192], *text, *last = NULL;
	int level;

	while ((text = next(fd, buf, sizeof(buf), &level))) {
		if (!strstr(text, word))
			continue;
		free(last);
		last = xstrdup(text);
	}
	return last;
}

/* The next line, to be freed; NULL at the end. */
char *kmsg_line(int fd)
{
	char buf[8192], *text;
	int level;

	text = next(fd, buf, sizeof(buf), &level);
	return text ? xstrdup(text) : NULL;
}
