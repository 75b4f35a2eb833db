// SPDX-License-Identifier: GPL-2.0
/*
 * module/hist.h: the histograms and what is read off them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "../../module/hist.h"

static const struct hist_shape shapes[] = {
	{ HIST_NS_BITS, HIST_NS_TOP },
	{ HIST_RATIO_BITS, HIST_RATIO_TOP },
	{ HIST_RATIO_BITS, HIST_UNITS_TOP },
};

/* Every bucket's bounds, and the values at their edges */
static void test_bounds(void **state)
{
	unsigned int s, i;

	(void)state;
	for (s = 0; s < ARRAY_SIZE(shapes); s++) {
		unsigned int last = hist_buckets(shapes[s]) - 1;

		assert_int_equal(hist_lower(shapes[s], 0), 0);
		assert_int_equal(hist_lower(shapes[s], last), 1ULL << shapes[s].top);
		for (i = 0; i < last; i++) {
			__u64 lower = hist_lower(shapes[s], i);
			__u64 upper = hist_lower(shapes[s], i + 1);

			assert_true(lower < upper);
			assert_int_equal(hist_index(shapes[s], lower), i);
			assert_int_equal(hist_index(shapes[s], upper - 1), i);
			assert_int_equal(hist_index(shapes[s], lower + (upper - lower) / 2), i);
			/* 0.8 %, or a single value */
			assert_true(upper - lower == 1 ||
				    (upper - lower) << shapes[s].bits <= lower);
		}
		assert_int_equal(hist_index(shapes[s], ~0ULL), last);
		assert_int_equal(hist_index(shapes[s], 1ULL << shapes[s].top), last);
		assert_int_equal(hist_index(shapes[s], (1ULL << shapes[s].top) - 1), last - 1);
	}
	assert_int_equal(hist_buckets(shapes[0]), HIST_NS_BUCKETS);
	assert_int_equal(hist_buckets(shapes[1]), HIST_RATIO_BUCKETS);
	assert_true(1.0 / (1 << HIST_NS_BITS) <= 0.008);
}

static struct hist *new_hist(void)
{
	struct hist_shape s = shapes[0];
	struct hist *h = xrealloc(NULL, hist_size(s));

	hist_init(h, s.bits, s.top);
	return h;
}

static unsigned long long seed = 1;

/* A fixed sequence: a failure can be looked at again. */
static double uniform(void)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return ((seed >> 11) + 0.5) / (1ULL << 53);
}

static double constant(void)
{
	return 123457;
}

static double flat(void)
{
	return 100 + 1000000 * uniform();
}

static double small(void)
{
	return 20 * uniform();
}

static double heavy(void)
{
	return fmin(400 * pow(uniform(), -0.9), 1e9);
}

static double two_peaks(void)
{
	return uniform() < 0.7 ? 300 + 10 * uniform() : 90000 + 3000 * uniform();
}

static int compare(const void *a, const void *b)
{
	__u64 x = *(const __u64 *)a, y = *(const __u64 *)b;

	return x < y ? -1 : x > y;
}

/*
 * A quantile lies between the values next to its rank in the sorted data, but
 * for the width of a bucket and the half that a whole number stands for.
 */
static void check_quantiles(double (*draw)(void), unsigned int n)
{
	static const unsigned int permille[] = { 1, 10, 250, 500, 900, 990, 999 };
	__u64 *value = xrealloc(NULL, n * sizeof(*value)), sum = 0, before = 0;
	struct hist *h = new_hist();
	unsigned int i;

	for (i = 0; i < n; i++) {
		value[i] = draw();
		sum += value[i];
		hist_add(h, value[i]);
	}
	qsort(value, n, sizeof(*value), compare);
	assert_int_equal(h->count, n);
	assert_int_equal(h->sum, sum);
	assert_int_equal(h->min, value[0]);
	assert_int_equal(h->max, value[n - 1]);
	for (i = 0; i < ARRAY_SIZE(permille); i++) {
		double rank = (double)n * permille[i] / 1000;
		unsigned int lo = rank < 1 ? 0 : (unsigned int)ceil(rank) - 1;
		unsigned int hi = (unsigned int)floor(rank) < n ? (unsigned int)floor(rank) : n - 1;
		__u64 milli = hist_quantile(h, permille[i]);
		double q = milli / 1000.0;

		if (lo)
			lo--;
		assert_true(q >= value[lo] * (1 - 0.008) - 0.5);
		assert_true(q <= value[hi] * (1 + 0.008) + 0.5);
		assert_true(q >= value[0] && q <= value[n - 1]);
		assert_true(milli >= before);
		before = milli;
	}
	free(value);
	free(h);
}

static void test_quantiles(void **state)
{
	double (*const draws[])(void) = { constant, flat, small, heavy, two_peaks };
	static const unsigned int sizes[] = { 1, 2, 3, 10, 99, 100, 101, 1000, 30000 };
	unsigned int d, s;

	(void)state;
	for (d = 0; d < ARRAY_SIZE(draws); d++)
		for (s = 0; s < ARRAY_SIZE(sizes); s++)
			check_quantiles(draws[d], sizes[s]);
}

static void test_constant_is_exact(void **state)
{
	struct hist *h = new_hist();
	unsigned int i;

	(void)state;
	for (i = 0; i < 1000; i++)
		hist_add(h, 123457);
	assert_int_equal(hist_quantile(h, 1), 123457000);
	assert_int_equal(hist_quantile(h, 500), 123457000);
	assert_int_equal(hist_quantile(h, 999), 123457000);
	free(h);
}

/* Of two values far apart neither is the median, nor the end of its bucket. */
static void test_median_between_buckets(void **state)
{
	struct hist *h = new_hist();
	__u64 milli[3];

	(void)state;
	hist_add(h, 10);
	hist_add(h, 100);
	assert_int_equal(hist_quantile(h, 500), 55000);
	hist_median_interval(h, milli);
	assert_int_equal(milli[0], 55000);
	free(h);
}

/* However much faster a variant is, its interval has two ends. */
static void test_interval_of_large_ratios(void **state)
{
	struct hist_shape s = { HIST_RATIO_BITS, HIST_UNITS_TOP };
	struct hist *h = xrealloc(NULL, hist_size(s));
	__u64 milli[3], i;

	(void)state;
	hist_init(h, s.bits, s.top);
	for (i = 10; i < 30; i++)	/* 20 extents, on which it is 10 to 29 times as fast */
		hist_add(h, i * HIST_RATIO_ONE);
	hist_median_interval(h, milli);
	/* Ranks 6 and 15 of 20, and what is between 10 and 11 */
	assert_true(fabs(milli[0] - 19.5 * HIST_RATIO_ONE * HIST_MILLI) < 2e-4 * milli[0]);
	assert_true(fabs(milli[1] - 15.0 * HIST_RATIO_ONE * HIST_MILLI) < 2e-4 * milli[1]);
	assert_true(fabs(milli[2] - 24.0 * HIST_RATIO_ONE * HIST_MILLI) < 2e-4 * milli[2]);
	free(h);
}

/* The median of whole numbers need not be one. */
static void test_even_median(void **state)
{
	struct hist *h = new_hist();

	(void)state;
	hist_add(h, 1);
	hist_add(h, 2);
	assert_int_equal(hist_quantile(h, 500), 1500);
	free(h);
}

static void test_overflow(void **state)
{
	struct hist *h = new_hist();
	__u64 far = (1ULL << HIST_NS_TOP) + 12345;

	(void)state;
	hist_add(h, 100);
	hist_add(h, far - 1);
	hist_add(h, far);
	assert_int_equal(h->bucket[hist_buckets(h->shape) - 1], 2);
	assert_int_equal(h->max, far);
	assert_int_equal(hist_quantile(h, 999), far * 1000);
	assert_int_equal(hist_quantile(h, 1), 100000);
	free(h);
}

static void test_empty(void **state)
{
	struct hist *h = new_hist();

	(void)state;
	assert_int_equal(h->count, 0);
	assert_int_equal(hist_quantile(h, 500), 0);
	assert_int_equal(hist_value_at(h, 0), 0);
	free(h);
}

/* The largest k with P(Binomial(n, 1/2) < k) <= 2.5 %, by the sum itself */
static unsigned int exact_rank(unsigned int n)
{
	long double p = ldexpl(1, -(int)n), below = 0;
	unsigned int k = 0;

	while (below + p <= 0.025L) {
		below += p;
		p = p * (n - k) / (k + 1);
		k++;
	}
	return k;
}

static void test_median_rank(void **state)
{
	unsigned int n;

	(void)state;
	assert_int_equal(hist_median_rank(0), 0);
	assert_int_equal(hist_median_rank(5), 0);
	assert_int_equal(hist_median_rank(6), 1);
	for (n = 1; n <= 60; n++)
		assert_int_equal(hist_median_rank(n), exact_rank(n));
	/* Above, it may be one too wide, but never too narrow. */
	for (n = 61; n <= 10000; n++) {
		unsigned int k = hist_median_rank(n), exact = exact_rank(n);

		if (k > exact || k + 1 < exact)
			fail_msg("n %u: rank %u, exact %u", n, k, exact);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_quantiles),
		cmocka_unit_test(test_constant_is_exact),
		cmocka_unit_test(test_median_between_buckets),
		cmocka_unit_test(test_interval_of_large_ratios),
		cmocka_unit_test(test_even_median),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_median_rank),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
