// SPDX-License-Identifier: GPL-2.0
/*
 * Runs of a command, a line each in a file, and the thread's table of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads.h"
#include "../../module/hist.h"
#include "../../module/primitives.h"

const char *const run_column_name[RUN_COLUMNS] = {
	"boot", "kernel", "init_on_alloc", "thp", "cpu_model", "cpus", "marks", "command",
	"status", "user_s", "sys_s", "real_s", "minor_faults", "major_faults", "max_rss_kib",
};

const char *const time_name[TIMES] = { "user", "sys", "real" };

static volatile sig_atomic_t stopped;
static volatile pid_t child;

/**
 * fmt_minutes() - a time as the shell's `time` and the thread write it
 * @buf: UNIT_LEN long
 * @seconds: time; a tenth of a second is told from a minute on, else a thousandth
 */
const char *fmt_minutes(char *buf, double seconds)
{
	double unit = seconds < 59.9995 ? 1000 : 10;
	double minutes;

	if (!(seconds >= 0 && seconds < 1e9))
		return "-";
	seconds = round(seconds * unit) / unit;
	minutes = floor(seconds / 60);
	snprintf(buf, UNIT_LEN, "%.0fm%.*fs", minutes, unit > 10 ? 3 : 1,
		 seconds - 60 * minutes);
	return buf;
}

static char *or_unknown(char *text)
{
	char *at;

	for (at = text; at && *at; at++)
		if ((unsigned char)*at < ' ')
			*at = ' ';
	return text && *text ? text : xstrdup("unknown");
}

/*
 * The last word about it on the command line, else the kernel's default, where
 * its configuration lies beside it.
 */
static char *init_setting(const char *release)
{
	static const char option[] = "init_on_alloc=";
	char *text = read_line("/proc/cmdline"), *at = text, *value = NULL, *path;

	while (at && (at = strstr(at, option))) {
		if (at == text || at[-1] == ' ')
			value = at + strlen(option);
		at++;
	}
	if (value) {
		/* As the kernel's kstrtobool() takes it */
		bool on = strchr("1yYtT", *value) || !strncmp(value, "on", 2);

		free(text);
		return xstrdup(on ? "1" : "0");
	}
	free(text);
	path = xasprintf("/boot/config-%s", release);
	text = read_text(path);
	free(path);
	if (!text)
		return xstrdup("default");
	value = strstr(text, "\nCONFIG_INIT_ON_ALLOC_DEFAULT_ON=y") ? "1" : "0";
	free(text);
	return xstrdup(value);
}

static char *huge_pages_mode(void)
{
	char *text = read_line("/sys/kernel/mm/transparent_hugepage/enabled"), *at, *mode;

	at = text ? strchr(text, '[') : NULL;
	mode = at ? strndup(at + 1, strcspn(at + 1, "]")) : xstrdup("none");
	free(text);
	return mode;
}

static char *marks(void)
{
	char vendor[HYPERVISOR_LEN];

	if (user_mode_linux())
		return xstrdup("um");
	hypervisor_name(vendor);
	if (!strcmp(vendor, "TCG"))
		return xstrdup("emulated");
	return xstrdup(strcmp(vendor, "none") ? "guest" : "-");
}

/* mark_sentence() - what is said below a table, or NULL */
const char *mark_sentence(const char *marks)
{
	if (!strcmp(marks, "emulated"))
		return "EMULATED (TCG): proves that the code works, says nothing about speed";
	if (!strcmp(marks, "um"))
		return "UM: User Mode Linux counts user as sys; only real means something";
	if (!strcmp(marks, "guest"))
		return "GUEST: under a hypervisor, whose noise and page tables are in the figures";
	return NULL;
}

static char *command_text(char **argv)
{
	char *text = xstrdup(""), *clean;

	for (; *argv; argv++) {
		char *longer = xasprintf("%s%s%s", text, *text ? " " : "", *argv);

		free(text);
		text = longer;
	}
	clean = scrub(text);
	free(text);
	return clean;
}

/* The columns before RUN_STATUS */
static void conditions(char **column, char **argv)
{
	char model[49] = "";
	struct utsname uts;

	uname(&uts);
	prim_cpu_model(model);
	column[RUN_BOOT] = or_unknown(read_line("/proc/sys/kernel/random/boot_id"));
	column[RUN_KERNEL] = or_unknown(xasprintf("%s %s", uts.release, uts.version));
	column[RUN_INIT_ON_ALLOC] = or_unknown(init_setting(uts.release));
	column[RUN_THP] = or_unknown(huge_pages_mode());
	column[RUN_CPU_MODEL] = or_unknown(xstrdup(model + strspn(model, " ")));
	column[RUN_CPUS] = xasprintf("%ld", sysconf(_SC_NPROCESSORS_ONLN));
	column[RUN_MARKS] = marks();
	column[RUN_COMMAND] = or_unknown(command_text(argv));
}

static void on_signal(int sig)
{
	stopped = sig;
	if (child > 0)
		kill(child, sig);
}

static double seconds(struct timeval t)
{
	return t.tv_sec + t.tv_usec / 1e6;
}

/* One run. Return: its exit status; 128 and the signal's number; -1: not run. */
static int run_once(char **argv, bool own, bool verbose, struct rusage *u, double *real)
{
	double start = now();
	sigset_t set, old;
	int status, ret;
	pid_t pid;

	/* Between fork() and the child being known, no signal may be lost. */
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &old);
	fflush(stdout);
	pid = fork();
	if (pid < 0) {
		say("run: cannot fork: %s", strerror(errno));
		sigprocmask(SIG_SETMASK, &old, NULL);
		return -1;
	}
	if (!pid) {
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		sigprocmask(SIG_SETMASK, &old, NULL);
		if (!verbose) {
			int null = open("/dev/null", O_WRONLY);

			dup2(null, STDOUT_FILENO);
		}
		if (own)
			execv("/proc/self/exe", argv - 1);
		else
			execvp(argv[0], argv);
		say("run: %s: %s", argv[0], strerror(errno));
		_exit(127);
	}
	child = pid;
	sigprocmask(SIG_SETMASK, &old, NULL);
	do
		ret = wait4(pid, &status, 0, u);
	while (ret < 0 && errno == EINTR);
	child = 0;
	*real = now() - start;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* An existing file of runs is added to, and no other one is touched. */
static int open_file(const char *path)
{
	char *head = xstrdup(RUNS_MAGIC "\n"), *old;
	int fd, i, bad = 0;
	size_t len;

	for (i = 0; i < RUN_COLUMNS; i++) {
		char *longer = xasprintf("%s%s%c", head, run_column_name[i],
					 i == RUN_COLUMNS - 1 ? '\n' : '\t');

		free(head);
		head = longer;
	}
	fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	old = fd < 0 ? NULL : read_text(path);
	len = old ? strlen(old) : 0;
	if (!old) {
		say("run: %s: %s", path, strerror(errno));
		bad = CB_FAILED;
	} else if (!len) {
		if (write(fd, head, strlen(head)) != (ssize_t)strlen(head)) {
			say("run: %s: %s", path, strerror(errno));
			bad = CB_FAILED;
		}
	} else if (strncmp(old, head, strlen(head)) || old[len - 1] != '\n') {
		say("run: %s is there and no whole file of runs: name another with -o", path);
		bad = CB_USAGE;
	}
	free(old);
	free(head);
	if (bad && fd >= 0)
		close(fd);
	return bad ? -bad : fd;
}

static bool add_line(int fd, const char *path, char *const *column, int status,
		     const struct rusage *u, double real)
{
	char *line = xstrdup(""), *longer;
	bool good;
	int i;

	for (i = 0; i < RUN_STATUS; i++) {
		longer = xasprintf("%s%s\t", line, column[i]);
		free(line);
		line = longer;
	}
	longer = xasprintf("%s%d\t%.6f\t%.6f\t%.6f\t%ld\t%ld\t%ld\n", line, status,
			   seconds(u->ru_utime), seconds(u->ru_stime), real, u->ru_minflt,
			   u->ru_majflt, u->ru_maxrss);
	free(line);
	/* One write a line: a file cut anywhere has whole lines up to there. */
	good = write(fd, longer, strlen(longer)) == (ssize_t)strlen(longer);
	if (!good)
		say("run: %s: %s; the runs before are kept", path, strerror(errno));
	free(longer);
	return good;
}

static void put_table(char *const *column, double *value[TIMES], double *faults[2],
		      unsigned int nr)
{
	__u64 k = hist_median_rank(nr);
	struct table t;
	int i;

	printf("%s\nkernel %s, init_on_alloc=%s, huge pages %s, %s CPUs\n", column[RUN_COMMAND],
	       column[RUN_KERNEL], column[RUN_INIT_ON_ALLOC], column[RUN_THP], column[RUN_CPUS]);
	table_init(&t, "lrl");
	table_cell(&t, "%s", "");
	table_cell(&t, "median");
	table_cell(&t, k ? "95 %% interval" : "no interval, n = %u", nr);
	for (i = 0; i < TIMES; i++) {
		char buf[UNIT_LEN], lo[UNIT_LEN], hi[UNIT_LEN];

		table_cell(&t, "%s", time_name[i]);
		table_cell(&t, "%s", fmt_minutes(buf, median(value[i], nr)));
		if (k)
			table_cell(&t, "[%s, %s]", fmt_minutes(lo, value[i][k - 1]),
				   fmt_minutes(hi, value[i][nr - k]));
		else
			table_cell(&t, "%s", "");
	}
	table_print(&t, stdout, 0);
	printf("faults: %.0f minor, %.0f major (medians)\n", median(faults[0], nr),
	       median(faults[1], nr));
	printf("%u runs of one boot: how boots differ is not in it\n", nr);
	if (median(value[TIME_SYS], nr) < SHORT_SYS)
		puts(SHORT_SYS_SENTENCE);
	if (mark_sentence(column[RUN_MARKS]))
		puts(mark_sentence(column[RUN_MARKS]));
}

static int run_all(char **argv, __u64 wanted, const char *path, bool verbose)
{
	bool own = workload_find(argv[0]);
	struct sigaction action = { .sa_handler = on_signal };
	double *value[TIMES], *faults[2], real = 0;
	char *column[RUN_STATUS];
	int i, fd = -1, ret = CB_OK;
	unsigned int nr = 0;
	struct rusage u;

	if (path) {
		fd = open_file(path);
		if (fd < 0)
			return -fd;
	}
	conditions(column, argv);
	for (i = 0; i < TIMES; i++)
		value[i] = xrealloc(NULL, wanted * sizeof(double));
	for (i = 0; i < 2; i++)
		faults[i] = xrealloc(NULL, wanted * sizeof(double));
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);

	while (nr < wanted && !stopped && ret == CB_OK) {
		int status = run_once(argv, own, verbose, &u, &real);

		if (stopped)
			break;
		if (status >= 0 && fd >= 0 && !add_line(fd, path, column, status, &u, real))
			ret = CB_FAILED;
		if (status) {
			if (status > 0)
				say("run: run %u of %llu ended with status %d, no more are done: %s",
				    nr + 1, wanted, status, column[RUN_COMMAND]);
			ret = status == CB_USAGE ? CB_USAGE : CB_FAILED;
			break;
		}
		value[TIME_USER][nr] = seconds(u.ru_utime);
		value[TIME_SYS][nr] = seconds(u.ru_stime);
		value[TIME_REAL][nr] = real;
		faults[0][nr] = u.ru_minflt;
		faults[1][nr] = u.ru_majflt;
		nr++;
	}
	if (fd >= 0 && close(fd)) {
		say("run: %s: %s", path, strerror(errno));
		ret = CB_FAILED;
	}
	if (nr)
		put_table(column, value, faults, nr);
	if (stopped) {
		say("run: stopped after %u of %llu runs", nr, wanted);
		ret = CB_STOPPED;
	}
	for (i = 0; i < TIMES; i++)
		free(value[i]);
	for (i = 0; i < 2; i++)
		free(faults[i]);
	for (i = 0; i < RUN_STATUS; i++)
		free(column[i]);
	return finish_stdout(ret);
}

static int run_main(int argc, char **argv)
{
	__u64 runs = 10, verbose = 0;
	const struct number options[] = {
		{ "-n", &runs, 1, RUNS_MAX },
		{ "-v", &verbose, 0, 0 },
		{ }
	};
	const char *path = NULL;
	int i, status;

	for (i = 1; i < argc && *argv[i] == '-'; i++) {
		if (!strcmp(argv[i], "--")) {
			i++;
			break;
		}
		if (!strcmp(argv[i], "-o") && argv[i + 1]) {
			path = argv[++i];
			continue;
		}
		status = number_option(&workload_run, options, argv, &i);
		if (status)
			return status;
	}
	if (i >= argc)
		return refuse(&workload_run, "what is to be run? graph500, pagerank or a command");
	return run_all(argv + i, runs, path, verbose);
}

const struct verb workload_run = {
	.name = "run",
	.summary = "a workload, or any command, several times: user, sys, real",
	.usage = "[-n N] [-o FILE] [-v] [--] graph500|pagerank|COMMAND [ARGUMENTS]\n\n"
		"  -n N     runs, 1 to 10000 (10); from 6 on the median has an interval\n"
		"  -o FILE  add a line a run to FILE, for `" WL_NAME " compare`\n"
		"  -v       show what the runs print\n\n"
		"Times are those of the process and of the children that it waited for. The first\n"
		"run that fails ends it.\n",
	.main = run_main,
};
