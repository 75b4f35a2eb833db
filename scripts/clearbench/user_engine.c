// SPDX-License-Identifier: GPL-2.0
/*
 * User backend: the experiment, as in module/engine.c. A block is an order; its
 * variants run in rounds, every one once, in a freshly shuffled sequence, each
 * after the same state step on the same extent. A hidden second copy of the
 * baseline shows the noise floor.
 *
 * Cells live as long as their block: what they hold is written to the results
 * and forgotten, so memory is bounded by one block, however long the sweep.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "user_engine.h"

/**
 * struct variant - one way to clear, in a block
 * @cell: where its results go; of the hidden copy, the baseline's
 * @hidden: the second copy of the baseline
 * @ticks: its time in this round
 * @ratios: of the rounds on the present extent
 * @nr_ratios: how many
 * @units: the median ratio of each extent so far
 */
struct variant {
	struct user_cell *cell;
	bool hidden;
	__u64 ticks;
	__u32 *ratios;
	unsigned int nr_ratios;
	struct hist *units;
};

/**
 * struct block - the variants of one order
 * @u: the run
 * @order: of the extent
 * @page_size: bytes
 * @cpu: that the run is bound to
 * @cell: its cells
 * @nr_cells: how many, refused ones included
 * @variant: the hidden copy is the last
 * @nr: how many take part, refused and failed ones do not
 * @sequence: of this round
 * @baseline: what the others are compared with
 * @extents: the memory
 * @addr: the present extent
 * @rnd: state of the generator
 * @wide: time was up before the intervals were as narrow as `until` asks
 * @reference_ns: what `after=victim` times, with no clear between; 0: not known
 */
struct block {
	struct user *u;
	unsigned int order;
	unsigned long page_size;
	int cpu;
	struct user_cell *cell;
	unsigned int nr_cells;
	struct variant *variant;
	unsigned int nr;
	unsigned int *sequence;
	struct variant *baseline;
	struct user_extents extents;
	char *addr;
	__u64 *rnd;
	bool wide;
	__u64 reference_ns;
};

static void fail_run(struct user *u, const char *reason)
{
	if (!u->stop_reason)
		u->stop_reason = reason;
	atomic_store(&u->stop, true);
}

static bool should_stop(const struct block *b)
{
	/* A CPU that goes offline, or out of our cpuset, drops its threads. */
	if (sched_getcpu() != b->cpu)
		fail_run(b->u, "the CPU of the run was taken away");
	return atomic_load(&b->u->stop);
}

/* Sampling */

/*
 * user_disturbances() - context switches and page faults of this thread, so far
 *
 * Device interrupts are not to be seen from here.
 */
long user_disturbances(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw + usage.ru_minflt + usage.ru_majflt;
}

static struct user_sample sample_for(const struct block *b, const struct user_cell *cell)
{
	struct user_sample s = {
		.addr = b->addr,
		.len = b->page_size << cell->order,
		.drain = b->u->config.drain,
		.test_delay_ticks = user_clock_ticks(b->u->config.test_delay_ns),
	};

	s.chunk = !cell->method->batched ? b->page_size :
		  cell->batch == USER_BATCH_FULL ? s.len : cell->batch * b->page_size;
	return s;
}

/* One clear by one variant */
static void take_sample(struct block *b, struct variant *v, bool counted)
{
	struct user_cell *cell = v->cell;
	struct user_sample s = sample_for(b, cell);
	long before;

	user_state_step(b->u->config.warm, s.addr, s.len);
	if (b->u->config.after)
		user_after_prepare();
	before = user_disturbances();
	cell->method->time(&s);
	before = user_disturbances() - before;
	if (b->u->config.after)
		s.ticks = user_after_read(&s, &before);

	v->ticks = s.ticks ? s.ticks : 1;	/* a coarse clock may see nothing pass */
	if (v->hidden || !counted)
		return;
	if (before)
		hist_add(cell->disturbed, user_clock_ns(s.ticks));
	hist_add(cell->clear, user_clock_ns(s.ticks));
}

/* SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators) */
static __u64 next_random(__u64 *state)
{
	__u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/**
 * user_shuffle() - a new sequence for a round
 * @sequence: any permutation; Fisher and Yates make another one of it
 * @nr: of its numbers
 * @rnd: state of the generator, at first the seed
 */
void user_shuffle(unsigned int *sequence, unsigned int nr, __u64 *rnd)
{
	unsigned int i, j, swap;

	for (i = nr - 1; i > 0; i--) {
		j = next_random(rnd) % (i + 1);
		swap = sequence[i];
		sequence[i] = sequence[j];
		sequence[j] = swap;
	}
}

/**
 * user_ratio() - how much longer the baseline took: above 1, the other is faster
 *
 * Return: rounded, in units of 1/HIST_RATIO_ONE.
 */
__u64 user_ratio(__u64 baseline, __u64 ticks)
{
	__u64 ratio = (baseline * HIST_RATIO_ONE + ticks / 2) / ticks;

	return ratio < 0xffffffff ? ratio : 0xffffffff;
}

static void pair_samples(struct block *b)
{
	unsigned int i;

	for (i = 0; i < b->nr; i++) {
		struct variant *v = &b->variant[i];
		__u64 ratio;

		if (v == b->baseline)
			continue;
		ratio = user_ratio(b->baseline->ticks, v->ticks);
		v->ratios[v->nr_ratios++] = ratio;
		if (!v->hidden)
			hist_add(v->cell->ratio, ratio);
	}
}

static int compare_u32(const void *a, const void *b)
{
	__u32 x = *(const __u32 *)a, y = *(const __u32 *)b;

	return x < y ? -1 : x > y;
}

/* The extent is the unit that intervals are built on, by the median of its ratios. */
static void close_extent(struct block *b)
{
	unsigned int i, n;

	for (i = 0; i < b->nr; i++) {
		struct variant *v = &b->variant[i];

		n = v->nr_ratios;
		if (!n)
			continue;
		qsort(v->ratios, n, sizeof(*v->ratios), compare_u32);
		hist_add(v->units, ((__u64)v->ratios[(n - 1) / 2] + v->ratios[n / 2]) / 2);
		v->nr_ratios = 0;
	}
}

/* Are the intervals of all ratios, the hidden copy's too, no wider than asked? */
static bool narrow_enough(const struct block *b)
{
	unsigned int i;

	for (i = 0; i < b->nr; i++)
		if (&b->variant[i] != b->baseline &&
		    !hist_median_is_narrow(b->variant[i].units, b->u->config.until))
			return false;
	return true;
}

/* Beyond `samples`: whole extents, until the intervals are narrow or time is up */
static bool wants_more(struct block *b, __u64 counted, __u64 deadline)
{
	const struct user_config *config = &b->u->config;

	if (!config->until || counted >= CB_SAMPLES_MAX)
		return false;
	if (counted % config->extent_rounds)
		return true;
	close_extent(b);
	b->wide = !narrow_enough(b);
	return b->wide && user_clock() < deadline;
}

static void run_rounds(struct block *b)
{
	__u64 deadline = user_clock() + user_clock_ticks(b->u->config.until_s * 1000000000ULL);
	const struct user_config *config = &b->u->config;
	__u64 round, rounds = config->warmup + config->samples;
	unsigned int i;

	for (round = 0; round < rounds || wants_more(b, round - config->warmup, deadline);
	     round++) {
		bool counted = round >= config->warmup;
		__u64 on_extent = counted ? round - config->warmup : round;

		if (on_extent % config->extent_rounds == 0) {
			close_extent(b);
			b->addr = user_extents_next(&b->extents);
		}
		user_shuffle(b->sequence, b->nr, b->rnd);
		for (i = 0; i < b->nr; i++) {
			struct variant *v = &b->variant[b->sequence[i]];

			atomic_store_explicit(&b->u->current, v->cell - b->cell,
					      memory_order_relaxed);
			take_sample(b, v, counted);
			if (should_stop(b))
				goto out;
		}
		if (counted)
			pair_samples(b);
	}
out:
	close_extent(b);
}

/* The same re-read of the victim, after the same state step, with no clear between */
static void take_reference(struct block *b)
{
	struct user_sample s = sample_for(b, b->baseline->cell);
	__u64 ticks[CB_REFERENCE_READS];
	unsigned int i;
	long unused = 0;

	for (i = 0; i < CB_REFERENCE_READS; i++) {
		user_state_step(b->u->config.warm, s.addr, s.len);
		user_after_prepare();
		ticks[i] = user_after_read(&s, &unused);
		if (should_stop(b))
			return;
	}
	b->reference_ns = user_clock_ns(user_median(ticks, i));
}

/*
 * Rounds for the interrupts: after the counted ones, whose times they would
 * disturb. A clear that no interrupt can find is not probed.
 */
static void run_latency_rounds(struct block *b)
{
	const struct user_config *config = &b->u->config;
	unsigned int i, nr = b->nr - 1;		/* without the hidden copy */
	__u64 round, ticks;

	for (i = 0; i < nr; i++)
		b->sequence[i] = i;
	for (round = 0; round < config->samples; round++) {
		if (round % config->extent_rounds == 0)
			b->addr = user_extents_next(&b->extents);
		user_shuffle(b->sequence, nr, b->rnd);
		for (i = 0; i < nr; i++) {
			struct user_cell *cell = b->variant[b->sequence[i]].cell;
			struct user_sample s = sample_for(b, cell);

			ticks = user_clock_ticks(hist_quantile(cell->clear, 500) / HIST_MILLI);
			if (!user_latency_lasts(ticks))
				continue;
			user_state_step(config->warm, s.addr, s.len);
			user_latency_round(&cell->latency, cell->method, &s, ticks,
					   next_random(b->rnd), round);
			if (should_stop(b))
				return;
		}
	}
}

/* Verification */

/**
 * user_verify() - does a method clear every byte?
 * @method: which
 * @s: an extent
 * @warm: the state step
 * @where: offset of the first byte that it left
 */
bool user_verify(const struct user_method *method, struct user_sample *s, bool warm,
		 unsigned long *where)
{
	user_poison(s->addr, s->len);
	user_state_step(warm, s->addr, s->len);
	method->time(s);
	return user_is_clear(s->addr, s->len, where);
}

/* Once before the rounds and once after them; a method that fails has no times. */
static void verify_block(struct block *b)
{
	unsigned long where;
	unsigned int i;

	for (i = 0; i < b->nr_cells && !should_stop(b); i++) {
		struct user_cell *cell = &b->cell[i];
		struct user_sample s = sample_for(b, cell);

		if (cell->state != USER_OK)
			continue;
		if (user_verify(cell->method, &s, b->u->config.warm, &where)) {
			cell->verify = "ok";
			continue;
		}
		cell->verify = "failed";
		cell->state = USER_FAILED;
		snprintf(cell->note, sizeof(cell->note), "left byte %lu of %lu uncleared",
			 where, s.len);
		hist_init(cell->clear, HIST_NS_BITS, HIST_NS_TOP);
		hist_init(cell->disturbed, HIST_NS_BITS, HIST_NS_TOP);
		hist_init(cell->ratio, HIST_RATIO_BITS, HIST_RATIO_TOP);
	}
}

/* Cells */

static void add_note(struct user_cell *cell, const char *fmt, ...) __printf(2, 3);
static void add_note(struct user_cell *cell, const char *fmt, ...)
{
	size_t len = strlen(cell->note);
	va_list ap;

	if (len)
		len += snprintf(cell->note + len, sizeof(cell->note) - len, "; ");
	if (len >= sizeof(cell->note))
		return;
	va_start(ap, fmt);
	vsnprintf(cell->note + len, sizeof(cell->note) - len, fmt, ap);
	va_end(ap);
}

static void judge_cell(const struct block *b, struct user_cell *cell)
{
	if (!b->u->config.warm)
		return;
	if (!user_llc_bytes)
		snprintf(cell->note, sizeof(cell->note), "warm: the size of the LLC is not known");
	else if (b->page_size << cell->order > user_llc_bytes)
		snprintf(cell->note, sizeof(cell->note), "warm: larger than the LLC of %llu KiB",
			 user_llc_bytes >> 10);
	if (*cell->note)
		cell->state = USER_REFUSED;
}

static struct hist *new_hist(unsigned int bits, unsigned int top)
{
	struct hist_shape shape = { .bits = bits, .top = top };
	struct hist *h = xrealloc(NULL, hist_size(shape));

	hist_init(h, bits, top);
	return h;
}

/*
 * Calls @fn, which may be NULL, for every cell of an order. A batch that is no
 * less than the extent says the same as `full` and is left out.
 */
static unsigned int walk_order(const struct user_config *config, unsigned int order,
			       void (*fn)(struct block *b, struct user_cell *cell),
			       struct block *b)
{
	unsigned int m, i, nr = 0;

	for (m = 0; m < config->methods.nr; m++) {
		struct user_cell cell = {
			.method = &user_methods[config->methods.item[m]],
			.order = order,
			.nid = USER_ANY,
		};

		for (i = 0; i < (cell.method->batched ? config->batches.nr : 1); i++) {
			cell.batch = cell.method->batched ? config->batches.item[i] :
							    USER_BATCH_FULL;
			if (cell.batch >= 1UL << order)
				continue;
			if (fn)
				fn(b, &cell);
			nr++;
		}
	}
	return nr;
}

static void label_cell(const struct block *b, struct user_cell *cell)
{
	const struct user_config *config = &b->u->config;

	if (cell->state != USER_OK)
		return;
	if (config->after == CB_AFTER_TOUCH)
		add_note(cell, "after=touch: the time of the first read");
	else if (config->after == CB_AFTER_VICTIM && config->victim_cpu == USER_ANY)
		add_note(cell, "after=victim: the time to read %llu KiB again", config->victim_kib);
	else if (config->after == CB_AFTER_VICTIM)
		add_note(cell, "after=victim: the time to read %llu KiB again on CPU %d",
			 config->victim_kib, config->victim_cpu);
}

static void make_cell(struct block *b, struct user_cell *cell)
{
	cell->clear = new_hist(HIST_NS_BITS, HIST_NS_TOP);
	cell->disturbed = new_hist(HIST_NS_BITS, HIST_NS_TOP);
	cell->ratio = new_hist(HIST_RATIO_BITS, HIST_RATIO_TOP);
	if (b->u->config.latency) {
		cell->latency.irq = new_hist(HIST_NS_BITS, HIST_NS_TOP);
		cell->latency.spin = new_hist(HIST_NS_BITS, HIST_NS_TOP);
	}
	judge_cell(b, cell);
	b->cell[b->nr_cells] = *cell;
	label_cell(b, &b->cell[b->nr_cells++]);
}

static void make_block(struct block *b)
{
	const struct user_config *config = &b->u->config;
	unsigned int i, nr = walk_order(config, b->order, NULL, NULL);

	b->cell = xrealloc(NULL, nr * sizeof(*b->cell));
	walk_order(config, b->order, make_cell, b);
	b->variant = xrealloc(NULL, (nr + 1) * sizeof(*b->variant));
	b->sequence = xrealloc(NULL, (nr + 1) * sizeof(*b->sequence));
	for (i = 0; i <= nr; i++) {
		b->variant[i] = (struct variant) {
			.ratios = xrealloc(NULL, config->extent_rounds * sizeof(__u32)),
			.units = new_hist(HIST_RATIO_BITS, HIST_UNITS_TOP),
		};
		b->sequence[i] = i;
	}
}

static void free_block(struct block *b)
{
	unsigned int i;

	for (i = 0; i < b->nr_cells; i++) {
		free(b->cell[i].clear);
		free(b->cell[i].disturbed);
		free(b->cell[i].ratio);
		free(b->cell[i].latency.irq);
		free(b->cell[i].latency.spin);
	}
	for (i = 0; i <= b->nr_cells; i++) {
		free(b->variant[i].ratios);
		free(b->variant[i].units);
	}
	free(b->cell);
	free(b->variant);
	free(b->sequence);
}

/* The variants are the cells that may run, and the baseline once more. */
static void choose_variants(struct block *b)
{
	unsigned int i;

	for (i = 0; i < b->nr_cells; i++)
		if (b->cell[i].state == USER_OK)
			b->variant[b->nr++].cell = &b->cell[i];
	if (!b->nr)
		return;
	b->baseline = &b->variant[0];
	for (i = b->nr; i-- > 0;)
		if (!strcmp(b->variant[i].cell->method->name, "legacy"))
			b->baseline = &b->variant[i];
	b->variant[b->nr].cell = b->baseline->cell;
	b->variant[b->nr++].hidden = true;
}

static void close_cell(struct block *b, struct variant *v, const __u64 floor[3])
{
	__u64 samples = b->u->config.samples;
	struct user_cell *cell = v->cell;

	if (cell->state == USER_FAILED)
		return;
	if (v != b->baseline)
		hist_median_interval(v->units, cell->ratio_milli);
	memcpy(cell->floor_milli, floor, sizeof(cell->floor_milli));
	if (cell->clear->count < samples)
		cell->state = USER_PARTIAL;
	cell->nid = user_node_of(b->addr);
	if (b->reference_ns)
		add_note(cell, "%llu ns with no clear between", b->reference_ns);
	if (b->wide)
		add_note(cell, "until: not as narrow after %llu s", b->u->config.until_s);
	if (b->u->config.latency && !cell->latency.irq->count)
		add_note(cell, "latency: the clear is shorter than a few interrupts (%llu ns each)",
			 user_latency_irq_ns());
	if (b->extents.huge_percent < 100)
		add_note(cell, "%u %% of its memory in huge pages", b->extents.huge_percent);
	/* Units that repeat a placement are fewer than they look. */
	if (v->units->count > b->extents.nr)
		add_note(cell, "%llu extents in %lu places", v->units->count, b->extents.nr);
}

/* No memory: as many rounds went without an extent as there were to be */
static void no_memory(struct block *b, int err)
{
	unsigned int i;

	for (i = 0; i < b->nr_cells; i++) {
		struct user_cell *cell = &b->cell[i];

		if (cell->state != USER_OK)
			continue;
		cell->state = USER_PARTIAL;
		cell->not_available = b->u->config.samples;
		add_note(cell, "no extent for %llu of %llu rounds: %s", cell->not_available,
			 cell->not_available, strerror(-err));
	}
}

static __u64 wanted_extents(const struct user_config *config)
{
	__u64 wanted = config->samples / config->extent_rounds + 2;

	return config->until && wanted < CB_UNTIL_UNITS ? CB_UNTIL_UNITS : wanted;
}

static void run_block(struct block *b)
{
	const struct user_config *config = &b->u->config;
	__u64 floor[3] = { 0, 0, 0 };
	unsigned int i;
	int ret;

	for (i = 0; i < b->nr_cells && b->cell[i].state != USER_OK; i++)
		;
	if (i == b->nr_cells)
		return;
	ret = user_extents_init(&b->extents, b->page_size << b->order,
				wanted_extents(config), config->nid,
				&b->u->stop);
	if (ret) {
		no_memory(b, ret);
		return;
	}
	b->addr = user_extents_next(&b->extents);
	if (config->verify)
		verify_block(b);
	choose_variants(b);
	if (b->nr && !should_stop(b)) {
		run_rounds(b);
		if (config->after == CB_AFTER_VICTIM && !should_stop(b))
			take_reference(b);
		if (config->latency && !should_stop(b))
			run_latency_rounds(b);
		if (config->verify)
			verify_block(b);
		hist_median_interval(b->variant[b->nr - 1].units, floor);
		for (i = 0; i + 1 < b->nr; i++)
			close_cell(b, &b->variant[i], floor);
	}
	user_extents_free(&b->extents);
}

/* What was stopped before its first sample is no result. */
static bool block_measured(const struct block *b)
{
	unsigned int i;

	for (i = 0; i < b->nr_cells; i++)
		if (b->cell[i].state == USER_REFUSED || b->cell[i].state == USER_FAILED ||
		    b->cell[i].not_available || b->cell[i].clear->count)
			return true;
	return false;
}

/* Results: the module's two tables */

static void put_key(FILE *to, const struct user_cell *cell)
{
	char buf[12];

	fprintf(to, "process\t%u\t%s\t%s", cell->order, cell->method->name,
		user_batch_name(cell->method, cell->batch, buf));
}

static void put_hist(FILE *to, const struct user_cell *cell, const char *name,
		     const struct hist *h, double unit, const char *format)
{
	unsigned int i, last = hist_buckets(h->shape) - 1;

	for (i = 0; i <= last; i++) {
		if (!h->bucket[i])
			continue;
		put_key(to, cell);
		fprintf(to, "\t%s\t", name);
		fprintf(to, format, hist_lower(h->shape, i) / unit);
		fputc('\t', to);
		if (i < last)
			fprintf(to, format, hist_lower(h->shape, i + 1) / unit);
		else
			fputs("inf", to);
		fprintf(to, "\t%u\n", h->bucket[i]);
	}
}

static void put_times(FILE *to, const struct user_cell *cell, unsigned long bytes)
{
	static const unsigned int permille[] = { 500, 900, 990, 999 };
	const struct hist *h = cell->clear;
	double p50 = hist_quantile(h, 500) / (double)HIST_MILLI;
	unsigned int i;

	if (!h->count) {
		fputs("\t-\t-\t-\t-\t-\t-\t-\t-", to);
		return;
	}
	fprintf(to, "\t%llu", h->min);
	for (i = 0; i < ARRAY_SIZE(permille); i++)
		fprintf(to, "\t%.1f", hist_quantile(h, permille[i]) / (double)HIST_MILLI);
	fprintf(to, "\t%llu\t%.1f", h->max, (double)h->sum / h->count);
	if (p50 > 0)
		fprintf(to, "\t%.3f", bytes / p50);
	else
		fputs("\t-", to);
}

static void put_ratio(FILE *to, __u64 milli)
{
	if (milli)
		fprintf(to, "\t%.4f", milli / (double)HIST_MILLI / HIST_RATIO_ONE);
	else
		fputs("\t-", to);
}

static void put_latency(FILE *to, const struct user_latency *l)
{
	unsigned int column = CB_COL_irq_p50_ns;

	if (l->irq && l->irq->count) {
		fprintf(to, "\t%.1f\t%.1f\t%llu",
			hist_quantile(l->irq, 500) / (double)HIST_MILLI,
			hist_quantile(l->irq, 990) / (double)HIST_MILLI, l->irq->max);
		for (column += 3; column < CB_COL_irqoff_max_ns; column++)
			fputs("\t-", to);
		fprintf(to, "\t%llu", l->irqoff_max);
		column++;
	}
	for (; column < CB_NR_COLUMNS; column++)
		fputs("\t-", to);
}

static void put_cell(const struct block *b, const struct user_cell *cell)
{
	static const char *const states[] = {
		[USER_OK] = "ok",
		[USER_REFUSED] = "refused",
		[USER_FAILED] = "failed",
		[USER_PARTIAL] = "partial",
	};
	FILE *to = b->u->results;
	unsigned int i;

	put_key(to, cell);
	/* The kernel's preemption model has no part in it. */
	fprintf(to, "\t%s\t-\t%d", b->u->config.warm ? "warm" : "cold", b->cpu);
	if (cell->nid == USER_ANY)
		fputs("\t-", to);
	else
		fprintf(to, "\t%d", cell->nid);
	fprintf(to, "\t0\t%llu\t%llu\t%llu\t%s\t%s\t%s", cell->clear->count,
		cell->disturbed->count,
		cell->not_available, cell->verify ? cell->verify : "-", states[cell->state],
		*cell->note ? cell->note : "-");
	put_times(to, cell, b->u->config.after == CB_AFTER_VICTIM ?
			    b->u->config.victim_kib << 10 : b->page_size << cell->order);
	fprintf(to, "\t%.1f\t-\t-", user_clock_ns_empty);
	for (i = 0; i < 3; i++)
		put_ratio(to, cell->ratio_milli[i]);
	put_ratio(to, cell->floor_milli[1]);
	put_ratio(to, cell->floor_milli[2]);
	put_latency(to, &cell->latency);
	fputc('\n', to);
}

/* A reader looks at the cells first: their histograms are there before them. */
static void put_block(const struct block *b)
{
	unsigned int i;

	for (i = 0; i < b->nr_cells; i++) {
		const struct user_cell *cell = &b->cell[i];

		put_hist(b->u->histograms, cell, "clear", cell->clear, 1, "%.0f");
		put_hist(b->u->histograms, cell, "disturbed", cell->disturbed, 1, "%.0f");
		put_hist(b->u->histograms, cell, "ratio", cell->ratio, HIST_RATIO_ONE, "%.6f");
		if (!b->u->config.latency)
			continue;
		put_hist(b->u->histograms, cell, "irq", cell->latency.irq, 1, "%.0f");
		put_hist(b->u->histograms, cell, "spin", cell->latency.spin, 1, "%.0f");
	}
	fflush(b->u->histograms);
	for (i = 0; i < b->nr_cells; i++)
		put_cell(b, &b->cell[i]);
	fflush(b->u->results);
	if (ferror(b->u->results) || ferror(b->u->histograms))
		fail_run(b->u, "no memory for the results");
}

static void start_tables(struct user *u)
{
#define NAME(_name)	"\t" #_name
	rewind(u->results);
	rewind(u->histograms);
	if (ftruncate(fileno(u->results), 0) || ftruncate(fileno(u->histograms), 0))
		fail_run(u, "the results of the last run could not be dropped");
	fprintf(u->results, "%s\n%s\n", CB_RESULTS_MAGIC, &(CB_COLUMNS(NAME))[1]);
	fprintf(u->histograms, "%s\n%s\n", CB_HISTOGRAMS_MAGIC, &(CB_HIST_COLUMNS(NAME))[1]);
	fflush(u->results);
	fflush(u->histograms);
#undef NAME
}

/* The sweep */

static int bind_cpu(int cpu)
{
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	size_t size = CPU_ALLOC_SIZE(cpu + 1);
	int ret;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	ret = sched_setaffinity(0, size, set) ? -errno : 0;
	CPU_FREE(set);
	return ret;
}

static void sweep(struct user *u, int cpu)
{
	__u64 rnd = u->config.seed;
	unsigned int order;

	for (order = 0; order < LIST_NUMBERS && !atomic_load(&u->stop); order++) {
		struct block b = {
			.u = u,
			.order = order,
			.page_size = sysconf(_SC_PAGESIZE),
			.cpu = cpu,
			.rnd = &rnd,
		};

		if (!u->config.orders.in[order] || !walk_order(&u->config, order, NULL, NULL))
			continue;
		make_block(&b);
		pthread_mutex_lock(&u->lock);
		u->cells = b.cell;
		atomic_store(&u->current, 0);
		pthread_mutex_unlock(&u->lock);
		run_block(&b);
		if (user_clock_lost())
			fail_run(u, "the TSC turned unstable");

		pthread_mutex_lock(&u->lock);
		if (!atomic_load(&u->stop) || block_measured(&b)) {
			put_block(&b);
			u->nr_done += b.nr_cells;
		}
		u->cells = NULL;
		pthread_mutex_unlock(&u->lock);
		free_block(&b);
	}
}

/**
 * user_engine_run() - run the sweep that the knobs describe
 * @u: the backend
 *
 * Returns when it has finished or was stopped; what is done is kept. The
 * calling thread stays bound to the CPU of the run.
 *
 * Return: 0 when done or stopped on request; -EIO when it failed midway (the
 * status says why), -EBUSY while another is under way, -EINVAL or -EDOM when
 * it was refused.
 */
int user_engine_run(struct user *u)
{
	unsigned int order, nr = 0;
	int ret = 0, cpu;

	pthread_mutex_lock(&u->lock);
	if (u->running) {
		pthread_mutex_unlock(&u->lock);
		return -EBUSY;
	}
	for (order = 0; order < LIST_NUMBERS; order++)
		if (u->config.orders.in[order])
			nr += walk_order(&u->config, order, NULL, NULL);
	cpu = u->config.cpu == USER_ANY ? sched_getcpu() : u->config.cpu;
	if (!nr) {
		user_say(u, "no cell is left: every batch covers the extent, add full to batches");
		ret = -EINVAL;
	} else if (bind_cpu(cpu)) {
		user_say(u, "this process may not run on CPU %d", cpu);
		ret = -EDOM;
	} else if (u->config.after && u->config.latency) {
		user_say(u, "latency 1 needs the time of the clear: set after to none");
		ret = -EINVAL;
	} else if (user_after_start(&u->config, cpu)) {
		user_say(u, "after: no memory for the victim, or this process may not run on CPU %d",
			 u->config.victim_cpu);
		ret = -EDOM;
	} else if (u->config.latency && user_latency_start(cpu)) {
		user_say(u, "latency: there is no second CPU for the thread that sends the interrupts");
		ret = -EDOM;
	}
	if (ret) {
		pthread_mutex_unlock(&u->lock);
		return ret;
	}
	u->running = true;
	atomic_store(&u->stop, false);
	u->stop_reason = NULL;
	u->nr_done = 0;
	u->nr_cells = nr;
	start_tables(u);
	pthread_mutex_unlock(&u->lock);

	sweep(u, cpu);
	if (u->config.latency)
		user_latency_stop();
	user_after_stop();

	pthread_mutex_lock(&u->lock);
	if (u->stop_reason) {
		snprintf(u->status, sizeof(u->status), "failed %s", u->stop_reason);
		ret = -EIO;
	} else {
		snprintf(u->status, sizeof(u->status), "%s",
			 atomic_load(&u->stop) ? "stopped" : "done");
	}
	u->running = false;
	pthread_mutex_unlock(&u->lock);
	return ret;
}
