// SPDX-License-Identifier: GPL-2.0
/*
 * gnuplot as a child, and the SVG that it gives.
 */
#include <ctype.h>
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plot.h"

/**
 * gp_string() - write text as a constant of gnuplot
 * @to: script
 * @text: of a file, so it may hold anything
 *
 * Between single quotes gnuplot takes everything as it stands: no escapes, no
 * command in backquotes, no macro. The terminal is set to noenhanced, or the
 * text's own markup would count.
 */
void gp_string(FILE *to, const char *text)
{
	fputc('\'', to);
	while (*text) {
		unsigned int len = utf8_len(text);

		if (*text == '\'')
			fputs("''", to);
		else if (len)
			fwrite(text, 1, len, to);
		else
			fputc('?', to);
		text += len ? len : 1;
	}
	fputc('\'', to);
}

/* The whole of a file in memory, with a NUL behind it */
static char *read_back(int fd, size_t *len)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char *text;
	ssize_t ret;

	*len = 0;
	if (size < 0)
		return NULL;
	text = xrealloc(NULL, size + 1);
	while (*len < (size_t)size) {
		ret = pread(fd, text + *len, size - *len, *len);
		if (ret <= 0)
			break;
		*len += ret;
	}
	text[*len] = '\0';
	return text;
}

/* Both ends are looked at: a child that dies may have written a part. */
static bool is_whole(const char *out, size_t len)
{
	static const char png[] = "\x89PNG\r\n\x1a\n", end[] = "IEND";
	static const char svg_end[] = "</svg>";

	if (len > 64 && !memcmp(out, png, sizeof(png) - 1))
		return !memcmp(out + len - 8, end, 4);
	return len > 64 && !strncmp(out, "<?xml", 5) && memmem(out + len - 16, 16, svg_end, 6);
}

/* The line of gnuplot's message that says what is wrong */
static void complain(int status, char *said)
{
	char *line, *at, *last = NULL;

	for (line = strtok_r(said, "\n", &at); line; line = strtok_r(NULL, "\n", &at))
		if (line[strspn(line, " \t^")])
			last = line;
	if (WIFSIGNALED(status))
		msg("gnuplot was killed by signal %d: nothing was written", WTERMSIG(status));
	else
		msg("gnuplot failed with status %d: %s; nothing was written",
		    WEXITSTATUS(status), last ? last : "it said nothing");
}

/**
 * run_gnuplot() - make a picture
 * @script: sets a terminal and no output
 * @len: its length
 * @out_len: set to the picture's length
 *
 * The three streams are files in memory: no pipe can block, no name can be
 * guessed, no shell is involved, and nothing is left behind.
 *
 * Return: the picture, to be freed; NULL: a message was given.
 */
char *run_gnuplot(const char *script, size_t len, size_t *out_len)
{
	static const char *const argv[] = { "gnuplot", "-d", NULL };
	static const char *const names[] = { "script", "picture", "messages" };
	int fd[3] = { -1, -1, -1 }, status = 0, err = 0, i;
	posix_spawn_file_actions_t actions;
	char *out = NULL, *said;
	size_t said_len;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	for (i = 0; i < 3; i++) {
		fd[i] = memfd_create(names[i], MFD_CLOEXEC);
		if (fd[i] < 0) {
			msg("no memory for gnuplot's %s: %s", names[i], strerror(errno));
			goto out;
		}
		posix_spawn_file_actions_adddup2(&actions, fd[i], i);
	}
	if (write(fd[0], script, len) != (ssize_t)len || lseek(fd[0], 0, SEEK_SET)) {
		msg("no memory for gnuplot's script");
		goto out;
	}
	/* -d: the user's own defaults do not count. */
	err = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ);
	if (err == ENOENT) {
		msg("gnuplot is not installed: apt install gnuplot-nox");
		goto out;
	} else if (err) {
		msg("gnuplot: %s", strerror(err));
		goto out;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	out = read_back(fd[1], out_len);
	said = read_back(fd[2], &said_len);
	if (status) {
		complain(status, said);
	} else if (!out || !is_whole(out, *out_len)) {
		msg("gnuplot gave no whole picture (a full disk, or a gnuplot without this terminal): apt install gnuplot-nox");
		status = 1;
	}
	free(said);
	if (status) {
		free(out);
		out = NULL;
	}
out:
	posix_spawn_file_actions_destroy(&actions);
	for (i = 0; i < 3; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	return out;
}

static const char *skip_past(const char *at, const char *what)
{
	const char *found = strstr(at, what);

	return found ? found + strlen(what) : at + strlen(at);
}

/* The length of a group without content at @at, or 0 */
static size_t empty_group(const char *at)
{
	static const char begin[] = "<g fill=\"none\"", end[] = "\n</g>\n";
	const char *close;

	if (strncmp(at, begin, strlen(begin)))
		return 0;
	close = strchr(at, '>');
	if (!close || strncmp(close + 1, end, strlen(end)))
		return 0;
	return close + 1 + strlen(end) - at;
}

/*
 * gnuplot closes a group and opens the same again for every tic. Return: what to
 * leave out between the two, @open being the tag of the group that is open; 0:
 * the next is another.
 */
static size_t same_group_again(const char *at, const char *open)
{
	const char *next = at;
	size_t len;

	if (!open || strncmp(at, "</g>\n", 5))
		return 0;
	for (next += 5; (len = empty_group(next)); next += len)
		;
	len = strchrnul(open, '>') + 1 - open;
	return strncmp(next, open, len) ? 0 : next + len - at;
}

/*
 * What gnuplot writes at length, within a tag: two digits behind the point, the
 * default ends of lines, colours as three numbers. Return: what was used up.
 */
static size_t put_shorter(FILE *to, const char *at)
{
	static const char ends[] = " stroke-linecap=\"butt\" stroke-linejoin=\"miter\"";
	unsigned int r, g, b;
	int len = 0;

	if (*at == '.' && isdigit((unsigned char)at[1]) && isdigit((unsigned char)at[2]) &&
	    !isdigit((unsigned char)at[3])) {
		if (at[1] != '0')
			fprintf(to, ".%c", at[1]);
		return 3;
	}
	if (*at == ' ' && !strncmp(at, ends, strlen(ends)))
		return strlen(ends);
	if (*at == 'r' && sscanf(at, "rgb(%3u,%3u,%3u)%n", &r, &g, &b, &len) == 3 && len) {
		fprintf(to, "#%02x%02x%02x", r & 0xff, g & 0xff, b & 0xff);
		return len;
	}
	return 0;
}

/**
 * put_svg() - pass on a picture
 * @to: where
 * @svg: gnuplot's
 * @title: to stand in the place of gnuplot's own
 * @prefix: of every id, for a picture within a page of several; NULL: a file of
 *	its own
 *
 * In what gnuplot writes, < and & of a text are escaped: a < begins a tag.
 */
void put_svg(FILE *to, const char *svg, const char *title, const char *prefix)
{
	static const char *const ids[] = { " id='", " id=\"", "href='#", "url(#" };
	bool in_tag = false, titled = false;
	const char *at = svg, *open = NULL;
	unsigned int i;
	size_t len;

	if (prefix) {
		at = strstr(svg, "<svg");
		at = at ? at : svg;
	}
	while (*at) {
		if (!strncmp(at, "<title>", 7)) {
			if (!titled) {
				fputs("<title>", to);
				put_html(to, title);
				fputs("</title>", to);
			}
			titled = true;
			at = skip_past(at, "</title>");
			continue;
		}
		len = empty_group(at);
		if (len) {
			at += len;
			continue;
		}
		len = at > svg && at[-1] != '\t' ? same_group_again(at, open) : 0;
		if (len) {
			at += len;
			continue;
		}
		if (!strncmp(at, "<g fill=\"none\"", 14))
			open = at;
		if (*at == '<')
			in_tag = true;
		else if (*at == '>')
			in_tag = false;
		len = in_tag ? put_shorter(to, at) : 0;
		if (len) {
			at += len;
			continue;
		}
		for (i = 0; prefix && in_tag && i < ARRAY_SIZE(ids); i++) {
			len = strlen(ids[i]);
			if (!strncmp(at, ids[i], len)) {
				fwrite(at, 1, len, to);
				fputs(prefix, to);
				at += len;
				break;
			}
		}
		fputc(*at++, to);
	}
}
