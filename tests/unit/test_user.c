// SPDX-License-Identifier: GPL-2.0
/*
 * The user backend: its parts against naive code, and `run --backend user` with
 * methods whose times the test decides.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fixture.h"
#include "result.h"
#include "user_engine.h"

/* Two methods beside memset that every CPU of the kind has */
#ifdef __x86_64__
#define FIRST	"mov"
#define WHOLE	"stosb"
#else
#define FIRST	"stnp"
#define WHOLE	"stnp"
#endif

#define RUN(_err, ...)	run_verb(&verb_run, NULL, _err, "--backend", "user", __VA_ARGS__, NULL)

static char *out_path(void)
{
	return temp_file("out.jsonl", NULL);
}

static void expect(char *out, const char *what)
{
	if (!strstr(out, what))
		fail_msg("no \"%s\" in:\n%s", what, out);
	free(out);
}

static struct user_method *method(const char *name)
{
	unsigned int i;

	for (i = 0; i < user_nr_methods; i++)
		if (!strcmp(user_methods[i].name, name))
			return &user_methods[i];
	fail_msg("no method %s", name);
	return NULL;
}

/* Shuffle and pairs */

/* The published reference, as a function of the seed and the place */
static __u64 reference_random(__u64 seed, unsigned int place)
{
	__u64 z = seed + (place + 1) * 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static void test_shuffle(void **state)
{
	unsigned int sequence[8], naive[8], left[8], counts[6] = { 0 };
	unsigned int round, i, j, nr, place = 0;
	__u64 rnd = 42;

	(void)state;
	/* SplitMix64's first number for the seed 1234567 is published. */
	assert_true(reference_random(1234567, 0) == 6457827717110365317ULL);
	for (i = 0; i < 8; i++)
		sequence[i] = i;
	memcpy(naive, sequence, sizeof(naive));
	for (round = 0; round < 1000; round++) {
		user_shuffle(sequence, 8, &rnd);
		/* drawing from a hat; what is left is moved up from its end */
		memcpy(left, naive, sizeof(left));
		for (nr = 8; nr > 1; nr--) {
			j = reference_random(42, place++) % nr;
			naive[nr - 1] = left[j];
			left[j] = left[nr - 1];
		}
		naive[0] = left[0];
		assert_memory_equal(sequence, naive, sizeof(naive));
	}
	/* Each of the six sequences of three equally often: five sigma are 145 */
	rnd = 1;
	for (i = 0; i < 3; i++)
		sequence[i] = i;
	for (round = 0; round < 6000; round++) {
		user_shuffle(sequence, 3, &rnd);
		counts[2 * sequence[0] + (sequence[1] > sequence[2])]++;
	}
	for (i = 0; i < 6; i++)
		assert_in_range(counts[i], 855, 1145);
}

static void test_ratio(void **state)
{
	__u64 a, b;

	(void)state;
	for (a = 1; a < 100000; a = a * 7 / 3 + 1)
		for (b = 1; b < 100000; b = b * 5 / 3 + 1)
			assert_true(user_ratio(a, b) == floor((double)a / b * HIST_RATIO_ONE + 0.5));
	assert_true(user_ratio(~0ULL >> 13, 1) == 0xffffffff);
}

/* Methods that take the time they are told to, and note who was called */

#define CALLS_MAX	4096

static struct {
	char who[CALLS_MAX];
	unsigned int nr;
	unsigned int in_round;
	unsigned int sleep_us;
} calls;

static __u64 baseline_ticks(unsigned int round)
{
	return 100000 + reference_random(7, round) % 20000;
}

static __u64 other_ticks(unsigned int round)
{
	return 80000 + reference_random(9, round) % 40000;
}

static void told_time(struct user_sample *s, char who)
{
	unsigned int round = calls.nr / calls.in_round;

	assert_true(calls.nr < CALLS_MAX);
	memset(s->addr, 0, s->len);
	s->ticks = who == 'l' ? baseline_ticks(round) : other_ticks(round);
	calls.who[calls.nr++] = who;
	if (calls.sleep_us)
		usleep(calls.sleep_us);
}

static void told_legacy(struct user_sample *s)
{
	told_time(s, 'l');
}

static void told_memset(struct user_sample *s)
{
	told_time(s, 'm');
}

static struct user_method saved_first, saved_memset;

/* user_open() sets what legacy is. Without it the baseline is what stands first. */
static void tell(void)
{
	memset(&calls, 0, sizeof(calls));
	calls.in_round = 3;
	method(FIRST)->time = told_legacy;
	method("memset")->time = told_memset;
}

static int setup(void **state)
{
	char *path = out_path();

	(void)state;
	unlink(path);
	free(path);
	saved_first = *method(FIRST);
	saved_memset = *method("memset");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	*method("memset") = saved_memset;
	*method(FIRST) = saved_first;
	return 0;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double middle(double *values, unsigned int nr)
{
	qsort(values, nr, sizeof(*values), by_size);
	return nr & 1 ? values[nr / 2] : (values[nr / 2 - 1] + values[nr / 2]) / 2;
}

/* P(at most k - 1 of n are below the median), by its definition */
static double tail(unsigned int n, unsigned int k)
{
	double p = 0;
	unsigned int i;

	for (i = 0; i < k; i++)
		p += exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) - n * log(2));
	return p;
}

static const struct cell *find(const struct result *r, const char *name)
{
	unsigned int i;

	for (i = 0; i < r->nr_cells; i++)
		if (!strcmp(CELL_TEXT(&r->cells[i], method), name))
			return &r->cells[i];
	fail_msg("no cell of %s", name);
	return NULL;
}

/* 5 rounds to warm up, then 20 extents of 7 rounds */
static void test_pairs(void **state)
{
	double units[20], ratios[7], step = 2.0 / HIST_RATIO_ONE;
	char *path = out_path(), *err;
	const struct cell *base, *other;
	unsigned int i, k, extent;
	struct result r;

	(void)state;
	tell();
	assert_int_equal(RUN(&err, "-q", "-o", path, "--methods", FIRST ",memset", "--orders", "0",
			     "--samples", "140", "--extent-rounds", "7", "--verify", "0"), CB_OK);
	free(err);
	assert_int_equal(calls.nr, 3 * 145);
	for (extent = 0; extent < 20; extent++) {
		for (i = 0; i < 7; i++) {
			unsigned int round = 5 + 7 * extent + i;

			ratios[i] = (double)baseline_ticks(round) / other_ticks(round);
		}
		units[extent] = middle(ratios, 7);
	}
	for (k = 0; tail(20, k + 1) <= 0.025; k++)
		;
	assert_int_equal(result_read(&r, path, NULL, NULL), CB_OK);
	base = find(&r, FIRST);
	other = find(&r, "memset");
	assert_true(isnan(CELL_NUM(base, ratio)));
	assert_true(fabs(CELL_NUM(other, ratio) - middle(units, 20)) < step);
	assert_true(fabs(CELL_NUM(other, ratio_lo) - units[k - 1]) < step);
	assert_true(fabs(CELL_NUM(other, ratio_hi) - units[20 - k]) < step);
	/* The hidden copy took as long as the baseline in every round. */
	assert_true(fabs(CELL_NUM(other, floor_lo) - 1) < step);
	assert_true(fabs(CELL_NUM(other, floor_hi) - 1) < step);
	assert_int_equal(CELL_NUM(base, n), 140);
	assert_int_equal(CELL_NUM(other, n), 140);
	assert_string_equal(CELL_TEXT(base, state), "ok");
	result_free(&r);
	free(path);
}

static char *sequence_of(const char *seed)
{
	char *path = out_path(), *err;

	tell();
	assert_int_equal(RUN(&err, "-q", "--force", "-o", path, "--methods", FIRST ",memset",
			     "--orders", "0-1", "--samples", "50", "--seed", seed), CB_OK);
	free(err);
	free(path);
	return strndup(calls.who, calls.nr);
}

static void test_seed(void **state)
{
	char *one = sequence_of("5"), *two = sequence_of("5"), *three = sequence_of("6");

	(void)state;
	assert_string_equal(one, two);
	assert_string_not_equal(one, three);
	free(one);
	free(two);
	free(three);
}

/* Memory */

#define GUARD	4096

/* Every primitive, in calls that leave a rest: all of it, and nothing around it */
static void test_primitives(void **state)
{
	static const unsigned long chunks[] = { 4096, 3 * 4096, 8 * 4096 };
	unsigned long len = 8 * 4096, i, k, m;
	unsigned char *map = aligned_alloc(4096, len + 2 * GUARD);

	(void)state;
	for (m = 0; m < user_nr_methods; m++) {
		if (!strcmp(user_methods[m].name, "test_empty") ||
		    (user_methods[m].available && !user_methods[m].available()))
			continue;
		for (k = 0; k < 2 * ARRAY_SIZE(chunks); k++) {
			struct user_sample s = {
				.addr = (char *)map + GUARD,
				.len = len,
				.chunk = chunks[k / 2],
				.drain = k & 1,
			};

			memset(map, 0x5a, len + 2 * GUARD);
			user_methods[m].time(&s);
			assert_true(s.ticks > 0);
			for (i = 0; i < len + 2 * GUARD; i++)
				if (map[i] != (i < GUARD || i >= GUARD + len ? 0x5a : 0))
					fail_msg("%s, chunk %lu: byte %lu", user_methods[m].name,
						 s.chunk, i);
		}
	}
	free(map);
}

static unsigned long leave_at;
static unsigned int leave_after;	/* so many calls */

static void time_leaky(struct user_sample *s)
{
	char kept = s->addr[leave_at];

	memset(s->addr, 0, s->len);
	if (!leave_after)
		s->addr[leave_at] = kept;
	leave_after -= !!leave_after;
	s->ticks = 1;
}

static void test_verify(void **state)
{
	static const unsigned long at[] = { 0, 1, 7, 8, 4095, 4096, 65528, 65535 };
	struct user_method leaky = { .name = "leaky", .time = time_leaky };
	struct user_sample s = { .len = 65536, .chunk = 4096 };
	char *path = out_path(), *err;
	const struct cell *cell;
	unsigned long i, where;
	struct result r;

	(void)state;
	s.addr = aligned_alloc(4096, s.len);
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		leave_at = at[i];
		assert_false(user_verify(&leaky, &s, i & 1, &where));
		assert_int_equal(where, at[i]);
	}
	assert_true(user_verify(method(WHOLE), &s, false, &where));
	free(s.addr);

	/* Seen only by the verification behind the rounds, where it is called 15 times */
	leave_at = 8191;
	leave_after = 8;
	method("memset")->time = time_leaky;
	assert_int_equal(RUN(&err, "-q", "-o", path, "--methods", WHOLE ",memset", "--orders", "1",
			     "--samples", "10"), CB_FAILED);
	expect(err, "1 cells failed");
	assert_int_equal(result_read(&r, path, NULL, NULL), CB_OK);
	cell = find(&r, "memset");
	assert_string_equal(CELL_TEXT(cell, state), "failed");
	assert_string_equal(CELL_TEXT(cell, verify), "failed");
	assert_string_equal(CELL_TEXT(cell, note), "left byte 8191 of 8192 uncleared");
	/* reported as failed, never as fast */
	assert_true(isnan(CELL_NUM(cell, p50_ns)) && isnan(CELL_NUM(cell, ratio)));
	assert_int_equal(CELL_NUM(cell, n), 0);
	cell = find(&r, WHOLE);
	assert_string_equal(CELL_TEXT(cell, verify), "ok");
	assert_int_equal(CELL_NUM(cell, n), 10);
	result_free(&r);
	free(path);
}

static void check_places(unsigned long len, __u64 wanted)
{
	struct user_extents x;
	atomic_bool stop = false;
	unsigned long i, k;
	char **seen, *last;

	assert_int_equal(user_extents_init(&x, len, wanted, USER_ANY, &stop), 0);
	seen = calloc(x.nr, sizeof(*seen));
	assert_true(x.nr >= wanted);
	for (i = 0; i < x.nr; i++) {
		seen[i] = user_extents_next(&x);
		assert_int_equal((unsigned long)seen[i] % (len < (2 << 20) ? len : 2 << 20), 0);
		if (wanted > 100)
			continue;
		for (k = 0; k < i; k++)
			assert_true(seen[k] + len <= seen[i] || seen[i] + len <= seen[k]);
	}
	last = user_extents_next(&x);
	assert_ptr_equal(last, seen[0]);	/* then they come again */
	free(seen);
	user_extents_free(&x);
}

static void test_extents(void **state)
{
	struct user_extents x;
	atomic_bool stop = false;

	(void)state;
	check_places(1 << 20, 12);
	check_places(2 << 20, 13);
	check_places(4 << 20, 17);
	check_places(4096, 5000);
	/* more than there is */
	assert_int_equal(user_extents_init(&x, 1UL << 50, 1, USER_ANY, &stop), -ENOMEM);
}

/* Knobs */

static void test_knobs(void **state)
{
	static const char *const bad[][3] = {
		{ "--samples", "0", "samples '0': out of range; legal is a number from 1 to 10000000" },
		{ "--samples", "10000001", "out of range" },
		{ "--samples", "-1", "out of range" },
		{ "--samples", "-18446744073709551615", "out of range" },
		{ "--samples", "ten", "not understood" },
		{ "--samples", "1x", "not understood" },
		{ "--samples", "", "not understood" },
		{ "--seed", "18446744073709551616", "out of range" },
		{ "--extent-rounds", "0", "from 1 to 1000" },
		{ "--warmup", "100001", "from 0 to 100000" },
		{ "--orders", "19", "out of range; legal is orders and ranges such as 0-3,9; from 0 to 18" },
		{ "--orders", "3-1", "not understood" },
		{ "--orders", "", "not understood" },
		{ "--methods", "legacy,legacy", "no name twice" },
		{ "--methods", "rep", "not understood; legal is a list" },
		{ "--methods", "upstream", "not in user space" },
		{ "--batches", "0", "out of range" },
		{ "--batches", "1,1", "none twice" },
		{ "--batches", "auto", "batches 'auto': not in user space" },
		{ "--contexts", "softirq", "contexts 'softirq': not in user space; legal is process" },
		{ "--contexts", "process,process", "not understood" },
		{ "--contexts", "attic", "not understood" },
		{ "--cache", "fresh", "cache 'fresh': not in user space; legal is cold or warm" },
		{ "--cache", "hot", "not understood" },
		{ "--cpu", "8191", "legal, but not on this machine; legal is any, or a CPU" },
		{ "--cpu", "8192", "out of range" },
		{ "--nid", "1023", "legal, but not on this machine; legal is any, or a node" },
		{ "--drain", "2", "0 or 1" },
		{ "--after", "all", "not understood; legal is none, touch or victim" },
		{ "--victim-kib", "3", "out of range; legal is a number from 4 to 32768" },
		{ "--victim-kib", "32769", "out of range" },
		{ "--victim-cpu", "any", "not understood; legal is same, or a CPU" },
		{ "--victim-cpu", "8191", "legal, but not on this machine; legal is same, or a CPU" },
		{ "--victim-cpu", "8192", "out of range" },
		{ "--load", "1", "no option --load; the user backend's are: --after --batches" },
		{ "--module", "x.ko", "--backend user takes no module" },
	};
	char *path = out_path(), *err;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		int status = RUN(&err, "-o", path, bad[i][0], bad[i][1]);

		if (status != CB_USAGE)
			fail_msg("%s %s: %d", bad[i][0], bad[i][1], status);
		expect(err, bad[i][2]);
		assert_int_equal(access(path, F_OK), -1);
	}
	/* Every batch covers the extent: there is nothing to run. */
	assert_int_equal(RUN(&err, "-o", path, "--methods", WHOLE, "--batches", "4", "--orders",
			     "0-2"), CB_FAILED);
	expect(err, "no cell is left: every batch covers the extent, add full to batches");
	free(path);
}

static void test_header(void **state)
{
	char *path = out_path(), *err, *out;
	const struct cell *cell;
	struct result r;
	unsigned int order;

	(void)state;
	assert_int_equal(RUN(&err, "-q", "-o", path, "--methods", WHOLE, "--batches", "1,full,3",
			     "--orders", "0,2", "--samples", "7", "--extent-rounds", "2"), CB_OK);
	assert_string_equal(err, "");
	free(err);
	assert_int_equal(result_read(&r, path, NULL, NULL), CB_OK);
	/* at order 0 a batch of 1 is the whole extent */
	assert_int_equal(r.nr_cells, 4);
	assert_string_equal(CELL_TEXT(&r.cells[0], batch), "full");
	assert_string_equal(CELL_TEXT(&r.cells[1], batch), "1");
	assert_string_equal(CELL_TEXT(&r.cells[3], batch), "3");
	assert_string_equal(json_string_value(json_object_get(r.header, "backend")), "user");
	assert_string_equal(env_get(r.environment, "page_size"), "4096");
	assert_string_equal(env_get(r.knobs, "batches"), "1,full,3");
	assert_string_equal(env_get(r.knobs, "contexts"), "process");
	assert_true(has_mark(r.marks, "user") && has_mark(r.marks, "distorted"));
	result_free(&r);
	assert_int_equal(run_verb(&verb_show, &out, NULL, path, NULL), CB_OK);
	expect(out, "USER SPACE: ");

	/* Warm above the LLC is refused, and the result says so. */
	user_state_init();
	for (order = 0; 4096ULL << order <= user_llc_bytes; order++)
		;
	if (user_llc_bytes && order <= 18) {
		char *text = xasprintf("%u", order);

		assert_int_equal(RUN(&err, "-q", "--force", "-o", path, "--cache", "warm",
				     "--orders", text), CB_OK);
		free(err);
		assert_int_equal(result_read(&r, path, NULL, NULL), CB_OK);
		cell = find(&r, "legacy");
		assert_string_equal(CELL_TEXT(cell, state), "refused");
		assert_non_null(strstr(CELL_TEXT(cell, note), "warm: larger than the LLC"));
		result_free(&r);
		free(text);
	}
	free(path);
}

/* What a clear leaves behind */

static void check_after(const char *path, const char *note, unsigned long bytes)
{
	const struct cell *cell;
	struct result r;
	unsigned int i;

	assert_int_equal(result_read(&r, path, NULL, NULL), CB_OK);
	assert_int_equal(r.nr_cells, 2);
	for (i = 0; i < r.nr_cells; i++) {
		cell = &r.cells[i];
		assert_string_equal(CELL_TEXT(cell, state), "ok");
		assert_string_equal(CELL_TEXT(cell, verify), "ok");
		assert_int_equal(CELL_NUM(cell, n), 20);
		/* once, though two cells come of one method */
		if (strncmp(CELL_TEXT(cell, note), note, strlen(note)) ||
		    strstr(CELL_TEXT(cell, note) + strlen(note), "after="))
			fail_msg("%s", CELL_TEXT(cell, note));
		assert_true(fabs(CELL_NUM(cell, gb_per_s) * CELL_NUM(cell, p50_ns) / bytes - 1) < 0.02);
	}
	result_free(&r);
}

static void test_after(void **state)
{
	char *path = out_path(), *err, *out, *cpu;
	int other;

	(void)state;
	assert_int_equal(RUN(&err, "-q", "-o", path, "--methods", WHOLE, "--batches", "1,full",
			     "--orders", "2", "--samples", "20", "--after", "touch"), CB_OK);
	free(err);
	check_after(path, "after=touch: the time of the first read", 4 * 4096);
	assert_int_equal(run_verb(&verb_show, &out, NULL, path, "--format", "mail", NULL), CB_OK);
	assert_non_null(strstr(out, "Time of a read after clearing one extent"));
	expect(out, "after: touch");
	for (other = -1; other < sysconf(_SC_NPROCESSORS_ONLN) && other < 2; other++) {
		cpu = other < 0 ? xstrdup("same") : xasprintf("%d", other);
		err = xasprintf("after=victim: the time to read 8 KiB again%s%s; ",
				other < 0 ? "" : " on CPU ", other < 0 ? "" : cpu);
		assert_int_equal(RUN(NULL, "-q", "--force", "-o", path, "--methods", WHOLE,
				     "--batches", "1,full", "--orders", "2", "--samples", "20",
				     "--after", "victim", "--victim-kib", "8", "--victim-cpu",
				     cpu), CB_OK);
		check_after(path, err, 8192);
		free(err);
		free(cpu);
	}
	assert_int_equal(RUN(&err, "-q", "--force", "-o", path, "--latency", "1", "--after",
			     "touch"), sysconf(_SC_NPROCESSORS_ONLN) > 1 ? CB_FAILED : CB_USAGE);
	free(err);
	free(path);
}

/* Streaming, Ctrl-C, resuming */

static void test_interrupted(void **state)
{
	char *path = out_path(), *err, *text = NULL;
	unsigned int lines = 0, i, kept;
	struct result r;
	pid_t pid;
	int status;

	(void)state;
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		tell();
		calls.sleep_us = 500;
		status = RUN(NULL, "-q", "-o", path, "--methods", FIRST ",memset", "--orders", "0-10",
			     "--samples", "100");
		_exit(status);	/* not the test's atexit(), which takes the folder away */
	}
	/* Two blocks are in the file while the third is measured. */
	for (i = 0; i < 10000 && lines < 5; i++) {
		usleep(1000);
		text = read_text(path);
		lines = text ? count_lines(text) : 0;
		free(text);
	}
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	kill(pid, SIGINT);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), CB_STOPPED);
	assert_int_equal(result_read(&r, path, NULL, NULL), CB_OK);
	assert_true(r.stopped && r.nr_cells >= 4 && r.nr_cells < 22);
	kept = r.nr_cells;
	for (i = 0; i < kept; i++)
		if (strcmp(CELL_TEXT(&r.cells[i], state), "ok"))
			assert_string_equal(CELL_TEXT(&r.cells[i], state), "partial");
	result_free(&r);

	/* The file knows its backend. */
	tell();
	assert_int_equal(run_verb(&verb_run, NULL, &err, "-q", "--resume", path, "--backend",
				  "module", NULL), CB_USAGE);
	expect(err, "was measured by --backend user");
	assert_int_equal(run_verb(&verb_run, NULL, &err, "-q", "--resume", path, NULL), CB_OK);
	free(err);
	assert_int_equal(result_read(&r, path, NULL, NULL), CB_OK);
	assert_int_equal(r.nr_cells, 22);
	assert_false(r.stopped);
	for (i = 0; i < 22; i++)
		assert_string_equal(CELL_TEXT(&r.cells[i], state), "ok");
	result_free(&r);
	free(path);
}

static atomic_uint *counted;	/* calls, for another process to see */

static void time_counted(struct user_sample *s)
{
	memset(s->addr, 0, s->len);
	s->ticks = 1000;
	atomic_fetch_add(counted, 1);
}

/* A stop does not wait for the end of a block, which here takes minutes. */
static void test_stops_soon(void **state)
{
	char *path = out_path();
	struct result r;
	int status, i;
	pid_t pid;

	(void)state;
	counted = mmap(NULL, sizeof(*counted), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(counted != MAP_FAILED);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		method("memset")->time = time_counted;
		status = RUN(NULL, "-q", "-o", path, "--methods", "memset", "--orders", "4",
			     "--samples", "10000000");
		_exit(status);
	}
	for (i = 0; i < 1000 && atomic_load(counted) < 100; i++)
		usleep(10000);
	kill(pid, SIGINT);
	for (i = 0; i < 300 && !waitpid(pid, &status, WNOHANG); i++)
		usleep(10000);
	if (i == 300) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), CB_STOPPED);
	assert_int_equal(result_read(&r, path, NULL, NULL), CB_OK);
	assert_true(r.stopped);
	assert_int_equal(r.nr_cells, 1);
	assert_string_equal(CELL_TEXT(&r.cells[0], state), "partial");
	assert_true(CELL_NUM(&r.cells[0], n) >= 20);
	result_free(&r);
	munmap(counted, sizeof(*counted));
	free(path);
}

#define USER_TEST(_f)	cmocka_unit_test_setup_teardown(_f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		USER_TEST(test_shuffle),
		USER_TEST(test_ratio),
		USER_TEST(test_pairs),
		USER_TEST(test_seed),
		USER_TEST(test_primitives),
		USER_TEST(test_verify),
		USER_TEST(test_extents),
		USER_TEST(test_knobs),
		USER_TEST(test_header),
		USER_TEST(test_after),
		USER_TEST(test_interrupted),
		USER_TEST(test_stops_soon),
	};

	user_methods_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
