// SPDX-License-Identifier: GPL-2.0
/*
 * How an extent is cleared. To add a method: write CB_CLEAR(NAME), wrap it with
 * CB_TIMED(), add a row to cb_methods[].
 */
#include <linux/highmem.h>
#include <linux/kernel.h>

#include "clearbench.h"

/*
 * The timed window. The clearing code is inlined into it, so that it is no
 * dearer to call one method than another, and all that it needs is at hand
 * before the clock is read. One read before, one after; nothing is subtracted.
 *
 * Methods whose stores are weakly ordered end in a fence of their own; @drain
 * gives one to all, since a window that ends with stores in flight is not like
 * one that waits for them.
 */
#define CB_TIMED(_name)							\
static void time_##_name(struct cb_sample *s)				\
{									\
	struct page *page = s->page;					\
	void *addr = s->addr;						\
	unsigned int npages = s->npages;				\
	unsigned int batch = s->batch;					\
	bool drain = s->drain;						\
	u64 start, end;							\
									\
	start = cb_clock();						\
	clear_by_##_name(page, addr, npages, batch);			\
	if (drain)							\
		mb();	/* every store has left this CPU's buffers */	\
	end = cb_clock();						\
	s->clear_ticks = end - start;					\
}

#define CB_CLEAR(_name)							\
static __always_inline void						\
clear_by_##_name(struct page *page, void *addr, unsigned int npages,	\
		 unsigned int batch)

/* What a window costs that holds nothing */
CB_CLEAR(empty) { }

CB_TIMED(empty)

void cb_time_empty(struct cb_sample *s)
{
	time_empty(s);
}

/**
 * cb_time_read() - the window of a read: a load a line, ascending
 *
 * All of what the `after` knob times, by whichever CPU. It ends when the last
 * load has its data; what the clear before has still to do is waited for in
 * cb_after_read(), outside.
 *
 * Return: the time, in ticks of cb_clock().
 */
noinline u64 cb_time_read(const void *addr, unsigned long len)
{
	u64 start, end;

	start = cb_clock();
	prim_read(addr, len);
	prim_loaded();
	end = cb_clock();
	return end - start;
}

/*
 * kernel_init_pages() of mm/page_alloc.c, as it stood from 6.1 to 7.1: page by
 * page, ascending.
 */
CB_CLEAR(legacy)
{
	unsigned int i;

	/* s390's use of memset() could override KASAN redzones. */
	kasan_disable_current();
	for (i = 0; i < npages; i++)
		clear_highpage_kasan_tagged(page + i);
	kasan_enable_current();
}

CB_TIMED(legacy)

/* The loop alone: no kmap, no KASAN tag. Against `legacy` it is what they cost. */
CB_CLEAR(clear_page)
{
	unsigned int i;

	for (i = 0; i < npages; i++)
		clear_page(addr + i * PAGE_SIZE);
}

CB_TIMED(clear_page)

/*
 * For tests of the statistics: a known difference. It is added to the time that
 * was taken, for a wait in the window would have a cost and a jitter of its own.
 */
static void time_test_slow(struct cb_sample *s)
{
	time_clear_page(s);
	s->clear_ticks += s->test_delay_ticks;
}

/* Calls @_call(addr, bytes) for @batch pages at a time, the rest at the end. */
#define CB_IN_BATCHES(_call)						\
	do {								\
		unsigned int n = min(batch, npages);			\
									\
		_call(addr, n);						\
		addr += n * PAGE_SIZE;					\
		npages -= n;						\
	} while (npages)

CB_CLEAR(batched)
{
	CB_IN_BATCHES(clear_pages);
}

CB_TIMED(batched)

/* clear_highpages_kasan_tagged() of mm/page_alloc.c, as it landed in 7.2 */
CB_CLEAR(upstream)
{
	unsigned int i;

	kasan_disable_current();
	if (!IS_ENABLED(CONFIG_HIGHMEM))
		clear_pages(kasan_reset_tag(page_address(page)), npages);
	else
		for (i = 0; i < npages; i++)
			clear_highpage_kasan_tagged(page + i);
	kasan_enable_current();
}

CB_TIMED(upstream)

/*
 * The first posting of the patch (8 April 2026): as what landed, but in
 * batches, with a resched point before each. That may not run in atomic
 * context, where its caller often is.
 */
CB_CLEAR(v1)
{
	unsigned int n;

	kasan_disable_current();
	addr = kasan_reset_tag(page_address(page));
	for (; npages; npages -= n, addr += n * PAGE_SIZE) {
		cond_resched();
		n = min(batch, npages);
		clear_pages(addr, n);
	}
	kasan_enable_current();
}

CB_TIMED(v1)

/*
 * The address of the user mapping that the two below ask for. It has a meaning
 * only where caches alias; there is no mapping here.
 */
#define CB_VADDR		0UL

/* clear_contig_highpages() of mm/memory.c, 7.0 */
CB_CLEAR(contig)
{
	unsigned long vaddr = CB_VADDR;
	unsigned int n;

	might_sleep();
	for (; npages; npages -= n, page += n, vaddr += n * PAGE_SIZE) {
		cond_resched();
		n = min(batch, npages);
		clear_user_highpages(page, vaddr, n);
	}
}

CB_TIMED(contig)

/* What a reviewer asked to reuse: does not sleep, and resets no KASAN tag */
CB_CLEAR(user_highpages)
{
	unsigned long vaddr = CB_VADDR;
	unsigned int n;

	for (; npages; npages -= n, page += n, vaddr += n * PAGE_SIZE) {
		n = min(batch, npages);
		clear_user_highpages(page, vaddr, n);
	}
}

CB_TIMED(user_highpages)

/*
 * The running kernel's own path. The clear cannot be told from the allocation
 * around it, so both are in the window; the same allocation without the clear
 * is timed beside it, unless init_on_alloc makes the two the same.
 */
static void time_alloc_zero(struct cb_sample *s)
{
	bool plain = !want_init_on_alloc(0);
	struct page *page;
	u64 start, end;

	start = cb_clock();
	page = cb_alloc(s, __GFP_ZERO);
	end = cb_clock();
	s->failed = !page;
	if (!page)
		return;
	s->page = page;
	s->clear_ticks = end - start;

	start = cb_clock();
	__free_pages(page, s->order);
	end = cb_clock();
	s->free_ticks = end - start;
	if (!plain)
		return;

	start = cb_clock();
	page = cb_alloc(s, 0);
	end = cb_clock();
	s->failed = !page;
	if (!page)
		return;
	s->alloc_ticks = end - start;
	__free_pages(page, s->order);
}

#define CB_PRIMITIVE(_name)						\
static __always_inline void _name##_pages(void *addr, unsigned int n)	\
{									\
	prim_##_name(addr, n * PAGE_SIZE);				\
}									\
CB_CLEAR(_name)								\
{									\
	CB_IN_BATCHES(_name##_pages);					\
}									\
CB_TIMED(_name)

#ifdef __x86_64__
CB_PRIMITIVE(stosb)
CB_PRIMITIVE(stosq)
CB_PRIMITIVE(mov)
CB_PRIMITIVE(movnti)
CB_PRIMITIVE(clzero)

static const char *no_clzero(void)
{
	return prim_has_clzero() ? NULL : "this CPU does not have it (AMD, since Zen)";
}
#endif

#ifdef __aarch64__
CB_PRIMITIVE(stnp)
CB_PRIMITIVE(dczva)

static const char *no_dczva(void)
{
	return prim_has_dczva() ? NULL : "DC ZVA is prohibited on this CPU";
}
#endif

const struct cb_method cb_methods[] = {
	{
		.name = "legacy", .time = time_legacy, .by_page = true,
		.desc = "kernel_init_pages() of 6.1 to 7.1: clear_highpage_kasan_tagged() per page",
	}, {
		.name = "clear_page", .time = time_clear_page,
		.desc = "clear_page() per page, no kmap, no KASAN work",
	}, {
		.name = "batched", .time = time_batched, .batched = true,
		.desc = "clear_pages(), batch pages a call",
	}, {
		.name = "upstream", .time = time_upstream, .by_page = true,
		.desc = "clear_highpages_kasan_tagged() of 7.2, a copy",
	}, {
		.name = "v1", .time = time_v1, .batched = true, .own_rule = true,
		.sleeps = "cond_resched()",
		.desc = "the first posting of 2026: cond_resched() before each batch, batch auto",
	}, {
		.name = "contig", .time = time_contig, .by_page = true,
		.batched = true, .own_rule = true,
		.sleeps = "might_sleep() and cond_resched()",
		.desc = "clear_contig_highpages() of 7.0, a copy: sleeps, batch auto",
	}, {
		.name = "user_highpages", .time = time_user_highpages, .by_page = true,
		.batched = true,
		.desc = "clear_user_highpages() of 7.0: wants a user address, resets no KASAN tag",
	}, {
		.name = "alloc_zero", .time = time_alloc_zero, .by_page = true,
		.allocates = true,
		.desc = "alloc_pages() of the running kernel with __GFP_ZERO, and without",
	}, {
		.name = "test_slow", .time = time_test_slow,
		.desc = "test only: clear_page, and test_delay_ns added to its time",
	}, {
		.name = "test_empty", .time = time_empty,
		.desc = "test only: clears nothing, so that after=touch sees the state step",
	},
#ifdef __x86_64__
	{
		.name = "stosb", .time = time_stosb, .batched = true,
		.desc = "rep stosb, batch pages an instruction",
	}, {
		.name = "stosq", .time = time_stosq, .batched = true,
		.desc = "rep stosq, batch pages an instruction",
	}, {
		.name = "mov", .time = time_mov, .batched = true,
		.desc = "8-byte mov, 64 bytes an iteration, batch pages a loop",
	}, {
		.name = "movnti", .time = time_movnti, .batched = true,
		.desc = "8-byte movnti past the caches, sfence after each batch",
	}, {
		.name = "clzero", .time = time_clzero, .batched = true,
		.unavailable = no_clzero,
		.desc = "clzero, a line at a time past the caches, sfence after each batch",
	},
#endif
#ifdef __aarch64__
	{
		.name = "dczva", .time = time_dczva, .batched = true,
		.unavailable = no_dczva,
		.desc = "dc zva, a block at a time, batch pages a loop",
	}, {
		.name = "stnp", .time = time_stnp, .batched = true,
		.desc = "stnp of a zero pair, batch pages a loop",
	},
#endif
};

const unsigned int cb_nr_methods = ARRAY_SIZE(cb_methods);
