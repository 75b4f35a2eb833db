// SPDX-License-Identifier: GPL-2.0
/*
 * The files under /sys/kernel/debug/clearbench/.
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "clearbench.h"

static struct dentry *debugfs_dir;

/* One word or list from user space, without the white space around it */
static char *read_text(const char __user *ubuf, size_t count, loff_t *ppos, char **text)
{
	char *buf;

	/* A value comes in one write, as everywhere in debugfs. */
	if (*ppos || !count || count >= CB_KNOB_LEN)
		return ERR_PTR(-EINVAL);
	buf = memdup_user_nul(ubuf, count);
	if (IS_ERR(buf))
		return buf;
	*text = strim(buf);
	return buf;
}

/* Knobs */

static int knob_set(const struct cb_knob *knob, char *text)
{
	struct cb_config config;
	int ret;

	mutex_lock(&cb_run.lock);
	if (cb_run.running) {
		ret = -EBUSY;
	} else {
		config = cb_run.config;
		ret = *text && !strchr(text, '\n') ? knob->parse(&config, text) : -EINVAL;
		if (!ret)
			cb_run.config = config;
	}
	mutex_unlock(&cb_run.lock);
	return ret;
}

static void say_legal(const struct cb_knob *knob, int error)
{
	char legal[256];

	knob->legal(legal, sizeof(legal));
	pr_info("%s: refused (%s); legal is %s\n", knob->name,
		error == -EINVAL ? "not understood" :
		error == -ERANGE ? "out of range" : "not on this machine", legal);
}

static ssize_t knob_write(struct file *file, const char __user *ubuf,
			  size_t count, loff_t *ppos)
{
	const struct cb_knob *knob = file_inode(file)->i_private;
	char *text, *buf = read_text(ubuf, count, ppos, &text);
	int ret;

	if (IS_ERR(buf)) {
		ret = PTR_ERR(buf);
	} else {
		ret = knob_set(knob, text);
		kfree(buf);
	}
	if (ret == -EINVAL || ret == -ERANGE || ret == -EDOM)
		say_legal(knob, ret);
	return ret ?: count;
}

static int knob_show(struct seq_file *m, void *unused)
{
	const struct cb_knob *knob = m->private;

	mutex_lock(&cb_run.lock);
	knob->show(m, &cb_run.config);
	mutex_unlock(&cb_run.lock);
	return 0;
}

static int knob_open(struct inode *inode, struct file *file)
{
	return single_open(file, knob_show, inode->i_private);
}

static const struct file_operations knob_fops = {
	.owner = THIS_MODULE,
	.open = knob_open,
	.read = seq_read,
	.write = knob_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/* run */

static ssize_t run_write(struct file *file, const char __user *ubuf,
			 size_t count, loff_t *ppos)
{
	char *text, *buf = read_text(ubuf, count, ppos, &text);
	bool understood = true;
	int ret = 0;

	if (!IS_ERR(buf) && !strcmp(text, "1"))
		ret = cb_engine_run();
	else if (!IS_ERR(buf) && !strcmp(text, "0"))
		WRITE_ONCE(cb_run.stop, true);
	else
		understood = false;
	if (!IS_ERR(buf))
		kfree(buf);
	if (!understood) {
		ret = -EINVAL;
		pr_info("run: refused (not understood); legal is 1 to run, 0 to stop\n");
	}
	return ret ?: count;
}

static int run_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "%d\n", READ_ONCE(cb_run.running));
	return 0;
}

static int run_open(struct inode *inode, struct file *file)
{
	return single_open(file, run_show, NULL);
}

static const struct file_operations run_fops = {
	.owner = THIS_MODULE,
	.open = run_open,
	.read = seq_read,
	.write = run_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/* watch, watch_results */

/* The text is 0 to stop, "all", or the number of a process. */
static int watch_set(const char *text)
{
	int pid = 0, ret = 0;

	if (strcmp(text, "all") && (kstrtoint(text, 10, &pid) || pid < 0))
		return -EINVAL;
	mutex_lock(&cb_run.lock);
	if (!strcmp(text, "0"))
		cb_watch_stop();
	else if (cb_run.running || cb_watching())
		ret = -EBUSY;
	else
		ret = cb_watch_start(pid);
	mutex_unlock(&cb_run.lock);
	return ret;
}

static ssize_t watch_write(struct file *file, const char __user *ubuf,
			   size_t count, loff_t *ppos)
{
	char *text, *buf = read_text(ubuf, count, ppos, &text);
	int ret = -EINVAL;

	if (!IS_ERR(buf)) {
		ret = watch_set(text);
		kfree(buf);
	}
	if (ret == -EINVAL)
		pr_info("watch: refused (not understood); legal is the number of a process, all, or 0 to stop\n");
	return ret ?: count;
}

static int watch_show(struct seq_file *m, void *unused)
{
	mutex_lock(&cb_run.lock);
	cb_watch_show(m);
	mutex_unlock(&cb_run.lock);
	return 0;
}

static int watch_open(struct inode *inode, struct file *file)
{
	return single_open(file, watch_show, NULL);
}

static const struct file_operations watch_fops = {
	.owner = THIS_MODULE,
	.open = watch_open,
	.read = seq_read,
	.write = watch_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static int watch_results_show(struct seq_file *m, void *unused)
{
	mutex_lock(&cb_run.lock);
	cb_watch_results(m);
	mutex_unlock(&cb_run.lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(watch_results);

/* status, info, available_* */

static int status_show(struct seq_file *m, void *unused)
{
	const struct cb_cell *cell;
	char buf[12];

	mutex_lock(&cb_run.lock);
	cell = READ_ONCE(cb_run.current_cell);
	if (cb_run.running && cell)
		seq_printf(m, "running %u/%u context=%s order=%u method=%s batch=%s\n",
			   cb_run.nr_done, cb_run.nr_cells, cell->context->name,
			   cell->order, cell->method->name,
			   cell->method->batched ? cb_batch_name(cell->batch, buf) : "-");
	else
		seq_printf(m, "%s\n", cb_run.status);
	mutex_unlock(&cb_run.lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(status);

static int info_show(struct seq_file *m, void *unused)
{
	cb_info_show(m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(info);

static void show_available(struct seq_file *m, const char *name, const char *desc,
			   const char *(*unavailable)(void))
{
	const char *why = unavailable ? unavailable() : NULL;

	if (why)
		seq_printf(m, "# %s: %s\n", name, why);
	else
		seq_printf(m, "%s\t%s\n", name, desc);
}

static int available_methods_show(struct seq_file *m, void *unused)
{
	unsigned int i;

	for (i = 0; i < cb_nr_methods; i++)
		show_available(m, cb_methods[i].name, cb_methods[i].desc,
			       cb_methods[i].unavailable);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(available_methods);

static int available_contexts_show(struct seq_file *m, void *unused)
{
	unsigned int i;

	for (i = 0; i < cb_nr_contexts; i++)
		show_available(m, cb_contexts[i].name, cb_contexts[i].desc,
			       cb_contexts[i].unavailable);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(available_contexts);

/*
 * results, histograms: a header, then a record a finished cell. Position 0 is
 * the header, position n the cell n - 1.
 */

static void *cells_at(loff_t pos)
{
	if (!pos)
		return SEQ_START_TOKEN;
	return pos <= cb_run.nr_done ? &cb_run.cells[pos - 1] : NULL;
}

static void *cells_start(struct seq_file *m, loff_t *pos)
{
	mutex_lock(&cb_run.lock);
	return cells_at(*pos);
}

static void *cells_next(struct seq_file *m, void *v, loff_t *pos)
{
	return cells_at(++*pos);
}

static void cells_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&cb_run.lock);
}

/* Prints thousandths with @decimals of them, rounded */
static void put_milli(struct seq_file *m, u64 milli, unsigned int decimals)
{
	u64 unit = decimals == 1 ? 100 : 1;
	u32 rest;
	u64 whole = div_u64_rem(div_u64(milli + unit / 2, unit), 1000 / unit, &rest);

	seq_printf(m, "\t%llu.%0*u", whole, decimals, rest);
}

static void put_quantile(struct seq_file *m, const struct hist *h, unsigned int permille)
{
	if (h && h->count)
		put_milli(m, hist_quantile(h, permille), 1);
	else
		seq_puts(m, "\t-");
}

static void put_u64(struct seq_file *m, const struct hist *h, u64 value)
{
	if (h && h->count)
		seq_printf(m, "\t%llu", value);
	else
		seq_puts(m, "\t-");
}

static void put_latency(struct seq_file *m, const struct hist *h)
{
	put_quantile(m, h, 500);
	put_quantile(m, h, 990);
	put_u64(m, h, h ? h->max : 0);
}

static void put_mean(struct seq_file *m, const struct hist *h)
{
	u64 whole, rest;

	if (!h || !h->count) {
		seq_puts(m, "\t-");
		return;
	}
	whole = div64_u64_rem(h->sum, h->count, &rest);
	put_milli(m, whole * HIST_MILLI + div64_u64(rest * HIST_MILLI, h->count), 1);
}

/* A ratio, recorded as a multiple of 1/HIST_RATIO_ONE, to four decimals */
static void put_ratio(struct seq_file *m, u64 milli)
{
	u64 tenthousandths = div_u64(milli * 10 + HIST_RATIO_ONE / 2, HIST_RATIO_ONE);
	u32 rest;
	u64 whole = div_u64_rem(tenthousandths, 10000, &rest);

	if (milli)
		seq_printf(m, "\t%llu.%04u", whole, rest);
	else
		seq_puts(m, "\t-");
}

static void put_bandwidth(struct seq_file *m, const struct cb_cell *cell)
{
	const struct hist *h = cell->clear;
	u64 milli = h && h->count ? hist_quantile(h, 500) : 0;

	/* bytes a ns are 10^9 bytes a second; milli ns, so times 10^3 for three decimals */
	if (milli)
		put_milli(m, div64_u64(cell->bytes * 1000000, milli), 3);
	else
		seq_puts(m, "\t-");
}

static void put_key(struct seq_file *m, const struct cb_cell *cell)
{
	char buf[12];

	seq_printf(m, "%s\t%u\t%s\t%s", cell->context->name, cell->order, cell->method->name,
		   cell->method->batched ? cb_batch_name(cell->batch, buf) : "-");
}

static int results_show(struct seq_file *m, void *v)
{
	static const char * const states[] = {
		[CB_OK] = "ok",
		[CB_REFUSED] = "refused",
		[CB_FAILED] = "failed",
		[CB_PARTIAL] = "partial",
	};
	const struct cb_cell *cell = v;
	const struct hist *h;
	unsigned int i;

	if (v == SEQ_START_TOKEN) {
#define CB_COLUMN_NAME(_name)	"\t" #_name
		seq_printf(m, "%s\n%s\n", CB_RESULTS_MAGIC,
			   &(CB_COLUMNS(CB_COLUMN_NAME))[1]);
		return 0;
	}
	h = cell->clear;
	put_key(m, cell);
	seq_printf(m, "\t%s\t%s%s\t%d\t", cb_cache_name(cell->cache), cell->model,
		   cell->forced ? "!" : "", cell->cpu);
	if (cell->nid == NUMA_NO_NODE)
		seq_puts(m, "-");
	else
		seq_printf(m, "%d", cell->nid);
	seq_printf(m, "\t%u\t%llu\t%llu\t%llu\t%s\t%s\t%s", cell->load,
		   h ? h->count : 0, h ? cell->disturbed->count : 0,
		   cell->not_available, cell->verify ?: "-", states[cell->state],
		   cell->note[0] ? cell->note : "-");
	put_u64(m, h, h ? h->min : 0);
	put_quantile(m, h, 500);
	put_quantile(m, h, 900);
	put_quantile(m, h, 990);
	put_quantile(m, h, 999);
	put_u64(m, h, h ? h->max : 0);
	put_mean(m, h);
	put_bandwidth(m, cell);
	put_milli(m, cell->context->clock_ns * (HIST_MILLI / 10), 1);
	put_quantile(m, cell->alloc, 500);
	put_quantile(m, cell->free, 500);
	for (i = 0; i < ARRAY_SIZE(cell->ratio_milli); i++)
		put_ratio(m, cell->ratio_milli[i]);
	for (i = 0; i < ARRAY_SIZE(cell->floor_milli); i++)
		put_ratio(m, cell->floor_milli[i]);
	put_latency(m, cell->latency.irq);
	put_latency(m, cell->latency.fifo);
	put_latency(m, cell->latency.normal);
	put_u64(m, cell->latency.irqoff_max ? cell->latency.irq : NULL, cell->latency.irqoff_max);
	put_u64(m, cell->latency.resched_max ? cell->latency.fifo : NULL,
		cell->latency.resched_max);
	seq_putc(m, '\n');
	return 0;
}

static void put_bound(struct seq_file *m, u64 value, bool ratio)
{
	if (ratio)
		seq_printf(m, "\t%llu.%06llu", value >> HIST_RATIO_ONE_SHIFT,
			   ((value & (HIST_RATIO_ONE - 1)) * 1000000) >> HIST_RATIO_ONE_SHIFT);
	else
		seq_printf(m, "\t%llu", value);
}

static void put_hist(struct seq_file *m, const struct cb_cell *cell, const char *name,
		     const struct hist *h, bool ratio)
{
	unsigned int i, last;

	if (!h)
		return;
	last = hist_buckets(h->shape) - 1;
	for (i = 0; i <= last; i++) {
		if (!h->bucket[i])
			continue;
		put_key(m, cell);
		seq_printf(m, "\t%s", name);
		put_bound(m, hist_lower(h->shape, i), ratio);
		if (i < last)
			put_bound(m, hist_lower(h->shape, i + 1), ratio);
		else
			seq_puts(m, "\tinf");
		seq_printf(m, "\t%u\n", h->bucket[i]);
	}
}

static int histograms_show(struct seq_file *m, void *v)
{
	const struct cb_cell *cell = v;

	if (v == SEQ_START_TOKEN) {
		seq_printf(m, "%s\n%s\n", CB_HISTOGRAMS_MAGIC,
			   &(CB_HIST_COLUMNS(CB_COLUMN_NAME))[1]);
		return 0;
	}
	put_hist(m, cell, "clear", cell->clear, false);
	put_hist(m, cell, "disturbed", cell->disturbed, false);
	put_hist(m, cell, "alloc", cell->alloc, false);
	put_hist(m, cell, "free", cell->free, false);
	put_hist(m, cell, "ratio", cell->ratio, true);
	put_hist(m, cell, "irq", cell->latency.irq, false);
	put_hist(m, cell, "fifo", cell->latency.fifo, false);
	put_hist(m, cell, "normal", cell->latency.normal, false);
	return 0;
}

#define CB_CELLS_FILE(_name)						\
static const struct seq_operations _name##_sops = {			\
	.start = cells_start,						\
	.next = cells_next,						\
	.stop = cells_stop,						\
	.show = _name##_show,						\
};									\
DEFINE_SEQ_ATTRIBUTE(_name)

CB_CELLS_FILE(results);
CB_CELLS_FILE(histograms);

/**
 * cb_debugfs_init() - create the files
 *
 * Return: 0, or the error of the directory; -EEXIST says that something else
 * holds it.
 */
int cb_debugfs_init(void)
{
	unsigned int i;

	debugfs_dir = debugfs_create_dir(CB_NAME, NULL);
	if (IS_ERR(debugfs_dir))
		return PTR_ERR(debugfs_dir);

#define CB_READ_FILE(_name)	\
	debugfs_create_file(#_name, 0400, debugfs_dir, NULL, &_name##_fops)
	CB_READ_FILE(available_methods);
	CB_READ_FILE(available_contexts);
	CB_READ_FILE(status);
	CB_READ_FILE(results);
	CB_READ_FILE(histograms);
	CB_READ_FILE(info);
	for (i = 0; i < cb_nr_knobs; i++)
		debugfs_create_file(cb_knobs[i].name, 0600, debugfs_dir,
				    (void *)&cb_knobs[i], &knob_fops);
	CB_READ_FILE(watch_results);
	debugfs_create_file("run", 0600, debugfs_dir, NULL, &run_fops);
	debugfs_create_file("watch", 0600, debugfs_dir, NULL, &watch_fops);
	return 0;
}

void cb_debugfs_exit(void)
{
	debugfs_remove_recursive(debugfs_dir);
}
