// SPDX-License-Identifier: GPL-2.0
/*
 * What may be said about two variants, and about a percentile.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "result.h"

static double larger(double a, double b)
{
	return isnan(a) || b > a ? b : a;
}

/**
 * judge() - compare a variant with its baseline
 * @before: the baseline
 * @after: the variant, whose ratio columns pair it with @before
 *
 * The change is that of the time, so it is one less than the inverse of the
 * ratio. A difference is called one when its interval excludes "no change", and
 * the change is larger than the noise that two copies of the baseline showed;
 * else the largest of all these is its bound. Which of the two copies is called
 * the first is arbitrary, so the noise holds on both sides of 0. `make calibrate`
 * says how often that is right.
 *
 * Return: the verdict.
 */
struct verdict judge(const struct cell *before, const struct cell *after)
{
	double lo = CELL_NUM(after, ratio_lo), hi = CELL_NUM(after, ratio_hi);
	double floor_lo = CELL_NUM(after, floor_lo), floor_hi = CELL_NUM(after, floor_hi);
	double ratio = CELL_NUM(after, ratio);
	struct verdict v = { NAN, NAN, NAN, NAN, false, false, NAN };

	/* The noise belongs to the baseline; some writers put it only there. */
	if (!(floor_lo > 0 && floor_hi >= floor_lo)) {
		floor_lo = CELL_NUM(before, floor_lo);
		floor_hi = CELL_NUM(before, floor_hi);
	}
	if (ratio > 0)
		v.change = 1 / ratio - 1;
	else if (CELL_NUM(before, p50_ns) > 0 && CELL_NUM(after, p50_ns) >= 0)
		v.change = CELL_NUM(after, p50_ns) / CELL_NUM(before, p50_ns) - 1;
	if (floor_lo > 0 && floor_hi >= floor_lo)
		v.floor = larger(fabs(1 / floor_lo - 1), fabs(1 / floor_hi - 1));
	if (!(lo > 0 && hi >= lo))
		return v;

	v.lo = 1 / hi - 1;
	v.hi = 1 / lo - 1;
	v.known = true;
	v.differs = (v.lo > 0 || v.hi < 0) && fabs(v.change) > larger(v.floor, 0);
	v.bound = larger(v.floor, larger(fabs(v.lo), fabs(v.hi)));
	return v;
}

/* ln P(Binomial(n, p) = k) */
static double log_binomial(double n, double k, double p)
{
	return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) +
	       (n - k) * log1p(-p);
}

/* The normal approximation is off by less than a rank from this variance on. */
#define NORMAL_VARIANCE	1000

/**
 * quantile_ranks() - rank-based 95 % interval of a percentile
 * @n: number of independent values
 * @p: 0.5 is the median
 * @lo: rank of its lower end, from 1
 * @hi: rank of its upper end, at most @n
 *
 * The order statistics lo and hi enclose the population's percentile with a
 * probability of at least 95 %: P(Binomial(n, p) < lo) and P(Binomial(n, p) >= hi)
 * are at most 2.5 % each (Conover, Practical Nonparametric Statistics, 3.2).
 *
 * Return: false where @n values are too few to bound it.
 */
bool quantile_ranks(double n, double p, double *lo, double *hi)
{
	double variance = n * p * (1 - p), tail, k;

	if (variance > NORMAL_VARIANCE) {
		*lo = floor(n * p - 1.96 * sqrt(variance));
		*hi = ceil(n * p + 1.96 * sqrt(variance)) + 1;
		return *lo >= 1 && *hi <= n;
	}
	for (k = 0, tail = 0; k < n; k++) {
		tail += exp(log_binomial(n, k, p));
		if (tail > 0.025)
			break;
	}
	*lo = k;
	for (k = n, tail = 0; k > 0; k--) {
		tail += exp(log_binomial(n, k, p));
		if (tail > 0.025)
			break;
	}
	*hi = k + 1;
	return *lo >= 1 && *hi <= n;
}

/* compare_doubles() - for qsort(): ascending */
int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* median() - of at least one value; sorts them */
double median(double *value, unsigned int nr)
{
	qsort(value, nr, sizeof(*value), compare_doubles);
	return (value[(nr - 1) / 2] + value[nr / 2]) / 2;
}

/**
 * value_at_rank() - a value of a distribution that was kept as counts
 * @h: histogram
 * @rank: 1 to the number of values; those of a bucket are spread evenly over it
 *
 * Return: the value; NAN beyond the last.
 */
double value_at_rank(const struct histogram *h, double rank)
{
	double before = 0;
	size_t i;

	for (i = 0; i < h->nr; i++) {
		const struct bucket *b = &h->bucket[i];

		if (rank <= before + b->count)
			return isinf(b->upper) ? b->lower :
			       b->lower + (b->upper - b->lower) * (rank - before - 0.5) / b->count;
		before += b->count;
	}
	return NAN;
}

static const struct histogram *find_hist(const struct histogram *hist, unsigned int nr,
					 const char *name)
{
	for (; nr--; hist++)
		if (!strcmp(hist->name, name))
			return hist;
	return NULL;
}

/**
 * cell_drop_disturbed() - leave the samples out that were seen to be disturbed
 * @c: cell, whose times become those of the others; the mean is not known then
 * @hist: its histograms
 * @nr: how many
 *
 * The ratios stay: they are medians of pairs, which a few samples do not move.
 */
void cell_drop_disturbed(struct cell *c, const struct histogram *hist, unsigned int nr)
{
	static const struct {
		enum cb_column column;
		double p;
	} points[] = {
		{ CB_COL_min_ns, 0 }, { CB_COL_p50_ns, 0.5 }, { CB_COL_p90_ns, 0.9 },
		{ CB_COL_p99_ns, 0.99 }, { CB_COL_p999_ns, 0.999 }, { CB_COL_max_ns, 1 },
	};
	const struct histogram *all = find_hist(hist, nr, "clear");
	const struct histogram *out = find_hist(hist, nr, "disturbed");
	double n = 0, p50 = CELL_NUM(c, p50_ns);
	struct histogram rest = { .nr = 0 };
	size_t i, k = 0;

	if (!all || !out || !out->nr)
		return;
	rest.bucket = xrealloc(NULL, all->nr * sizeof(*rest.bucket));
	for (i = 0; i < all->nr; i++) {
		struct bucket *b = &rest.bucket[rest.nr];

		*b = all->bucket[i];
		while (k < out->nr && out->bucket[k].lower < b->lower)
			k++;
		if (k < out->nr && out->bucket[k].lower == b->lower)
			b->count -= out->bucket[k].count;
		if (b->count > 0) {
			n += b->count;
			rest.nr++;
		}
	}
	for (i = 0; i < ARRAY_SIZE(points); i++)
		c->value[points[i].column].num = n > 0 ?
			value_at_rank(&rest, fmax(1, fmin(n, points[i].p * n + 0.5))) : NAN;
	CELL_NUM(c, n) = n;
	CELL_NUM(c, mean_ns) = NAN;
	CELL_NUM(c, gb_per_s) *= p50 / CELL_NUM(c, p50_ns);
	free(rest.bucket);
}

/* From logarithms, sorted; the @k-th from either end bound the interval, 0: none. */
static struct estimate estimate_of(const double *log_ratio, size_t nr, size_t k)
{
	double middle = (log_ratio[(nr - 1) / 2] + log_ratio[nr / 2]) / 2;
	struct estimate e = { expm1(middle), NAN, NAN, k > 0 };

	if (k) {
		e.lo = expm1(log_ratio[k - 1]);
		e.hi = expm1(log_ratio[nr - k]);
	}
	return e;
}

/* Up to so many pairs the distribution of Mann and Whitney's U is counted out. */
#define EXACT_PAIRS	2500

/*
 * The largest k for which P(U < k) <= 2.5 %, where U counts the pairs in which
 * the one is larger, of @m and @n values of the same distribution.
 */
static size_t mann_whitney_rank(unsigned int m, unsigned int n)
{
	size_t pairs = (size_t)m * n, k, u;
	double all = 1, below = 0, *ways;
	unsigned int i;

	if (pairs > EXACT_PAIRS) {
		double z = 1.96 * sqrt((double)pairs * (m + n + 1) / 12);

		return pairs / 2. > z ? pairs / 2. - z : 0;
	}
	/* The generating function: a product over i of (1 - x^(n+i)) / (1 - x^i) */
	ways = xrealloc(NULL, (pairs + 1) * sizeof(*ways));
	for (u = 0; u <= pairs; u++)
		ways[u] = !u;
	for (i = 1; i <= m; i++) {
		for (u = pairs + 1; u-- > n + i;)
			ways[u] -= ways[u - n - i];
		for (u = i; u <= pairs; u++)
			ways[u] += ways[u - i];
		all *= (double)(n + i) / i;
	}
	for (k = 0; k <= pairs; k++) {
		below += ways[k] / all;
		if (below > 0.025)
			break;
	}
	free(ways);
	return k;
}

/* estimate_has_interval() - are so many runs a side enough for one? */
bool estimate_has_interval(unsigned int m, unsigned int n)
{
	return mann_whitney_rank(m, n) > 0;
}

/**
 * estimate_change() - the change between two groups of runs
 * @before: a figure of each run of the one side, above 0
 * @m: how many
 * @after: likewise of the other side
 * @n: how many
 *
 * Hodges and Lehmann's estimate of a shift, of the logarithms, and the interval
 * that inverts the test of Mann and Whitney: exact, whatever the distribution
 * (Hollander, Wolfe, Chicken, Nonparametric Statistical Methods, 4.2, 4.3). Four
 * runs a side are the fewest that can give one.
 *
 * Return: it; without an interval where there are too few.
 */
struct estimate estimate_change(const double *before, unsigned int m, const double *after,
				unsigned int n)
{
	double *d = xrealloc(NULL, (size_t)m * n * sizeof(*d));
	struct estimate e;
	unsigned int i, j;

	for (i = 0; i < m; i++)
		for (j = 0; j < n; j++)
			d[(size_t)i * n + j] = log(after[j] / before[i]);
	qsort(d, (size_t)m * n, sizeof(*d), compare_doubles);
	e = estimate_of(d, (size_t)m * n, mann_whitney_rank(m, n));
	free(d);
	return e;
}

/**
 * estimate_paired() - the change between two figures of the same runs
 * @before: a figure of each run, above 0
 * @after: another
 * @n: runs; six are the fewest that give an interval
 *
 * Return: the median ratio, with the interval of the sign test.
 */
struct estimate estimate_paired(const double *before, const double *after, unsigned int n)
{
	double *d = xrealloc(NULL, n * sizeof(*d)), lo, hi;
	struct estimate e;
	unsigned int i;

	for (i = 0; i < n; i++)
		d[i] = log(after[i] / before[i]);
	qsort(d, n, sizeof(*d), compare_doubles);
	e = estimate_of(d, n, quantile_ranks(n, 0.5, &lo, &hi) ? lo : 0);
	free(d);
	return e;
}
