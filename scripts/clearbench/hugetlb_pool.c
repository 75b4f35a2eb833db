// SPDX-License-Identifier: GPL-2.0
/*
 * A HugeTLB pool in sysfs: made larger, timed, and put back.
 *
 * A write to nr_hugepages allocates in the writer's thread, page by page
 * (set_max_huge_pages() in mm/hugetlb.c), ends early on a signal, and says
 * nothing of either: what came of it is read back.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "hugetlb.h"

#define POOLS	"/sys/kernel/mm/hugepages"
#define NODES	"/sys/devices/system/node"

/* linux/mman.h and linux/mempolicy.h, which clash with the C library's */
#define HUGE_SHIFT	26
#define POLICY_BIND	2
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE	23	/* since 5.14 */
#endif

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	(void)sig;
	stopped = 1;
}

static const int stop_signals[] = { SIGINT, SIGTERM, SIGHUP };

/* From now on these end the measurement and not the program. */
void hugetlb_catch_signals(void)
{
	struct sigaction act = { .sa_handler = stop };	/* a write ends early */
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(stop_signals); i++)
		sigaction(stop_signals[i], &act, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

bool hugetlb_stopped(void)
{
	return stopped;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static long read_number(const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name), *line = read_line(path);
	long number = line && *line ? atol(line) : -1;

	free(line);
	free(path);
	return number;
}

/* Bytes behind "KEY: N kB", also with "Node 0 " before it; 0 where it is absent */
static double kib(const char *text, const char *key)
{
	const char *at = text ? strstr(text, key) : NULL;

	return at ? strtoul(at + strlen(key), NULL, 10) * 1024.0 : 0;
}

static char *pool_dir(unsigned long size, int node)
{
	if (node < 0)
		return xasprintf(POOLS "/hugepages-%lukB", size >> 10);
	return xasprintf(NODES "/node%d/hugepages/hugepages-%lukB", node, size >> 10);
}

/* The sizes that this kernel has, for a message; NULL where there are none */
static char *known_sizes(void)
{
	char *all = NULL, buf[UNIT_LEN];
	glob_t found;
	size_t i;

	if (glob(POOLS "/hugepages-*kB", 0, NULL, &found))
		return NULL;
	for (i = 0; i < found.gl_pathc; i++) {
		double size = atol(strrchr(found.gl_pathv[i], '-') + 1) * 1024.0;
		char *old = all;

		all = xasprintf("%s%s%s", old ? old : "", old ? ", " : "", fmt_extent(buf, size));
		free(old);
	}
	globfree(&found);
	return all;
}

static int check_size(unsigned long size)
{
	char *known = known_sizes(), *dir = pool_dir(size, -1), buf[UNIT_LEN];
	int ret = 0;

	if (!known) {
		msg("this kernel has no HugeTLB (" POOLS " is empty): take one with CONFIG_HUGETLBFS");
		ret = -EOPNOTSUPP;
	} else if (access(dir, F_OK)) {
		msg("this kernel has no huge pages of %s: --size %s", fmt_extent(buf, size), known);
		ret = -EDOM;
	}
	free(known);
	free(dir);
	return ret;
}

static int check_node(int node)
{
	char *path = xasprintf(NODES "/node%d", node), *online = NULL;
	int ret = 0;

	if (node >= 0 && access(path, F_OK)) {
		online = read_line(NODES "/has_memory");
		msg("node %d is not on this machine: --node %s", node,
		    online && *online ? online : "needs a kernel with NUMA");
		ret = -EDOM;
	}
	free(online);
	free(path);
	return ret;
}

static int open_for_writing(struct hugetlb_pool *pool)
{
	char *path = xasprintf("%s/nr_hugepages", pool->dir);
	int ret = 0;

	pool->fd = open(path, O_WRONLY | O_CLOEXEC);
	if (pool->fd < 0) {
		ret = -errno;
		if (errno == EACCES || errno == EPERM)
			msg("nr_hugepages cannot be written: run it as root");
		else if (errno == EROFS)
			msg("sysfs is read-only here: run it outside of the container");
		else
			msg("%s: %s", path, strerror(errno));
	}
	free(path);
	return ret;
}

/**
 * hugetlb_pool_open() - find a pool and keep what it holds
 * @pool: filled in
 * @size: bytes of a page
 * @node: -1 for all
 *
 * Return: 0, or a negative errno after a message; nothing is changed.
 */
int hugetlb_pool_open(struct hugetlb_pool *pool, unsigned long size, int node)
{
	long surplus, before;
	int ret, i;

	memset(pool, 0, sizeof(*pool));
	pool->size = size;
	pool->node = node;
	pool->fd = -1;
	ret = check_size(size);
	if (!ret)
		ret = check_node(node);
	if (ret)
		return ret;
	pool->dir = pool_dir(size, node);
	ret = open_for_writing(pool);
	if (ret)
		return ret;
	before = read_number(pool->dir, "nr_hugepages");
	if (before < 0) {
		msg("%s/nr_hugepages cannot be read", pool->dir);
		return -EIO;
	}
	pool->before = before;
	/* The pool grows by these first, which takes a counter and no memory. */
	surplus = read_number(pool->dir, "surplus_hugepages");
	if (surplus > 0) {
		msg("%ld pages of the pool are surplus, and growing would only rename them: end what uses them, or set nr_overcommit_hugepages to 0",
		    surplus);
		return -EBUSY;
	}
	for (i = 0; i < HUGETLB_NODES; i++) {
		char *dir = pool_dir(size, i);
		bool ours = node < 0 || node == i;

		pool->node_before[i] = ours ? read_number(dir, "nr_hugepages") : -1;
		free(dir);
	}
	return 0;
}

static double gib(double bytes)
{
	return bytes / (1 << 30);
}

/**
 * hugetlb_pool_pages() - how many pages to ask for
 * @pool: where
 * @pages: what the user wants; 0 becomes as much of what v1 took as is free
 *
 * An eighth of the memory, 128 MiB at least, stays free: reclaim and compaction
 * would be in the figure. What is asked for by number may take the page cache.
 *
 * Return: 0, or a negative errno after a message.
 */
int hugetlb_pool_pages(const struct hugetlb_pool *pool, unsigned long *pages)
{
	char *path = pool->node < 0 ? xstrdup("/proc/meminfo") :
		     xasprintf(NODES "/node%d/meminfo", pool->node);
	char *text = read_text(path), buf[UNIT_LEN];
	double keep = kib(text, "MemTotal:") / 8, have, wanted;

	if (keep < 128 << 20)
		keep = 128 << 20;
	have = kib(text, "MemFree:");
	if (*pages && pool->node < 0)
		have = kib(text, "MemAvailable:");
	else if (*pages)
		have += kib(text, "FilePages:") - kib(text, "Shmem:");
	free(text);
	free(path);
	have = have > keep ? have - keep : 0;
	wanted = *pages ? *pages * (double)pool->size : HUGETLB_V1_BYTES;
	if (wanted <= have) {
		*pages = wanted / pool->size;
	} else if (!*pages && have >= pool->size) {
		*pages = have / pool->size;
	} else {
		unsigned long most = have / pool->size;
		char *next = most ? xasprintf("--pages 1 to %lu", most) :
			     xstrdup("free some, or take a smaller --size");

		msg("too little memory for %lu page%s of %s: %.2f GiB can be had, with %.2f GiB left free: %s",
		    *pages ? *pages : 1, *pages > 1 ? "s" : "", fmt_extent(buf, pool->size),
		    gib(have), gib(keep), next);
		free(next);
		return -ENOMEM;
	}
	return 0;
}

static int set_pages(int fd, unsigned long pages)
{
	char text[24];
	int len = snprintf(text, sizeof(text), "%lu", pages);

	return pwrite(fd, text, len, 0) == len ? 0 : errno ? -errno : -EIO;
}

/* Times that memory was reclaimed or compacted by a thread that wanted some */
static unsigned long stalls(void)
{
	char *text = read_text("/proc/vmstat"), *line, *at;
	unsigned long sum = 0;

	for (line = text ? strtok_r(text, "\n", &at) : NULL; line; line = strtok_r(NULL, "\n", &at))
		if (!strncmp(line, "allocstall", 10) || !strncmp(line, "compact_stall ", 14))
			sum += strtoul(line + strcspn(line, " "), NULL, 10);
	free(text);
	return sum;
}

/* Touch every page once. Return: seconds; negative after a message, or when stopped. */
static double fault(const struct hugetlb_pool *pool, unsigned long pages)
{
	size_t len = pages * pool->size;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB;
	double from, seconds = -1;
	char *map, *at;

	flags |= (ffsl(pool->size) - 1) << HUGE_SHIFT;
	map = mmap(NULL, len, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (map == MAP_FAILED) {
		msg("mmap() of the pages: %s", strerror(errno));
		return -1;
	}
	if (pool->node >= 0) {
		unsigned long mask[HUGETLB_NODES / (8 * sizeof(long))] = { 0 };
		unsigned int bits = 8 * sizeof(long);

		mask[pool->node / bits] = 1UL << pool->node % bits;
		if (syscall(SYS_mbind, map, len, POLICY_BIND, mask, HUGETLB_NODES, 0)) {
			msg("mbind() to node %d: %s", pool->node, strerror(errno));
			goto unmap;
		}
	}
	/* A write by madvise(), which fails where a store would end us by SIGBUS */
	from = now();
	for (at = map; at < map + len && !stopped; at += pool->size) {
		if (madvise(at, pool->size, MADV_POPULATE_WRITE)) {
			msg("page %zu of %lu could not be touched: %s: does someone else use the pool?",
			    (at - map) / pool->size, pages, strerror(errno));
			goto unmap;
		}
	}
	if (!stopped)
		seconds = now() - from;
unmap:
	munmap(map, len);
	return seconds;
}

/* Make it larger, touch it, put it back. Return: pages it grew by; negative: not to be counted. */
static long round_once(struct hugetlb_pool *pool, unsigned long pages, double seconds[3],
		       bool touch, bool *stalled)
{
	unsigned long stalls_before = stalls();
	double from = now();
	int ret;
	long got;

	pool->changed = true;
	ret = set_pages(pool->fd, pool->before + pages);
	seconds[0] = now() - from;
	*stalled = stalls() != stalls_before;
	got = read_number(pool->dir, "nr_hugepages") - (long)pool->before;
	if (ret) {
		msg("nr_hugepages took %lu: %s", pool->before + pages, strerror(-ret));
		return -1;
	}
	if (touch && got > 0 && !stopped) {
		seconds[2] = fault(pool, got);
		if (seconds[2] < 0)
			return -1;
	}
	if (stopped)
		return -1;
	from = now();
	ret = set_pages(pool->fd, pool->before);
	seconds[1] = now() - from;
	if (read_number(pool->dir, "nr_hugepages") != (long)pool->before && !stopped) {
		msg("the pool did not shrink back to %lu pages%s%s: does someone else use it?",
		    pool->before, ret ? ": " : "", ret ? strerror(-ret) : "");
		return -1;
	}
	return stopped ? -1 : got;
}

/* What the kernel gave in the warm-up is what is asked for from then on. */
static int warm_up(struct hugetlb_pool *pool, unsigned long *pages, bool touch)
{
	unsigned long asked = *pages;
	char buf[UNIT_LEN];
	double seconds[3];
	bool stalled;
	long got = round_once(pool, asked, seconds, touch, &stalled);

	if (got < 0)
		return -EIO;
	fmt_extent(buf, pool->size);
	if (!got) {
		msg("the kernel gave none of %lu pages of %s: its memory is in pieces: echo 1 > /proc/sys/vm/compact_memory, or ask right after boot",
		    asked, buf);
		return -ENOMEM;
	}
	*pages = got;
	if ((unsigned long)got < asked)
		msg("the kernel gave %ld of %lu pages of %s: the figure is for these", got, asked,
		    buf);
	return 0;
}

static void row_init(struct hugetlb_row *row, const struct hugetlb_pool *pool,
		     enum hugetlb_kind kind, unsigned long asked, unsigned long pages)
{
	if (!row)
		return;
	row->kind = kind;
	row->size = pool->size;
	row->node = pool->node;
	row->asked = asked;
	row->pages = pages;
}

static void row_take(struct hugetlb_row *row, double seconds, bool counts)
{
	if (!row)
		return;
	if (counts)
		hugetlb_row_add(row, seconds);
	else
		row->left_out++;
}

/**
 * hugetlb_pool_measure() - grow and shrink in turn
 * @pool: as it was opened
 * @pages: to grow by
 * @rounds: that count; one comes before them
 * @quiet: no progress
 * @grow: gets the times of growing
 * @shrink: of shrinking
 * @fault: of touching every page in between; NULL: not done
 *
 * Return: 0; -EINTR when stopped; another negative errno after a message.
 */
int hugetlb_pool_measure(struct hugetlb_pool *pool, unsigned long pages, unsigned int rounds,
			 bool quiet, struct hugetlb_row *grow, struct hugetlb_row *shrink,
			 struct hugetlb_row *fault)
{
	unsigned long asked = pages;
	unsigned int i;
	int ret;

	ret = warm_up(pool, &pages, fault);
	if (ret)
		return stopped ? -EINTR : ret;
	row_init(grow, pool, HUGETLB_GROW, asked, pages);
	row_init(shrink, pool, HUGETLB_SHRINK, asked, pages);
	row_init(fault, pool, HUGETLB_FAULT, asked, pages);
	for (i = 0; i < rounds && !stopped; i++) {
		double seconds[3] = { 0 };
		bool stalled;
		long got;

		if (!quiet)
			fprintf(stderr, "\r%u/%u ", i, rounds);
		got = round_once(pool, pages, seconds, fault, &stalled);
		if (got < 0)
			break;
		row_take(grow, seconds[0], got == (long)pages);
		row_take(shrink, seconds[1], got == (long)pages);
		row_take(fault, seconds[2], got == (long)pages);
		grow->stalled += stalled && got == (long)pages;
	}
	if (!quiet)
		fputs("\r             \r", stderr);
	if (stopped)
		return -EINTR;
	if (i == rounds && !grow->nr) {
		msg("none of %u rounds got %lu pages again: ask for fewer with --pages", rounds,
		    pages);
		return -ENOMEM;
	}
	return i == rounds ? 0 : -EIO;
}

/* Back to what it held: first the sum, then node by node where that moved pages */
static int restore(struct hugetlb_pool *pool)
{
	int i, ret = 0;
	long left;

	errno = 0;
	if (!pool->changed)
		return 0;
	set_pages(pool->fd, pool->before);
	for (i = 0; i < HUGETLB_NODES; i++) {
		char *dir, *path, *text;

		if (pool->node_before[i] < 0)
			continue;
		dir = pool_dir(pool->size, i);
		if (read_number(dir, "nr_hugepages") != pool->node_before[i]) {
			path = xasprintf("%s/nr_hugepages", dir);
			text = xasprintf("%ld", pool->node_before[i]);
			ret = write_text(path, text);
			free(text);
			free(path);
		}
		free(dir);
	}
	left = read_number(pool->dir, "nr_hugepages");
	if (left == (long)pool->before && !ret)
		return 0;
	msg("the pool holds %ld pages of %lu kB and not %lu as before: echo %lu > %s/nr_hugepages",
	    left, pool->size >> 10, pool->before, pool->before, pool->dir);
	return -EBUSY;
}

/* Put it back and forget it. Return: 0, or a negative errno after a message. */
int hugetlb_pool_close(struct hugetlb_pool *pool)
{
	sigset_t all, old;
	int ret;

	/* A pending signal would end the write of a pool that has to grow back. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	ret = restore(pool);
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (pool->fd >= 0)
		close(pool->fd);
	free(pool->dir);
	memset(pool, 0, sizeof(*pool));
	pool->fd = -1;
	return ret;
}
