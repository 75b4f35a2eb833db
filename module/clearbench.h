/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of the module and how they meet.
 *
 *   knobs.c	what a user may ask for: parsing, limits, printing
 *   methods.c	how an extent is cleared, and the timed window
 *   contexts.c	where the clearing runs
 *   extent.c	where the memory comes from and the state it is in before a clear
 *   clock.c	the clock of the timed window
 *   engine.c	crosses them: cells, rounds, paired ratios
 *   after.c	what a clear leaves behind, in place of its time
 *   load.c	other CPUs that clear meanwhile
 *   latency.c	what a clear does to others on its CPU
 *   watch.c	what the kernel itself clears, and watch_probe.c how long it takes
 *   preempt.c	models that the kernel contains and does not admit
 *   info.c	the environment that a figure depends on
 *   debugfs.c	the files
 */
#ifndef CLEARBENCH_H
#define CLEARBENCH_H

#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/gfp.h>
#include <linux/jump_label.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/timekeeping.h>
#include <linux/types.h>

#include "compat.h"
#include "hist.h"
#include "primitives.h"
#include "record.h"

/* Batches that are words rather than numbers of pages */
#define CB_BATCH_FULL		0U		/* the whole extent */
#define CB_BATCH_AUTO		(~0U)		/* the kernel's own rule */

/*
 * Orders that a sweep may name: those above MAX_PAGE_ORDER ("large") come from
 * contiguous allocation.
 */
#define CB_ORDER_MAX		max(CB_EXTENT_SHIFT_MAX - PAGE_SHIFT, MAX_PAGE_ORDER)
#define CB_ORDERS		32

static inline bool cb_order_is_large(unsigned int order)
{
	return order > MAX_PAGE_ORDER;
}

#define CB_NOTE_LEN		160

enum cb_cache { CB_COLD, CB_WARM, CB_FRESH };

/**
 * struct cb_config - the knobs, as validated
 * @orders: bitmap of orders
 * @methods: indices into cb_methods, in the user's order
 * @contexts: indices into cb_contexts
 * @batches: pages a call, or CB_BATCH_FULL, CB_BATCH_AUTO
 * @samples: rounds counted
 * @warmup: rounds not counted
 * @extent_rounds: rounds on one extent
 * @until: go on until the intervals of the ratios are as narrow as this, in
 *	hundredths of a per cent of the ratio; 0: @samples rounds
 * @until_s: but no longer than so many seconds an order
 * @test_delay_ns: added to the times of the method test_slow
 * @seed: of the shuffle
 * @cpu: CPU number; -1 for any
 * @nid: node number; NUMA_NO_NODE for any
 * @load: other CPUs that clear meanwhile
 * @cache: state step before every sample
 * @drain: end every window in a full fence
 * @after: time a read after the clear, in place of the clear
 * @victim_kib: size of what is read for `victim`
 * @victim_cpu: the CPU that reads it; -1 for that of the run
 * @verify: check every byte in extra rounds
 * @latency: measure what the clear does to others on its CPU
 * @force_preempt: let preemption models in that the kernel refuses
 * @unsafe: run cells that break the kernel's rules
 * @highmem: extents may come from highmem; only where the kernel has it
 */
struct cb_config {
	unsigned long orders[BITS_TO_LONGS(CB_ORDERS)];
	struct cb_list {
		unsigned int nr;
		unsigned int item[CB_LIST_MAX];
	} methods, contexts, batches;
	u64 samples;
	u64 warmup;
	u64 extent_rounds;
	u64 until;
	u64 until_s;
	u64 test_delay_ns;
	u64 seed;
	int cpu;
	int nid;
	u64 load;
	enum cb_cache cache;
	bool drain;
	enum cb_after after;
	u64 victim_kib;
	int victim_cpu;
	bool verify;
	bool latency;
	bool force_preempt;
	bool unsafe;
	bool highmem;
};

/**
 * struct cb_sample - one clear of one extent
 * @page: first page of the extent
 * @addr: its address in the kernel's linear map; NULL in highmem
 * @npages: pages of the extent
 * @order: order of the extent
 * @batch: pages handed to one call, at most @npages
 * @drain: end the window in a full fence
 * @gfp: how the context may allocate, and whether in highmem
 * @nid: node to allocate on, or NUMA_NO_NODE
 * @test_delay_ticks: for test_slow
 * @clear_ticks: out: the time of the clear, or of the read that `after` asks
 *	for, in ticks of cb_clock()
 * @alloc_ticks: out: the time of an allocation, where one was made
 * @free_ticks: out: the time of the free that belongs to it
 * @switches: out: context switches and interrupts that were seen meanwhile
 * @failed: out: an allocation failed, there is no time
 */
struct cb_sample {
	struct page *page;
	void *addr;
	unsigned int npages;
	unsigned int order;
	unsigned int batch;
	bool drain;
	gfp_t gfp;
	int nid;
	u64 test_delay_ticks;

	u64 clear_ticks;
	u64 alloc_ticks;
	u64 free_ticks;
	unsigned long switches;
	bool failed;
};

/* clock.c */
DECLARE_STATIC_KEY_FALSE(cb_clock_tsc);
void cb_clock_init(void);
bool cb_clock_lost(void);
u64 cb_clock_ns(u64 ticks);
u64 cb_clock_ticks(u64 ns);
void cb_clock_show(struct seq_file *m);

/**
 * cb_clock() - read the clock, in ticks of its own; any context
 *
 * What stands before it has executed, though stores may still be in flight
 * (`drain` waits for those): see prim_tsc().
 */
static __always_inline u64 cb_clock(void)
{
	u64 ticks;

	barrier();
	ticks = static_branch_likely(&cb_clock_tsc) ? prim_tsc() : ktime_get_raw_fast_ns();
	barrier();
	return ticks;
}

/**
 * cb_alloc() - an allocation as the kernel makes it, in the sample's context
 * @s: order, node and flags; not of a large order
 * @gfp: flags on top of those
 *
 * An order that is not to be had is no accident on a fragmented machine: it is
 * counted, and neither reported in the log nor fought for.
 */
static __always_inline struct page *cb_alloc(const struct cb_sample *s, gfp_t gfp)
{
	gfp |= s->gfp | __GFP_NOWARN | __GFP_NORETRY;
	if (s->nid != NUMA_NO_NODE)
		gfp |= __GFP_THISNODE;
	return alloc_pages_node(s->nid, gfp, s->order);
}

/**
 * struct cb_method - how an extent is cleared
 * @name: as the user writes it
 * @desc: one line; for a copy of a kernel function, of which release
 * @time: clears an extent and takes the time; may run in any context that
 *	@sleeps does not rule out
 * @unavailable: why this machine cannot run it, or NULL; optional
 * @sleeps: what in it makes it illegal in atomic context, or NULL
 * @by_page: takes pages, not an address, so that they may be in highmem
 * @batched: the `batches` knob applies
 * @own_rule: where that knob has its default, `auto` is meant
 * @allocates: takes its extents itself, out of the running allocator
 */
struct cb_method {
	const char *name;
	const char *desc;
	void (*time)(struct cb_sample *s);
	const char *(*unavailable)(void);
	const char *sleeps;
	bool by_page;
	bool batched;
	bool own_rule;
	bool allocates;
};

extern const struct cb_method cb_methods[];
extern const unsigned int cb_nr_methods;
void cb_time_empty(struct cb_sample *s);
u64 cb_time_read(const void *addr, unsigned long len);

/**
 * struct cb_context - where the clearing runs
 * @name: as the user writes it
 * @desc: one line
 * @gfp: how it may allocate
 * @atomic: it may not sleep
 * @preallocated: it works on extents that were allocated in process context
 * @run: calls @fn(@arg) in that context on this CPU and waits for it; called
 *	by a thread that is bound to the CPU and may sleep
 * @unavailable: why this kernel does not have it, or NULL; optional
 * @rt_note: what becomes of it under PREEMPT_RT, where that is another thing
 * @clock_ns: cost of an empty timed window in it, in tenths of ns, measured
 *	at load
 */
struct cb_context {
	const char *name;
	const char *desc;
	gfp_t gfp;
	bool atomic;
	bool preallocated;
	void (*run)(void (*fn)(void *arg), void *arg);
	const char *(*unavailable)(void);
	const char *rt_note;
	u64 clock_ns;
};

extern struct cb_context cb_contexts[];
extern const unsigned int cb_nr_contexts;
extern u64 cb_clock_read_tenths;
void cb_contexts_init(void);
void cb_contexts_exit(void);

enum cb_cell_state { CB_OK, CB_REFUSED, CB_FAILED, CB_PARTIAL };

/**
 * struct cb_latency - what a clear does to others on its CPU
 * @irq: from the expiry of a timer to its interrupt, in ns; NULL: not measured
 * @fifo: from that expiry to a SCHED_FIFO thread that it wakes
 * @normal: to a SCHED_NORMAL one
 * @irqoff_max: the longest that an interrupt at the start of the clear waited
 * @resched_max: the longest that a SCHED_FIFO thread woken there waited
 */
struct cb_latency {
	struct hist *irq;
	struct hist *fifo;
	struct hist *normal;
	u64 irqoff_max;
	u64 resched_max;
};

/**
 * struct cb_cell - one point of the sweep and what was measured there
 * @not_available: rounds for which no extent was to be had
 * @state_missed: samples of a method that allocates which got other memory than
 *	the state step had prepared
 * @other_nodes: samples whose memory was not on @nid
 * @in_highmem: samples whose memory was in highmem
 * @verify: "ok", "failed", or NULL where it was not asked for
 * @bytes: what a timed window clears, or reads
 * @clear: times of the clear in ns; NULL in a refused cell
 * @disturbed: those of samples that were interrupted or preempted, as far as that
 *	is seen; they are in @clear too
 * @alloc: times of the allocation in ns, where there is one; else NULL
 * @free: times of the free in ns, where there is one; else NULL
 * @ratio: paired ratios against the baseline; empty for the baseline itself
 * @latency: with the knob of that name, what the clear does to others
 * @ratio_milli: median over extents of the median ratio on each, and its 95 %
 *	interval, in thousandths of 1/HIST_RATIO_ONE; 0 where there is none
 * @floor_milli: the interval of the hidden second copy of the baseline
 */
struct cb_cell {
	const struct cb_context *context;
	const struct cb_method *method;
	unsigned int order;
	unsigned int batch;
	int cpu;
	int nid;
	unsigned int load;
	const char *model;
	bool forced;
	enum cb_cache cache;
	enum cb_cell_state state;
	char note[CB_NOTE_LEN];

	u64 not_available;
	u64 state_missed;
	u64 other_nodes;
	u64 in_highmem;
	const char *verify;

	u64 bytes;
	struct hist *clear;
	struct hist *disturbed;
	struct hist *alloc;
	struct hist *free;
	struct hist *ratio;
	struct cb_latency latency;
	u64 ratio_milli[3];
	u64 floor_milli[2];
};

/**
 * struct cb_run - the run under way, or the last one
 * @lock: held to look at @cells or @status, and to change @config
 * @config: the knobs
 * @running: a run is under way; the knobs may not change
 * @stop: end it soon
 * @stop_reason: why, where it was not the user's wish
 * @cells: of the run, in the order of the sweep
 * @nr_cells: how many
 * @nr_done: the first so many of them are finished
 * @current_cell: the one being sampled
 * @busy_ns: time spent in state steps and timed windows
 * @wall_ns: time that the run took
 * @lowest_pfn: of the extents that its samples counted, the lowest
 * @idle: what the latency probe saw with no clear under way
 * @arm_ns: what it takes to set that probe
 * @status: what the file of that name says when no run is under way
 */
struct cb_run {
	struct mutex lock;	/* see @lock */
	struct cb_config config;
	bool running;
	bool stop;
	const char *stop_reason;
	struct cb_cell *cells;
	unsigned int nr_cells;
	unsigned int nr_done;
	struct cb_cell *current_cell;
	u64 busy_ns;
	u64 wall_ns;
	unsigned long lowest_pfn;
	struct cb_latency idle;
	u64 arm_ns;
	char status[CB_NOTE_LEN + 16];
};

extern struct cb_run cb_run;

/* cb_zone() - where extents may come from, as a flag of their allocation */
static inline gfp_t cb_zone(void)
{
	return IS_ENABLED(CONFIG_HIGHMEM) && cb_run.config.highmem ? __GFP_HIGHMEM : 0;
}

/* knobs.c */

/**
 * struct cb_knob - a debugfs file that holds a setting
 * @name: of the file
 * @parse: sets it in @config from @text, which it may cut up; returns 0,
 *	-EINVAL for syntax or an unknown name, -ERANGE for a number out of
 *	range, -EDOM for what is legal but not on this machine
 * @show: prints what may be written back
 * @legal: prints what @parse takes, for the log
 */
struct cb_knob {
	const char *name;
	int (*parse)(struct cb_config *config, char *text);
	void (*show)(struct seq_file *m, const struct cb_config *config);
	void (*legal)(char *buf, size_t size);
};

extern const struct cb_knob cb_knobs[];
extern const unsigned int cb_nr_knobs;
void cb_config_init(struct cb_config *config);
const char *cb_cache_name(enum cb_cache cache);
const char *cb_after_name(enum cb_after after);
const char *cb_batch_name(unsigned int batch, char buf[12]);

/* extent.c */

/**
 * struct cb_extents - the extents that a block has taken
 * @context: where they are taken and given back
 * @held: taken and kept, the oldest first, so that a new one is another piece
 *	of memory
 * @nr: of @held
 * @max: how many may be held
 * @given: the one given back last, and not taken since
 * @places: pieces of memory that have been taken, as far as is seen: the
 *	allocator hands out what was given back last, as a rule
 */
struct cb_extents {
	const struct cb_context *context;
	struct page **held;
	unsigned int nr;
	unsigned int max;
	struct page *given;
	u64 places;
};

int cb_extents_init(struct cb_extents *x, const struct cb_context *context,
		    unsigned int order, u64 wanted);
bool cb_extents_next(struct cb_extents *x, struct cb_sample *s);
void cb_extents_free(struct cb_extents *x, unsigned int order);
void cb_take(const struct cb_context *context, struct cb_sample *s);
void cb_give(const struct cb_context *context, struct cb_sample *s);
int cb_state_init(void);
void cb_state_exit(void);
void cb_state_step(enum cb_cache cache, struct page *page, unsigned long len);
const char *cb_state_how(void);
void cb_poison(struct page *page, unsigned long len);
bool cb_is_clear(struct page *page, unsigned long len, unsigned long *where);
u64 cb_llc_bytes(void);

/* after.c */
int cb_after_start(const struct cb_config *config, int cpu);
void cb_after_stop(void);
void cb_after_prepare(void);
u64 cb_after_read(const struct cb_sample *s);

/* latency.c */
struct rnd_state;
int cb_latency_start(int cpu);
void cb_latency_stop(void);
void cb_latency_calibrate(struct cb_latency *idle, u64 *arm_ns);
void cb_latency_sample(struct cb_latency *l, const struct cb_context *context,
		       const struct cb_method *method, struct cb_sample *s, u64 ns,
		       struct rnd_state *rnd, u64 round);

/* preempt.c */
bool cb_preempt_forced(void);
int cb_force_preempt(bool on);

/* watch.c */
int cb_watch_start(int pid);
void cb_watch_stop(void);
void cb_watch_exit(void);
bool cb_watching(void);
void cb_watch_show(struct seq_file *m);
void cb_watch_results(struct seq_file *m);

/* load.c */
int cb_load_start(unsigned int nr, int cpu);
void cb_load_stop(void);

/* engine.c */
int cb_engine_run(void);
int cb_engine_init(void);
void cb_engine_exit(void);
u64 cb_hist_limit(void);
extern unsigned int cb_atomic_limit_ms;

/* info.c */
void cb_info_show(struct seq_file *m);

/* debugfs.c */
int cb_debugfs_init(void);
void cb_debugfs_exit(void);

#endif /* CLEARBENCH_H */
