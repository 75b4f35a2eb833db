// SPDX-License-Identifier: GPL-2.0
/*
 * What may be said about two variants, and about a percentile.
 */
#include <math.h>

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
 * ratio. A difference is called one only when its whole interval lies outside
 * both 1 and the noise floor; else the largest of all these is its bound.
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
	else
		floor_hi = 1;
	if (!(lo > 0 && hi >= lo))
		return v;

	v.lo = 1 / hi - 1;
	v.hi = 1 / lo - 1;
	v.known = true;
	v.differs = lo > fmax(1, floor_hi) || hi < fmin(1, isnan(v.floor) ? 1 : floor_lo);
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
