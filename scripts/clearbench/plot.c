// SPDX-License-Identifier: GPL-2.0
/*
 * clearbench plot: results as pictures.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plot.h"

/* What --picture may name; gain is both of its pictures. */
static const struct {
	const char *name;
	unsigned int pictures;
	const char *needs;
} picture_names[] = {
	{ "distribution", 1 << PIC_DISTRIBUTION, "histograms" },
	{ "gbps", 1 << PIC_GBPS, "a measured cell" },
	{ "gain", 1 << PIC_GAIN | 1 << PIC_BATCH, "two variants of one order" },
	{ "latency", 1 << PIC_LATENCY, "a run with --latency 1" },
};

/* hist_fn: keeps a cell's distribution of clears, as finely as it can be drawn. */
static void take_curve(void *arg, const struct cell *cell, const struct histogram *hist,
		       unsigned int nr)
{
	/* A step of less is less than a pixel. */
	const double time_step = 1.01, share_step = 0.98;
	struct input *in = arg;
	double all = 0, above, time, last_time, last_share = 1;
	const struct histogram *h = NULL;
	struct curve *curve;
	size_t at = cell - in->r.cells, i, cap;

	for (i = 0; i < nr; i++)
		if (!strcmp(hist[i].name, "clear"))
			h = &hist[i];
	for (i = 0; h && i < h->nr; i++)
		all += h->bucket[i].count;
	if (!(all > 0) || !isfinite(all))
		return;
	if (at >= in->nr_curves) {
		cap = at + at / 2 + 64;
		in->curve = xrealloc(in->curve, cap * sizeof(*in->curve));
		memset(in->curve + in->nr_curves, 0,
		       (cap - in->nr_curves) * sizeof(*in->curve));
		in->nr_curves = cap;
	}
	curve = &in->curve[at];
	curve->at = xrealloc(NULL, (h->nr + 1) * sizeof(*curve->at));
	/* The ends are known exactly. */
	last_time = fmax(h->bucket[0].lower, CELL_NUM(cell, min_ns));
	last_time = fmin(fmax(last_time, 0.1), 1e14);
	curve->at[0][0] = last_time;
	curve->at[0][1] = 1;
	curve->nr = 1;
	for (i = 0, above = all; i < h->nr; i++) {
		double share;

		above -= h->bucket[i].count;
		share = above > 0 ? above / all : 0;
		time = fmin(h->bucket[i].upper, CELL_NUM(cell, max_ns));
		time = fmin(fmax(time, last_time), 1e14);
		if (i < h->nr - 1 && time < last_time * time_step &&
		    share > last_share * share_step)
			continue;
		curve->at[curve->nr][0] = time;
		curve->at[curve->nr][1] = share;
		curve->nr++;
		last_time = time;
		last_share = share;
	}
	curve->at = xrealloc(curve->at, curve->nr * sizeof(*curve->at));
}

static void add_words(void *arg, const char *text)
{
	char **marks = arg, *all;

	/* The words before the explanation */
	all = xasprintf("%s%s%.*s", *marks, **marks ? ", " : "", (int)strcspn(text, ":"), text);
	free(*marks);
	*marks = all;
}

/* "GUEST, USER SPACE", and what else has to stand in every picture */
static char *capital_marks(const struct result *r)
{
	const char *distorts = env_get(r->environment, "distorts");
	const char *after = env_get(r->knobs, "after");
	char *marks = xstrdup(""), *more;

	list_marks(r->marks, add_words, &marks);
	if (distorts && *distorts && strcmp(distorts, "none")) {
		more = xasprintf("%s (%s)", marks, distorts);
		free(marks);
		marks = more;
	}
	if (r->stopped || !r->footer)
		add_words(&marks, "INCOMPLETE");
	else if (r->bad_line)
		add_words(&marks, "DAMAGED");
	if (after && strcmp(after, "none"))
		add_words(&marks, strcmp(after, "touch") ? "VICTIM READ AFTER THE CLEAR" :
							   "FIRST READ AFTER THE CLEAR");
	return marks;
}

static void find_baselines(struct input *in)
{
	size_t from, end, i;

	in->base = xrealloc(NULL, in->v.nr * sizeof(*in->base));
	for (from = 0; from < in->v.nr; from = end) {
		const struct cell *base;

		end = view_order_end(&in->v, from);
		base = view_baseline(&in->v, from, end);
		for (i = from; i < end; i++)
			in->base[i] = base;
	}
}

static void find_methods(struct plot *p, const struct view *v)
{
	unsigned int k;
	size_t i;

	for (i = 0; i < v->nr && p->nr_method < MAX_SERIES; i++) {
		for (k = 0; k < p->nr_method; k++)
			if (!strcmp(p->method[k], CELL_TEXT(v->cell[i], method)))
				break;
		if (k == p->nr_method)
			p->method[p->nr_method++] = CELL_TEXT(v->cell[i], method);
	}
}

static int read_input(struct plot *p, const char *path)
{
	struct input *in = &p->in[p->nr];
	const char *kernel;
	int status = result_read(&in->r, path, take_curve, in);
	unsigned int i, same = 1;

	if (status == CB_USAGE) {
		result_free(&in->r);
		return status;
	}
	view_init(&in->v, &in->r);
	find_baselines(in);
	find_methods(p, &in->v);
	for (i = 0; i < p->nr; i++)
		same += !strcmp(file_name(p->in[i].r.path), file_name(path));
	in->label = same > 1 ? xasprintf("%.80s (%u)", file_name(path), same) :
			       xasprintf("%.80s", file_name(path));
	kernel = env_get(in->r.environment, "kernel");
	kernel = kernel ? kernel : "unknown";
	in->kernel = xasprintf("%.*s", (int)strcspn(kernel, " "), kernel);
	in->marks = capital_marks(&in->r);
	p->nr++;
	return status;
}

static void free_input(struct input *in)
{
	size_t i;

	for (i = 0; i < in->nr_curves; i++)
		free(in->curve[i].at);
	free(in->curve);
	free(in->base);
	free(in->label);
	free(in->kernel);
	free(in->marks);
	view_free(&in->v);
	result_free(&in->r);
}

/* Output: whole, or not at all */

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t ret = write(fd, data, len);

		if (ret < 0 && errno == EINTR)
			continue;
		if (ret < 0)
			return -errno;
		data += ret;
		len -= ret;
	}
	return 0;
}

static int replace(const char *path, const char *data, size_t len)
{
	char *temp = xasprintf("%s.XXXXXX", path);
	sigset_t all, before;
	mode_t mask = umask(0);
	int fd, err;

	umask(mask);
	/* A signal waits for these few moments, so that nothing is left behind. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	fd = mkostemp(temp, O_CLOEXEC);
	err = fd < 0 ? -errno : write_all(fd, data, len);
	if (fd >= 0) {
		if (!err && fchmod(fd, 0666 & ~mask))
			err = -errno;
		if (close(fd) && !err)
			err = -errno;
		if (!err && rename(temp, path))
			err = -errno;
		if (err)
			unlink(temp);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	free(temp);
	if (err)
		msg("%s: %s: nothing was written", path, strerror(-err));
	return err ? CB_FAILED : CB_OK;
}

static bool has_suffix(const char *text, const char *suffix)
{
	size_t len = strlen(text), n = strlen(suffix);

	return len > n && !strcmp(text + len - n, suffix);
}

#define SVG_TERMINAL	"svg font 'sans-serif,12'"
/* Its sizes are points, those of SVG pixels. */
#define PNG_TERMINAL	"pngcairo font 'sans,12' fontscale 0.75 background '#ffffff'"

static int write_image(const struct plot *p, const struct chart *chart, unsigned int nr,
		       const char *path)
{
	bool png = has_suffix(path, ".png");
	size_t len, script_len, svg_len;
	char *script, *image, *svg;
	int status = CB_FAILED;
	FILE *to;

	script = draw_script(p, chart, nr, png ? PNG_TERMINAL :
			     SVG_TERMINAL " background '#ffffff'", &script_len);
	image = run_gnuplot(script, script_len, &len);
	free(script);
	if (image && png) {
		status = replace(path, image, len);
	} else if (image) {
		to = open_memstream(&svg, &svg_len);
		if (to) {
			put_svg(to, image, "clearbench", NULL);
			fclose(to);
			status = replace(path, svg, svg_len);
			free(svg);
		}
	}
	free(image);
	return status;
}

static int write_page(const struct plot *p, const struct chart *chart, unsigned int nr,
		      const char *path)
{
	char *svg[NR_PICTURES] = { NULL }, *script, *page;
	size_t len, page_len;
	int status = CB_OK;
	unsigned int i;
	FILE *to;

	for (i = 0; i < nr && !status; i++) {
		script = draw_script(p, &chart[i], 1, SVG_TERMINAL, &len);
		svg[i] = run_gnuplot(script, len, &len);
		if (!svg[i])
			status = CB_FAILED;
		free(script);
	}
	to = status ? NULL : open_memstream(&page, &page_len);
	if (to) {
		put_page(to, p, chart, svg, nr);
		fclose(to);
		status = replace(path, page, page_len);
		free(page);
	}
	for (i = 0; i < nr; i++)
		free(svg[i]);
	return status;
}

static int draw_all(const struct plot *p, const char *path)
{
	struct chart *chart = xrealloc(NULL, NR_PICTURES * sizeof(*chart));
	unsigned int picture, nr = 0, i;
	size_t left_out = 0;
	int status;

	for (picture = 0; picture < NR_PICTURES; picture++) {
		if (!(p->pictures & 1 << picture))
			continue;
		chart_init(&chart[nr], p, picture);
		if (chart[nr].nr)
			left_out += chart[nr++].left_out;
		else
			chart_free(&chart[nr]);
	}
	if (!nr) {
		for (i = 0; i < ARRAY_SIZE(picture_names); i++)
			if (picture_names[i].pictures == p->pictures)
				msg("nothing to draw: --picture %s needs %s, and orders, contexts and methods that the file has: clearbench show",
				    picture_names[i].name, picture_names[i].needs);
		if (p->pictures == (1 << NR_PICTURES) - 1)
			msg("nothing to draw: no measured cell of these orders, contexts and methods: clearbench show says why");
		status = CB_FAILED;
	} else if (has_suffix(path, ".html")) {
		status = write_page(p, chart, nr, path);
	} else {
		status = write_image(p, chart, nr, path);
	}
	if (!status && left_out)
		msg("%s: too many for a picture: each says how many cells it leaves out; choose by --orders, --contexts, --methods",
		    path);
	for (i = 0; i < nr; i++)
		chart_free(&chart[i]);
	free(chart);
	return status;
}

/* Command line */

static int parse_pictures(struct plot *p, const char *text)
{
	unsigned int i;

	p->pictures = 0;
	for (;;) {
		size_t len = strcspn(text, ",");

		for (i = 0; i < ARRAY_SIZE(picture_names); i++)
			if (len == strlen(picture_names[i].name) &&
			    !strncmp(text, picture_names[i].name, len))
				break;
		if (i == ARRAY_SIZE(picture_names))
			return usage_error(&verb_plot, "no picture '%.*s': distribution, gbps, gain, latency",
					   (int)len, text);
		p->pictures |= picture_names[i].pictures;
		if (!text[len])
			return CB_OK;
		text += len + 1;
	}
}

/* "--NAME VALUE" or "--NAME=VALUE"; NULL: another option. *i moves on. */
static const char *option(int argc, char **argv, int *i, const char *name)
{
	size_t len = strlen(name);

	if (strncmp(argv[*i], name, len))
		return NULL;
	if (argv[*i][len] == '=')
		return argv[*i] + len + 1;
	if (argv[*i][len] || *i + 1 == argc)
		return NULL;
	return argv[++*i];
}

static int parse(struct plot *p, int argc, char **argv, const char **out,
		 const char **path, unsigned int *nr)
{
	const char *value;
	int i, status = CB_OK;

	for (i = 1; i < argc && !status; i++) {
		value = option(argc, argv, &i, "-o");
		if (value) {
			*out = value;
			continue;
		}
		value = option(argc, argv, &i, "--picture");
		if (value) {
			status = parse_pictures(p, value);
			continue;
		}
		value = option(argc, argv, &i, "--orders");
		if (value) {
			p->some_orders = true;
			if (list_parse(&p->orders, value))
				return usage_error(&verb_plot,
						   "'%s' is no list of orders: 0,9 or 0-10", value);
			continue;
		}
		value = option(argc, argv, &i, "--contexts");
		if (value) {
			p->contexts = value;
			continue;
		}
		value = option(argc, argv, &i, "--methods");
		if (value) {
			p->methods = value;
			continue;
		}
		if (*argv[i] == '-')
			return usage_error(&verb_plot, "'%s' is no option, or lacks its value",
					   argv[i]);
		if (*nr == MAX_INPUTS)
			return usage_error(&verb_plot, "more than %u files", MAX_INPUTS);
		path[(*nr)++] = argv[i];
	}
	return status;
}

static int plot_main(int argc, char **argv)
{
	const char *out = NULL, *path[MAX_INPUTS];
	unsigned int nr = 0, i;
	int status, ret;
	struct plot *p;

	p = xrealloc(NULL, sizeof(*p));
	memset(p, 0, sizeof(*p));
	p->pictures = (1 << NR_PICTURES) - 1;
	status = parse(p, argc, argv, &out, path, &nr);
	if (!status && !nr)
		status = usage_error(&verb_plot, "which FILE?");
	if (!status && !out)
		status = usage_error(&verb_plot, "where to? -o OUT.svg, .png or .html");
	if (!status && !has_suffix(out, ".svg") && !has_suffix(out, ".png") &&
	    !has_suffix(out, ".html"))
		status = usage_error(&verb_plot, "'%s' does not end in .svg, .png or .html", out);
	for (i = 0; i < nr && status != CB_USAGE; i++) {
		ret = read_input(p, path[i]);
		if (ret)
			status = ret;
	}
	if (status != CB_USAGE) {
		ret = draw_all(p, out);
		if (ret)
			status = ret;
	}
	for (i = 0; i < p->nr; i++)
		free_input(&p->in[i]);
	free(p);
	return status;
}

const struct verb verb_plot = {
	.name = "plot",
	.summary = "results as pictures: SVG, PNG, or a page with everything",
	.usage = "[--picture LIST] [--orders LIST] [--contexts LIST] [--methods LIST] FILE... -o OUT\n\n"
		"OUT ends in .svg, .png (several pictures below each other) or .html (one page\n"
		"with the pictures, the environment and the tables). Needs gnuplot. Pictures, by\n"
		"default those for which the files have data:\n"
		"  distribution  share of clears that took longer, by time\n"
		"  gbps          bandwidth by order\n"
		"  gain          ratio to the baseline by order, with intervals and the noise\n"
		"                floor; by batch, with the knee, where at least three were run\n"
		"  latency       delays of interrupt, SCHED_FIFO and SCHED_NORMAL (--latency 1)\n\n"
		"Several files are drawn together; what differs between them (model, kernel,\n"
		"file) is added to the labels. A cut or damaged file gives what is whole, a\n"
		"warning, and exit status 1.\n",
	.main = plot_main,
};
