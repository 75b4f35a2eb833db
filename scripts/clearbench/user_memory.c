// SPDX-License-Identifier: GPL-2.0
/*
 * User backend: extents, and the state that their memory is brought into
 * before a clear.
 *
 * A block has one mapping on huge pages and takes its extents from places all
 * over it, so that an extent is one piece of physical memory as far as a huge
 * page reaches, and the next one is another piece. All of it was written once:
 * no window has a first touch in it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "user_engine.h"

#define MIB			(1UL << 20)
/*
 * Small extents are spread over so much, which is 32 huge pages of x86; many
 * over no more than that, or than it takes for a dozen. What is free may not be
 * taken as a whole: others live on it, and a guest may have to fetch it from
 * its host first.
 */
#define SPREAD_MIN		(64 * MIB)
#define SPREAD_MAX		(256 * MIB)
#define PLACES			12
#define FREE_SHARE		4
#define HUGE_DEFAULT		(2 * MIB)
#define POISON			0xa5a5a5a5a5a5a5a5ULL
/* Where nobody tells the size of the LLC: larger than that of most machines */
#define DISPLACE_DEFAULT	(64 * MIB)

/* <numaif.h> comes with a library that is needed for nothing else. */
#define MPOL_BIND		2
#define MPOL_F_NODE		1
#define MPOL_F_ADDR		2
#define NODES_MAX		1024

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE	23	/* Linux 5.14 */
#endif

/* A "name: N kB" of procfs, in bytes; 0 if it is not there */
static unsigned long kb_field(const char *text, const char *name)
{
	const char *at = text ? strstr(text, name) : NULL;

	return at ? strtoul(at + strlen(name), NULL, 10) << 10 : 0;
}

static unsigned long free_bytes(void)
{
	char *text = read_text("/proc/meminfo");
	unsigned long bytes = kb_field(text, "\nMemAvailable:");

	free(text);
	return bytes;
}

static unsigned long huge_size(void)
{
	char *line = read_line("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
	unsigned long size = line ? strtoul(line, NULL, 10) : 0;

	free(line);
	return size ? size : HUGE_DEFAULT;
}

static unsigned long hugetlb_size(void)
{
	char *text = read_text("/proc/meminfo");
	unsigned long size = kb_field(text, "\nHugepagesize:");

	free(text);
	return size;
}

static unsigned long round_up(unsigned long n, unsigned long to)
{
	return (n + to - 1) / to * to;
}

static int bind_node(void *addr, unsigned long len, int nid)
{
	unsigned long mask[NODES_MAX / (8 * sizeof(long))] = { 0 };

	/* A kernel without NUMA has one node, and no mbind(). */
	if (nid == USER_ANY || access("/sys/devices/system/node/has_memory", F_OK))
		return 0;
	mask[nid / (8 * sizeof(long))] = 1UL << nid % (8 * sizeof(long));
	return syscall(SYS_mbind, addr, len, MPOL_BIND, mask, NODES_MAX + 1UL, 0) ? -errno : 0;
}

/* user_node_of() - the node that memory is on, or USER_ANY */
int user_node_of(void *addr)
{
	int nid;

	if (syscall(SYS_get_mempolicy, &nid, NULL, 0UL, addr, MPOL_F_NODE | MPOL_F_ADDR))
		return USER_ANY;
	return nid;
}

/*
 * How much of [base, base + len) is in huge pages, by the kernel's own account:
 * asking for them is no promise.
 */
static unsigned int percent_huge(const char *base, unsigned long len)
{
	unsigned long from = (unsigned long)base, to = from + len, start, end, kb, sum = 0;
	FILE *smaps = fopen("/proc/self/smaps", "re");
	char *line = NULL;
	size_t size = 0;
	bool ours = false;

	if (!smaps)
		return 0;
	while (getline(&line, &size, smaps) > 0) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			ours = start < to && end > from;
		else if (ours && (sscanf(line, "AnonHugePages: %lu", &kb) == 1 ||
				  sscanf(line, "Private_Hugetlb: %lu", &kb) == 1))
			sum += kb << 10;
	}
	free(line);
	fclose(smaps);
	return sum >= len ? 100 : sum * 100 / len;
}

/*
 * From the pool of the administrator. Populated at once: a page that the node
 * lacks would be a SIGBUS later. Kernels that cannot tell do without.
 */
static bool map_hugetlb(struct user_extents *x, unsigned long len, int nid)
{
	unsigned long size = hugetlb_size();
	char *map;

	if (!size)
		return false;
	len = round_up(len, size);
	map = mmap(NULL, len, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (map == MAP_FAILED)
		return false;
	if (bind_node(map, len, nid) || madvise(map, len, MADV_POPULATE_WRITE)) {
		munmap(map, len);
		return false;
	}
	x->map = map;
	x->map_len = len;
	x->base = map;
	return true;
}

static int map_transparent(struct user_extents *x, unsigned long len, int nid)
{
	unsigned long size = huge_size();
	int ret;

	x->map_len = round_up(len, size) + size;
	x->map = mmap(NULL, x->map_len, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (x->map == MAP_FAILED) {
		x->map = NULL;
		return -ENOMEM;
	}
	x->base = (char *)round_up((unsigned long)x->map, size);
	madvise(x->base, x->map_len - size, MADV_HUGEPAGE);
	ret = bind_node(x->base, len, nid);
	if (ret)
		user_extents_free(x);
	return ret;
}

/**
 * user_extents_init() - memory for the extents of a block
 * @x: filled in
 * @len: bytes of an extent, a power of two
 * @wanted: how many different ones
 * @nid: node, or USER_ANY
 * @stop: give up when it is set
 *
 * As many as a part of what is free allows, and one where there is room for
 * twice as much.
 *
 * Return: 0, or a negative errno when there is not even one.
 */
int user_extents_init(struct user_extents *x, unsigned long len, __u64 wanted, int nid,
		      const atomic_bool *stop)
{
	unsigned long available = free_bytes(), most, i;
	int ret;

	*x = (struct user_extents) { .len = len };
	if (available / 2 < len)
		return -ENOMEM;
	most = available / FREE_SHARE / len;
	if (wanted < SPREAD_MIN / len)
		wanted = SPREAD_MIN / len;
	if (wanted > PLACES && wanted > SPREAD_MAX / len)
		wanted = SPREAD_MAX / len > PLACES ? SPREAD_MAX / len : PLACES;
	x->nr = wanted < most ? wanted : most ? most : 1;
	if (!map_hugetlb(x, x->nr * len, nid)) {
		ret = map_transparent(x, x->nr * len, nid);
		if (ret)
			return ret;
	}
	for (i = 0; i < x->nr && !atomic_load(stop); i++)
		user_poison(x->base + i * len, len);
	x->huge_percent = percent_huge(x->base, x->nr * len);

	/* Near the golden section of @nr and without a factor in common */
	for (x->step = x->nr * 0.618 + 1; x->step > 1; x->step--) {
		unsigned long a = x->nr, b = x->step, rest;

		while ((rest = a % b)) {
			a = b;
			b = rest;
		}
		if (b == 1)
			break;
	}
	return 0;
}

/**
 * user_extents_next() - go to another extent
 * @x: of the block
 *
 * Neighbours in time are far apart in memory, and none comes twice before all
 * came once. It is written once more, should the kernel have taken it back.
 */
char *user_extents_next(struct user_extents *x)
{
	char *addr;

	x->at = (x->at + x->step) % x->nr;
	addr = x->base + x->at * x->len;
	user_poison(addr, x->len);
	return addr;
}

void user_extents_free(struct user_extents *x)
{
	if (x->map)
		munmap(x->map, x->map_len);
	x->map = NULL;
	x->nr = 0;
}

/* user_huge_alloc() - memory on huge pages where there are any, not touched yet; NULL: none */
void *user_huge_alloc(unsigned long len)
{
	unsigned long size = huge_size();
	void *addr = aligned_alloc(size, round_up(len, size));

	if (addr)
		madvise(addr, round_up(len, size), MADV_HUGEPAGE);
	return addr;
}

/* user_huge_pages() - what a mapping really gets, for `info`; to be freed */
char *user_huge_pages(void)
{
	unsigned long pool = hugetlb_size(), size = huge_size();
	struct user_extents x = { };
	bool huge;

	if (map_hugetlb(&x, pool, USER_ANY)) {
		user_extents_free(&x);
		return xasprintf("hugetlb, %lu kB", pool >> 10);
	}
	if (map_transparent(&x, size, USER_ANY))
		return xstrdup("none");
	user_poison(x.base, size);
	huge = percent_huge(x.base, size) == 100;
	user_extents_free(&x);
	return huge ? xasprintf("transparent, %lu kB", size >> 10) : xstrdup("none");
}

/*
 * The state step, as the module does it. Cold: the extent is in no cache; by
 * flushing its lines where the CPU can, else by reading through twice the LLC.
 */
__u64 user_llc_bytes;		/* size of the last level cache; 0: not known */
static bool flush_opt;
static char *displace;
static unsigned long displace_bytes;

/* user_state_how() - how an extent is made cold */
const char *user_state_how(void)
{
	if (!PRIM_HAVE_FLUSH)
		return "displacement";
	return flush_opt ? "clflushopt" : "clflush";
}

void user_state_init(void)
{
	long size;

	user_llc_bytes = prim_llc_bytes();
	if (!user_llc_bytes) {
		size = sysconf(_SC_LEVEL3_CACHE_SIZE);
		if (size <= 0)
			size = sysconf(_SC_LEVEL2_CACHE_SIZE);
		user_llc_bytes = size > 0 ? size : 0;
	}
	flush_opt = prim_has_clflushopt();
	if (PRIM_HAVE_FLUSH || displace)
		return;
	displace_bytes = user_llc_bytes ? 2 * user_llc_bytes : DISPLACE_DEFAULT;
	displace = xrealloc(NULL, displace_bytes);
	/* Untouched, all of it would be one page of zeros. */
	user_poison(displace, displace_bytes);
}

/**
 * user_state_step() - bring memory into the state that a sample starts from
 *
 * The same for every variant, and whatever ran before.
 */
void user_state_step(bool warm, void *addr, unsigned long len)
{
	if (warm)
		user_poison(addr, len);
	else if (PRIM_HAVE_FLUSH)
		prim_flush(addr, len, flush_opt);
	else
		prim_read(displace, displace_bytes);
}

/* user_poison() - fill memory so that what is not cleared shows */
void user_poison(void *addr, unsigned long len)
{
	prim_set(addr, len, POISON);
}

/**
 * user_is_clear() - check every byte
 * @where: offset of the first byte that is not 0, if there is one
 */
bool user_is_clear(const void *addr, unsigned long len, unsigned long *where)
{
	const __u64 *word = addr;
	const char *byte = addr;
	unsigned long i;

	for (i = 0; i < len / sizeof(*word); i++)
		if (word[i])
			break;
	for (i *= sizeof(*word); i < len; i++) {
		if (byte[i]) {
			*where = i;
			return false;
		}
	}
	return true;
}
