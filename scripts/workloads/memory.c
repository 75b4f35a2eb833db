// SPDX-License-Identifier: GPL-2.0
/*
 * Memory straight from the kernel, which clears it when it is first touched:
 * that is what these workloads are for.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "workloads.h"
#include "graph.h"

/* The program itself, its threads, and page tables: 16 MiB, and 1/256 */
#define SPARE(_bytes)	((16ULL << 20) + (_bytes) / 256)

static size_t huge_size(void)
{
	char *text = read_line("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
	size_t size = text ? strtoul(text, NULL, 10) : 0;

	free(text);
	return size;
}

/**
 * big_alloc() - memory that reads as zeroes
 * @g: whether it is to be in huge pages
 * @bytes: how much
 *
 * Ends the program where the kernel refuses.
 *
 * Return: the memory, for big_free().
 */
void *big_alloc(const struct graph *g, size_t bytes)
{
	size_t page = sysconf(_SC_PAGESIZE), align = g->huge ? huge_size() : 0, skip = 0;
	char *p;

	bytes = (bytes + page - 1) & ~(page - 1);
	p = mmap(NULL, bytes + align, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED) {
		say("the kernel gives no %zu bytes: %s; take a smaller --scale, or see ulimit -v",
		    bytes, strerror(errno));
		exit(CB_FAILED);
	}
	if (!align)
		return p;
	/* Only where a huge page can begin: cut off what is before, and behind. */
	skip = (align - (size_t)p % align) % align;
	if (skip)
		munmap(p, skip);
	munmap(p + skip + bytes, align - skip);
	madvise(p + skip, bytes, MADV_HUGEPAGE);
	return p + skip;
}

void big_free(void *p, size_t bytes)
{
	munmap(p, bytes);
}

static __u64 kib_of(const char *path, const char *key)
{
	char *text = read_text(path), *at = text ? strstr(text, key) : NULL;
	__u64 kib = at ? strtoull(at + strlen(key), NULL, 10) : 0;

	free(text);
	return kib;
}

/* huge_kib() - how much of this process is in huge pages at the moment */
__u64 huge_kib(void)
{
	return kib_of("/proc/self/smaps_rollup", "AnonHugePages:");
}

/**
 * memory_needs() - what a graph takes in all
 * @g: what is asked for
 * @needs: bytes that it takes when most of it is in use
 */
__u64 memory_needs(const struct graph *g, __u64 (*needs)(const struct graph *g))
{
	return needs(g) + SPARE(needs(g));
}

/**
 * memory_fits() - refuse what would drive the machine out of memory
 * @verb: whose
 * @g: what is asked for
 * @needs: as in memory_needs()
 *
 * Return: 0, or the exit status.
 */
int memory_fits(const struct verb *verb, const struct graph *g,
		__u64 (*needs)(const struct graph *g))
{
	__u64 available = kib_of("/proc/meminfo", "MemAvailable:") << 10;
	__u64 bytes = memory_needs(g, needs);
	char fits[64] = "no scale fits";
	struct graph smaller = *g;

	if (g->huge && !huge_size())
		say("%s: --huge: this kernel has no transparent huge pages, the others are taken",
		    verb->name);
	if (!available || bytes <= available)
		return 0;
	while (--smaller.scale && memory_needs(&smaller, needs) > available)
		;
	if (smaller.scale)
		snprintf(fits, sizeof(fits), "the largest that fits is --scale %llu",
			 smaller.scale);
	say("%s: --scale %llu --edgefactor %llu needs %llu bytes, and MemAvailable is %llu: %s",
	    verb->name, g->scale, g->edgefactor, bytes, available, fits);
	return CB_USAGE;
}
