// SPDX-License-Identifier: GPL-2.0
/*
 * Do the intervals hold the truth as often as they say? Synthetic values with
 * heavy tails, whose true median is known, through the very functions that the
 * module and the program use. The generator is seeded: the outcome is the same
 * on every machine.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../module/hist.h"
#include "../../scripts/clearbench/result.h"

#define CASES	400

static unsigned long long state = 1;

/* Uniform in (0, 1): SplitMix64 (Steele, Lea, Flood) */
static double uniform(void)
{
	unsigned long long z = state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return ((z ^ z >> 31) >> 11) * 0x1p-53 + 0x1p-54;
}

/* Ratios about 1: symmetric Pareto tails of index 1.5, which have no variance */
static double heavy(double scale)
{
	double u = uniform(), x = pow(1 - fabs(2 * u - 1), -1 / 1.5) - 1;

	return exp(scale * (u < 0.5 ? -x : x));
}

/* One sided: what interrupts do to times; the median is 2^(1/1.5) - 1 of the scale */
static double skewed(double scale)
{
	return 1 + scale * (pow(uniform(), -1 / 1.5) - 1);
}

/*
 * Few values have few ranks to choose from: the next narrower interval would hold
 * the truth too seldom, and the one that is taken more often than it says.
 */
static unsigned int within(const char *what, unsigned int held, bool few)
{
	printf("  %s: %u of %d (%.1f %%)%s\n", what, held, CASES, 100. * held / CASES,
	       few ? ", of so few no interval is nearer to 95 % from above" : "");
	return held < CASES * 93 / 100 || (!few && held > CASES * 97 / 100);
}

int main(void)
{
	static const unsigned int units[] = { 10, 25, 100, 400 };
	static const unsigned int runs[] = { 5, 8, 12 };
	struct hist_shape shape = { .bits = HIST_RATIO_BITS, .top = HIST_RATIO_TOP };
	struct hist *h = malloc(hist_size(shape));
	unsigned int i, k, c, held, bad = 0;
	double a[16], b[16], truth = 1 + 0.01 * (pow(2, 1 / 1.5) - 1);
	char what[128];

	if (!h)
		return 2;
	for (i = 0; i < sizeof(units) / sizeof(*units); i++) {
		for (held = 0, c = 0; c < CASES; c++) {
			__u64 milli[3];

			hist_init(h, HIST_RATIO_BITS, HIST_RATIO_TOP);
			for (k = 0; k < units[i]; k++)
				hist_add(h, (c & 1 ? skewed(0.01) : heavy(0.01)) * HIST_RATIO_ONE + 0.5);
			hist_median_interval(h, milli);
			held += milli[1] <= (c & 1 ? truth : 1) * HIST_RATIO_ONE * HIST_MILLI &&
				milli[2] >= (c & 1 ? truth : 1) * HIST_RATIO_ONE * HIST_MILLI;
		}
		snprintf(what, sizeof(what), "interval of a ratio, %u extents", units[i]);
		bad += within(what, held, units[i] < 20);
	}
	for (i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		for (held = 0, c = 0; c < CASES; c++) {
			struct estimate e;

			for (k = 0; k < runs[i]; k++) {
				a[k] = 1000 * heavy(0.01);
				b[k] = 1010 * heavy(0.01);
			}
			e = estimate_change(a, runs[i], b, runs[i]);
			held += e.known && e.lo <= 0.01 && e.hi >= 0.01;
		}
		snprintf(what, sizeof(what), "interval of a change, %u runs a side", runs[i]);
		bad += within(what, held, runs[i] < 8);
	}
	free(h);
	return !!bad;
}
