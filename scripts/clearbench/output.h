/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A result file as it is written: whole lines, or nothing.
 */
#ifndef CLEARBENCH_OUTPUT_H
#define CLEARBENCH_OUTPUT_H

#include "result.h"

/**
 * struct output - the file that a run writes
 * @path: as the user named it
 * @fd: descriptor; -1 when closed
 * @whole: bytes of whole lines
 * @cells: lines of cells among them
 * @created: the file was not there before
 * @failed: a write failed; what is whole is kept
 */
struct output {
	const char *path;
	int fd;
	off_t whole;
	unsigned int cells;
	bool created;
	bool failed;
};

int output_open(struct output *out, const char *path, bool force);
int output_resume(struct output *out, const struct result *r,
		  bool (*keep)(const void *arg, const struct cell *cell), const void *arg);
int output_line(struct output *out, const char *line, size_t len);
int output_json(struct output *out, const json_t *json);
void output_close(struct output *out);

#endif /* CLEARBENCH_OUTPUT_H */
