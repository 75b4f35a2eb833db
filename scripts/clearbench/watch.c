// SPDX-License-Identifier: GPL-2.0
/*
 * clearbench watch: what the kernel clears while a command runs.
 *
 * The command is forked first and waits at a pipe, so that the module knows its
 * number before it does anything. The report goes to stderr, as that of perf stat
 * and time does: stdout is the command's.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "debugfs.h"
#include "output.h"
#include "watch.h"

/* As the shell has it: found but not to be run, not found, ended by a signal */
#define EXIT_NOEXEC	126
#define EXIT_NOENT	127
#define EXIT_SIGNAL	128

struct options {
	const char *module;
	const char *out;
	const char *pid;
	bool all;
	bool force;
	char **command;
};

/**
 * struct command - the command that is watched
 * @pid: of its process; 0: there is none
 * @go: closed by us to let it go
 * @failed: gives its errno if it could not be executed
 * @began: when it was let go
 * @status: what wait(2) said
 * @usage: its resources, those of its children that it waited for included
 * @wall: seconds from @began to its end
 */
struct command {
	pid_t pid;
	int go;
	int failed;
	struct timespec began;
	int status;
	struct rusage usage;
	double wall;
};

static const int caught[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD };

static void catch_set(sigset_t *set)
{
	unsigned int i;

	sigemptyset(set);
	for (i = 0; i < ARRAY_SIZE(caught); i++)
		sigaddset(set, caught[i]);
}

/* The command line */

static int parse(struct options *opt, int argc, char **argv)
{
	int i;

	memset(opt, 0, sizeof(*opt));
	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		const char **value = NULL;

		if (!strcmp(argv[i], "--")) {
			i++;
			break;
		}
		if (!strcmp(argv[i], "-a") || !strcmp(argv[i], "--all")) {
			opt->all = true;
			continue;
		}
		if (!strcmp(argv[i], "--force")) {
			opt->force = true;
			continue;
		}
		if (!strcmp(argv[i], "-p") || !strcmp(argv[i], "--pid"))
			value = &opt->pid;
		else if (!strcmp(argv[i], "-o") || !strcmp(argv[i], "--output"))
			value = &opt->out;
		else if (!strcmp(argv[i], "--module"))
			value = &opt->module;
		if (!value)
			return usage_error(&verb_watch, "no option %s", argv[i]);
		if (i + 1 == argc)
			return usage_error(&verb_watch, "%s needs a value", argv[i]);
		*value = argv[++i];
	}
	opt->command = argv + i;
	if (i == argc)
		return usage_error(&verb_watch, "COMMAND is missing: what shall be run?");
	if (opt->pid && (!*opt->pid || opt->pid[strspn(opt->pid, "0123456789")] ||
			 atoi(opt->pid) < 1))
		return usage_error(&verb_watch, "-p %s: not the number of a process", opt->pid);
	if (opt->pid && opt->all)
		return usage_error(&verb_watch, "-a watches all processes: leave out -p");
	return CB_OK;
}

/* The command */

static void child(char **argv, int go, int failed, const sigset_t *mask)
{
	char byte;
	int err;

	/* Of the parent nothing comes but its end or the end of the pipe. */
	while (read(go, &byte, 1) < 0 && errno == EINTR)
		;
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	err = errno;
	if (write(failed, &err, sizeof(err)) != sizeof(err))
		_exit(EXIT_SIGNAL);
	_exit(err == ENOENT ? EXIT_NOENT : EXIT_NOEXEC);
}

/* Return: 0 or a negative errno after a message. @mask: the signals it gets */
static int command_fork(struct command *c, char **argv, const sigset_t *mask)
{
	int go[2], failed[2];

	memset(c, 0, sizeof(*c));
	if (pipe2(go, O_CLOEXEC) || pipe2(failed, O_CLOEXEC)) {
		msg("a pipe could not be made: %s", strerror(errno));
		return -errno;
	}
	c->pid = fork();
	if (c->pid < 0) {
		int err = errno;

		c->pid = 0;
		msg("%s: cannot fork: %s", argv[0], strerror(err));
		return -err;
	}
	if (!c->pid) {
		close(go[1]);
		close(failed[0]);
		child(argv, go[0], failed[1], mask);
	}
	close(go[0]);
	close(failed[1]);
	c->go = go[1];
	c->failed = failed[0];
	return 0;
}

static void command_reap(struct command *c)
{
	struct timespec now;

	while (wait4(c->pid, &c->status, 0, &c->usage) < 0 && errno == EINTR)
		;
	clock_gettime(CLOCK_MONOTONIC, &now);
	c->wall = now.tv_sec - c->began.tv_sec + (now.tv_nsec - c->began.tv_nsec) / 1e9;
	c->pid = 0;
}

/* It has not begun, and shall not. */
static void command_drop(struct command *c)
{
	if (!c->pid)
		return;
	kill(c->pid, SIGKILL);
	close(c->go);
	close(c->failed);
	command_reap(c);
}

/*
 * Let it go, and wait for its end. Ctrl-C goes to it as to us, by the terminal;
 * what someone sends to us alone is passed on.
 */
static void command_wait(struct command *c)
{
	siginfo_t info;
	sigset_t set;

	catch_set(&set);
	clock_gettime(CLOCK_MONOTONIC, &c->began);
	close(c->go);
	for (;;) {
		int sig = sigwaitinfo(&set, &info);

		if (sig == SIGCHLD) {
			siginfo_t ended = { 0 };

			if (!waitid(P_PID, c->pid, &ended, WEXITED | WNOHANG | WNOWAIT) &&
			    ended.si_pid)
				break;
		} else if (sig > 0 && info.si_code <= 0) {
			kill(c->pid, sig);
		}
	}
	command_reap(c);
}

/* Exit status as the shell has it; a message if it never began. */
static int command_status(struct command *c, const char *name, bool *began)
{
	int err = 0;

	*began = read(c->failed, &err, sizeof(err)) != sizeof(err);
	close(c->failed);
	if (!*began)
		msg("%s: %s", name, err == ENOENT ? "no such command" : strerror(err));
	return WIFSIGNALED(c->status) ? EXIT_SIGNAL + WTERMSIG(c->status) :
	       WEXITSTATUS(c->status);
}

/* The watch */

static int explain_start(const struct module *m, const struct options *opt, int kmsg, int err)
{
	char *said;

	switch (err) {
	case -EBUSY:
		msg("a run or another watch is under way: wait for it, or stop it with echo 0 > %s/run, or watch",
		    m->dir);
		break;
	case -ESRCH:
		msg("-p %s: no such process", opt->pid);
		break;
	case -ENOENT:
		msg("the loaded module cannot watch: rmmod clearbench, then the one that came with this program is taken");
		break;
	case -EDOM:
		said = kmsg_last(kmsg, "refused; ");
		msg("watch: %s", said ? strstr(said, "refused; ") + strlen("refused; ") :
		    "not on this kernel, see dmesg");
		free(said);
		break;
	default:
		said = kmsg_last(kmsg, "watch");
		msg("the watch could not be started: %s%s%s", strerror(-err),
		    said ? "; the kernel says: " : "", said ? said : "");
		free(said);
	}
	return CB_FAILED;
}

static int watch_start(const struct module *m, const struct options *opt, int kmsg, pid_t pid)
{
	char *text = opt->all ? xstrdup("all") : opt->pid ? xstrdup(opt->pid) :
		     xasprintf("%d", pid);
	int err = module_write(m, "watch", text);

	free(text);
	return err ? explain_start(m, opt, kmsg, err) : CB_OK;
}

static bool interrupted(void)
{
	sigset_t set;

	sigpending(&set);
	return sigismember(&set, SIGINT) || sigismember(&set, SIGTERM) ||
	       sigismember(&set, SIGHUP) || sigismember(&set, SIGQUIT);
}

static json_t *environment(const struct module *m)
{
	char *info = module_read(m, "info");
	json_t *env = info_environment(info);

	host_environment(env, -1);
	free(info);
	return env;
}

static int keep(struct output *out, const struct command *c, const struct options *opt,
		const struct watched *w, const json_t *env, int status)
{
	json_t *command = json_array(), *all;
	char **arg;
	int ret;

	for (arg = opt->command; *arg; arg++) {
		char *text = scrub(*arg);

		json_array_append_new(command, json_string(text) ? : json_string("?"));
		free(text);
	}
	all = json_pack("{s:s, s:i, s:s, s:O, s:o, s:i, s:f, s:f, s:f, s:O}",
			"type", "watch", "format", 1, "tool", CB_VERSION, "environment", env,
			"command", command, "status", status,
			"user_s", seconds(&c->usage.ru_utime),
			"system_s", seconds(&c->usage.ru_stime), "wall_s", c->wall,
			"records", w->records);
	ret = output_json(out, all);
	json_decref(all);
	return ret ? CB_FAILED : CB_OK;
}

/* With the module there. Return: exit status, COMMAND's if it ran. */
static int watch_loaded(const struct module *m, const struct options *opt, struct output *out,
			const sigset_t *mask)
{
	struct watched w = { 0 };
	struct command c;
	int kmsg, status, ret;
	bool began = false;
	json_t *env;

	env = environment(m);
	kmsg = kmsg_open();
	status = command_fork(&c, opt->command, mask) ? CB_FAILED : CB_OK;
	if (!status)
		status = watch_start(m, opt, kmsg, c.pid);
	if (!status && interrupted()) {
		module_write(m, "watch", "0");
		status = CB_STOPPED;
	}
	if (status) {
		command_drop(&c);
		goto out;
	}
	command_wait(&c);
	ret = module_write(m, "watch", "0");
	if (ret)
		msg("the watch could not be ended: %s: echo 0 > %s/watch", strerror(-ret), m->dir);
	status = command_status(&c, opt->command[0], &began);
	if (began && watched_read(&w, m) == CB_OK) {
		watched_print(&w, env, stderr);
		fprintf(stderr, "\n%s: user %.2f s, system %.2f s, wall %.2f s, exit status %d\n",
			file_name(opt->command[0]), seconds(&c.usage.ru_utime),
			seconds(&c.usage.ru_stime), c.wall, status);
		if (opt->out && keep(out, &c, opt, &w, env, status) && !status)
			status = CB_FAILED;
	} else if (began && !status) {
		status = CB_FAILED;
	}
	watched_free(&w);
out:
	if (kmsg >= 0)
		close(kmsg);
	json_decref(env);
	return status;
}

static int watch_main(int argc, char **argv)
{
	struct output out = { .fd = -1 };
	struct options opt;
	struct module module;
	sigset_t set, mask;
	int status;

	status = parse(&opt, argc, argv);
	if (status)
		return status;
	if (opt.out && !opt.force && !access(opt.out, F_OK)) {
		msg("%s exists: --force overwrites it", opt.out);
		return CB_FAILED;
	}
	if (opt.out && output_open(&out, opt.out, opt.force))
		return CB_FAILED;
	catch_set(&set);
	sigprocmask(SIG_BLOCK, &set, &mask);
	status = module_load(&module, opt.module) ? CB_FAILED : CB_OK;
	if (!status)
		status = watch_loaded(&module, &opt, &out, &mask);
	if (module_unload(&module) && !status)
		status = CB_FAILED;
	output_close(&out);
	return status;
}

const struct verb verb_watch = {
	.name = "watch",
	.summary = "what the kernel clears while a command runs",
	.usage = "[-p PID | -a] [-o FILE] [--] COMMAND [ARGUMENT ...]\n\n"
		"  -p PID           watch this process and its descendants, while COMMAND runs;\n"
		"                   else COMMAND and its own\n"
		"  -a               watch all processes and the kernel's threads\n"
		"  -o FILE          what was counted, as JSON; it must not exist\n"
		"  --force          overwrite it\n"
		"  --module FILE    load this if the module is not loaded, as run does\n\n"
		"Prints to stderr which orders were cleared, how often and by what, in which\n"
		"context, on whose behalf, and how long a clear takes where a probe was proved to\n"
		"fire. The exit status is COMMAND's: 127 if there is none of that name, 126 if it\n"
		"cannot be run, 128 and the number of the signal that ended it; 1 if it was not\n"
		"run because the watch could not begin.\n",
	.main = watch_main,
};
