/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of the user backend and how they meet.
 *
 *   user.c		the files that the program sees
 *   user_knobs.c	what may be asked for
 *   user_methods.c	how an extent is cleared, the timed window, the clock
 *   user_memory.c	where the memory comes from, and its state before a clear
 *   user_after.c	what a clear leaves behind, in place of its time
 *   user_latency.c	what an interrupt in the middle of a clear has to wait
 *   user_engine.c	crosses them: blocks, rounds, paired ratios
 *   user_info.c	the environment that a figure depends on
 *
 * The experiment is that of module/engine.c; what the two share stands in
 * module/primitives.h, hist.h and record.h.
 */
#ifndef CLEARBENCH_USER_ENGINE_H
#define CLEARBENCH_USER_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "clearbench.h"
#include "user.h"
#include "../../module/hist.h"
#include "../../module/primitives.h"

#define USER_BATCH_FULL		0U	/* the whole extent, in place of a number */
#define USER_ANY		(-1)	/* CPU, node */
#define USER_NOTE_LEN		160

/* A list of words or numbers, in the user's order */
struct user_choice {
	unsigned int nr;
	unsigned int item[CB_LIST_MAX];
};

/**
 * struct user_config - the knobs, as validated
 * @orders: of the sweep
 * @methods: indices into user_methods
 * @batches: pages a call, or USER_BATCH_FULL
 * @samples: rounds counted
 * @warmup: rounds not counted
 * @extent_rounds: rounds on one extent
 * @until: go on until the intervals of the ratios are as narrow as this, in
 *	hundredths of a per cent of the ratio; 0: @samples rounds
 * @until_s: but no longer than so many seconds an order
 * @test_delay_ns: added to the times of the method test_slow
 * @seed: of the shuffle
 * @cpu: its number, or USER_ANY
 * @nid: node of the memory, or USER_ANY
 * @warm: the state step: written by cached stores, else out of the caches
 * @drain: end every window in a full fence
 * @after: time a read after the clear, in place of the clear
 * @victim_kib: size of what is read for `victim`
 * @victim_cpu: the CPU that reads it, or USER_ANY for that of the run
 * @verify: check every byte in extra rounds
 * @latency: time interrupts that come in the middle of a clear
 */
struct user_config {
	struct list orders;
	struct user_choice methods;
	struct user_choice batches;
	__u64 samples;
	__u64 warmup;
	__u64 extent_rounds;
	__u64 until;
	__u64 until_s;
	__u64 test_delay_ns;
	__u64 seed;
	int cpu;
	int nid;
	bool warm;
	bool drain;
	enum cb_after after;
	__u64 victim_kib;
	int victim_cpu;
	bool verify;
	bool latency;
};

/* user_methods.c */

/**
 * struct user_sample - one clear of one extent
 * @addr: of the extent
 * @len: its bytes
 * @chunk: bytes handed to one call, at most @len
 * @drain: end the window in a full fence
 * @test_delay_ticks: for test_slow
 * @ticks: out: the time of the clear, or of the read that `after` asks for, in
 *	ticks of user_clock()
 */
struct user_sample {
	char *addr;
	unsigned long len;
	unsigned long chunk;
	bool drain;
	__u64 test_delay_ticks;
	__u64 ticks;
};

/**
 * struct user_method - how an extent is cleared
 * @name: as the user writes it
 * @time: clears an extent and takes the time
 * @available: this CPU can; NULL: every one
 * @batched: the `batches` knob applies; else a call a page
 */
struct user_method {
	const char *name;
	void (*time)(struct user_sample *s);
	bool (*available)(void);
	bool batched;
};

extern struct user_method user_methods[];
extern const unsigned int user_nr_methods;
extern const char *user_clear_page;
extern bool user_clock_tsc;
extern double user_clock_ns_empty;
extern double user_clock_ns_read;

__u64 user_time_read(const void *addr, unsigned long len);
void user_methods_init(void);
bool user_clock_lost(void);
__u64 user_clock_ns(__u64 ticks);
__u64 user_clock_ticks(__u64 ns);
__u64 user_median(__u64 *ticks, unsigned int nr);
char *user_clock_name(void);

/**
 * user_clock() - read the clock, in ticks of its own
 *
 * What stands before it has executed, though stores may still be in flight
 * (`drain` waits for those): see prim_tsc().
 */
static __always_inline __u64 user_clock(void)
{
	struct timespec t;

	if (user_clock_tsc)
		return prim_tsc();
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* user_memory.c */

/**
 * struct user_extents - the memory that a block works on
 * @len: bytes of an extent
 * @nr: places for one
 * @huge_percent: how much of it is in huge pages
 */
struct user_extents {
	unsigned long len;
	unsigned long nr;
	unsigned int huge_percent;

	/* private: */
	char *map;
	unsigned long map_len;
	char *base;
	unsigned long at;
	unsigned long step;
};

int user_extents_init(struct user_extents *x, unsigned long len, __u64 wanted, int nid,
		      const atomic_bool *stop);
char *user_extents_next(struct user_extents *x);
void user_extents_free(struct user_extents *x);
int user_node_of(void *addr);
char *user_huge_pages(void);
void user_state_init(void);
void user_state_step(bool warm, void *addr, unsigned long len);
const char *user_state_how(void);
void *user_huge_alloc(unsigned long len);
void user_poison(void *addr, unsigned long len);
bool user_is_clear(const void *addr, unsigned long len, unsigned long *where);
extern __u64 user_llc_bytes;

/* user_after.c */
int user_after_start(const struct user_config *config, int cpu);
void user_after_stop(void);
void user_after_prepare(void);
__u64 user_after_read(const struct user_sample *s, long *disturbed);

/* user_latency.c */

/**
 * struct user_latency - what interrupts had to wait, in ns from sending to answer
 * @irq: of those sent into a clear
 * @spin: of those sent into as long a spin, in turn
 * @irqoff_max: the longest of those sent at the start of a clear
 */
struct user_latency {
	struct hist *irq;
	struct hist *spin;
	__u64 irqoff_max;
};

int user_latency_check(int cpu, const char **why);
int user_latency_start(int cpu);
void user_latency_stop(void);
bool user_latency_lasts(__u64 ticks);
__u64 user_latency_irq_ns(void);
void user_latency_round(struct user_latency *l, const struct user_method *method,
			struct user_sample *s, __u64 ticks, __u64 random, __u64 round);

/* user_engine.c */

enum user_state { USER_OK, USER_REFUSED, USER_FAILED, USER_PARTIAL };

/**
 * struct user_cell - one point of the sweep and what was measured there
 * @not_available: rounds for which there was no memory
 * @nid: node of the memory; USER_ANY where the kernel does not say
 * @verify: "ok", "failed", or NULL where it was not asked for
 * @clear: times in ns
 * @disturbed: those of samples with a context switch or a page fault in them; they
 *	are in @clear too
 * @ratio: paired ratios against the baseline; empty for the baseline itself
 * @ratio_milli: median over extents of the median ratio on each, and its 95 %
 *	interval, in thousandths of 1/HIST_RATIO_ONE; 0 where there is none
 * @floor_milli: the same of the hidden second copy of the baseline
 * @latency: delays of interrupts; its histograms are there where it was asked for
 */
struct user_cell {
	const struct user_method *method;
	unsigned int order;
	unsigned int batch;
	enum user_state state;
	char note[USER_NOTE_LEN];
	__u64 not_available;
	int nid;
	const char *verify;
	struct hist *clear;
	struct hist *disturbed;
	struct hist *ratio;
	__u64 ratio_milli[3];
	__u64 floor_milli[3];
	struct user_latency latency;
};

long user_disturbances(void);
void user_shuffle(unsigned int *sequence, unsigned int nr, __u64 *rnd);
__u64 user_ratio(__u64 baseline, __u64 ticks);
bool user_verify(const struct user_method *method, struct user_sample *s, bool warm,
		 unsigned long *where);
int user_engine_run(struct user *u);

/* user_knobs.c */

/**
 * struct user_knob - a setting
 * @name: of the module's file
 * @parse: sets it in @config from @text, which it may cut up; returns 0,
 *	-EINVAL for syntax or an unknown name, -ERANGE for a number out of
 *	range, -EDOM for what this machine has not, -EOPNOTSUPP for what user
 *	space has not
 * @show: prints what may be written back
 * @legal: prints what @parse takes
 */
struct user_knob {
	const char *name;
	int (*parse)(struct user_config *config, char *text);
	void (*show)(FILE *to, const struct user_config *config);
	void (*legal)(FILE *to);
};

extern const struct user_knob user_knobs[];
extern const unsigned int user_nr_knobs;
void user_config_init(struct user_config *config);
const char *user_batch_name(const struct user_method *method, unsigned int batch, char buf[12]);
unsigned int user_max_order(void);

/* user_info.c */
char *user_info(void);

/* user.c */

/**
 * struct user - the backend
 * @lock: held to look at @config, @status, @cells, and to change them
 * @config: the knobs
 * @running: a run is under way; the knobs may not change
 * @stop: end it soon
 * @stop_reason: why, where it was not the user's wish
 * @status: what the file of that name says when no run is under way
 * @said: why the last write was refused
 * @cells: of the block under way; NULL between two
 * @current: index of the one being sampled
 * @nr_done: cells that are finished
 * @nr_cells: of the sweep
 * @results: the file of that name, without a name
 * @histograms: likewise
 */
struct user {
	pthread_mutex_t lock;	/* see @lock */
	struct user_config config;
	bool running;
	atomic_bool stop;
	const char *stop_reason;
	char status[128];
	char *said;
	const struct user_cell *cells;
	atomic_uint current;
	unsigned int nr_done;
	unsigned int nr_cells;
	FILE *results;
	FILE *histograms;
};

void user_say(struct user *u, const char *fmt, ...) __printf(2, 3);

#endif /* CLEARBENCH_USER_ENGINE_H */
