/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module, the program and the tests agree on: names, formats, limits.
 * Included by kernel and by user space; nothing here may need more than
 * <linux/types.h>.
 */
#ifndef CLEARBENCH_RECORD_H
#define CLEARBENCH_RECORD_H

#define CB_VERSION		"0.1.0"
#define CB_NAME			"clearbench"

/* First line of the two result files; the number changes with their layout. */
#define CB_RESULTS_MAGIC	"# clearbench results v1"
#define CB_HISTOGRAMS_MAGIC	"# clearbench histograms v1"

/*
 * The columns of `results`, in order. New ones go to the end, none is renamed.
 * Times are nanoseconds; "-" stands for what was not measured.
 */
#define CB_COLUMNS(X)							\
	X(context) X(order) X(method) X(batch) X(cache) X(model)	\
	X(cpu) X(nid) X(load)						\
	X(n) X(n_disturbed) X(not_available) X(verify) X(state) X(note)	\
	X(min_ns) X(p50_ns) X(p90_ns) X(p99_ns) X(p999_ns) X(max_ns)	\
	X(mean_ns) X(gb_per_s) X(clock_ns) X(alloc_p50_ns) X(free_p50_ns) \
	X(ratio) X(ratio_lo) X(ratio_hi) X(floor_lo) X(floor_hi)	\
	X(irq_p50_ns) X(irq_p99_ns) X(irq_max_ns)			\
	X(fifo_p50_ns) X(fifo_p99_ns) X(fifo_max_ns)			\
	X(normal_p50_ns) X(normal_p99_ns) X(normal_max_ns)		\
	X(irqoff_max_ns) X(resched_max_ns)

#define CB_COLUMN_ENUM(_name)	CB_COL_##_name,
enum cb_column { CB_COLUMNS(CB_COLUMN_ENUM) CB_NR_COLUMNS };

/*
 * The columns of `histograms`: the cell, which of its histograms ("clear",
 * "alloc", "free" in ns; "ratio" as a fraction), and a bucket that
 * holds values of [lower, upper). The overflow bucket's upper bound is "inf".
 */
#define CB_HIST_COLUMNS(X)						\
	X(context) X(order) X(method) X(batch) X(hist)			\
	X(lower) X(upper) X(count)

/*
 * `watch_results`, a line a record: `alloc`, allocations of an order in a context
 * and what has them cleared; `clear`, clears that a probe timed, by which
 * function; `not_timed`, where none of a kind could be, each and why; `caller`, by whom, the
 * innermost function first; `lost`, what was not counted; `about`, a key and a
 * value. What does not apply is "-".
 */
#define CB_WATCH_MAGIC		"# clearbench watch v1"
#define CB_WATCH_COLUMNS(X)						\
	X(record) X(context) X(order) X(cleared) X(count) X(pages)	\
	X(p50_ns) X(p90_ns) X(p99_ns) X(max_ns) X(text)

/* What is timed: the clear, the first read of the extent, a re-read of another buffer */
enum cb_after { CB_AFTER_NONE, CB_AFTER_TOUCH, CB_AFTER_VICTIM };
#define CB_AFTER_NAMES		"none", "touch", "victim"
#define CB_REFERENCE_READS	33	/* of the victim with no clear between, in a block */

/* Limits of the knobs. The largest extent is 1 GiB, a gigantic page of x86. */
#define CB_EXTENT_SHIFT_MAX	30
#define CB_SAMPLES_MAX		10000000	/* rounds of one cell */
#define CB_WARMUP_MAX		100000
#define CB_EXTENT_ROUNDS_MAX	1000
#define CB_UNTIL_MAX		10000	/* hundredths of a per cent */
#define CB_UNTIL_S_MAX		86400
#define CB_UNTIL_UNITS		1000	/* extents to choose from where their number is open */
#define CB_TEST_DELAY_NS_MAX	1000000
#define CB_VICTIM_KIB_MIN	4
#define CB_VICTIM_KIB_MAX	32768
#define CB_BATCH_MAX		(1UL << 30)	/* pages in one call */
#define CB_LIST_MAX		32		/* entries of a list knob */
#define CB_KNOB_LEN		512		/* bytes of one knob's text */

/**
 * cb_hundredths() - a number with up to two decimals, as the knob `until` takes it
 * @text: such as "0.5"
 * @max: largest legal one, in hundredths
 *
 * Return: hundredths; -1 where it is no such number, -2 where it is above @max.
 */
static inline int cb_hundredths(const char *text, int max)
{
	int whole = 0, rest = 0;

	if (*text < '0' || *text > '9')
		return -1;
	for (; *text >= '0' && *text <= '9'; text++)
		if (whole <= max)
			whole = whole * 10 + *text - '0';
	if (*text == '.') {
		if (*++text < '0' || *text > '9')
			return -1;
		rest = 10 * (*text++ - '0');
		if (*text >= '0' && *text <= '9')
			rest += *text++ - '0';
	}
	if (*text)
		return -1;
	return whole > max / 100 || whole * 100 + rest > max ? -2 : whole * 100 + rest;
}

#endif /* CLEARBENCH_RECORD_H */
