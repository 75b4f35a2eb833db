// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"

const char *fixture_header(void)
{
	return "{\"type\":\"header\",\"format\":1,\"tool\":\"" CB_VERSION "\",\"backend\":\"module\","
	       "\"marks\":[\"emulated\"],\"environment\":{\"clearbench\":\"" CB_VERSION "\","
	       "\"kernel\":\"7.3.4\",\"machine\":\"x86_64\",\"preempt\":\"lazy\",\"page_size\":\"4096\","
	       "\"clear_pages\":\"native\",\"clear_page\":\"stosb\",\"cpu_model\":\"Test CPU\"},"
	       "\"knobs\":{\"cache\":\"cold\",\"orders\":\"0-10\",\"contexts\":\"process,softirq,spinlock\",\"samples\":\"100\"},"
	       "\"command\":\"clearbench run -o x.jsonl\"}";
}

char *fixture_cell(unsigned int index, unsigned int buckets)
{
	static const char *const contexts[] = { "process", "softirq", "spinlock", "irqoff" };
	unsigned int block = index / 2, order = block % 11, context = block / 11 % 4, i;
	unsigned int nid = block / 44;
	bool after = index & 1;
	double p50 = (400 << order) - 7 * after;
	size_t len;
	char *text;
	FILE *to = open_memstream(&text, &len);

	fprintf(to, "{\"type\":\"cell\",\"context\":\"%s\",\"order\":%u,\"method\":\"%s\",\"batch\":\"%s\"",
		contexts[context], order, after ? "batched" : "legacy", after ? "full" : "-");
	fprintf(to, ",\"cache\":\"cold\",\"model\":\"lazy\",\"cpu\":1,\"nid\":%u,\"load\":0", nid);
	fprintf(to, ",\"n\":%u,\"n_disturbed\":0,\"not_available\":0,\"verify\":\"ok\",\"state\":\"ok\",\"note\":null",
		buckets * 2);
	fprintf(to, ",\"min_ns\":%.0f,\"p50_ns\":%.1f,\"p90_ns\":%.1f,\"p99_ns\":%.1f,\"p999_ns\":%.1f,\"max_ns\":%.0f",
		p50 * 0.9, p50, p50 * 1.1, p50 * 1.2, p50 * 1.3, p50 * 1.5);
	fprintf(to, ",\"mean_ns\":%.1f,\"gb_per_s\":%.3f,\"clock_ns\":21.3,\"alloc_p50_ns\":null,\"free_p50_ns\":null",
		p50, (4096 << order) / p50);
	if (after)
		fputs(",\"ratio\":1.0100,\"ratio_lo\":1.0050,\"ratio_hi\":1.0150,\"floor_lo\":0.9990,\"floor_hi\":1.0010",
		      to);
	else
		fputs(",\"ratio\":null,\"ratio_lo\":null,\"ratio_hi\":null,\"floor_lo\":null,\"floor_hi\":null",
		      to);
	for (i = CB_COL_irq_p50_ns; i < CB_NR_COLUMNS; i++) {
		static const char *const names[] = {
#define NAME(_name)	#_name,
			CB_COLUMNS(NAME)
		};

		fprintf(to, ",\"%s\":null", names[i]);
	}
	fputs(",\"hist\":{\"clear\":[", to);
	for (i = 0; i < buckets; i++)
		fprintf(to, "%s[%u,%u,2]", i ? "," : "", (400 + 4 * i) << order,
			(404 + 4 * i) << order);
	fputs("]}}", to);
	fclose(to);
	return text;
}

void fixture_write(FILE *to, unsigned int cells, unsigned int buckets)
{
	unsigned int i;

	fprintf(to, "%s\n", fixture_header());
	for (i = 0; i < cells; i++) {
		char *cell = fixture_cell(i, buckets);

		fprintf(to, "%s\n", cell);
		free(cell);
	}
	fprintf(to, "{\"type\":\"footer\",\"complete\":true,\"cells\":%u,\"warnings\":[],\"changed\":[]}\n",
		cells);
}

static char folder[] = "/tmp/clearbench-unit-XXXXXX";

static void remove_folder(void)
{
	char *command = xasprintf("rm -rf %s", folder);

	if (system(command))
		msg("%s is left", folder);
	free(command);
}

char *temp_file(const char *name, const char *text)
{
	static pid_t made;
	char *path;
	FILE *to;

	if (!made) {
		assert_non_null(mkdtemp(folder));
		made = getpid();
		atexit(remove_folder);
	}
	path = xasprintf("%s/%s", folder, name);
	if (text) {
		to = fopen(path, "w");
		assert_non_null(to);
		fputs(text, to);
		fclose(to);
	}
	return path;
}

struct capture capture_begin(int fd)
{
	struct capture c = { .fd = fd };

	fflush(NULL);
	c.saved = dup(fd);
	c.caught = memfd_create("caught", 0);
	assert_true(c.saved >= 0 && c.caught >= 0);
	dup2(c.caught, fd);
	return c;
}

char *capture_end(struct capture *c)
{
	struct stat st;
	char *text;

	fflush(NULL);
	dup2(c->saved, c->fd);
	close(c->saved);
	fstat(c->caught, &st);
	text = xrealloc(NULL, st.st_size + 1);
	assert_int_equal(pread(c->caught, text, st.st_size, 0), st.st_size);
	text[st.st_size] = '\0';
	close(c->caught);
	return text;
}

int run_verb(const struct verb *verb, char **out, char **err, const char *first, ...)
{
	char *argv[32] = { (char *)verb->name };
	struct capture caught_out, caught_err;
	const char *arg;
	char *text;
	int argc = 1, status;
	va_list ap;

	va_start(ap, first);
	for (arg = first; arg && argc < 31; arg = va_arg(ap, const char *))
		argv[argc++] = (char *)arg;
	va_end(ap);
	caught_out = capture_begin(STDOUT_FILENO);
	caught_err = capture_begin(STDERR_FILENO);
	status = verb->main(argc, argv);
	text = capture_end(&caught_err);
	if (err)
		*err = text;
	else
		free(text);
	text = capture_end(&caught_out);
	if (out)
		*out = text;
	else
		free(text);
	return status;
}

unsigned int count_lines(const char *text)
{
	unsigned int lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}
