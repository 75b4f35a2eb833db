// SPDX-License-Identifier: GPL-2.0
/*
 * User backend: the files of the module's folder, without a module. Knobs are
 * written and read, a 1 to `run` comes back when the run is over, a 0 from
 * another thread stops it; `results` and `histograms` grow block by block.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "user_engine.h"

static FILE *nameless_file(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (!file) {
		msg("%s: %s", name, strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	return file;
}

/**
 * user_open() - make the backend ready
 *
 * Measures the clock, which takes a twentieth of a second.
 *
 * Return: it, or NULL after a message.
 */
struct user *user_open(void)
{
	struct user *u = xrealloc(NULL, sizeof(*u));

	memset(u, 0, sizeof(*u));
	pthread_mutex_init(&u->lock, NULL);
	u->results = nameless_file("results");
	u->histograms = u->results ? nameless_file("histograms") : NULL;
	if (!u->histograms) {
		user_close(u);
		return NULL;
	}
	user_methods_init();
	user_state_init();
	user_config_init(&u->config);
	strcpy(u->status, "idle");
	return u;
}

void user_close(struct user *u)
{
	if (!u)
		return;
	if (u->results)
		fclose(u->results);
	if (u->histograms)
		fclose(u->histograms);
	pthread_mutex_destroy(&u->lock);
	free(u->said);
	free(u);
}

/* user_say() - keep why a write is refused. Called with the lock held. */
void user_say(struct user *u, const char *fmt, ...)
{
	va_list ap;

	free(u->said);
	va_start(ap, fmt);
	if (vasprintf(&u->said, fmt, ap) < 0)
		u->said = NULL;
	va_end(ap);
}

/* user_said() - what a refused write is told in place of the kernel's log; to be freed */
char *user_said(struct user *u)
{
	char *said;

	pthread_mutex_lock(&u->lock);
	said = u->said ? xstrdup(u->said) : NULL;
	pthread_mutex_unlock(&u->lock);
	return said;
}

const char *user_knob_name(unsigned int index)
{
	return index < user_nr_knobs ? user_knobs[index].name : NULL;
}

static const struct user_knob *find_knob(const char *name)
{
	unsigned int i;

	for (i = 0; i < user_nr_knobs; i++)
		if (!strcmp(user_knobs[i].name, name))
			return &user_knobs[i];
	return NULL;
}

static char *status_text(struct user *u)
{
	const struct user_cell *cell;
	char buf[12], *text;

	pthread_mutex_lock(&u->lock);
	cell = u->cells ? &u->cells[atomic_load(&u->current)] : NULL;
	if (u->running && cell)
		text = xasprintf("running %u/%u context=process order=%u method=%s batch=%s\n",
				 u->nr_done, u->nr_cells, cell->order, cell->method->name,
				 user_batch_name(cell->method, cell->batch, buf));
	else if (u->running)
		text = xasprintf("running %u/%u\n", u->nr_done, u->nr_cells);
	else
		text = xasprintf("%s\n", u->status);
	pthread_mutex_unlock(&u->lock);
	return text;
}

static char *knob_text(struct user *u, const struct user_knob *knob)
{
	char *text;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	pthread_mutex_lock(&u->lock);
	knob->show(to, &u->config);
	pthread_mutex_unlock(&u->lock);
	fputc('\n', to);
	fclose(to);
	return text;
}

/**
 * user_read() - a file of the folder
 * @u: the backend
 * @name: a knob, `info` or `status`; the tables have a user_path()
 *
 * Return: the text, to be freed; NULL with errno set.
 */
char *user_read(struct user *u, const char *name)
{
	const struct user_knob *knob = find_knob(name);

	if (knob)
		return knob_text(u, knob);
	if (!strcmp(name, "info"))
		return user_info();
	if (!strcmp(name, "status"))
		return status_text(u);
	errno = ENOENT;
	return NULL;
}

/* user_path() - where `results` and `histograms` can be opened; to be freed */
char *user_path(const struct user *u, const char *name)
{
	return xasprintf("/proc/self/fd/%d",
			 fileno(strcmp(name, "results") ? u->histograms : u->results));
}

static void say_legal(struct user *u, const struct user_knob *knob)
{
	char *legal;
	size_t len;
	FILE *to = open_memstream(&legal, &len);

	knob->legal(to);
	fclose(to);
	user_say(u, "legal is %s", legal);
	free(legal);
}

/* Without the white space around it; to be freed */
static char *trimmed(const char *text)
{
	size_t len;

	while (isspace((unsigned char)*text))
		text++;
	for (len = strlen(text); len && isspace((unsigned char)text[len - 1]); len--)
		;
	return xasprintf("%.*s", (int)len, text);
}

static int write_knob(struct user *u, const struct user_knob *knob, char *text)
{
	struct user_config config;
	int ret;

	pthread_mutex_lock(&u->lock);
	if (u->running) {
		ret = -EBUSY;
	} else {
		config = u->config;
		ret = *text && !strchr(text, '\n') && strlen(text) < CB_KNOB_LEN ?
		      knob->parse(&config, text) : -EINVAL;
		if (ret)
			say_legal(u, knob);
		else
			u->config = config;
	}
	pthread_mutex_unlock(&u->lock);
	return ret;
}

/**
 * user_write() - write to a file of the folder
 * @u: the backend
 * @name: a knob or `run`
 * @text: a value
 *
 * A 1 to `run` returns when the run is over.
 *
 * Return: 0 or a negative errno; user_said() has the reason then.
 */
int user_write(struct user *u, const char *name, const char *text)
{
	const struct user_knob *knob = find_knob(name);
	char *value = trimmed(text);
	int ret = -EINVAL;

	if (knob) {
		ret = write_knob(u, knob, value);
	} else if (strcmp(name, "run")) {
		ret = -ENOENT;
	} else if (!strcmp(value, "1")) {
		ret = user_engine_run(u);
	} else if (!strcmp(value, "0")) {
		atomic_store(&u->stop, true);
		ret = 0;
	}
	free(value);
	return ret;
}
