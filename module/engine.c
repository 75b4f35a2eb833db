// SPDX-License-Identifier: GPL-2.0
/*
 * The experiment. A sweep is cut into blocks, one for each context and order.
 * A block runs its variants (method and batch) in rounds: every variant once,
 * in a freshly shuffled sequence, each after the same state step on the same
 * extent. So the samples of a round are paired, and drift of the machine, the
 * placement of the extent and the variant that ran before fall on all alike.
 *
 * A hidden second copy of the baseline takes part in every round. What the
 * block sees between the two is its noise floor.
 */
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/highmem.h>
#include <linux/jiffies.h>
#include <linux/kernel_stat.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/suspend.h>

#include "clearbench.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* Rounds in a row without an extent after which there will be none */
#define GIVE_UP_ROUNDS		32

struct cb_run cb_run = {
	.lock = __MUTEX_INITIALIZER(cb_run.lock),
	.status = "idle",
};

static unsigned int hist_limit_mib = 256;
module_param(hist_limit_mib, uint, 0644);
MODULE_PARM_DESC(hist_limit_mib, "memory that the histograms of a run may take, in MiB (256)");

static char *test_leave_byte = "";
module_param(test_leave_byte, charp, 0400);
MODULE_PARM_DESC(test_leave_byte, "for tests only: a method that is made to leave one byte when it is verified; with + behind it, after its rounds only");

unsigned int cb_atomic_limit_ms = 50;
module_param_named(atomic_limit_ms, cb_atomic_limit_ms, uint, 0644);
MODULE_PARM_DESC(atomic_limit_ms, "longest time that one clear may hold its CPU in atomic context, in ms (50)");

/* cb_hist_limit() - in bytes */
u64 cb_hist_limit(void)
{
	return (u64)hist_limit_mib << 20;
}

/**
 * struct variant - one way to clear, in a block
 * @cell: where its results go; of the hidden copy, the baseline's
 * @hidden: the second copy of the baseline
 * @ticks: its time in this round
 * @sampled: it has one
 * @ratios: of the rounds on the present extent
 * @nr_ratios: how many
 * @units: the median ratio of each extent so far
 */
struct variant {
	struct cb_cell *cell;
	bool hidden;
	u64 ticks;
	bool sampled;
	u32 *ratios;
	unsigned int nr_ratios;
	struct hist *units;
};

/**
 * struct block - the variants of one context and order
 * @variant: the hidden copy is the last
 * @nr: how many take part, refused and failed ones do not
 * @sequence: of this round
 * @sample: what all of them clear
 * @wide: time was up before the intervals were as narrow as `until` asks
 * @reference_ns: what `after=victim` times, with no clear between; 0: not known
 * @places: pieces of memory that the counted rounds had; 0: fresh ones
 */
struct block {
	const struct cb_context *context;
	struct variant *variant;
	unsigned int nr;
	unsigned int *sequence;
	struct variant *baseline;
	struct cb_extents extents;
	struct cb_sample sample;
	struct rnd_state *rnd;
	int cpu;
	bool wide;
	u64 reference_ns;
	u64 places;
};

static bool should_stop(const struct block *b)
{
	if (raw_smp_processor_id() != b->cpu) {
		cb_run.stop_reason = "the CPU of the run went offline";
		WRITE_ONCE(cb_run.stop, true);
	}
	return READ_ONCE(cb_run.stop);
}

/* The pages of one call for a cell; the kernel's own rule for `auto` */
static unsigned int batch_pages(const struct cb_cell *cell)
{
	unsigned int npages = 1U << cell->order;

	if (cell->batch == CB_BATCH_FULL)
		return npages;
	if (cell->batch == CB_BATCH_AUTO)
		return cb_preemptible() ? npages :
		       min_t(unsigned int, npages, PROCESS_PAGES_NON_PREEMPT_BATCH);
	return min(npages, cell->batch);
}

/* Sampling */

/* Spent in state steps and timed windows, of the run so far */
static u64 busy_ticks;

/* Context switches of this thread and interrupts of this CPU, so far */
static unsigned long disturbances(void)
{
	return current->nvcsw + current->nivcsw + raw_cpu_read(kstat.irqs_sum) + cb_arch_irqs();
}

struct call {
	const struct cb_method *method;
	struct cb_sample *sample;
	bool fresh;
};

static void sample_in_context(void *arg)
{
	const struct call *c = arg;
	struct cb_sample *s = c->sample;
	unsigned long before;
	u64 start;

	if (c->fresh) {
		start = cb_clock();
		s->page = cb_alloc(s, 0);
		s->alloc_ticks = cb_clock() - start;
		s->failed = !s->page;
		if (s->failed)
			return;
		s->addr = page_address(s->page);
	}

	before = disturbances();
	c->method->time(s);
	s->switches = disturbances() - before;

	if (c->fresh) {
		start = cb_clock();
		__free_pages(s->page, s->order);
		s->free_ticks = cb_clock() - start;
	}
}

/*
 * A method that allocates cannot be given an extent. It is given the state all
 * the same: an extent is taken, brought into it, and freed, and the allocator
 * hands that one out again, as a rule. Returns its page, to see whether it did.
 */
static struct page *prepare_allocator(const struct cb_context *context,
				      const struct cb_sample *sample)
{
	struct cb_sample s = *sample;
	struct page *page;

	cb_take(context, &s);
	page = s.page;
	if (page) {
		cb_state_step(cb_run.config.cache, page,
			      (unsigned long)s.npages * PAGE_SIZE);
		cb_give(context, &s);
	}
	return page;
}

/* The node of the memory; of more than one, the first */
static void note_node(struct cb_cell *cell, int nid)
{
	if (cell->nid == NUMA_NO_NODE)
		cell->nid = nid;
	cell->other_nodes += cell->nid != nid;
}

/* The read that is timed in place of the clear which @s has just had */
static void read_after(struct cb_sample *s)
{
	unsigned long before = disturbances();

	busy_ticks += s->clear_ticks;
	s->clear_ticks = cb_after_read(s);
	s->switches += disturbances() - before;
}

/* Whether the memory was in highmem, where there is such */
static void note_highmem(struct cb_cell *cell, struct page *page)
{
	if (!IS_ENABLED(CONFIG_HIGHMEM))
		return;
	cell->in_highmem += !!PageHighMem(page);
	cb_run.lowest_pfn = min(cb_run.lowest_pfn, page_to_pfn(page));
}

/* One clear by one variant; its time, if it has one, is in @v */
static void take_sample(struct block *b, struct variant *v, bool counted)
{
	const struct cb_method *method = v->cell->method;
	enum cb_cache cache = cb_run.config.cache;
	struct cb_cell *cell = v->cell;
	struct cb_sample s = b->sample;
	struct page *prepared = NULL;
	struct call c = {
		.method = method,
		.sample = &s,
		.fresh = cache == CB_FRESH && !method->allocates,
	};
	u64 start = cb_clock(), ns;

	s.batch = batch_pages(cell);
	if (!method->allocates)
		cb_state_step(cache, s.page, (unsigned long)s.npages * PAGE_SIZE);
	else if (cache != CB_FRESH)
		prepared = prepare_allocator(b->context, &s);
	busy_ticks += cb_clock() - start;
	if (READ_ONCE(cb_run.stop))	/* the state step may be half done */
		return;

	if (cb_run.config.after)
		cb_after_prepare();
	b->context->run(sample_in_context, &c);
	if (cb_run.config.after) {
		read_after(&s);
		if (READ_ONCE(cb_run.stop))	/* the victim's CPU may be gone */
			return;
	}

	v->sampled = !s.failed;
	v->ticks = max(s.clear_ticks, 1ULL);	/* a coarse clock may see nothing pass */
	busy_ticks += s.clear_ticks;
	if (v->hidden || !counted)
		return;
	if (s.failed) {
		cell->not_available++;
		return;
	}
	note_node(cell, page_to_nid(s.page));
	note_highmem(cell, s.page);
	cell->state_missed += prepared && prepared != s.page;
	ns = cb_clock_ns(s.clear_ticks);
	hist_add(cell->clear, ns);
	if (s.switches)
		hist_add(cell->disturbed, ns);
	if (cell->alloc && s.alloc_ticks)
		hist_add(cell->alloc, cb_clock_ns(s.alloc_ticks));
	if (cell->free)
		hist_add(cell->free, cb_clock_ns(s.free_ticks));
	trace_clearbench_sample(b->context->name, cell->order, method->name,
				method->batched ? s.batch : 0, b->cpu, page_to_nid(s.page),
				ns, s.switches);
}

/* Fisher and Yates, by a generator that the seed determines */
static void shuffle(struct block *b)
{
	unsigned int i, j;

	for (i = b->nr - 1; i > 0; i--) {
		j = prandom_u32_state(b->rnd) % (i + 1);
		swap(b->sequence[i], b->sequence[j]);
	}
}

/* How much longer the baseline took in this round: above 1, @v is faster */
static void pair_samples(struct block *b)
{
	unsigned int i;

	if (!b->baseline->sampled)
		return;
	for (i = 0; i < b->nr; i++) {
		struct variant *v = &b->variant[i];
		u64 ratio;

		if (v == b->baseline || !v->sampled)
			continue;
		ratio = div64_u64(b->baseline->ticks * HIST_RATIO_ONE + v->ticks / 2,
				  v->ticks);
		v->ratios[v->nr_ratios++] = min_t(u64, ratio, U32_MAX);
		if (!v->hidden)
			hist_add(v->cell->ratio, ratio);
	}
}

static int cmp_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* The same re-read of the victim, after the same state step, with no clear between */
static void take_reference(struct block *b)
{
	const struct cb_sample *s = &b->sample;
	u64 ticks[CB_REFERENCE_READS];
	unsigned int i;

	for (i = 0; i < CB_REFERENCE_READS; i++) {
		cb_state_step(cb_run.config.cache, s->page, (unsigned long)s->npages * PAGE_SIZE);
		if (should_stop(b))
			return;
		cb_after_prepare();
		ticks[i] = cb_after_read(s);
		cond_resched();
	}
	sort(ticks, i, sizeof(*ticks), cmp_u64, NULL);
	b->reference_ns = cb_clock_ns(ticks[i / 2]);
}

static int cmp_u32(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/*
 * Rounds on one extent share its placement and are not independent. The extent
 * is the unit that intervals are built on, by the median of its ratios.
 */
static void close_extent(struct block *b)
{
	unsigned int i, n;

	for (i = 0; i < b->nr; i++) {
		struct variant *v = &b->variant[i];

		n = v->nr_ratios;
		if (!n)
			continue;
		sort(v->ratios, n, sizeof(*v->ratios), cmp_u32, NULL);
		hist_add(v->units, ((u64)v->ratios[(n - 1) / 2] + v->ratios[n / 2]) / 2);
		v->nr_ratios = 0;
	}
}

/* A round that had no extent to clear */
static void no_extent(struct block *b, u64 rounds)
{
	unsigned int i;

	for (i = 0; i < b->nr; i++)
		if (!b->variant[i].hidden)
			b->variant[i].cell->not_available += rounds;
}

/* A round that wants a new extent; 32-bit kernels have no % of 64 bits. */
static bool extent_is_due(u64 round)
{
	u32 rest;

	div_u64_rem(round, cb_run.config.extent_rounds, &rest);
	return !rest;
}

/* Are the intervals of all ratios, the hidden copy's too, no wider than asked? */
static bool narrow_enough(const struct block *b)
{
	unsigned int i;

	for (i = 0; i < b->nr; i++)
		if (&b->variant[i] != b->baseline &&
		    !hist_median_is_narrow(b->variant[i].units, cb_run.config.until))
			return false;
	return true;
}

/* Beyond `samples`: whole extents, until the intervals are narrow or time is up */
static bool wants_more(struct block *b, u64 counted, u64 deadline)
{
	const struct cb_config *config = &cb_run.config;

	if (!config->until || counted >= CB_SAMPLES_MAX)
		return false;
	if (!extent_is_due(counted))
		return true;
	close_extent(b);
	b->wide = !narrow_enough(b);
	return b->wide && ktime_get_ns() < deadline;
}

static void run_rounds(struct block *b)
{
	u64 deadline = ktime_get_ns() + cb_run.config.until_s * NSEC_PER_SEC;
	const struct cb_config *config = &cb_run.config;
	u64 round, rounds = config->warmup + config->samples;
	bool needed = config->cache != CB_FRESH;
	unsigned int i, failures = 0;

	b->sample.page = NULL;
	for (round = 0; round < rounds || wants_more(b, round - config->warmup, deadline);
	     round++) {
		bool counted = round >= config->warmup;
		u64 on_extent = counted ? round - config->warmup : round;

		if (extent_is_due(on_extent)) {
			close_extent(b);
			b->sample.page = NULL;
		}
		if (needed && !b->sample.page && !cb_extents_next(&b->extents, &b->sample)) {
			if (counted)
				no_extent(b, 1);
			if (++failures == GIVE_UP_ROUNDS) {
				if (round < rounds)
					no_extent(b, rounds - max(round + 1, config->warmup));
				break;
			}
			cond_resched();
			if (should_stop(b))
				break;
			continue;
		}
		failures = 0;

		shuffle(b);
		for (i = 0; i < b->nr; i++) {
			struct variant *v = &b->variant[b->sequence[i]];

			WRITE_ONCE(cb_run.current_cell, v->cell);
			v->sampled = false;
			take_sample(b, v, counted);
			cond_resched();
			if (should_stop(b))
				goto out;
		}
		if (counted)
			pair_samples(b);
	}
out:
	close_extent(b);
}

/*
 * Rounds for the latency probe. They come after the counted ones, whose times
 * it would disturb, and whose medians tell it how long a clear takes.
 */
static void run_latency_rounds(struct block *b)
{
	const struct cb_config *config = &cb_run.config;
	struct cb_sample *s = &b->sample;
	u64 round;
	unsigned int i;

	for (round = 0; round < config->samples; round++) {
		if (extent_is_due(round) && !cb_extents_next(&b->extents, s))
			return;
		shuffle(b);
		for (i = 0; i < b->nr; i++) {
			struct variant *v = &b->variant[b->sequence[i]];
			struct cb_cell *cell = v->cell;

			if (v->hidden || cell->method->allocates || !cell->clear->count)
				continue;
			WRITE_ONCE(cb_run.current_cell, cell);
			s->batch = batch_pages(cell);
			cb_state_step(config->cache, s->page, (unsigned long)s->npages * PAGE_SIZE);
			if (should_stop(b))
				return;
			cb_latency_sample(&cell->latency, b->context, cell->method, s,
					  div_u64(hist_quantile(cell->clear, 500), HIST_MILLI),
					  b->rnd, round);
			cond_resched();
		}
	}
}

/* Verification */

static void alloc_zeroed_in_context(void *arg)
{
	struct cb_sample *s = arg;

	s->page = cb_alloc(s, __GFP_ZERO);
}

static void clear_in_context(void *arg)
{
	const struct call *c = arg;

	c->method->time(c->sample);
}

static void drop_hist(struct hist *h)
{
	if (h)
		hist_init(h, h->shape.bits, h->shape.top);
}

/* What did not clear everything is no time of a clear. */
static void drop_times(struct cb_cell *cell)
{
	drop_hist(cell->clear);
	drop_hist(cell->disturbed);
	drop_hist(cell->alloc);
	drop_hist(cell->free);
	drop_hist(cell->ratio);
	drop_hist(cell->latency.irq);
	drop_hist(cell->latency.fifo);
	drop_hist(cell->latency.normal);
	cell->in_highmem = 0;
}

/* For the tests: METHOD leaves one always, METHOD+ once it has been timed. */
static bool leaves_byte(const struct cb_cell *cell)
{
	size_t len = strlen(cell->method->name);

	return !strncmp(test_leave_byte, cell->method->name, len) &&
	       (!test_leave_byte[len] ||
		(!strcmp(test_leave_byte + len, "+") && cell->clear->count));
}

/*
 * Poisons an extent, brings it into the state of the run, lets the method clear
 * it in the context of the run, and checks every byte. Returns false if there
 * was no extent.
 */
static bool verify_cell(struct block *b, struct cb_cell *cell)
{
	const struct cb_method *method = cell->method;
	struct cb_sample s = b->sample;
	unsigned long where, len = (unsigned long)s.npages * PAGE_SIZE;
	struct call c = { .method = method, .sample = &s };

	cb_take(b->context, &s);
	if (!s.page)
		return false;
	cb_poison(s.page, len);
	if (method->allocates) {
		cb_give(b->context, &s);
		b->context->run(alloc_zeroed_in_context, &s);
		if (!s.page)
			return false;
	} else {
		s.batch = batch_pages(cell);
		cb_state_step(cb_run.config.cache, s.page, len);
		b->context->run(clear_in_context, &c);
	}
	if (leaves_byte(cell))
		memcpy_to_page(s.page + s.npages - 1, PAGE_SIZE - 1, "\1", 1);

	if (cb_is_clear(s.page, len, &where)) {
		if (!cell->verify)
			cell->verify = "ok";
	} else {
		cell->verify = "failed";
		cell->state = CB_FAILED;
		drop_times(cell);
		snprintf(cell->note, sizeof(cell->note),
			 "left byte %lu of %lu uncleared", where, len);
		pr_err("%s order %u %s: %s\n", cell->context->name, cell->order,
		       method->name, cell->note);
	}
	cb_give(b->context, &s);
	return true;
}

/* Once before the rounds and once after them; a method that fails has no times. */
static void verify_block(struct block *b, struct cb_cell *cells, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr && !should_stop(b); i++)
		if (cells[i].state == CB_OK || cells[i].state == CB_PARTIAL)
			verify_cell(b, &cells[i]);
}

/* Blocks */

static void add_note(struct cb_cell *cell, const char *fmt, ...) __printf(2, 3);
static void add_note(struct cb_cell *cell, const char *fmt, ...)
{
	size_t len = strlen(cell->note);
	va_list args;

	if (len)
		len += scnprintf(cell->note + len, sizeof(cell->note) - len, "; ");
	va_start(args, fmt);
	vscnprintf(cell->note + len, sizeof(cell->note) - len, fmt, args);
	va_end(args);
}

static void refuse(struct cb_cell *cell, const char *fmt, ...) __printf(2, 3);
static void refuse(struct cb_cell *cell, const char *fmt, ...)
{
	va_list args;

	cell->state = CB_REFUSED;
	va_start(args, fmt);
	vscnprintf(cell->note, sizeof(cell->note), fmt, args);
	va_end(args);
}

/* The rules that a cell may break, by the first that it does */
static void judge_cell(struct cb_cell *cell)
{
	const struct cb_context *context = cell->context;
	const struct cb_method *method = cell->method;
	bool allocates = method->allocates || cell->cache == CB_FRESH;
	u64 llc = cb_llc_bytes();

	if (method->sleeps && context->atomic && !cb_run.config.unsafe)
		refuse(cell, "%s in atomic context: the kernel forbids it (unsafe=1 runs it)",
		       method->sleeps);
	else if (allocates && cb_run.config.after)
		refuse(cell, "after=%s reads an extent that is there before and after",
		       cb_after_name(cb_run.config.after));
	else if (allocates && context->preallocated)
		refuse(cell, "%s works on extents that were allocated before", context->name);
	else if (allocates && cb_order_is_large(cell->order))
		refuse(cell, "above MAX_PAGE_ORDER alloc_pages() has nothing");
	else if (cb_zone() && cb_run.config.after)
		refuse(cell, "after=%s reads by kernel address, which pages of highmem have not (highmem=0 runs it)",
		       cb_after_name(cb_run.config.after));
	else if (cb_zone() && !method->by_page)
		refuse(cell, "works by kernel address, which pages of highmem have not (highmem=0 runs it)");
	else if (cell->cache == CB_WARM && !llc)
		refuse(cell, "warm: the size of the LLC is not known (module parameter llc_kib)");
	else if (cell->cache == CB_WARM && (u64)PAGE_SIZE << cell->order > llc)
		refuse(cell, "warm: larger than the LLC of %llu KiB", llc >> 10);
}

/* What is legal and yet not what its name says gets a label. */
static void label_cell(struct cb_cell *cell)
{
	const struct cb_config *config = &cb_run.config;

	if (cell->method->sleeps && cell->context->atomic)
		add_note(cell, "%s in atomic context, as asked for", cell->method->sleeps);
	if (cell->method->own_rule && cell->batch != CB_BATCH_AUTO)
		add_note(cell, "its own batch is auto");
	if (cell->cache == CB_FRESH && want_init_on_alloc(0))
		add_note(cell, "init_on_alloc: the allocator has just cleared it");
	if (cell->method->allocates && want_init_on_alloc(0))
		add_note(cell, "init_on_alloc: a plain allocation clears too");
	if (cell->method->allocates && want_init_on_free())
		add_note(cell, "init_on_free: the free clears too");
	if (IS_ENABLED(CONFIG_PREEMPT_RT) && cell->context->rt_note)
		add_note(cell, "%s", cell->context->rt_note);
	if (config->after == CB_AFTER_TOUCH)
		add_note(cell, "after=touch: the time of the first read");
	else if (config->after == CB_AFTER_VICTIM && config->victim_cpu < 0)
		add_note(cell, "after=victim: the time to read %llu KiB again", config->victim_kib);
	else if (config->after == CB_AFTER_VICTIM)
		add_note(cell, "after=victim: the time to read %llu KiB again on CPU %d",
			 config->victim_kib, config->victim_cpu);
}

/*
 * An extent of so many bytes in atomic context holds its CPU for as long as its
 * clear takes. That is estimated, by two clears of it in process context, and
 * what is above the limit is refused. Not by the order: with pages of 64 KiB
 * the largest that the buddy allocator has is 512 MiB.
 */
#define JUDGED_BYTES		SZ_8M

static void judge_hold_time(struct block *b, struct cb_cell *cells, unsigned int nr)
{
	const struct cb_context *process = &cb_contexts[0];
	struct cb_sample s = b->sample;
	unsigned int i;

	if (!b->context->atomic || (u64)s.npages * PAGE_SIZE < JUDGED_BYTES)
		return;
	s.gfp = process->gfp | cb_zone();
	cb_take(process, &s);
	if (!s.page)
		return;		/* nor will there be one for the rounds */
	for (i = 0; i < nr && !should_stop(b); i++) {
		struct cb_cell *cell = &cells[i];
		struct cb_sample clear = s;
		u64 ms;

		if (cell->state != CB_OK)
			continue;
		clear.batch = batch_pages(cell);
		cell->method->time(&clear);
		cond_resched();
		cell->method->time(&clear);
		cond_resched();
		ms = div_u64(cb_clock_ns(clear.clear_ticks), NSEC_PER_MSEC);
		if (ms > cb_atomic_limit_ms)
			refuse(cell, "would hold the CPU for %llu ms; module parameter atomic_limit_ms is %u",
			       ms, cb_atomic_limit_ms);
	}
	cb_give(process, &s);
}

static struct variant *find_baseline(struct block *b)
{
	unsigned int i;

	for (i = 0; i < b->nr; i++)
		if (!strcmp(b->variant[i].cell->method->name, "legacy"))
			return &b->variant[i];
	return b->nr ? &b->variant[0] : NULL;
}

static void close_cell(struct block *b, struct variant *v, const u64 floor[3])
{
	u64 units = b->variant[b->nr - 1].units->count;	/* of the hidden copy */
	struct cb_cell *cell = v->cell;

	if (cell->state == CB_FAILED)
		return;
	if (b->baseline->cell->state == CB_FAILED) {
		drop_hist(cell->ratio);
	} else {
		if (v != b->baseline)
			hist_median_interval(v->units, cell->ratio_milli);
		cell->floor_milli[0] = floor[1];
		cell->floor_milli[1] = floor[2];
	}
	if (cell->clear->count < cb_run.config.samples)
		cell->state = CB_PARTIAL;
	if (b->reference_ns)
		add_note(cell, "%llu ns with no clear between", b->reference_ns);
	if (cell->not_available)
		add_note(cell, "no extent for %llu of %llu rounds", cell->not_available,
			 cb_run.config.samples);
	/* Units that repeat a placement are fewer than they look. */
	if (b->places && units > b->places)
		add_note(cell, "%llu extents in %llu places", units, b->places);
	if (cell->state_missed)
		add_note(cell, "%llu samples got other memory than was prepared",
			 cell->state_missed);
	if (cell->latency.resched_max > TICK_NSEC)
		add_note(cell, "no switch for longer than a tick");
	else if (cell->latency.resched_max > NSEC_PER_MSEC)
		add_note(cell, "no switch for longer than 1 ms");
	if (b->wide)
		add_note(cell, "until: not as narrow after %llu s", cb_run.config.until_s);
	if (cb_zone())
		add_note(cell, "%llu samples in highmem", cell->in_highmem);
	if (cell->other_nodes)
		add_note(cell, "%llu samples on other nodes", cell->other_nodes);
	if (strcmp(cell->model, cb_preempt_model()))
		add_note(cell, "the preemption model changed to %s", cb_preempt_model());
}

/**
 * struct sweep - what a run needs beside its cells
 * @variants: room for the variants of the largest block
 * @max_variants: of one block, the hidden copy included
 */
struct sweep {
	struct block block;
	struct variant *variants;
	unsigned int *sequence;
	unsigned int max_variants;
	struct rnd_state rnd;
	struct completion done;
};

static void run_block(struct sweep *sweep, struct cb_cell *cells, unsigned int nr)
{
	const struct cb_config *config = &cb_run.config;
	struct block *b = &sweep->block;
	struct variant *v;
	u64 floor[3] = { };
	unsigned int i;

	*b = (struct block) {
		.context = cells->context,
		.variant = sweep->variants,
		.sequence = sweep->sequence,
		.rnd = &sweep->rnd,
		.cpu = cells->cpu,
		.sample = {
			.npages = 1U << cells->order,
			.order = cells->order,
			.drain = config->drain,
			.gfp = cells->context->gfp | cb_zone(),
			.nid = config->nid,
			.test_delay_ticks = cb_clock_ticks(config->test_delay_ns),
		},
	};
	for (i = 0; i < nr; i++) {
		cells[i].model = cb_preempt_model();
		cells[i].forced = cb_preempt_forced();
		judge_cell(&cells[i]);
	}
	WRITE_ONCE(cb_run.current_cell, cells);
	judge_hold_time(b, cells, nr);
	for (i = 0; i < nr; i++)
		if (cells[i].state == CB_OK)
			label_cell(&cells[i]);
	if (config->verify)
		verify_block(b, cells, nr);

	for (i = 0; i < nr; i++)
		if (cells[i].state == CB_OK)
			b->variant[b->nr++].cell = &cells[i];
	b->baseline = find_baseline(b);
	if (!b->baseline)
		return;
	v = &b->variant[b->nr++];
	v->cell = b->baseline->cell;
	for (i = 0; i < b->nr; i++) {
		v = &b->variant[i];
		v->hidden = i == b->nr - 1;
		v->nr_ratios = 0;
		hist_init(v->units, HIST_RATIO_BITS, HIST_UNITS_TOP);
		b->sequence[i] = i;
	}

	if (cb_extents_init(&b->extents, b->context, cells->order,
			    max_t(u64, div64_u64(config->samples, config->extent_rounds) + 2,
				  config->until ? CB_UNTIL_UNITS : 0))) {
		cb_run.stop_reason = "no memory to keep track of extents";
		WRITE_ONCE(cb_run.stop, true);
		return;
	}
	run_rounds(b);
	b->places = b->extents.places;
	if (config->after == CB_AFTER_VICTIM && b->sample.page && !should_stop(b))
		take_reference(b);
	if (config->latency && !should_stop(b))
		run_latency_rounds(b);
	cb_extents_free(&b->extents, cells->order);
	if (config->verify)
		verify_block(b, cells, nr);

	hist_median_interval(b->variant[b->nr - 1].units, floor);
	for (i = 0; i < b->nr - 1; i++)
		close_cell(b, &b->variant[i], floor);
}

/* Cells of one context and order stand together. */
static unsigned int block_length(unsigned int first)
{
	const struct cb_cell *cells = cb_run.cells;
	unsigned int i = first;

	while (i < cb_run.nr_cells && cells[i].context == cells[first].context &&
	       cells[i].order == cells[first].order)
		i++;
	return i - first;
}

static bool block_measured(const struct cb_cell *cells, unsigned int nr)
{
	while (nr--)
		if (cells[nr].state == CB_REFUSED || cells[nr].state == CB_FAILED ||
		    cells[nr].clear->count)
			return true;
	return false;
}

static int sweep_thread(void *arg)
{
	struct sweep *sweep = arg;
	u64 start = cb_clock();
	unsigned int first, nr;

	busy_ticks = 0;
	if (cb_run.config.latency)
		cb_latency_calibrate(&cb_run.idle, &cb_run.arm_ns);
	for (first = 0; first < cb_run.nr_cells && !READ_ONCE(cb_run.stop); first += nr) {
		nr = block_length(first);
		run_block(sweep, &cb_run.cells[first], nr);

		if (cb_clock_lost()) {
			cb_run.stop_reason = "the TSC turned unstable";
			WRITE_ONCE(cb_run.stop, true);
		}
		/* What was stopped before its first sample is no result. */
		if (READ_ONCE(cb_run.stop) && !block_measured(&cb_run.cells[first], nr))
			break;
		mutex_lock(&cb_run.lock);
		cb_run.nr_done = first + nr;
		mutex_unlock(&cb_run.lock);
	}
	cb_run.wall_ns = cb_clock_ns(cb_clock() - start);
	cb_run.busy_ns = cb_clock_ns(busy_ticks);
	complete(&sweep->done);

	/* kthread_stop() must find us alive. */
	for (;;) {
		set_current_state(TASK_IDLE);
		if (kthread_should_stop())
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

/* Planning */

static void free_latency(struct cb_latency *l)
{
	kvfree(l->irq);
	kvfree(l->fifo);
	kvfree(l->normal);
	*l = (struct cb_latency) { };
}

static void free_cells(struct cb_cell *cells, unsigned int nr)
{
	unsigned int i;

	if (!cells)
		return;
	for (i = 0; i < nr; i++) {
		kvfree(cells[i].clear);
		kvfree(cells[i].disturbed);
		kvfree(cells[i].alloc);
		kvfree(cells[i].free);
		kvfree(cells[i].ratio);
		free_latency(&cells[i].latency);
	}
	kvfree(cells);
}

static struct hist *new_hist(unsigned int bits, unsigned int top)
{
	struct hist_shape shape = { .bits = bits, .top = top };
	struct hist *h = kvmalloc(hist_size(shape), GFP_KERNEL);

	if (h)
		hist_init(h, bits, top);
	return h;
}

static int new_latency(struct cb_latency *l)
{
	*l = (struct cb_latency) {
		.irq = new_hist(HIST_NS_BITS, HIST_NS_TOP),
		.fifo = new_hist(HIST_NS_BITS, HIST_NS_TOP),
		.normal = new_hist(HIST_NS_BITS, HIST_NS_TOP),
	};
	return l->irq && l->fifo && l->normal ? 0 : -ENOMEM;
}

/* Has this cell's method an allocation and a free of its own to time? */
static bool times_allocator(const struct cb_config *config, const struct cb_method *method)
{
	return method->allocates || config->cache == CB_FRESH;
}

static u64 hist_bytes(unsigned int nr_ns, unsigned int nr_ratio, unsigned int nr_units)
{
	struct hist_shape ns = { HIST_NS_BITS, HIST_NS_TOP };
	struct hist_shape ratio = { HIST_RATIO_BITS, HIST_RATIO_TOP };
	struct hist_shape units = { HIST_RATIO_BITS, HIST_UNITS_TOP };

	return (u64)nr_ns * hist_size(ns) + (u64)nr_ratio * hist_size(ratio) +
	       (u64)nr_units * hist_size(units);
}

static bool default_batches(const struct cb_config *config)
{
	return config->batches.nr == 1 && config->batches.item[0] == CB_BATCH_FULL;
}

typedef void (*cell_fn)(struct cb_cell *cell, unsigned int i, void *arg);

/*
 * The cells of one block. A batch that is no less than the extent says the same
 * as `full` and is left out.
 */
static unsigned int walk_block(const struct cb_config *config, unsigned int context,
			       unsigned int order, unsigned int nr, cell_fn fn, void *arg)
{
	unsigned int m, i;

	for (m = 0; m < config->methods.nr; m++) {
		struct cb_cell cell = {
			.context = &cb_contexts[context],
			.order = order,
			.method = &cb_methods[config->methods.item[m]],
			.batch = CB_BATCH_FULL,
		};

		if (!cell.method->batched) {
			fn(&cell, nr++, arg);
			continue;
		}
		for (i = 0; i < config->batches.nr; i++) {
			cell.batch = config->batches.item[i];
			if (cell.method->own_rule && default_batches(config))
				cell.batch = CB_BATCH_AUTO;
			if (cell.batch == CB_BATCH_AUTO || cell.batch < 1U << order)
				fn(&cell, nr++, arg);
		}
	}
	return nr;
}

/* Calls @fn for every cell of the sweep, block by block; returns their number. */
static unsigned int walk_sweep(const struct cb_config *config, cell_fn fn, void *arg)
{
	unsigned int c, order, nr = 0;

	for (c = 0; c < config->contexts.nr; c++) {
		for_each_set_bit(order, config->orders, CB_ORDERS)
			nr = walk_block(config, config->contexts.item[c], order, nr, fn, arg);
	}
	return nr;
}

struct plan {
	const struct cb_config *config;
	struct cb_cell *cells;
	int cpu;
	unsigned int nr_ns;		/* histograms of times, */
	unsigned int nr_ratio;		/* of ratios */
	unsigned int in_block;
	unsigned int max_in_block;
	struct cb_cell last;
	bool failed;
};

static void count_cell(struct cb_cell *cell, unsigned int i, void *arg)
{
	struct plan *p = arg;

	if (!i || cell->context != p->last.context || cell->order != p->last.order)
		p->in_block = 0;
	p->max_in_block = max(p->max_in_block, ++p->in_block);
	p->last = *cell;
	p->nr_ns += times_allocator(p->config, cell->method) ? 4 : 2;
	p->nr_ns += p->config->latency ? 3 : 0;
	p->nr_ratio++;
}

static void make_cell(struct cb_cell *cell, unsigned int i, void *arg)
{
	struct plan *p = arg;
	bool alloc = times_allocator(p->config, cell->method);

	cell->cpu = p->cpu;
	cell->load = p->config->load;
	cell->nid = NUMA_NO_NODE;
	cell->cache = p->config->cache;
	cell->bytes = p->config->after == CB_AFTER_VICTIM ? p->config->victim_kib << 10 :
							    (u64)PAGE_SIZE << cell->order;
	cell->model = "-";
	cell->clear = new_hist(HIST_NS_BITS, HIST_NS_TOP);
	cell->disturbed = new_hist(HIST_NS_BITS, HIST_NS_TOP);
	cell->ratio = new_hist(HIST_RATIO_BITS, HIST_RATIO_TOP);
	if (alloc) {
		cell->alloc = new_hist(HIST_NS_BITS, HIST_NS_TOP);
		cell->free = new_hist(HIST_NS_BITS, HIST_NS_TOP);
	}
	if (p->config->latency && new_latency(&cell->latency))
		p->failed = true;
	if (!cell->clear || !cell->disturbed || !cell->ratio ||
	    (alloc && (!cell->alloc || !cell->free)))
		p->failed = true;
	p->cells[i] = *cell;
}

static void free_sweep(struct sweep *sweep)
{
	unsigned int i;

	if (!sweep)
		return;
	for (i = 0; sweep->variants && i < sweep->max_variants; i++) {
		kvfree(sweep->variants[i].ratios);
		kvfree(sweep->variants[i].units);
	}
	kvfree(sweep->variants);
	kvfree(sweep->sequence);
	kfree(sweep);
}

static struct sweep *new_sweep(const struct cb_config *config, unsigned int max_variants)
{
	struct sweep *sweep = kzalloc(sizeof(*sweep), GFP_KERNEL);
	unsigned int i;

	if (!sweep)
		return NULL;
	init_completion(&sweep->done);
	prandom_seed_state(&sweep->rnd, config->seed);
	sweep->max_variants = max_variants;
	sweep->variants = kvcalloc(max_variants, sizeof(*sweep->variants), GFP_KERNEL);
	sweep->sequence = kvcalloc(max_variants, sizeof(*sweep->sequence), GFP_KERNEL);
	if (!sweep->variants || !sweep->sequence)
		goto no_memory;
	for (i = 0; i < max_variants; i++) {
		struct variant *v = &sweep->variants[i];

		v->ratios = kvcalloc(config->extent_rounds, sizeof(*v->ratios), GFP_KERNEL);
		v->units = new_hist(HIST_RATIO_BITS, HIST_UNITS_TOP);
		if (!v->ratios || !v->units)
			goto no_memory;
	}
	return sweep;

no_memory:
	free_sweep(sweep);
	return NULL;
}

/*
 * Makes the cells and all that the run needs, before it starts. Nothing is
 * lost of the last run until that has worked. Called with the lock held.
 */
static struct sweep *plan_sweep(void)
{
	const struct cb_config *config = &cb_run.config;
	struct plan p = { .config = config };
	struct cb_latency idle = { };
	unsigned int nr = walk_sweep(config, count_cell, &p);
	struct sweep *sweep;
	u64 bytes;

	if (!nr) {
		pr_info("run: refused; no cell is left: every batch covers the extent, add full to batches\n");
		return ERR_PTR(-EINVAL);
	}
	if (config->after && config->latency) {
		pr_info("run: refused; latency=1 needs the time of the clear: set after to none\n");
		return ERR_PTR(-EINVAL);
	}
	bytes = hist_bytes(p.nr_ns, p.nr_ratio, p.max_in_block + 1) +
		(u64)nr * sizeof(struct cb_cell);
	if (bytes > cb_hist_limit()) {
		pr_info("run: refused; the histograms of %u cells take %llu MiB, the limit is %u MiB (module parameter hist_limit_mib)\n",
			nr, DIV_ROUND_UP_ULL(bytes, SZ_1M), hist_limit_mib);
		return ERR_PTR(-ENOMEM);
	}
	p.cpu = config->cpu < 0 ? raw_smp_processor_id() : config->cpu;
	if (!cpu_online(p.cpu)) {
		pr_info("run: refused; CPU %d is offline\n", p.cpu);
		return ERR_PTR(-EDOM);
	}

	p.cells = kvcalloc(nr, sizeof(*p.cells), GFP_KERNEL);
	if (!p.cells)
		return ERR_PTR(-ENOMEM);
	walk_sweep(config, make_cell, &p);
	if (config->latency && new_latency(&idle))
		p.failed = true;
	sweep = p.failed ? NULL : new_sweep(config, p.max_in_block + 1);
	if (!sweep) {
		free_cells(p.cells, nr);
		free_latency(&idle);
		pr_info("run: refused; no memory for the histograms of %u cells, %llu MiB\n",
			nr, DIV_ROUND_UP_ULL(bytes, SZ_1M));
		return ERR_PTR(-ENOMEM);
	}

	free_cells(cb_run.cells, cb_run.nr_cells);
	free_latency(&cb_run.idle);
	cb_run.idle = idle;
	cb_run.cells = p.cells;
	cb_run.nr_cells = nr;
	cb_run.nr_done = 0;
	cb_run.lowest_pfn = ULONG_MAX;
	cb_run.current_cell = NULL;
	return sweep;
}

/* A thread on the CPU of the run, not started yet */
static struct task_struct *new_thread(struct sweep *sweep)
{
	int cpu = cb_run.cells[0].cpu;
	struct task_struct *task;

	task = kthread_create_on_node(sweep_thread, sweep, cpu_to_node(cpu), CB_NAME);
	if (!IS_ERR(task))
		kthread_bind(task, cpu);
	return task;
}

/**
 * cb_engine_run() - run the sweep that the knobs describe
 *
 * Returns when it has finished. A signal stops it, and what is done is kept.
 * Process context.
 *
 * Return: 0 when done or stopped on request; -EINTR after a signal, -EIO when
 * it failed midway (the status says why), -EBUSY while another or a watch is
 * under way, -EINVAL, -EDOM or -ENOMEM when it was refused.
 */
int cb_engine_run(void)
{
	struct task_struct *task;
	struct sweep *sweep;
	int ret = 0;

	mutex_lock(&cb_run.lock);
	if (cb_run.running || cb_watching()) {
		mutex_unlock(&cb_run.lock);
		return -EBUSY;
	}
	sweep = plan_sweep();
	if (IS_ERR(sweep)) {
		mutex_unlock(&cb_run.lock);
		return PTR_ERR(sweep);
	}
	cb_run.running = true;
	cb_run.stop = false;
	cb_run.stop_reason = NULL;
	strscpy(cb_run.status, "running", sizeof(cb_run.status));
	mutex_unlock(&cb_run.lock);
	trace_clearbench_run_start(cb_run.nr_cells, cb_run.config.samples, cb_run.cells[0].cpu);

	ret = cb_load_start(cb_run.config.load, cb_run.cells[0].cpu);
	if (ret) {
		cb_run.stop_reason = ret == -EDOM ? "fewer CPUs are online than the load wants" :
						    "no memory for the load";
		goto out;
	}
	ret = cb_after_start(&cb_run.config, cb_run.cells[0].cpu);
	if (ret) {
		cb_run.stop_reason = ret == -EDOM ? "the CPU of victim_cpu is offline" :
						    "no memory for the victim";
		goto stop_load;
	}
	if (cb_run.config.latency && cb_latency_start(cb_run.cells[0].cpu)) {
		ret = -ENOMEM;
		cb_run.stop_reason = "no thread could be started";
		goto stop_after;
	}
	task = new_thread(sweep);
	if (IS_ERR(task)) {
		ret = PTR_ERR(task);
		cb_run.stop_reason = "no thread could be started";
	} else {
		wake_up_process(task);
		if (wait_for_completion_interruptible(&sweep->done)) {
			WRITE_ONCE(cb_run.stop, true);
			wait_for_completion(&sweep->done);
			ret = -EINTR;
		}
		kthread_stop(task);
	}
	if (cb_run.config.latency)
		cb_latency_stop();
stop_after:
	cb_after_stop();
stop_load:
	cb_load_stop();
out:
	mutex_lock(&cb_run.lock);
	if (cb_run.stop_reason) {
		snprintf(cb_run.status, sizeof(cb_run.status), "failed %s", cb_run.stop_reason);
		ret = ret ?: -EIO;
	} else {
		strscpy(cb_run.status, cb_run.stop ? "stopped" : "done", sizeof(cb_run.status));
	}
	cb_run.running = false;
	trace_clearbench_run_end(cb_run.nr_done, cb_run.nr_cells, ret);
	mutex_unlock(&cb_run.lock);
	free_sweep(sweep);
	return ret;
}

/* A figure that spans a suspend is none. */
static int stop_for_suspend(struct notifier_block *nb, unsigned long event, void *unused)
{
	if ((event == PM_SUSPEND_PREPARE || event == PM_HIBERNATION_PREPARE) &&
	    READ_ONCE(cb_run.running)) {
		cb_run.stop_reason = "the machine was suspended";
		WRITE_ONCE(cb_run.stop, true);
	}
	return NOTIFY_DONE;
}

static struct notifier_block pm_notifier = { .notifier_call = stop_for_suspend };

int cb_engine_init(void)
{
	cb_config_init(&cb_run.config);
	return register_pm_notifier(&pm_notifier);
}

/* No run can be under way: its file would be open, and hold the module. */
void cb_engine_exit(void)
{
	unregister_pm_notifier(&pm_notifier);
	free_cells(cb_run.cells, cb_run.nr_cells);
	free_latency(&cb_run.idle);
}
