// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers for people. Only ASCII, for tables that go into mails ("us" as the
 * kernel's own tools have it), three digits, and never more than seven columns
 * whatever a hand-edited file holds, so that the tables keep their width. NAN
 * is what was not measured.
 */
#include <math.h>

#include "clearbench.h"

/* Three significant digits, without an exponent; below 1000. */
static int digits(double v)
{
	if (v < 9.995)
		return 2;
	if (v < 99.95)
		return 1;
	return 0;
}

const char *fmt_ns(char *buf, double ns)
{
	static const char *const unit[] = { "ns", "us", "ms", "s" };
	unsigned int u = 0;
	int places;

	if (isnan(ns) || ns < 0)
		return "-";
	while (ns >= 999.5 && u < ARRAY_SIZE(unit) - 1) {
		ns /= 1000;
		u++;
	}
	if (ns >= 99999.5)
		return ">99999s";
	/* Clocks count whole ns: no more than a tenth of one. */
	places = digits(ns);
	if (!u && places > 1)
		places = 1;
	snprintf(buf, UNIT_LEN, "%.*f%s%s", places, ns, ns < 999.5 ? " " : "", unit[u]);
	return buf;
}

const char *fmt_extent(char *buf, double bytes)
{
	static const char unit[] = "KMGTPE";
	unsigned int u = 0;

	if (!(bytes >= 0))
		return "-";
	bytes /= 1024;
	while (bytes >= 1024 && u < sizeof(unit) - 2) {
		bytes /= 1024;
		u++;
	}
	if (bytes > 9999)
		return "-";
	snprintf(buf, UNIT_LEN, "%.0f%c", bytes, unit[u]);
	return buf;
}

/* A relative change, in per cent, without the sign for it. */
const char *fmt_change(char *buf, double fraction)
{
	double pct = fraction * 100;

	if (isnan(pct))
		return "-";
	if (pct > 99999)
		return ">99999";
	if (fabs(pct) < 0.005)
		pct = 0;
	snprintf(buf, UNIT_LEN, "%+.*f", digits(fabs(pct)), pct);
	return buf;
}

const char *fmt_gbps(char *buf, double gbps)
{
	if (!(gbps >= 0))
		return "-";
	if (gbps > 99999)
		return ">99999";
	snprintf(buf, UNIT_LEN, "%.*f", digits(gbps), gbps);
	return buf;
}

const char *fmt_ratio(char *buf, double ratio)
{
	if (!(ratio >= 0))
		return "-";
	if (ratio > 99999)
		return ">99999";
	snprintf(buf, UNIT_LEN, "%.*f", ratio < 100 ? 3 : digits(ratio), ratio);
	return buf;
}

const char *fmt_count(char *buf, double n)
{
	if (!(n >= 0))
		return "-";
	if (n > 99999999)
		return ">10^8";
	snprintf(buf, UNIT_LEN, "%.0f", n);
	return buf;
}
