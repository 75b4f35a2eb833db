// SPDX-License-Identifier: GPL-2.0
/*
 * clearbench run: starts a sweep, the module's or the user backend's, and keeps
 * each cell as soon as it is finished.
 *
 * The write that starts a run returns when it is over, so a thread of its own
 * makes it. The main thread takes signals, and looks at the files twice a
 * second: seldom enough not to be seen in the figures.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "debugfs.h"
#include "output.h"

#define LOOK_NS		500000000L
#define ERASE_LINE	"\r\033[K"

/* One --KNOB VALUE of the command line */
struct setting {
	char *name;
	const char *value;
};

struct options {
	const char *out;
	const char *resume;
	const char *module;
	const char *backend;
	const char *preempt;
	struct models models;
	struct setting *set;
	unsigned int nr_set;
	bool force;
	bool quiet;
	bool verbose;
};

/**
 * struct run - a run, from the knobs to the footer
 * @opt: what the user asked for
 * @module: the module
 * @knobs: its settings
 * @out: the file
 * @env: the environment at the start
 * @warnings: what the kernel logged meanwhile
 * @changed: conditions that did not stay
 * @kmsg: the kernel's log
 * @results: the module's table of cells
 * @histograms: the module's table of buckets
 * @failed_cells: cells whose state is "failed"
 * @stopping: a signal asked us to stop
 * @on_terminal: the progress line may be overwritten
 * @last: what it said last
 * @began: when the pass began
 */
struct run {
	struct options opt;
	struct module module;
	struct knobs knobs;
	struct output out;
	json_t *env;
	json_t *warnings;
	json_t *changed;
	int kmsg;
	struct tsv results;
	struct tsv histograms;
	unsigned int failed_cells;
	bool stopping;
	bool on_terminal;
	char last[64];
	struct timespec began;
};

/* The command line */

static int add_setting(struct options *opt, char *arg, char *value)
{
	char *equals = strchr(arg, '=');

	if (equals)
		value = equals + 1;
	else if (knob_is_flag(arg + 2))
		value = "1";
	if (!value)
		return -EINVAL;
	opt->set = xrealloc(opt->set, (opt->nr_set + 1) * sizeof(*opt->set));
	opt->set[opt->nr_set].name = strndup(arg + 2, strcspn(arg + 2, "="));
	opt->set[opt->nr_set++].value = value;
	return !equals && !knob_is_flag(arg + 2);
}

static int parse(struct options *opt, int argc, char **argv)
{
	const struct {
		const char *name;
		const char **value;
		bool *flag;
	} own[] = {
		{ "-o", &opt->out, NULL },
		{ "--output", &opt->out, NULL },
		{ "--resume", &opt->resume, NULL },
		{ "--module", &opt->module, NULL },
		{ "--backend", &opt->backend, NULL },
		{ "--preempt", &opt->preempt, NULL },
		{ "--force", NULL, &opt->force },
		{ "-q", NULL, &opt->quiet },
		{ "--quiet", NULL, &opt->quiet },
		{ "-v", NULL, &opt->verbose },
		{ "--verbose", NULL, &opt->verbose },
	};
	unsigned int k;
	int i, used;

	for (i = 1; i < argc; i++) {
		char *arg = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;

		for (k = 0; k < ARRAY_SIZE(own); k++)
			if (!strcmp(arg, own[k].name))
				break;
		if (k < ARRAY_SIZE(own) && own[k].flag) {
			*own[k].flag = true;
		} else if (k < ARRAY_SIZE(own)) {
			if (!next)
				return usage_error(&verb_run, "%s needs a value", arg);
			*own[k].value = argv[++i];
		} else if (!strncmp(arg, "--", 2) && arg[2]) {
			used = add_setting(opt, arg, next);
			if (used < 0)
				return usage_error(&verb_run, "%s needs a value", arg);
			i += used;
		} else {
			return usage_error(&verb_run, "'%s' is not an argument of it", arg);
		}
	}
	if (opt->backend && strcmp(opt->backend, "module") && strcmp(opt->backend, "user"))
		return usage_error(&verb_run, "no backend '%s'; there are: module user",
				   opt->backend);
	if (opt->backend && !strcmp(opt->backend, "user") && opt->module)
		return usage_error(&verb_run, "--backend user takes no module: leave out --module");
	if (opt->preempt) {
		const char *bad = models_parse(&opt->models, opt->preempt);

		if (bad)
			return usage_error(&verb_run, "--preempt: '%s' is no model, or there twice; there are: none voluntary full lazy",
					   bad);
		if (opt->backend && !strcmp(opt->backend, "user"))
			return usage_error(&verb_run, "--backend user has no model to switch: leave out --preempt");
		if (opt->resume)
			return usage_error(&verb_run, "--resume takes its models from nowhere: leave out --preempt");
	}
	if (opt->resume && opt->out && strcmp(opt->resume, opt->out))
		return usage_error(&verb_run, "--resume continues %s itself: leave out -o",
				   opt->resume);
	if (opt->resume && opt->nr_set)
		return usage_error(&verb_run, "--resume takes the knobs from the file: leave out --%s",
				   opt->set[0].name);
	if (!opt->resume && !opt->out)
		return usage_error(&verb_run, "-o FILE is missing: where shall the result go?");
	return CB_OK;
}

/* The command as it is recorded: no absolute path, no host name. */
static char *command_text(int argc, char **argv)
{
	char *text = xstrdup(CB_NAME), *old;
	int i;

	for (i = 0; i < argc; i++) {
		char *arg = scrub(argv[i]);
		bool quote = !*arg || arg[strcspn(arg, " \t\n'\"\\$*?;&|<>()")];

		old = text;
		text = xasprintf(quote ? "%s '%s'" : "%s %s", old, arg);
		free(old);
		free(arg);
	}
	return text;
}

/* Environment and conditions */

static json_t *environment(const struct run *run)
{
	char *info = module_read(&run->module, "info");
	char *cpu = module_read(&run->module, "cpu");
	json_t *env = info_environment(info);

	host_environment(env, cpu && strspn(cpu, "0123456789") ? atoi(cpu) : -1);
	free(info);
	free(cpu);
	return env;
}

/* Note each of @keys that is not the same in both. Return: how many. */
static unsigned int compare_environments(json_t *changed, const json_t *before,
					 const json_t *after, const char *const *keys)
{
	unsigned int nr = 0;

	for (; *keys; keys++) {
		const char *a = or_dash(env_get(before, *keys));
		const char *b = or_dash(env_get(after, *keys));
		char *text;

		if (!strcmp(a, b))
			continue;
		text = xasprintf("%s: %s, then %s", *keys, a, b);
		json_array_append_new(changed, json_string(text));
		free(text);
		nr++;
	}
	return nr;
}

/* What may change while a run goes on. */
static const char *const moving[] = {
	"governor", "boost", "smt", "cpus_online", "clocksource", "preempt", "taint", NULL
};

/* What must be the same for cells to stand in one file. */
static const char *const conditions[] = {
	"clearbench", "kernel", "machine", "cpu_model", "microcode", "hypervisor", "marks",
	"page_size", "preempt", "clear_pages", "clear_page", "init_on_alloc", "init_on_free",
	"huge_pages", "distorts", "clocksource", "governor", "boost", "smt", NULL
};

static int put_header(struct run *run, int argc, char **argv)
{
	const char *words = env_get(run->env, "marks");
	char *copy = xstrdup(words ? words : ""), *word, *at;
	char *command = command_text(argc, argv);
	json_t *marks = json_array(), *header;
	int ret;

	for (word = strtok_r(copy, " ", &at); word; word = strtok_r(NULL, " ", &at))
		if (strcmp(word, "none"))
			json_array_append_new(marks, json_string(word));
	header = json_pack("{s:s, s:i, s:s, s:s, s:o, s:O, s:o, s:s}",
			   "type", "header", "format", RESULT_FORMAT, "tool", CB_VERSION,
			   "backend", run->module.user ? "user" : "module",
			   "marks", marks, "environment", run->env,
			   "knobs", knobs_json(&run->knobs), "command", command);
	if (run->opt.preempt)
		json_object_set_new(header, "preempt", json_string(run->opt.preempt));
	ret = output_json(&run->out, header);
	json_decref(header);
	free(command);
	free(copy);
	return ret;
}

static int put_footer(struct run *run, bool complete)
{
	json_t *after = environment(run), *footer;
	int ret;

	compare_environments(run->changed, run->env, after, moving);
	json_decref(after);
	kmsg_warnings(run->kmsg, run->warnings);
	footer = json_pack("{s:s, s:b, s:i, s:O, s:O}", "type", "footer", "complete", complete,
			   "cells", (int)run->out.cells, "warnings", run->warnings,
			   "changed", run->changed);
	if (run->opt.resume)
		json_object_set_new(footer, "resumed", json_true());
	ret = output_json(&run->out, footer);
	json_decref(footer);
	return ret;
}

/* Knobs */

/* What a refused write to the file @name is told, beside its errno; to be freed */
static char *why_refused(const struct run *run, const char *name)
{
	char *said, *text = NULL;

	if (run->module.user)
		return user_said(run->module.user);
	said = kmsg_last(run->kmsg, name);
	if (said)
		text = xasprintf("the kernel says: %s", said);
	free(said);
	return text;
}

static int set_knob(struct run *run, struct knob *knob, const char *value)
{
	int ret = knobs_set(&run->knobs, knob, value);
	char *why;

	if (!ret)
		return CB_OK;
	why = why_refused(run, knob->name);
	msg("%s '%s': %s%s%s", knob->name, value, knob_error(-ret), why ? "; " : "",
	    why ? why : "");
	free(why);
	return ret == -EINVAL || ret == -ERANGE || ret == -EDOM || ret == -EOPNOTSUPP ?
	       CB_USAGE : CB_FAILED;
}

static int set_named_knob(struct run *run, const char *name, const char *value)
{
	struct knob *knob = knobs_find(&run->knobs, name);

	return knob ? set_knob(run, knob, value) : CB_OK;
}

/* All options are looked up before the first one is set. */
static int set_knobs(struct run *run)
{
	unsigned int i;
	int status;

	for (i = 0; i < run->opt.nr_set; i++) {
		if (!knobs_find(&run->knobs, run->opt.set[i].name)) {
			char *legal = knobs_options(&run->knobs);

			status = usage_error(&verb_run, "no option --%s; the %s's are:%s",
					     run->opt.set[i].name,
					     run->module.user ? "user backend" : "module", legal);
			free(legal);
			return status;
		}
	}
	for (i = 0; i < run->opt.nr_set; i++) {
		status = set_named_knob(run, run->opt.set[i].name, run->opt.set[i].value);
		if (status)
			return status;
	}
	return CB_OK;
}

/* Progress */

static void clear_progress(struct run *run)
{
	if (run->on_terminal && *run->last)
		fputs(ERASE_LINE, stderr);
	run->last[0] = '\0';
}

static void word_of(const char *status, const char *key, char *buf, size_t size)
{
	const char *at = strstr(status, key);

	*buf = '\0';
	if (at) {
		at += strlen(key);
		snprintf(buf, size, "%.*s", (int)strcspn(at, "\n "), at);
	}
}

static void show_progress(struct run *run, const char *status)
{
	char context[32], order[8], method[32], batch[16], block[64], left[32] = "";
	unsigned int done, total;
	struct timespec now;

	if (run->opt.quiet || sscanf(status, "running %u/%u", &done, &total) != 2)
		return;
	word_of(status, "context=", context, sizeof(context));
	word_of(status, "order=", order, sizeof(order));
	word_of(status, "method=", method, sizeof(method));
	word_of(status, "batch=", batch, sizeof(batch));
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (done && total > done)
		snprintf(left, sizeof(left), ", about %.0f s left",
			 (double)(now.tv_sec - run->began.tv_sec + 1) * (total - done) / done);
	snprintf(block, sizeof(block), "%s %s", context, order);
	if (run->on_terminal) {
		fprintf(stderr, ERASE_LINE "%u/%u cells, %s order %s %s %s%s", done, total, context,
			order, method, batch, left);
	} else {
		/* In a pipe, a line each context and order */
		if (!strcmp(block, run->last))
			return;
		fprintf(stderr, "%u/%u cells, %s order %s%s\n", done, total, context, order, left);
	}
	snprintf(run->last, sizeof(run->last), "%s", block);
}

static const char *field(const struct tsv *tsv, const char *name)
{
	const char *text = tsv_field(tsv, name);

	return text ? text : "-";
}

static void show_cell(struct run *run)
{
	const struct tsv *t = &run->results;
	char time[UNIT_LEN];
	const char *p50 = field(t, "p50_ns"), *batch = field(t, "batch");

	clear_progress(run);
	fprintf(stderr, "%s order %s %s%s%s: %s", field(t, "context"), field(t, "order"),
		field(t, "method"), strcmp(batch, "-") ? " " : "",
		strcmp(batch, "-") ? batch : "", field(t, "state"));
	if (strcmp(p50, "-"))
		fprintf(stderr, ", p50 %s", fmt_ns(time, atof(p50)));
	if (strcmp(field(t, "note"), "-"))
		fprintf(stderr, ", %s", field(t, "note"));
	fputc('\n', stderr);
}

/* The run */

static int collect_cell(struct run *run)
{
	char *line;
	size_t len;
	FILE *to;
	int ret;

	to = open_memstream(&line, &len);
	if (!to)
		return -errno;
	ret = tsv_put_cell(to, &run->results, &run->histograms);
	fclose(to);
	if (ret)
		msg("%s:%u: the module's line has %u fields, its head %u", run->results.path,
		    run->results.lines, run->results.nr, run->results.nr_names);
	else
		ret = output_line(&run->out, line, len);
	free(line);
	if (ret)
		return ret;
	run->out.cells++;
	run->failed_cells += !strcmp(field(&run->results, "state"), "failed");
	if (run->opt.verbose)
		show_cell(run);
	return 0;
}

/*
 * Keep the cells that are finished by now. The histograms are opened after the
 * cells, so that they hold those of all of them.
 */
static int collect(struct run *run)
{
	int ret;

	ret = tsv_refresh(&run->results);
	if (!ret)
		ret = tsv_refresh(&run->histograms);
	while (!ret && (ret = tsv_next(&run->results)) > 0)
		ret = collect_cell(run);
	if (ret == -EPROTO)
		msg("%s: not what this program reads: use the clearbench that came with the module",
		    run->results.path);
	return ret;
}

struct starter {
	const struct module *module;
	pthread_t main;
	int err;
	atomic_bool done;
};

static void *start_run(void *arg)
{
	struct starter *s = arg;

	s->err = -module_write(s->module, "run", "1");
	atomic_store(&s->done, true);
	pthread_kill(s->main, SIGUSR1);
	return NULL;
}

static void interrupt(int sig)
{
	(void)sig;
}

/* Take a signal or let some time pass; the signals are blocked otherwise. */
static int wait_for_signal(void)
{
	const struct timespec look = { .tv_nsec = LOOK_NS };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	return sigtimedwait(&set, NULL, &look);
}

static void block_signals(void)
{
	struct sigaction act = { .sa_handler = interrupt };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* A progress line that no one reads must not end the run. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	sigaction(SIGUSR2, &act, NULL);
}

static char *module_status(const struct run *run)
{
	char *status = module_read(&run->module, "status");

	if (!status)
		return xstrdup("");
	status[strcspn(status, "\n")] = '\0';
	return status;
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static void stop(struct run *run, pthread_t thread)
{
	/* Asked a second time, take the module's other way: a signal. */
	if (run->stopping)
		pthread_kill(thread, SIGUSR2);
	run->stopping = true;
	module_write(&run->module, "run", "0");
}

/* What came of the write that started the run. */
static int pass_status(struct run *run, int err)
{
	char *status = module_status(run), *said;
	int ret = CB_OK;

	if (err == EBUSY) {
		msg("another run is under way: wait for it, or stop it with echo 0 > %s/run",
		    run->module.dir);
		ret = CB_FAILED;
	} else if (begins(status, "failed")) {
		msg("the run failed: %s", status + strlen("failed") + (status[6] == ' '));
		ret = CB_FAILED;
	} else if (run->stopping || err == EINTR || (!err && begins(status, "stopped"))) {
		if (!run->stopping)
			msg("the run was stopped from elsewhere");
		ret = CB_STOPPED;
	} else if (err) {
		said = why_refused(run, CB_NAME);
		msg("the run could not be started: %s; %s", strerror(err),
		    said ? said : "see dmesg");
		free(said);
		ret = CB_FAILED;
	}
	free(status);
	return ret;
}

/* One sweep with the knobs as they are. Return: exit status. */
static int run_pass(struct run *run)
{
	struct starter starter = { .module = &run->module, .main = pthread_self() };
	char *status = module_status(run);
	bool lost = false;
	pthread_t thread;
	int ret;

	if (begins(status, "running")) {
		free(status);
		return pass_status(run, EBUSY);
	}
	free(status);
	tsv_restart(&run->results);
	tsv_restart(&run->histograms);
	clock_gettime(CLOCK_MONOTONIC, &run->began);
	ret = pthread_create(&thread, NULL, start_run, &starter);
	if (ret) {
		msg("a thread could not be made: %s", strerror(ret));
		return CB_FAILED;
	}
	while (!atomic_load(&starter.done)) {
		int sig = wait_for_signal();

		if (sig == SIGINT || sig == SIGTERM || sig == SIGHUP)
			stop(run, thread);
		else if (run->stopping)		/* the run may have begun only now */
			module_write(&run->module, "run", "0");
		status = module_status(run);
		/* Before that, the files hold the last run's cells. */
		if (begins(status, "running") && !lost) {
			lost = collect(run) < 0;
			if (lost)
				module_write(&run->module, "run", "0");
			show_progress(run, status);
		}
		free(status);
	}
	pthread_join(thread, NULL);
	/* After another error it did not begin, and the files are an earlier run's. */
	if (!lost && (!starter.err || starter.err == EINTR || starter.err == EIO))
		lost = collect(run) < 0;
	clear_progress(run);
	ret = pass_status(run, starter.err);
	return lost ? CB_FAILED : ret;
}

/* Resuming */

/**
 * struct rest - what of a file's sweep is missing
 * @r: the file
 * @contexts: of the sweep, cut up
 * @nr: how many
 * @orders: of the sweep
 * @missing: orders to be measured, by context
 */
struct rest {
	const struct result *r;
	char *context[CB_LIST_MAX];
	unsigned int nr;
	struct list orders;
	struct list missing[CB_LIST_MAX];
};

static bool same_block(const struct cell *a, const struct cell *b)
{
	return CELL_NUM(a, order) == CELL_NUM(b, order) &&
	       !strcmp(CELL_TEXT(a, context), CELL_TEXT(b, context));
}

/*
 * All variants of a context and order are measured together, and finish
 * together. So a block is whole unless it is the last one before the cut, or
 * has a cell that was stopped.
 */
static void find_missing(struct rest *rest)
{
	const struct result *r = rest->r;
	const struct cell *c, *last = NULL;
	unsigned int i;

	for (i = 0; i < rest->nr; i++)
		rest->missing[i] = rest->orders;
	for (c = r->cells; c < r->cells + r->nr_cells; c++) {
		if (r->bad_line && c->line >= r->bad_line)
			break;
		last = c;
		for (i = 0; i < rest->nr; i++)
			if (!strcmp(rest->context[i], CELL_TEXT(c, context)))
				rest->missing[i].in[(int)CELL_NUM(c, order)] = false;
	}
	for (c = r->cells; c < r->cells + r->nr_cells; c++) {
		bool suspect = !strcmp(or_dash(CELL_TEXT(c, state)), "partial") ||
			       (r->bad_line && last && same_block(c, last));

		for (i = 0; i < rest->nr; i++)
			if (suspect && !strcmp(rest->context[i], CELL_TEXT(c, context)))
				rest->missing[i].in[(int)CELL_NUM(c, order)] = true;
	}
}

static bool keep_cell(const void *arg, const struct cell *c)
{
	const struct rest *rest = arg;
	unsigned int i;

	if (rest->r->bad_line && c->line >= rest->r->bad_line)
		return false;
	for (i = 0; i < rest->nr; i++)
		if (!strcmp(rest->context[i], CELL_TEXT(c, context)))
			return !rest->missing[i].in[(int)CELL_NUM(c, order)];
	return false;
}

/* The sweep, out of the knobs in the file's header. Return: exit status. */
static int read_sweep(struct rest *rest, char **contexts)
{
	const char *orders = env_get(rest->r->knobs, "orders");
	const char *text = env_get(rest->r->knobs, "contexts");
	char *word, *at;

	*contexts = xstrdup(text ? text : "");
	for (word = strtok_r(*contexts, ",", &at); word && rest->nr < CB_LIST_MAX;
	     word = strtok_r(NULL, ",", &at))
		rest->context[rest->nr++] = word;
	if (!rest->nr || !orders || list_parse(&rest->orders, orders)) {
		msg("%s: its header does not say which contexts and orders were to be run: start anew",
		    rest->r->path);
		return CB_FAILED;
	}
	return CB_OK;
}

static int check_conditions(struct run *run, const struct result *r)
{
	unsigned int nr = compare_environments(run->changed, r->environment, run->env, conditions);
	unsigned int i;

	for (i = 0; i < nr && !run->opt.force; i++)
		msg("%s was measured under other conditions: %s", r->path,
		    json_string_value(json_array_get(run->changed, i)));
	if (nr && !run->opt.force)
		msg("restore them, start anew with -o, or mix them with --force");
	return nr && !run->opt.force ? CB_FAILED : CB_OK;
}

static int run_rest(struct run *run, struct rest *rest)
{
	bool done[CB_LIST_MAX] = { false };
	unsigned int i, k;
	int status = CB_OK;

	for (i = 0; i < rest->nr && !status; i++) {
		char *orders = list_text(&rest->missing[i]), *contexts = xstrdup("");

		/* One run for all contexts that miss the same orders */
		for (k = i; k < rest->nr; k++) {
			char *old = contexts;

			if (done[k] || memcmp(&rest->missing[i], &rest->missing[k],
					      sizeof(rest->missing[i])))
				continue;
			done[k] = true;
			contexts = xasprintf("%s%s%s", old, *old ? "," : "", rest->context[k]);
			free(old);
		}
		if (*orders && *contexts) {
			status = set_named_knob(run, "orders", orders);
			if (!status)
				status = set_named_knob(run, "contexts", contexts);
			if (!status)
				status = run_pass(run);
		}
		free(orders);
		free(contexts);
	}
	return status;
}

static int resume(struct run *run, struct result *r)
{
	struct rest rest = { .r = r };
	const json_t *value;
	char *contexts = NULL;
	const char *name;
	unsigned int i;
	int status;
	bool any = false;

	if (json_object_get(r->header, "preempt")) {
		msg("%s compares models, which cannot be resumed: its whole cells are good, measure the rest into another file",
		    r->path);
		return CB_FAILED;
	}
	run->env = environment(run);
	status = read_sweep(&rest, &contexts);
	if (!status)
		status = check_conditions(run, r);
	if (status)
		goto out;
	json_object_foreach((json_t *)r->knobs, name, value) {
		status = set_named_knob(run, name, json_string_value(value));
		if (status)
			goto out;
	}
	find_missing(&rest);
	for (i = 0; i < rest.nr; i++) {
		char *orders = list_text(&rest.missing[i]);

		any |= !!*orders;
		free(orders);
	}
	if (!any && r->footer && !r->stopped && !r->bad_line) {
		msg("%s is complete: nothing to do", r->path);
		goto out;
	}
	if (output_resume(&run->out, r, keep_cell, &rest)) {
		status = CB_FAILED;
		goto out;
	}
	msg("%s: %u cells are kept", r->path, run->out.cells);
	status = run_rest(run, &rest);
	if (put_footer(run, !status) && !status)
		status = CB_FAILED;
out:
	free(contexts);
	return status;
}

/* Comparing models */

/* One order of one context under each model, beginning with another every time */
static int run_block_by_model(struct run *run, const char *context, unsigned int order,
			      unsigned int first)
{
	struct models *m = &run->opt.models;
	char *text = xasprintf("%u", order);
	int status = set_named_knob(run, "contexts", context);
	unsigned int i;

	if (!status)
		status = set_named_knob(run, "orders", text);
	free(text);
	for (i = 0; i < m->nr && !status; i++) {
		status = models_set(m, (first + i) % m->nr);
		if (!status)
			status = run_pass(run);
	}
	return status;
}

/*
 * Models are interleaved by context and order, so that what drifts meanwhile
 * falls on all of them.
 */
static int run_by_model(struct run *run)
{
	char *orders = module_read(&run->module, "orders");
	char *contexts = module_read(&run->module, "contexts");
	char *context, *at = NULL;
	unsigned int order, first = 0;
	int status = CB_OK;
	struct list list;

	if (orders)
		orders[strcspn(orders, "\n")] = '\0';
	if (!orders || !contexts || list_parse(&list, orders)) {
		msg("%s: the sweep cannot be read back", run->module.dir);
		status = CB_FAILED;
	}
	for (context = contexts ? strtok_r(contexts, ",\n", &at) : NULL; context && !status;
	     context = strtok_r(NULL, ",\n", &at))
		for (order = 0; order < LIST_NUMBERS && !status; order++)
			if (list.in[order])
				status = run_block_by_model(run, context, order, first++);
	models_restore(&run->opt.models);
	free(orders);
	free(contexts);
	return status;
}

static int run_new(struct run *run, int argc, char **argv)
{
	int status;

	status = set_knobs(run);
	if (!status && run->opt.preempt)
		status = models_open(&run->opt.models, &run->module);
	if (status)
		return status;
	run->env = environment(run);
	if (put_header(run, argc, argv))
		return CB_FAILED;
	status = run->opt.preempt ? run_by_model(run) : run_pass(run);
	if (put_footer(run, !status) && !status)
		status = CB_FAILED;
	return status;
}

static int check_format(const struct run *run)
{
	char *info = module_read(&run->module, "info");
	json_t *env = info_environment(info);
	const char *format = env_get(env, "format");
	int status = CB_OK;

	if (!info) {
		msg("%s/info: %s", run->module.dir, strerror(errno));
		status = CB_FAILED;
	} else if (!format || atoi(format) != RESULT_FORMAT) {
		msg("the loaded module writes format %s, this program reads %d: rmmod clearbench, then run the module that came with it",
		    or_dash(format), RESULT_FORMAT);
		status = CB_FAILED;
	}
	json_decref(env);
	free(info);
	return status;
}

/* With the module there: everything between the first knob and the last. */
static int run_loaded(struct run *run, struct result *r, int argc, char **argv)
{
	char *results = module_path(&run->module, "results");
	char *histograms = module_path(&run->module, "histograms");
	int status, ret;

	tsv_init(&run->results, results, CB_RESULTS_MAGIC);
	tsv_init(&run->histograms, histograms, CB_HISTOGRAMS_MAGIC);
	status = check_format(run);
	if (!status) {
		ret = knobs_open(&run->knobs, &run->module);
		if (ret) {
			msg("%s: %s", run->module.dir, strerror(-ret));
			status = CB_FAILED;
		}
	}
	if (!status)
		status = r ? resume(run, r) : run_new(run, argc, argv);
	if (!status && run->failed_cells) {
		msg("%u cells failed: the notes in %s say why", run->failed_cells, run->out.path);
		status = CB_FAILED;
	}
	tsv_free(&run->results);
	tsv_free(&run->histograms);
	knobs_restore(&run->knobs);
	knobs_free(&run->knobs);
	free(results);
	free(histograms);
	return status;
}

/* Resuming goes on with what the file was measured by. Return: exit status. */
static int choose_backend(struct run *run, const struct result *r)
{
	const char *was = r ? json_string_value(json_object_get(r->header, "backend")) : NULL;
	const char *wanted = run->opt.backend ? run->opt.backend : was ? was : "module";

	if (was && strcmp(was, wanted))
		return usage_error(&verb_run, "%s was measured by --backend %s: leave out --backend",
				   r->path, was);
	if (strcmp(wanted, "user"))
		return module_load(&run->module, run->opt.module) ? CB_FAILED : CB_OK;
	run->module.user = user_open();
	return run->module.user ? CB_OK : CB_FAILED;
}

static void free_options(struct options *opt)
{
	unsigned int i;

	for (i = 0; i < opt->nr_set; i++)
		free(opt->set[i].name);
	free(opt->set);
	models_free(&opt->models);
}

static int run_main(int argc, char **argv)
{
	struct run run = { .kmsg = -1, .out = { .fd = -1 } };
	struct result r, *resumed = NULL;
	int status;

	status = parse(&run.opt, argc, argv);
	if (status)
		goto out;
	if (run.opt.resume) {
		resumed = &r;
		status = result_read(&r, run.opt.resume, NULL, NULL);
		if (status == CB_USAGE)
			goto out;
		status = CB_OK;
	} else if (output_open(&run.out, run.opt.out, run.opt.force)) {
		status = CB_FAILED;
		goto out;
	}
	block_signals();
	run.on_terminal = isatty(STDERR_FILENO);
	run.warnings = json_array();
	run.changed = json_array();
	run.kmsg = kmsg_open();
	status = choose_backend(&run, resumed);
	if (!status)
		status = run_loaded(&run, resumed, argc, argv);
out:
	if (module_unload(&run.module) && !status)
		status = CB_FAILED;
	output_close(&run.out);
	if (resumed)
		result_free(resumed);
	if (run.kmsg >= 0)
		close(run.kmsg);
	json_decref(run.env);
	json_decref(run.warnings);
	json_decref(run.changed);
	free_options(&run.opt);
	return status;
}

const struct verb verb_run = {
	.name = "run",
	.summary = "run a sweep, and keep each cell as it is finished",
	.usage = "[--KNOB VALUE ...] [--backend module|user] [--module FILE] -o FILE\n"
		"       clearbench run --resume FILE\n\n"
		"  -o FILE          the result; it must not exist\n"
		"  --force          overwrite it; with --resume, mix conditions\n"
		"  --resume FILE    measure what a cut or stopped FILE lacks: each context and\n"
		"                   order that is not whole, with the knobs that FILE names\n"
		"  --module FILE    load this if the module is not loaded; else the one beside\n"
		"                   the program's tree, /clearbench/clearbench.ko, or by name\n"
		"  --backend user   the same primitives on huge pages of this process: no root,\n"
		"                   no module; process context, cold or warm only. With\n"
		"                   --latency 1 an interrupt is sent into each clear\n"
		"  --preempt MODEL,...\n"
		"                   sweep under each of these preemption models, interleaved, and\n"
		"                   restore the one that was found\n"
		"  -q, -v           no progress; a line a cell\n\n"
		"Each file that can be written in the module's debugfs folder is a KNOB, among\n"
		"them --orders 0-10 --methods legacy,batched --batches full,1 --samples N\n"
		"--contexts process,softirq,spinlock --cpu N --nid N --cache cold|warm|fresh\n"
		"--seed N --verify 0|1. --force-preempt and --unsafe take no value. They are\n"
		"set in the order given, and restored at the end, on Ctrl-C too.\n",
	.main = run_main,
};
