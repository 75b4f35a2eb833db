/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Log-linear histograms of fixed size, shared by the module and the program.
 *
 * Below 2^(bits + 1) every value has a bucket of its own; above, each power of
 * two is cut into 2^bits buckets, so a bucket is never wider than 2^-bits of
 * its lower bound. Values of 2^top and more go into one overflow bucket, which
 * is reported as such. Minimum, maximum, count and sum are exact.
 */
#ifndef CLEARBENCH_HIST_H
#define CLEARBENCH_HIST_H

#ifdef __KERNEL__
#include <linux/bitops.h>
#include <linux/math64.h>
#include <linux/types.h>
#else
#include <linux/types.h>
#include <stddef.h>

static inline __u64 div64_u64(__u64 dividend, __u64 divisor)
{
	return dividend / divisor;
}

static inline int fls64(__u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}
#endif

/**
 * struct hist_shape - the geometry of a histogram
 * @bits: log2 of the buckets in one power of two
 * @top: values of 2^top and above overflow
 */
struct hist_shape {
	unsigned int bits;
	unsigned int top;
};

/*
 * Times in ns: a bucket is at most 1/128 = 0.78 % wide, and 2^36 ns is 68 s,
 * above the clear of any extent on any machine.
 */
#define HIST_NS_BITS		7
#define HIST_NS_TOP		36
/*
 * Ratios as fixed-point numbers, 1.0 being 2^12: in steps of 2^-12 up to 2, so
 * 0.049 % at 0.5 and 0.012 % at 2; 0.024 % above; from 8 on they overflow.
 */
#define HIST_RATIO_ONE_SHIFT	12
#define HIST_RATIO_ONE		(1U << HIST_RATIO_ONE_SHIFT)
#define HIST_RATIO_BITS		HIST_RATIO_ONE_SHIFT
#define HIST_RATIO_TOP		(HIST_RATIO_ONE_SHIFT + 3)
/*
 * The medians of the extents, of which the ratio and its interval are read: in
 * the overflow bucket only the maximum would be known, so that a variant that
 * is 10 times as fast (clzero on one page) had an interval of no width. Ratios
 * of 1024 and more are none of clears.
 */
#define HIST_UNITS_TOP		(HIST_RATIO_ONE_SHIFT + 10)

/* Buckets of a shape, the overflow bucket (always the last) included. */
#define HIST_BUCKETS(_bits, _top)	((((_top) - (_bits) + 1) << (_bits)) + 1)
#define HIST_NS_BUCKETS		HIST_BUCKETS(HIST_NS_BITS, HIST_NS_TOP)
#define HIST_RATIO_BUCKETS	HIST_BUCKETS(HIST_RATIO_BITS, HIST_RATIO_TOP)

/**
 * struct hist - a histogram
 * @shape: its geometry
 * @count: values recorded; at most 2^32 - 1 of them in one bucket
 * @sum: of all values
 * @min: exact; meaningless while @count is 0
 * @max: exact
 * @bucket: hist_buckets(@shape) counters
 */
struct hist {
	struct hist_shape shape;
	__u64 count;
	__u64 sum;
	__u64 min;
	__u64 max;
	__u32 bucket[];
};

static inline unsigned int hist_buckets(struct hist_shape s)
{
	return HIST_BUCKETS(s.bits, s.top);
}

static inline size_t hist_size(struct hist_shape s)
{
	return sizeof(struct hist) + hist_buckets(s) * sizeof(__u32);
}

/* Index of the bucket that holds @value. */
static inline unsigned int hist_index(struct hist_shape s, __u64 value)
{
	unsigned int shift;

	if (value >> s.top)
		return hist_buckets(s) - 1;
	if (!(value >> (s.bits + 1)))
		return value;
	shift = fls64(value) - 1 - s.bits;
	return (shift << s.bits) + (value >> shift);
}

/* Smallest value of bucket @index; the bound above it is that of @index + 1. */
static inline __u64 hist_lower(struct hist_shape s, unsigned int index)
{
	unsigned int shift = index >> s.bits;

	if (shift < 2)
		return index;
	shift--;
	return (__u64)(index - (shift << s.bits)) << shift;
}

static inline void hist_init(struct hist *h, unsigned int bits, unsigned int top)
{
	unsigned int i;

	h->shape.bits = bits;
	h->shape.top = top;
	h->count = 0;
	h->sum = 0;
	h->min = ~0ULL;
	h->max = 0;
	for (i = 0; i < hist_buckets(h->shape); i++)
		h->bucket[i] = 0;
}

static inline void hist_add(struct hist *h, __u64 value)
{
	h->bucket[hist_index(h->shape, value)]++;
	h->count++;
	h->sum += value;
	if (value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
}

/*
 * Quantiles come back in thousandths of the recorded unit, so that a median of
 * integers is not rounded to one.
 */
#define HIST_MILLI		1000U

/**
 * hist_value_at() - the value that a rank stands for, interpolated
 * @h: histogram
 * @half_rank: twice the rank, 0 to 2 * @h->count; the middle of the first
 *	value is 1, of the second 3
 *
 * A whole number v stands for [v - 1/2, v + 1/2), and the values of a bucket
 * are taken as spread evenly over it; nothing comes out below the exact
 * minimum or above the exact maximum. Of a rank in the overflow bucket only
 * the maximum is known.
 *
 * Return: thousandths of the recorded unit; 0 for an empty histogram.
 */
static inline __u64 hist_value_at(const struct hist *h, __u64 half_rank)
{
	unsigned int last = hist_buckets(h->shape) - 1;
	__u64 before = 0, lo, hi;	/* bounds in halves of the unit, plus 1 */
	unsigned int i;

	if (!h->count)
		return 0;
	for (i = 0; i < last; i++) {
		if (h->bucket[i] && half_rank <= 2 * (before + h->bucket[i]))
			break;
		before += h->bucket[i];
	}
	if (i == last)
		return h->max * HIST_MILLI;

	lo = 2 * hist_lower(h->shape, i);
	hi = 2 * hist_lower(h->shape, i + 1);
	if (lo < 2 * h->min + 1)
		lo = 2 * h->min + 1;
	if (hi > 2 * h->max + 1)
		hi = 2 * h->max + 1;
	half_rank = half_rank > 2 * before ? half_rank - 2 * before : 0;
	return (lo - 1) * (HIST_MILLI / 2) +
	       div64_u64((hi - lo) * (HIST_MILLI / 2) * half_rank,
			 2ULL * h->bucket[i]);
}

/**
 * hist_quantile() - a percentile
 * @h: histogram
 * @permille: 500 is the median, 999 the 99.9th percentile
 *
 * Return: thousandths of the recorded unit; 0 for an empty histogram.
 */
static inline __u64 hist_quantile(const struct hist *h, unsigned int permille)
{
	/* Not above 10^7 values a cell: this cannot overflow. */
	__u64 half_rank = div64_u64(2 * h->count * permille, 1000);

	/* Between two values both count alike, however far apart they are. */
	if (half_rank & 1 || !half_rank || half_rank == 2 * h->count)
		return hist_value_at(h, half_rank);
	return (hist_value_at(h, half_rank - 1) + hist_value_at(h, half_rank + 1)) / 2;
}

/**
 * hist_median_rank() - rank-based 95 % interval of a median
 * @n: number of independent values
 *
 * The order statistics k and n + 1 - k enclose the median of the population
 * with a probability of at least 95 % for the largest k for which
 * P(Binomial(n, 1/2) < k) <= 2.5 % (Conover, Practical Nonparametric
 * Statistics, 3.2). Exact up to 60 values, where the sum of binomial
 * coefficients fits 64 bits; above that the normal approximation with its
 * correction for continuity, which is off by one rank at most, on the wide side.
 *
 * Return: k, counted from 1; 0 when @n values (fewer than 6) bound nothing.
 */
static inline __u64 hist_median_rank(__u64 n)
{
	__u64 k = 0;

	if (n <= 60) {
		__u64 choose = 1, below = 1;

		/* below: sequences with at most k heads out of 2^n */
		while (below * 40 <= 1ULL << n) {
			k++;
			choose = div64_u64(choose * (n - k + 1), k);
			below += choose;
		}
		return k;
	}
	/* k = (n + 1) / 2 - 0.98 sqrt(n), with 100 sqrt(n) rounded up */
	{
		__u64 root = 0, bit;

		for (bit = 1ULL << 31; bit; bit >>= 1)
			if ((root | bit) * (root | bit) < n * 10000)
				root |= bit;
		return div64_u64(10000 * (n + 1) - 196 * (root + 1), 20000);
	}
}

/**
 * hist_median_interval() - the median, and its 95 % interval
 * @h: of independent values
 * @milli: median, lower and upper end, in thousandths of the recorded unit;
 *	the ends are 0 where there are too few values for them
 */
static inline void hist_median_interval(const struct hist *h, __u64 milli[3])
{
	__u64 n = h->count, k = hist_median_rank(n);

	milli[0] = hist_quantile(h, 500);
	milli[1] = k ? hist_value_at(h, 2 * k - 1) : 0;
	milli[2] = k ? hist_value_at(h, 2 * (n + 1 - k) - 1) : 0;
}

/**
 * hist_median_is_narrow() - is the median known as well as that?
 * @h: of independent values
 * @hundredths: of a per cent of the median, which its interval may be wide
 */
static inline int hist_median_is_narrow(const struct hist *h, __u64 hundredths)
{
	__u64 milli[3];

	hist_median_interval(h, milli);
	return milli[1] && (milli[2] - milli[1]) * 10000 <= milli[0] * hundredths;
}

#endif /* CLEARBENCH_HIST_H */
