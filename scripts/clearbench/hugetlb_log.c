// SPDX-License-Identifier: GPL-2.0
/*
 * What the kernel's log says of its boot: whether allocations are cleared, and
 * how long hugepages= took.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hugetlb.h"

#define BOOT_LINE	"HugeTLB: allocation took %ums with hugepage_allocation_threads=%u"

/* The word behind @key in @text, up to a comma or blank; to be freed */
static char *word_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	if (!at)
		return NULL;
	at += strlen(key);
	return xasprintf("%.*s", (int)strcspn(at, "\n, "), at);
}

/* The line of the whole log that has a word in it, the last one; to be freed */
static char *log_line(const char *word)
{
	int fd = kmsg_open_first();
	char *line = kmsg_last(fd, word);

	if (fd >= 0)
		close(fd);
	return line;
}

/*
 * Whether the page allocator clears what it hands out. There is no file that
 * says it, but the kernel logs it (report_meminit() in mm/mm_init.c); where the
 * log no longer goes back that far, the command line may have said so.
 *
 * Return: "on", "off" or "unknown".
 */
const char *hugetlb_init_on_alloc(void)
{
	char *line = log_line("mem auto-init:"), *word = NULL;
	const char *is = "unknown";

	if (line) {
		word = word_after(line, "heap alloc:");
	} else {
		line = read_line("/proc/cmdline");
		word = line ? word_after(line, "init_on_alloc=") : NULL;
	}
	/* The forms of kstrtobool() */
	if (word && (strchr("1yYtT", *word) || !strcasecmp(word, "on")))
		is = "on";
	else if (word && (strchr("0nNfF", *word) || !strcasecmp(word, "off")))
		is = "off";
	free(word);
	free(line);
	return is;
}

/* "HugeTLB: registered 2.00 MiB page size, pre-allocated 8192 pages" */
static bool is_registered(const char *line, double size, unsigned long *pages)
{
	static const char units[] = "KMGT";
	const char *unit;
	double value;
	char letter;

	line = strstr(line, "HugeTLB: registered ");
	if (!line || sscanf(line, "HugeTLB: registered %lf %ciB page size, pre-allocated %lu pages",
			    &value, &letter, pages) != 3)
		return false;
	unit = strchr(units, letter);
	if (!unit)
		return false;
	for (; unit >= units; unit--)
		value *= 1024;
	return value == size;
}

/**
 * hugetlb_boot_row() - the time that hugepages= took, from the kernel's log
 * @row: filled in
 * @size: bytes of a page
 *
 * hugetlb_pages_alloc_boot() in mm/hugetlb.c counts jiffies around the whole
 * allocation, all threads of it, and prints whole milliseconds.
 *
 * Return: NULL, or why there is no row.
 */
const char *hugetlb_boot_row(struct hugetlb_row *row, double size)
{
	unsigned long pages = 0, found;
	unsigned int ms = 0, threads = 0, nr = 0;
	bool registered = false;
	int fd = kmsg_open_first();
	struct timespec tick;
	char *line;

	if (fd < 0)
		return "/dev/kmsg cannot be read";
	while ((line = kmsg_line(fd))) {
		const char *at = strstr(line, "HugeTLB: allocation took ");

		nr += at && sscanf(at, BOOT_LINE, &ms, &threads) == 2;
		if (is_registered(line, size, &found)) {
			registered = true;
			pages = found;
		}
		free(line);
	}
	close(fd);
	if (!registered)
		return "the kernel's log no longer goes back to it";
	if (!pages)
		return "no hugepages= for this size on the kernel's command line";
	if (!nr)
		return "the log has no time of it (gigantic pages, hugepages=NODE:N, older kernel)";
	if (nr > 1)
		return "the log times several sizes and does not say which is which";
	memset(row, 0, sizeof(*row));
	row->kind = HUGETLB_BOOT;
	row->size = size;
	row->node = -1;
	row->threads = threads;
	row->asked = pages;
	row->pages = pages;
	/* The coarse clocks move with the jiffies. */
	if (!clock_getres(CLOCK_MONOTONIC_COARSE, &tick))
		row->tick = tick.tv_sec + tick.tv_nsec / 1e9;
	hugetlb_row_add(row, ms / 1e3);
	return NULL;
}
