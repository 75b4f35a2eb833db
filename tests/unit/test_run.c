// SPDX-License-Identifier: GPL-2.0
/*
 * `run` against a module that is not there: a folder with its files, and a
 * write() that behaves as theirs do. A write of 1 to `run` comes back when the
 * run is over; knobs are refused with the module's errnos.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "debugfs.h"
#include "fixture.h"
#include "output.h"

ssize_t __real_write(int fd, const void *buf, size_t len);
ssize_t __wrap_write(int fd, const void *buf, size_t len);

/* What the module does */
static struct {
	char *dir;
	unsigned int block_ms;		/* a context and order take so long */
	int run_error;			/* a write of 1 to `run` gives it at once */
	const char *last_status;	/* instead of "done" */
	const char *state;		/* of every cell */
	bool partial;			/* what was stopped is reported */
	off_t full_at;			/* the disk has room for so many bytes of a result */
	atomic_bool stop;
} fake;

static char *fake_file(const char *name, const char *text)
{
	char *relative = xasprintf("fake/%s", name), *path = temp_file(relative, text);

	free(relative);
	return path;
}

static void fake_set(const char *name, const char *text, mode_t mode)
{
	char *path = fake_file(name, text);

	chmod(path, mode);
	free(path);
}

static void fake_append(const char *name, const char *text)
{
	char *path = fake_file(name, NULL);
	FILE *to = fopen(path, "a");

	fputs(text, to);
	fclose(to);
	free(path);
}

/* Status files are replaced whole, as a read of the real one gives it whole. */
static void fake_status(const char *text)
{
	char *path = fake_file("status", NULL), *new = fake_file("status.new", text);

	chmod(new, 0400);
	rename(new, path);
	free(new);
	free(path);
}

static char *fake_knob(const char *name)
{
	char *path = fake_file(name, NULL), *value = read_line(path);

	free(path);
	return value;
}

#define INFO "clearbench: 0.1.0\nformat: 1\nkernel: test\npreempt: lazy\nmarks: emulated\n"

static void fake_reset(void)
{
	char *dir = temp_file("fake", NULL);

	mkdir(dir, 0700);
	memset(&fake, 0, sizeof(fake));
	fake.dir = dir;
	setenv("CLEARBENCH_DEBUGFS", dir, 1);
	fake_set("info", INFO, 0400);
	fake_set("run", "0\n", 0600);
	fake_set("orders", "0-3\n", 0600);
	fake_set("contexts", "process,softirq\n", 0600);
	fake_set("samples", "100\n", 0600);
	fake_set("force_preempt", "0\n", 0600);
	fake_set("unsafe", "0\n", 0600);
	fake_set("cpu", "any\n", 0600);
	/* as a run before left them */
	fake_set("results", CB_RESULTS_MAGIC "\ncontext\torder\tmethod\tbatch\tstate\tnote\tn\tp50_ns\n"
		 "old\t0\tlegacy\t-\tok\t-\t2\t9\n", 0400);
	fake_set("histograms", CB_HISTOGRAMS_MAGIC "\n"
		 "context\torder\tmethod\tbatch\thist\tlower\tupper\tcount\n", 0400);
	fake_status("done\n");
	fake_set("orders.asked", "", 0400);
}

static void pause_ms(unsigned int ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&time, NULL);
}

static void fake_block(const char *context, unsigned int order, const char *state)
{
	static const char *const variant[] = { "legacy\t-", "batched\tfull" };
	unsigned int i;

	/* The histograms are there before the cells that they belong to. */
	for (i = 0; i < ARRAY_SIZE(variant); i++) {
		char *line = xasprintf("%s\t%u\t%s\tclear\t400\t404\t2\n", context, order, variant[i]);

		fake_append("histograms", line);
		free(line);
	}
	for (i = 0; i < ARRAY_SIZE(variant); i++) {
		char *line = xasprintf("%s\t%u\t%s\t%s\t-\t2\t401.5\n", context, order, variant[i],
				       state);

		fake_append("results", line);
		free(line);
	}
}

static int fake_run(void)
{
	char *orders = fake_knob("orders"), *contexts = fake_knob("contexts"), *context, *at;
	unsigned int order, done = 0;
	struct list list;

	if (fake.run_error)
		return fake.run_error;
	assert_int_equal(list_parse(&list, orders), 0);
	fake_append("orders.asked", contexts);
	fake_append("orders.asked", " ");
	fake_append("orders.asked", orders);
	fake_append("orders.asked", "\n");
	fake_set("results", CB_RESULTS_MAGIC "\ncontext\torder\tmethod\tbatch\tstate\tnote\tn\tp50_ns\n",
		 0400);
	fake_set("histograms", CB_HISTOGRAMS_MAGIC "\n"
		 "context\torder\tmethod\tbatch\thist\tlower\tupper\tcount\n", 0400);
	for (context = strtok_r(contexts, ",", &at); context; context = strtok_r(NULL, ",", &at)) {
		for (order = 0; order < LIST_NUMBERS && !fake.stop; order++) {
			char *status;
			unsigned int ms;

			if (!list.in[order])
				continue;
			status = xasprintf("running %u/16 context=%s order=%u method=legacy batch=-\n",
					   done, context, order);
			fake_status(status);
			free(status);
			for (ms = 0; ms < fake.block_ms && !fake.stop; ms++)
				pause_ms(1);
			if (fake.stop && !fake.partial)
				break;
			fake_block(context, order,
				   fake.stop ? "partial" : fake.state ? fake.state : "ok");
			done += 2;
		}
	}
	fake_status(fake.stop ? "stopped\n" : fake.last_status ? fake.last_status : "done\n");
	free(contexts);
	free(orders);
	return fake.stop ? EINTR : 0;
}

/* Values that the module refuses */
static int fake_refuses(const char *name, const char *value)
{
	if (!strcmp(name, "samples") && !strcmp(value, "0"))
		return ERANGE;
	if (!strcmp(name, "samples") && !strcmp(value, "many"))
		return EINVAL;
	if (!strcmp(name, "cpu") && !strcmp(value, "4096"))
		return EDOM;
	return 0;
}

static ssize_t refuse(int err)
{
	errno = err;
	return -1;
}

ssize_t __wrap_write(int fd, const void *buf, size_t len)
{
	char link[64], path[PATH_MAX], *text;
	ssize_t ret;
	int err;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ret = readlink(link, path, sizeof(path) - 1);
	if (ret < 0 || !fake.dir)
		return __real_write(fd, buf, len);
	path[ret] = '\0';
	if (fake.full_at && strstr(path, "out.jsonl")) {
		off_t at = lseek(fd, 0, SEEK_CUR);

		if (at >= fake.full_at)
			return refuse(ENOSPC);
		if (at + (off_t)len > fake.full_at)
			len = fake.full_at - at;
		return __real_write(fd, buf, len);
	}
	if (strncmp(path, fake.dir, strlen(fake.dir)))
		return __real_write(fd, buf, len);
	text = strndup(buf, len);
	err = 0;
	if (strcmp(file_name(path), "run"))
		err = fake_refuses(file_name(path), text);
	else if (!strcmp(text, "0"))
		atomic_store(&fake.stop, true);
	else
		err = fake_run();
	free(text);
	if (err)
		return refuse(err);
	if (!strcmp(file_name(path), "run"))
		return len;
	if (ftruncate(fd, 0))
		return -1;
	return __real_write(fd, buf, len);
}

/* Checks on what is left */

static char *out_path(void)
{
	return temp_file("out.jsonl", NULL);
}

static void check_restored(void)
{
	static const char *const held[][2] = {
		{ "orders", "0-3" }, { "contexts", "process,softirq" }, { "samples", "100" },
		{ "force_preempt", "0" }, { "unsafe", "0" }, { "cpu", "any" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(held); i++) {
		char *value = fake_knob(held[i][0]);

		assert_string_equal(value, held[i][1]);
		free(value);
	}
}

static void check_file(int status, size_t cells, bool complete)
{
	char *path = out_path(), *err;
	struct capture c = capture_begin(STDERR_FILENO);
	struct result r;
	int got = result_read(&r, path, NULL, NULL);

	err = capture_end(&c);
	if (got != status || r.nr_cells != cells)
		fail_msg("%d, %zu cells: %s", got, r.nr_cells, err);
	assert_int_equal(r.footer && !r.stopped, complete);
	result_free(&r);
	free(err);
	free(path);
}

static void expect(char *out, const char *what)
{
	if (!strstr(out, what))
		fail_msg("no \"%s\" in:\n%s", what, out);
	free(out);
}

/* In a process of its own, for its signals. Return: status. */
static int run_child(int sig, unsigned int after_cells, char **err, const char *first,
		     const char *second)
{
	char *path = out_path();
	struct capture c = capture_begin(STDERR_FILENO);
	char *argv[] = { "run", (char *)first, (char *)second };
	int status, i;
	pid_t pid;

	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		/* not the test's atexit(), which would take the folder away */
		status = verb_run.main(second ? 3 : 2, argv);
		fflush(NULL);
		_exit(status);
	}
	for (i = 0; sig && i < 5000; i++) {
		char *text = read_text(path);
		unsigned int lines = text ? count_lines(text) : 0;

		free(text);
		if (lines > after_cells)
			break;
		pause_ms(2);
	}
	if (sig)
		kill(pid, sig);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	*err = capture_end(&c);
	free(path);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* The tests */

static int setup(void **state)
{
	char *path = out_path();

	(void)state;
	fake_reset();
	unlink(path);
	free(path);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(fake.dir);
	fake.dir = NULL;
	return 0;
}

/* verb_run blocks signals for good: each run gets a process of its own. */
#define RUN(_err, ...) ({						\
	int status;							\
	pid_t pid;							\
	struct capture c = capture_begin(STDERR_FILENO);		\
									\
	pid = fork();							\
	if (!pid) {							\
		status = run_verb_in_place(__VA_ARGS__, NULL);		\
		fflush(NULL);						\
		_exit(status);						\
	}								\
	waitpid(pid, &status, 0);					\
	*(_err) = capture_end(&c);					\
	WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);	\
})

static int run_verb_in_place(const char *first, ...)
{
	char *argv[32] = { "run" };
	const char *arg;
	int argc = 1;
	va_list ap;

	va_start(ap, first);
	for (arg = first; arg && argc < 31; arg = va_arg(ap, const char *))
		argv[argc++] = (char *)arg;
	va_end(ap);
	return verb_run.main(argc, argv);
}

static void test_whole_run(void **state)
{
	char *path = out_path(), *err, *text;

	(void)state;
	assert_int_equal(RUN(&err, "--orders", "0-1", "--unsafe", "--force-preempt", "--samples=7",
			     "-o", path), CB_OK);
	expect(err, "");
	check_file(CB_OK, 8, true);
	check_restored();
	text = read_text(path);
	assert_non_null(strstr(text, "\"unsafe\":\"1\""));
	assert_non_null(strstr(text, "\"samples\":\"7\""));
	assert_non_null(strstr(text, "\"command\":\"clearbench run --orders 0-1 --unsafe --force-preempt --samples=7 -o out.jsonl\""));
	assert_non_null(strstr(text, "\"hist\":{\"clear\":[[400,404,2]]}"));
	assert_null(strstr(text, "\"old\""));
	assert_null(strstr(text, "/tmp"));
	free(text);

	/* There it is now. */
	assert_int_equal(RUN(&err, "-o", path), CB_FAILED);
	expect(err, "exists: --force overwrites it");
	check_file(CB_OK, 8, true);
	assert_int_equal(RUN(&err, "--force", "-q", "-o", path), CB_OK);
	assert_string_equal(err, "");
	free(err);
	check_file(CB_OK, 16, true);
	free(path);
}

static void test_usage(void **state)
{
	char *path = out_path(), *err;

	(void)state;
	assert_int_equal(RUN(&err, "--samples", "3"), CB_USAGE);
	expect(err, "-o FILE is missing");
	assert_int_equal(RUN(&err, "--sampels", "3", "-o", path), CB_USAGE);
	expect(err, "no option --sampels; the module's are: --contexts --cpu --force-preempt --orders --samples --unsafe");
	assert_int_equal(RUN(&err, "-o", path, "--samples"), CB_USAGE);
	expect(err, "--samples needs a value");
	assert_int_equal(RUN(&err, "-o"), CB_USAGE);
	expect(err, "-o needs a value");
	assert_int_equal(RUN(&err, "--backend", "kernel", "-o", path), CB_USAGE);
	expect(err, "there are: module user");
	assert_int_equal(RUN(&err, "extra", "-o", path), CB_USAGE);
	free(err);
	/* files that are no knobs are no options */
	assert_int_equal(RUN(&err, "--run", "1", "-o", path), CB_USAGE);
	expect(err, "no option --run");
	assert_int_equal(RUN(&err, "--results", "1", "-o", path), CB_USAGE);
	free(err);
	assert_int_equal(access(path, F_OK), -1);
	check_restored();
	free(path);
}

static void test_refused_knob(void **state)
{
	static const struct {
		const char *option;
		const char *value;
		const char *words;
	} refused[] = {
		{ "--samples", "0", "samples '0': out of range" },
		{ "--samples", "many", "samples 'many': not understood" },
		{ "--cpu", "4096", "cpu '4096': legal, but not on this machine" },
	};
	char *path = out_path(), *err;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		assert_int_equal(RUN(&err, "--orders", "2", refused[i].option, refused[i].value,
				     "-o", path), CB_USAGE);
		expect(err, refused[i].words);
		assert_int_equal(access(path, F_OK), -1);
		check_restored();
	}
	free(path);
}

static void test_interrupted(void **state)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	char *path = out_path(), *err;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(signals); i++) {
		fake.block_ms = 400;
		unlink(path);
		assert_int_equal(run_child(signals[i], 2, &err, "-o", path), CB_STOPPED);
		free(err);
		check_restored();
		err = read_text(path);
		assert_non_null(strstr(err, "\"complete\":false"));
		assert_true(count_lines(err) >= 4 && count_lines(err) < 18);
		free(err);
	}
	free(path);
}

static void test_failures(void **state)
{
	char *path = out_path(), *err;

	(void)state;
	fake.last_status = "failed the CPU went offline\n";
	assert_int_equal(RUN(&err, "-o", path), CB_FAILED);
	expect(err, "the run failed: the CPU went offline");
	check_file(CB_OK, 16, false);
	unlink(path);

	fake.last_status = "stopped\n";
	assert_int_equal(RUN(&err, "-o", path), CB_STOPPED);
	expect(err, "stopped from elsewhere");
	unlink(path);
	fake.last_status = NULL;

	fake.run_error = EBUSY;
	assert_int_equal(RUN(&err, "-o", path), CB_FAILED);
	expect(err, "another run is under way");
	check_file(CB_OK, 0, false);
	unlink(path);
	fake.run_error = ENOMEM;
	assert_int_equal(RUN(&err, "-o", path), CB_FAILED);
	expect(err, "Cannot allocate memory");
	unlink(path);
	fake.run_error = 0;

	fake.state = "failed";
	assert_int_equal(RUN(&err, "-o", path), CB_FAILED);
	expect(err, "16 cells failed");
	check_file(CB_OK, 16, true);
	unlink(path);
	fake.state = "refused";
	assert_int_equal(RUN(&err, "-o", path), CB_OK);
	free(err);
	unlink(path);

	fake_status("running 1/2 context=process order=0 method=legacy batch=-\n");
	assert_int_equal(RUN(&err, "-o", path), CB_FAILED);
	expect(err, "another run is under way");
	unlink(path);
	fake_set("info", "format: 7\n", 0400);
	assert_int_equal(RUN(&err, "-o", path), CB_FAILED);
	expect(err, "format 7");
	setenv("CLEARBENCH_DEBUGFS", "/nonexistent", 1);
	assert_int_equal(RUN(&err, "-o", path), CB_FAILED);
	assert_int_equal(count_lines(err), 1);
	free(err);
	assert_int_equal(RUN(&err, "-o", "/nonexistent/x"), CB_FAILED);
	expect(err, "/nonexistent/x: No such file or directory: make the folder first");
	assert_int_equal(access(path, F_OK), -1);
	free(path);
}

static void test_disk_full(void **state)
{
	char *path = out_path(), *err, *text;

	(void)state;
	fake.full_at = 1500;
	assert_int_equal(RUN(&err, "-q", "-o", path), CB_FAILED);
	assert_int_equal(count_lines(err), 1);
	expect(err, "No space left on device: what is whole is kept");
	fake.full_at = 0;
	text = read_text(path);
	assert_true(strlen(text) <= 1500 && text[strlen(text) - 1] == '\n');
	assert_true(count_lines(text) > 2);
	free(text);
	check_restored();

	assert_int_equal(RUN(&err, "--resume", path), CB_OK);
	free(err);
	check_file(CB_OK, 16, true);
	free(path);
}

static void check_asked(const char *expected)
{
	char *path = fake_file("orders.asked", NULL), *asked = read_text(path);

	assert_string_equal(asked, expected);
	fake_set("orders.asked", "", 0400);
	free(asked);
	free(path);
}

static void cut_lines(const char *path, unsigned int lines, unsigned int bytes)
{
	char *text = read_text(path), *at = text;

	while (lines--)
		at = strchr(at, '\n') + 1;
	assert_int_equal(truncate(path, at - text + bytes), 0);
	free(text);
}

static void test_resume(void **state)
{
	char *path = out_path(), *err;

	(void)state;
	assert_int_equal(RUN(&err, "--samples", "7", "-o", path), CB_OK);
	free(err);
	check_asked("process,softirq 0-3\n");

	/* nothing to do */
	assert_int_equal(RUN(&err, "--resume", path), CB_OK);
	expect(err, "is complete: nothing to do");
	check_asked("");

	/* within process 2, whose first cell is whole: the block is measured again */
	cut_lines(path, 6, 30);
	assert_int_equal(RUN(&err, "--resume", path), CB_OK);
	expect(err, "4 cells are kept");
	check_asked("process 2-3\nsoftirq 0-3\n");
	check_file(CB_OK, 16, true);
	check_restored();

	/* a last block that looks whole may lack a variant: it goes as well */
	cut_lines(path, 17, 0);
	assert_int_equal(RUN(&err, "--resume", path), CB_OK);
	free(err);
	check_asked("softirq 3\n");
	check_file(CB_OK, 16, true);
	err = read_text(path);
	assert_non_null(strstr(err, "\"resumed\":true"));
	assert_non_null(strstr(err, "\"samples\":\"7\""));
	free(err);

	/* the header alone */
	cut_lines(path, 1, 0);
	assert_int_equal(RUN(&err, "--resume", path), CB_OK);
	free(err);
	check_asked("process,softirq 0-3\n");
	check_file(CB_OK, 16, true);

	/* other conditions */
	cut_lines(path, 6, 30);
	fake_set("info", INFO "clear_page: stosq\n", 0400);
	assert_int_equal(RUN(&err, "--resume", path), CB_FAILED);
	expect(err, "other conditions: clear_page: -, then stosq");
	check_asked("");
	assert_int_equal(RUN(&err, "--resume", path, "--force"), CB_OK);
	free(err);
	check_file(CB_OK, 16, true);
	err = read_text(path);
	assert_non_null(strstr(err, "\"changed\":[\"clear_page: -, then stosq\"]"));
	free(err);

	assert_int_equal(RUN(&err, "--resume", path, "--samples", "3"), CB_USAGE);
	expect(err, "leave out --samples");
	assert_int_equal(RUN(&err, "--resume", "/nonexistent"), CB_USAGE);
	free(err);
	free(path);
}

static void test_resume_stopped(void **state)
{
	char *path = out_path(), *err, *asked;

	(void)state;
	fake.block_ms = 400;
	fake.partial = true;
	assert_int_equal(run_child(SIGINT, 2, &err, "-o", path), CB_STOPPED);
	free(err);
	err = read_text(path);
	assert_non_null(strstr(err, "\"state\":\"partial\""));
	free(err);
	fake.block_ms = 0;
	fake_set("orders.asked", "", 0400);
	assert_int_equal(RUN(&err, "--resume", path), CB_OK);
	free(err);
	check_file(CB_OK, 16, true);
	err = read_text(path);
	assert_null(strstr(err, "\"state\":\"partial\""));
	free(err);
	asked = fake_knob("orders.asked");
	/* what was whole is not measured again */
	assert_null(strstr(asked, "process,softirq 0-3"));
	free(asked);
	free(path);
}

static void test_changed(void **state)
{
	char *path = out_path(), *err;
	pid_t pid;

	(void)state;
	fake.block_ms = 50;
	pid = fork();
	if (!pid) {
		pause_ms(150);
		fake_set("info", "clearbench: 0.1.0\nformat: 1\npreempt: full\n", 0400);
		_exit(0);
	}
	assert_int_equal(RUN(&err, "-q", "-o", path), CB_OK);
	waitpid(pid, NULL, 0);
	free(err);
	err = read_text(path);
	expect(err, "\"preempt: lazy, then full\"");
	free(path);
}

static void test_knob_names(void **state)
{
	struct module module = { .dir = fake.dir }, none = { .dir = "/nonexistent" };
	struct knobs knobs;
	char *text;

	(void)state;
	assert_int_equal(knobs_open(&knobs, &module), 0);
	assert_non_null(knobs_find(&knobs, "force-preempt"));
	assert_non_null(knobs_find(&knobs, "force_preempt"));
	assert_null(knobs_find(&knobs, "force"));
	assert_null(knobs_find(&knobs, "force-preempt-"));
	assert_null(knobs_find(&knobs, ""));
	assert_null(knobs_find(&knobs, "run"));
	assert_null(knobs_find(&knobs, "info"));
	text = knobs_options(&knobs);
	assert_string_equal(text, " --contexts --cpu --force-preempt --orders --samples --unsafe");
	free(text);
	knobs_free(&knobs);
	assert_true(knob_is_flag("unsafe"));
	assert_false(knob_is_flag("samples"));
	assert_int_equal(knobs_open(&knobs, &none), -ENOENT);
}

#define RUN_TEST(_f)	cmocka_unit_test_setup_teardown(_f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RUN_TEST(test_knob_names),
		RUN_TEST(test_whole_run),
		RUN_TEST(test_usage),
		RUN_TEST(test_refused_knob),
		RUN_TEST(test_interrupted),
		RUN_TEST(test_failures),
		RUN_TEST(test_disk_full),
		RUN_TEST(test_resume),
		RUN_TEST(test_resume_stopped),
		RUN_TEST(test_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
