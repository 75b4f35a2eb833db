// SPDX-License-Identifier: GPL-2.0
/*
 * Extents: where they come from, and the state that their memory is brought
 * into before a clear.
 */
#include <linux/highmem.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "clearbench.h"

/*
 * What is held as extents: at most one part in 16 of the machine's memory, and
 * no more than can be given back at once when a run is stopped, init_on_free
 * included.
 */
#define HELD_SHARE		16
#define HELD_MAX		SZ_256M
/* What is done between two looks at the scheduler */
#define CHUNK			SZ_1M
/* What of an extent has an address at once: where there is highmem, a page */
#define MAPPED			(IS_ENABLED(CONFIG_HIGHMEM) ? PAGE_SIZE : CHUNK)
#define POISON			0xa5a5a5a5a5a5a5a5ULL

/*
 * Large extents. Where the kernel exports contiguous allocation it moves other
 * pages out of the way; where it does not, blocks of the largest order are
 * taken until enough of them lie side by side. Either may sleep.
 */
#ifdef CB_HAVE_CONTIG_PAGES
static struct page *take_large(const struct cb_sample *s)
{
	nodemask_t node = NODE_MASK_NONE;
	bool any = s->nid == NUMA_NO_NODE;

	if (!any)
		node_set(s->nid, node);
	return alloc_contig_pages(s->npages, GFP_KERNEL | cb_zone() | __GFP_NOWARN,
				  any ? numa_mem_id() : s->nid, any ? NULL : &node);
}

static void give_large(struct page *page, unsigned int order)
{
	free_contig_range(page_to_pfn(page), 1UL << order);
}
#else
/* Blocks looked through for one extent, in multiples of what it needs */
#define GATHER_FACTOR		4

static void give_large(struct page *page, unsigned int order)
{
	unsigned long pfn = page_to_pfn(page), end = pfn + (1UL << order);

	for (; pfn < end; pfn += 1UL << MAX_PAGE_ORDER)
		__free_pages(pfn_to_page(pfn), MAX_PAGE_ORDER);
}

static int cmp_pfn(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

/* The first of @need blocks that lie side by side in the sorted @pfn[], or @nr */
static unsigned int find_run(const unsigned long *pfn, unsigned int nr, unsigned int need)
{
	unsigned int i, run = 0;

	for (i = 0; i < nr; i++) {
		run = run && pfn[i] == pfn[i - 1] + (1UL << MAX_PAGE_ORDER) ? run + 1 : 1;
		if (run == need)
			return i + 1 - need;
	}
	return nr;
}

static struct page *take_large(const struct cb_sample *s)
{
	struct cb_sample block = {
		.order = MAX_PAGE_ORDER, .gfp = GFP_KERNEL | cb_zone(), .nid = s->nid,
	};
	unsigned int need = s->npages >> MAX_PAGE_ORDER;
	unsigned int max = need * GATHER_FACTOR, nr = 0, first, i;
	unsigned long *pfn = kvmalloc_array(max, sizeof(*pfn), GFP_KERNEL);
	struct page *page = NULL;

	if (!pfn)
		return NULL;
	do {	/* what it needs at once, then a little more at a time */
		unsigned int want = nr ? nr + DIV_ROUND_UP(need, 4) : need;

		for (i = nr; nr < min(want, max); nr++) {
			page = cb_alloc(&block, 0);
			if (!page)
				break;
			pfn[nr] = page_to_pfn(page);
			cond_resched();
		}
		if (nr == i)	/* no more to be had */
			break;
		sort(pfn, nr, sizeof(*pfn), cmp_pfn, NULL);
		first = find_run(pfn, nr, need);
	} while (first == nr && nr < max && page && !READ_ONCE(cb_run.stop));

	first = find_run(pfn, nr, need);
	page = first < nr ? pfn_to_page(pfn[first]) : NULL;
	for (i = 0; i < nr; i++)
		if (!page || i < first || i >= first + need)
			__free_pages(pfn_to_page(pfn[i]), MAX_PAGE_ORDER);
	kvfree(pfn);
	return page;
}
#endif

static void take_in_context(void *arg)
{
	struct cb_sample *s = arg;

	s->page = cb_alloc(s, 0);
}

static void give_in_context(void *arg)
{
	struct cb_sample *s = arg;

	__free_pages(s->page, s->order);
}

/**
 * cb_take() - take an extent; @s->page is NULL if there is none
 *
 * In @context, as what stands for the kernel's own allocation; in process
 * context where that one works on what others allocated, and for a large one.
 */
void cb_take(const struct cb_context *context, struct cb_sample *s)
{
	if (cb_order_is_large(s->order))
		s->page = take_large(s);
	else if (context->preallocated)
		take_in_context(s);
	else
		context->run(take_in_context, s);
	s->addr = s->page ? page_address(s->page) : NULL;
}

/* cb_give() - give it back, likewise */
void cb_give(const struct cb_context *context, struct cb_sample *s)
{
	if (cb_order_is_large(s->order))
		give_large(s->page, s->order);
	else if (context->preallocated)
		give_in_context(s);
	else
		context->run(give_in_context, s);
	s->page = NULL;
	s->addr = NULL;
}

/**
 * cb_extents_init() - prepare to take extents
 * @x: what to prepare
 * @context: where they are allocated and freed
 * @order: of an extent
 * @wanted: how many will be asked for
 *
 * The allocator gives back what was freed last, so that "a new extent" would
 * be the old one. Extents are kept instead, as far as HELD_SHARE and HELD_MAX go;
 * past that the oldest is freed, after the new one was taken.
 *
 * Return: 0 or -ENOMEM.
 */
int cb_extents_init(struct cb_extents *x, const struct cb_context *context,
		    unsigned int order, u64 wanted)
{
	u64 max = min_t(u64, totalram_pages() / HELD_SHARE, HELD_MAX >> PAGE_SHIFT) >> order;

	*x = (struct cb_extents) {
		.context = context,
		.max = clamp_t(u64, min(wanted, max), 1, 4096),
	};
	x->held = kvcalloc(x->max, sizeof(*x->held), GFP_KERNEL);
	return x->held ? 0 : -ENOMEM;
}

static void give_oldest(struct cb_extents *x, const struct cb_sample *s)
{
	struct cb_sample old = *s;

	old.page = x->held[0];
	x->given = old.page;
	cb_give(x->context, &old);
	memmove(x->held, x->held + 1, --x->nr * sizeof(*x->held));
}

/**
 * cb_extents_next() - make another extent the one of @s
 *
 * It is written once: in a guest the first touch of a page is a fault in the
 * host, and not what is measured here.
 *
 * Return: false if none was to be had; @s then has none.
 */
bool cb_extents_next(struct cb_extents *x, struct cb_sample *s)
{
	do {
		cb_take(x->context, s);
		if (s->page && s->page != x->given)
			x->places++;
		if (x->nr && (!s->page || x->nr == x->max))
			give_oldest(x, s);
		else if (!s->page)
			return false;
	} while (!s->page);

	x->held[x->nr++] = s->page;
	cb_poison(s->page, (unsigned long)s->npages * PAGE_SIZE);
	return true;
}

/* cb_extents_free() - give all of them back */
void cb_extents_free(struct cb_extents *x, unsigned int order)
{
	struct cb_sample s = { .order = order };

	while (x->nr) {
		s.page = x->held[--x->nr];
		cb_give(x->context, &s);
		cond_resched();
	}
	kvfree(x->held);
	x->held = NULL;
}

/*
 * The state step. Cold: the extent is in no cache. Where the CPU can flush a
 * line that is done, and costs as much as the extent is large; elsewhere a
 * buffer of twice the last level cache is read through.
 */
static unsigned int llc_kib;
module_param(llc_kib, uint, 0444);
MODULE_PARM_DESC(llc_kib, "size of the last level cache in KiB, where the CPU does not tell (0: ask it)");

/* Where nobody tells: larger than the caches of most machines */
#define DISPLACE_DEFAULT	SZ_64M

static u64 llc_bytes;
static bool flush_opt;
static void *displace;
static unsigned long displace_bytes;

/* cb_llc_bytes() - size of the last level cache; 0: not known */
u64 cb_llc_bytes(void)
{
	return llc_bytes;
}

/* cb_state_how() - how an extent is made cold */
const char *cb_state_how(void)
{
	if (!PRIM_HAVE_FLUSH)
		return "displacement";
	return flush_opt ? "clflushopt" : "clflush";
}

int cb_state_init(void)
{
	llc_bytes = llc_kib ? (u64)llc_kib << 10 : prim_llc_bytes();
	flush_opt = prim_has_clflushopt();
	if (PRIM_HAVE_FLUSH)
		return 0;
	displace_bytes = llc_bytes ? 2 * llc_bytes : DISPLACE_DEFAULT;
	displace = vzalloc(displace_bytes);
	return displace ? 0 : -ENOMEM;
}

void cb_state_exit(void)
{
	vfree(displace);
}

/*
 * Calls @step for a range, a chunk at a time, as long as the run goes on.
 * Process context.
 */
static void in_chunks(void *addr, unsigned long len,
		      void (*step)(void *addr, unsigned long len))
{
	unsigned long n;

	for (; len && !READ_ONCE(cb_run.stop); addr += n, len -= n) {
		n = min_t(unsigned long, CHUNK, len);
		step(addr, n);
		cond_resched();
	}
}

/*
 * The same for an extent, as much at a time as has an address. A local mapping
 * stays its thread's where @step lets others run.
 */
static void on_extent(struct page *page, unsigned long len,
		      void (*step)(void *addr, unsigned long len))
{
	unsigned long n;
	void *addr;

	for (; len; page += n / PAGE_SIZE, len -= n) {
		n = min_t(unsigned long, MAPPED, len);
		addr = kmap_local_page(page);
		in_chunks(addr, n, step);
		kunmap_local(addr);
	}
}

static void displace_step(void *addr, unsigned long len)
{
	prim_read(addr, len);
}

static void flush_step(void *addr, unsigned long len)
{
	prim_flush(addr, len, flush_opt);
}

static void poison_step(void *addr, unsigned long len)
{
	prim_set(addr, len, POISON);
}

/**
 * cb_state_step() - bring memory into the state that a sample starts from
 *
 * The same for every variant, and whatever ran before. Process context.
 */
void cb_state_step(enum cb_cache cache, struct page *page, unsigned long len)
{
	switch (cache) {
	case CB_COLD:
		if (PRIM_HAVE_FLUSH)
			on_extent(page, len, flush_step);
		else
			in_chunks(displace, displace_bytes, displace_step);
		break;
	case CB_WARM:
		on_extent(page, len, poison_step);
		break;
	case CB_FRESH:
		break;
	}
}

/* cb_poison() - fill memory so that what is not cleared shows. Process context. */
void cb_poison(struct page *page, unsigned long len)
{
	on_extent(page, len, poison_step);
}

/**
 * cb_is_clear() - check every byte. Process context.
 * @where: offset of the first byte that is not 0, if there is one
 */
bool cb_is_clear(struct page *page, unsigned long len, unsigned long *where)
{
	unsigned long done, n;
	const void *addr, *bad;

	for (done = 0; done < len; done += n) {
		n = min_t(unsigned long, MAPPED, len - done);
		addr = kmap_local_page(page + done / PAGE_SIZE);
		bad = memchr_inv(addr, 0, n);
		if (bad)
			*where = done + (bad - addr);
		kunmap_local(addr);
		if (bad)
			return false;
		cond_resched();
	}
	return true;
}
