// SPDX-License-Identifier: GPL-2.0
/*
 * Extents: where they come from, and the state that their memory is brought
 * into before a clear.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
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
#define POISON			0xa5a5a5a5a5a5a5a5ULL

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

/* cb_take() - allocate an extent in @context; @s->page is NULL if there is none */
void cb_take(const struct cb_context *context, struct cb_sample *s)
{
	context->run(take_in_context, s);
	s->addr = s->page ? page_address(s->page) : NULL;
}

/* cb_give() - free it, likewise */
void cb_give(const struct cb_context *context, struct cb_sample *s)
{
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
	struct cb_sample old = *s;

	cb_take(x->context, s);
	if (!s->page)
		return false;
	if (x->nr < x->max) {
		x->held[x->nr++] = s->page;
	} else {
		old.page = x->held[x->next];
		cb_give(x->context, &old);
		x->held[x->next] = s->page;
		x->next = (x->next + 1) % x->max;
	}
	cb_poison(s->addr, (unsigned long)s->npages * PAGE_SIZE);
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

/* Calls @step for a range, a chunk at a time. Process context. */
static void in_chunks(void *addr, unsigned long len,
		      void (*step)(void *addr, unsigned long len))
{
	unsigned long n;

	for (; len; addr += n, len -= n) {
		n = min_t(unsigned long, CHUNK, len);
		step(addr, n);
		cond_resched();
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
void cb_state_step(enum cb_cache cache, void *addr, unsigned long len)
{
	switch (cache) {
	case CB_COLD:
		if (PRIM_HAVE_FLUSH)
			in_chunks(addr, len, flush_step);
		else
			in_chunks(displace, displace_bytes, displace_step);
		break;
	case CB_WARM:
		in_chunks(addr, len, poison_step);
		break;
	case CB_FRESH:
		break;
	}
}

/* cb_poison() - fill memory so that what is not cleared shows. Process context. */
void cb_poison(void *addr, unsigned long len)
{
	in_chunks(addr, len, poison_step);
}

/**
 * cb_is_clear() - check every byte. Process context.
 * @where: offset of the first byte that is not 0, if there is one
 */
bool cb_is_clear(const void *addr, unsigned long len, unsigned long *where)
{
	unsigned long done, n;
	const void *bad;

	for (done = 0; done < len; done += n) {
		n = min_t(unsigned long, CHUNK, len - done);
		bad = memchr_inv(addr + done, 0, n);
		if (bad) {
			*where = bad - addr;
			return false;
		}
		cond_resched();
	}
	return true;
}
