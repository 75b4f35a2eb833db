// SPDX-License-Identifier: GPL-2.0
/*
 * User backend: how an extent is cleared, and the timed window. The primitives
 * are the module's own, out of the same header.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "user_engine.h"

/*
 * The timed window: all of it. The clearing code is inlined, and all that it
 * needs is in registers before the clock is read. Nothing is subtracted.
 * Weakly ordered primitives end in a fence of their own; @drain gives one to
 * all.
 */
#define USER_TIMED(_name, _clear)					\
static void time_##_name(struct user_sample *s)				\
{									\
	unsigned long len = s->len, chunk = s->chunk, n;		\
	char *addr = s->addr;						\
	bool drain = s->drain;						\
	__u64 start, end;						\
									\
	start = user_clock();						\
	for (; len; addr += n, len -= n) {				\
		n = len < chunk ? len : chunk;				\
		_clear(addr, n);					\
	}								\
	if (drain)							\
		prim_drain();						\
	end = user_clock();						\
	s->ticks = end - start;						\
}

/**
 * user_time_read() - the window of a read: a load a line, ascending
 *
 * All of what the `after` knob times, by whichever CPU. It ends when the last
 * load has its data; what the clear before has still to do is waited for in
 * user_after_read(), outside.
 *
 * Return: the time, in ticks of user_clock().
 */
__attribute__((noinline)) __u64 user_time_read(const void *addr, unsigned long len)
{
	__u64 start, end;

	start = user_clock();
	prim_read(addr, len);
	prim_loaded();
	end = user_clock();
	return end - start;
}

/*
 * Called by a pointer that the compiler cannot see through, or it would put
 * its own idea of a memset() here.
 */
static void *(*volatile libc_memset)(void *, int, size_t) = memset;

static __always_inline void clear_by_memset(void *addr, unsigned long len)
{
	libc_memset(addr, 0, len);
	asm volatile("" : : "r" (addr) : "memory");
}

USER_TIMED(memset, clear_by_memset)

#if defined(__x86_64__)
USER_TIMED(stosb, prim_stosb)
USER_TIMED(stosq, prim_stosq)
USER_TIMED(mov, prim_mov)
USER_TIMED(movnti, prim_movnti)
USER_TIMED(clzero, prim_clzero)
#elif defined(__aarch64__)
USER_TIMED(dczva, prim_dczva)
USER_TIMED(stnp, prim_stnp)

static bool has_dczva(void)
{
	return prim_dczva_bytes();
}
#endif

/*
 * For tests of the statistics: `legacy` with a known difference. It is added to
 * the time that was taken, for a wait in the window would have a cost and a
 * jitter of its own.
 */
static void time_test_slow(struct user_sample *s)
{
	user_methods[0].time(s);
	s->ticks += s->test_delay_ticks;
}

/* What a window costs that holds nothing; for tests of the state step, a method */
static void time_empty(struct user_sample *s)
{
	__u64 start, end;

	start = user_clock();
	end = user_clock();
	s->ticks = end - start;
}

/*
 * legacy and batched are the one primitive that the kernel would take, found
 * by user_methods_init(): the first a call a page, the second a call a batch.
 */
struct user_method user_methods[] = {
	{ .name = "legacy", .time = time_memset },
	{ .name = "batched", .time = time_memset, .batched = true },
#if defined(__x86_64__)
	{ .name = "stosb", .time = time_stosb, .batched = true },
	{ .name = "stosq", .time = time_stosq, .batched = true },
	{ .name = "mov", .time = time_mov, .batched = true },
	{ .name = "movnti", .time = time_movnti, .batched = true },
	{ .name = "clzero", .time = time_clzero, .batched = true, .available = prim_has_clzero },
#elif defined(__aarch64__)
	{ .name = "dczva", .time = time_dczva, .batched = true, .available = has_dczva },
	{ .name = "stnp", .time = time_stnp, .batched = true },
#endif
	{ .name = "memset", .time = time_memset, .batched = true },
	{ .name = "test_slow", .time = time_test_slow },
	{ .name = "test_empty", .time = time_empty },
};

const unsigned int user_nr_methods = ARRAY_SIZE(user_methods);

/* Name of the primitive that the kernel's clear_page() would be on this CPU */
const char *user_clear_page = "memset";

#if defined(__x86_64__)
static bool cpu_flag(const char *text, const char *flag)
{
	const char *at = text ? strstr(text, "\nflags") : NULL;
	size_t len = strlen(flag), line;

	if (!at++)
		return false;
	for (line = strcspn(at, "\n"); line > len; at++, line--)
		if (*at == ' ' && !strncmp(at + 1, flag, len) &&
		    isspace((unsigned char)at[len + 1]))
			return true;
	return false;
}

/*
 * By the flags that arch/x86/lib/clear_page_64.S and its callers choose by.
 * REP_GOOD is the kernel's own judgement and no bit of CPUID; both may be off
 * by clearcpuid=. So they are taken from /proc/cpuinfo.
 */
static const char *kernels_choice(void)
{
	char *text = read_text("/proc/cpuinfo");
	const char *choice = cpu_flag(text, "erms") ? "stosb" :
			     cpu_flag(text, "rep_good") ? "stosq" : "mov";

	free(text);
	return choice;
}
#elif defined(__aarch64__)
/* As arch/arm64/lib/clear_page.S */
static const char *kernels_choice(void)
{
	return has_dczva() ? "dczva" : "stnp";
}
#else
static const char *kernels_choice(void)
{
	return "memset";
}
#endif

/* The clock */

bool user_clock_tsc;
double user_clock_ns_empty;	/* what a window costs that holds nothing */
double user_clock_ns_read;	/* what one read costs */
static double ns_per_tick = 1;

#define NSEC_PER_SEC	1000000000ULL

static __u64 raw_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

/*
 * The kernel strikes an unstable TSC from the list of its clock sources. Where
 * there is no such list, and under User Mode Linux, whose only one is "timer",
 * the CPU's word has to do.
 */
static bool tsc_trusted(void)
{
	char *list;
	bool trusted;

	if (!prim_tsc_invariant())
		return false;
	list = read_line("/sys/devices/system/clocksource/clocksource0/available_clocksource");
	trusted = !list || strstr(list, "tsc") || strstr(list, "timer");
	free(list);
	return trusted;
}

/* One moment by both clocks, as near to each other as they come in 100 tries */
static void read_both(__u64 *ns, __u64 *ticks)
{
	__u64 best = ~0ULL;
	int i;

	for (i = 0; i < 100; i++) {
		__u64 before = prim_tsc(), now = raw_ns(), after = prim_tsc();

		if (after - before < best) {
			best = after - before;
			*ns = now;
			*ticks = before + (after - before) / 2;
		}
	}
}

/* Moments are off by 50 ns at most, so that 50 ms bound the error to 2 ppm. */
static void calibrate(void)
{
	const struct timespec pause = { .tv_nsec = 50000000 };
	__u64 ns[2], ticks[2];

	read_both(&ns[0], &ticks[0]);
	nanosleep(&pause, NULL);
	read_both(&ns[1], &ticks[1]);
	if (ticks[1] <= ticks[0] || ns[1] <= ns[0])
		return;
	ns_per_tick = (double)(ns[1] - ns[0]) / (ticks[1] - ticks[0]);
	user_clock_tsc = true;
}

static int compare_ticks(const void *a, const void *b)
{
	__u64 x = *(const __u64 *)a, y = *(const __u64 *)b;

	return x < y ? -1 : x > y;
}

/* user_median() - of times, which it sorts; of an even number the upper one */
__u64 user_median(__u64 *ticks, unsigned int nr)
{
	qsort(ticks, nr, sizeof(*ticks), compare_ticks);
	return ticks[nr / 2];
}

static void measure_clock(void)
{
	struct user_sample s = { };
	__u64 ticks[1001], start;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ticks); i++) {
		time_empty(&s);
		ticks[i] = s.ticks;
	}
	user_clock_ns_empty = user_median(ticks, ARRAY_SIZE(ticks)) * ns_per_tick;

	start = user_clock();
	for (i = 0; i < ARRAY_SIZE(ticks); i++)
		user_clock();
	user_clock_ns_read = (user_clock() - start) * ns_per_tick / (i + 1);
}

/* user_clock_lost() - has the kernel lost its trust in the clock since then? */
bool user_clock_lost(void)
{
	return user_clock_tsc && !tsc_trusted();
}

/* user_clock_ns() - a difference of two reads, in ns */
__u64 user_clock_ns(__u64 ticks)
{
	return ticks * ns_per_tick + 0.5;
}

/* user_clock_ticks() - the other way */
__u64 user_clock_ticks(__u64 ns)
{
	return ns / ns_per_tick;
}

/* user_clock_name() - name and rate, for `info`; to be freed */
char *user_clock_name(void)
{
	if (user_clock_tsc)
		return xasprintf("tsc, %.0f kHz", 1e6 / ns_per_tick);
	return xstrdup("clock_gettime(CLOCK_MONOTONIC_RAW)");
}

/* user_methods_init() - find out what the kernel would take; choose the clock */
void user_methods_init(void)
{
	unsigned int i;

	user_clear_page = kernels_choice();
	for (i = 2; i < user_nr_methods; i++)
		if (!strcmp(user_methods[i].name, user_clear_page)) {
			user_methods[0].time = user_methods[i].time;
			user_methods[1].time = user_methods[i].time;
		}
	if (!user_clock_tsc && tsc_trusted())
		calibrate();
	measure_clock();
}
