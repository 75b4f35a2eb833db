// SPDX-License-Identifier: GPL-2.0
/*
 * A result file as it is written. A line goes out in one piece and is taken
 * back when it did not fit, so that whatever happens the file ends with a
 * whole line.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"

static const char *next_step(int err)
{
	switch (err) {
	case ENOENT:
		return ": make the folder first";
	case EACCES:
	case EPERM:
	case EROFS:
		return ": name a file in a folder that can be written";
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return ": what is whole is kept; make room, then continue with --resume";
	default:
		return "";
	}
}

/**
 * output_open() - make sure that the file can be written, before the run
 * @out: filled in
 * @path: of the file
 * @force: it may be there already; it is not emptied before its first line
 *
 * Return: 0, or a negative errno after a message.
 */
int output_open(struct output *out, const char *path, bool force)
{
	memset(out, 0, sizeof(*out));
	out->path = path;
	out->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	out->created = out->fd >= 0;
	if (out->fd < 0 && errno == EEXIST) {
		if (!force) {
			msg("%s exists: --force overwrites it, --resume %s continues it",
			    path, path);
			return -EEXIST;
		}
		out->fd = open(path, O_WRONLY | O_CLOEXEC);
	}
	if (out->fd < 0) {
		int err = errno;

		msg("%s: %s%s", path, strerror(err), next_step(err));
		return -err;
	}
	return 0;
}

static int write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t done = write(fd, text, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		text += done;
		len -= done;
	}
	return 0;
}

/**
 * output_line() - add a line
 * @out: file
 * @line: with its newline
 * @len: of the line
 *
 * Return: 0, or a negative errno, after a message for the first one.
 */
int output_line(struct output *out, const char *line, size_t len)
{
	int ret = 0;

	/* What --force overwrites is kept until there is something in its place. */
	if (!out->whole && ftruncate(out->fd, 0) && errno != EINVAL)
		ret = -errno;
	if (!ret)
		ret = write_all(out->fd, line, len);
	if (!ret) {
		out->whole += len;
		return 0;
	}
	if (!out->failed)
		msg("%s: %s%s", out->path, strerror(-ret), next_step(-ret));
	out->failed = true;
	/* Pipes and devices cannot be cut; a reader of theirs copes. */
	if (!ftruncate(out->fd, out->whole))
		lseek(out->fd, out->whole, SEEK_SET);
	return ret;
}

/* Add an object as a line. */
int output_json(struct output *out, const json_t *json)
{
	char *text = json_dumps(json, JSON_COMPACT), *line;
	int ret;

	line = xasprintf("%s\n", text ? text : "null");
	ret = output_line(out, line, strlen(line));
	free(line);
	free(text);
	return ret;
}

/**
 * output_resume() - continue a file, without what has to be measured again
 * @out: filled in
 * @r: the file, as it was read
 * @keep: tells which cells stay
 * @arg: for @keep
 *
 * The lines that stay are copied as they are to a new file, which then takes
 * the old one's place in one step.
 *
 * Return: 0, or a negative errno after a message.
 */
int output_resume(struct output *out, const struct result *r,
		  bool (*keep)(const void *arg, const struct cell *cell), const void *arg)
{
	char *text = NULL, *new_path = xasprintf("%s.new", r->path);
	const struct cell *cell = r->cells, *end = r->cells + r->nr_cells;
	unsigned int line = 0;
	size_t size = 0;
	ssize_t len;
	FILE *from;
	int ret;

	from = fopen(r->path, "re");
	if (!from) {
		ret = -errno;
		msg("%s: %s", r->path, strerror(-ret));
		free(new_path);
		return ret;
	}
	ret = output_open(out, new_path, true);
	while (!ret && (len = getline(&text, &size, from)) > 0) {
		bool copy = ++line == 1;

		if (cell < end && cell->line == line) {
			copy = keep(arg, cell++);
			out->cells += copy;
		}
		/* The cut may have taken a newline and nothing else. */
		if (copy && text[len - 1] != '\n') {
			char *whole = xasprintf("%s\n", text);

			ret = output_line(out, whole, strlen(whole));
			free(whole);
		} else if (copy) {
			ret = output_line(out, text, len);
		}
	}
	if (!ret && (fsync(out->fd) || rename(new_path, r->path))) {
		ret = -errno;
		msg("%s: %s", r->path, strerror(-ret));
	}
	if (ret)
		unlink(new_path);
	out->path = r->path;
	out->created = false;
	free(new_path);
	free(text);
	fclose(from);
	return ret;
}

/* Close it; a new file that nothing was written to goes. */
void output_close(struct output *out)
{
	if (out->fd >= 0)
		close(out->fd);
	if (out->created && !out->whole)
		unlink(out->path);
	out->fd = -1;
}
