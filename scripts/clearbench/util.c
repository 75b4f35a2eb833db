// SPDX-License-Identifier: GPL-2.0
/*
 * Messages, memory, small files.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "clearbench.h"

/**
 * msg() - one line for the user, on stderr
 * @fmt: cause and next step, without a newline
 */
void msg(const char *fmt, ...)
{
	va_list ap;

	/* One write a line, so that lines of several processes do not mix. */
	va_start(ap, fmt);
	flockfile(stderr);
	fputs(CB_NAME ": ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	funlockfile(stderr);
	va_end(ap);
}

static void *checked(void *p)
{
	if (!p) {
		msg("out of memory");
		exit(CB_FAILED);
	}
	return p;
}

void *xrealloc(void *old, size_t size)
{
	return checked(realloc(old, size ? size : 1));
}

char *xstrdup(const char *s)
{
	return checked(strdup(s));
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int ret;

	va_start(ap, fmt);
	ret = vasprintf(&s, fmt, ap);
	va_end(ap);
	return checked(ret < 0 ? NULL : s);
}

/**
 * read_text() - a whole file of unknown size
 * @path: also of procfs, sysfs and debugfs, whose sizes say nothing
 *
 * Return: the text, to be freed; NULL with errno set.
 */
char *read_text(const char *path)
{
	size_t len = 0, cap = 4096;
	char *text;
	ssize_t ret;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	text = xrealloc(NULL, cap);
	do {
		if (cap - len < 2) {
			cap *= 2;
			text = xrealloc(text, cap);
		}
		ret = read(fd, text + len, cap - len - 1);
		if (ret > 0)
			len += ret;
	} while (ret > 0 || (ret < 0 && errno == EINTR));
	if (ret < 0) {
		int err = errno;

		free(text);
		text = NULL;
		close(fd);
		errno = err;
		return NULL;
	}
	close(fd);
	text[len] = '\0';
	return text;
}

/* The first line of a file, without its newline. */
char *read_line(const char *path)
{
	char *text = read_text(path);

	if (text)
		text[strcspn(text, "\n")] = '\0';
	return text;
}

/**
 * write_text() - hand a value to a kernel file, in one write
 * @path: file that exists
 * @text: what to write
 *
 * Return: 0 or a negative errno.
 */
int write_text(const char *path, const char *text)
{
	ssize_t ret;
	int fd, err = 0;

	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text));
	if (ret < 0)
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	return err;
}

const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static bool word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/**
 * scrub() - text without what names the machine or its user
 * @text: a command line, or a line of the kernel's log
 *
 * Results are published, so absolute paths keep only their last part, and the
 * host name becomes HOST.
 *
 * Return: a new string.
 */
char *scrub(const char *text)
{
	struct utsname uts = { .nodename = "" };
	char *out = xrealloc(NULL, 5 * strlen(text) + 1), *to = out;
	const char *at = text;
	size_t host;

	uname(&uts);
	host = strlen(uts.nodename);
	if (!strcmp(uts.nodename, "localhost") || !strcmp(uts.nodename, "(none)"))
		host = 0;
	while (*at) {
		bool start = at == text || !word_char(at[-1]);

		if (*at == '/' && start && word_char(at[1]) && (at == text || at[-1] != '/')) {
			const char *last = at + 1;

			for (; word_char(*at) || *at == '/'; at++)
				if (*at == '/' && word_char(at[1]))
					last = at + 1;
			memcpy(to, last, at - last);
			to += at - last;
			continue;
		}
		if (host && start && !strncmp(at, uts.nodename, host) && !word_char(at[host])) {
			to = stpcpy(to, "HOST");
			at += host;
			continue;
		}
		*to++ = *at++;
	}
	*to = '\0';
	return out;
}

/**
 * utf8_len() - length of the character that text begins with
 * @text: of a file, so it may hold any bytes; not empty
 *
 * Return: 1 to 4; 0 for a control character and for what is no UTF-8.
 */
unsigned int utf8_len(const char *text)
{
	/* Lowest code point of each length: a longer form of it is none. */
	static const unsigned int least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *at = (const unsigned char *)text;
	unsigned int len, code, i;

	if (*at < 0x80)
		return *at >= ' ' && *at != 0x7f;
	len = *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : 2;
	if (*at < 0xc0 || *at > 0xf4)
		return 0;
	code = *at & (0x7f >> len);
	for (i = 1; i < len; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	/* Not C1 controls, surrogates and what XML has no room for either */
	if (code < least[len] || code < 0xa0 || code > 0x10ffff ||
	    (code >= 0xd800 && code <= 0xdfff) || (code & 0xfffe) == 0xfffe)
		return 0;
	return len;
}
