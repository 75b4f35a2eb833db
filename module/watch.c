// SPDX-License-Identifier: GPL-2.0
/*
 * The `watch` file: which orders the kernel clears while something else runs.
 *
 * Every page allocation is counted at the tracepoint kmem:mm_page_alloc, by
 * order, context and what has it cleared. How long clearing takes comes from
 * probes on the functions that clear, where a known allocation has proved that
 * they fire: a function may have a symbol and still be inlined into its callers.
 *
 * Nothing here takes a lock or an atomic operation: each CPU counts for itself,
 * with preemption off, and each level of interrupts has counters of its own, so
 * what comes in between writes elsewhere. All is added up when the watch ends.
 */
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/threads.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "clearbench.h"
#include "watch.h"

static unsigned int watch_callers = 256;
module_param(watch_callers, uint, 0600);
MODULE_PARM_DESC(watch_callers, "distinct callers that a watch keeps for each CPU and level of interrupts (256)");

static unsigned int watch_period = 64;
module_param(watch_period, uint, 0600);
MODULE_PARM_DESC(watch_period, "cleared pages from one look at the caller to the next, on average (64; 1: every allocation)");

static bool watch_time = true;
module_param(watch_time, bool, 0600);
MODULE_PARM_DESC(watch_time, "probe the functions that clear (1)");

#if defined(CONFIG_TRACEPOINTS) && defined(CONFIG_STACKTRACE)

#include <trace/events/kmem.h>
#include <trace/events/sched.h>

/*
 * Durations: a bucket is at most 1/32 = 3 % wide, so that a CPU's histograms of
 * one function take 80 KiB and not 300.
 */
#define WATCH_BITS		5
#define WATCH_TOP		HIST_NS_TOP

/* From the allocator's own functions out to one that says who wanted the memory */
#define CALLER_FRAMES		16
/* Places looked at in the table of callers before one is given up */
#define CALLER_TRIES		8

/* Interrupts come on top of each other in this sequence and no other. */
enum level { LEVEL_TASK, LEVEL_SOFTIRQ, LEVEL_HARDIRQ, LEVEL_NMI, NR_LEVELS };

/* In process context, is it an allocation that may wait for memory to be freed? */
enum context { CTX_PROCESS, CTX_NOWAIT, CTX_SOFTIRQ, CTX_HARDIRQ, CTX_NMI, NR_CTX };

static const char * const context_names[NR_CTX] = {
	"process", "nowait", "softirq", "hardirq", "nmi"
};

enum cleared { NOT_CLEARED, BY_REQUEST, BY_INIT_ON_ALLOC, NO_MEMORY, NR_CLEARED };

static const char * const cleared_names[NR_CLEARED] = {
	"no", "gfp_zero", "init_on_alloc", "failed"
};

/* Who clears; of each, the first function that is proved to be seen is timed. */
enum kind { KIND_ALLOCATOR, KIND_FAULT, NR_KINDS };

static const char * const kind_names[NR_KINDS] = { "allocator", "fault" };

/**
 * struct caller - who had memory cleared
 * @nr: of @frame; 0: this place of the table is free
 * @samples: times that it was seen
 * @pages: cleared pages that those stand for
 * @frame: its return addresses, the innermost first
 */
struct caller {
	unsigned int nr;
	u64 samples;
	u64 pages;
	unsigned long frame[CALLER_FRAMES];
};

/**
 * struct callers - those seen at one level of interrupts of one CPU
 * @pages: cleared since the last look
 * @next: look when @pages reaches it
 * @random: state of its generator
 * @lost: looks that found no place in @table
 * @table: watch.nr_callers places
 */
struct callers {
	u32 pages;
	u32 next;
	struct rnd_state random;
	u64 lost;
	struct caller *table;
};

struct watch_cpu {
	u64 count[NR_CTX][NR_CLEARED][CB_ORDERS];
	struct callers callers[NR_LEVELS];
	u64 missed;			/* durations that ended in an NMI */
	struct hist *time[NR_KINDS][CB_ORDERS];
};

static struct {
	bool on;
	bool all;			/* whoever allocates */
	int pid;			/* as it was written, 0 for all */
	unsigned long *tgids;		/* bitmap of what is watched otherwise */
	unsigned int nr_callers;
	unsigned int period;
	struct watch_cpu **cpu;		/* the first possible one gets the sum */
	struct tracepoint *alloc;
	struct tracepoint *fork;
	int timed[NR_KINDS];		/* by which of cb_watch_probes[]; -1: not */
	u64 missed[NR_KINDS];
	const char *why_not[CB_WATCH_PROBES];
	u64 cost_count;			/* tenths of ns an allocation */
	u64 cost_time;
	bool by_free;			/* init_on_free clears, and not the allocation */
} watch;

/* What is counted */

static __always_inline bool is_watched(const struct task_struct *task)
{
	return watch.all || test_bit(task->tgid, watch.tgids);
}

/* A process begins: whose number it has now, it is what its parent is. */
static void sees_fork(void *unused, struct task_struct *parent, struct task_struct *child)
{
	if (child->tgid == parent->tgid)
		return;
	if (test_bit(parent->tgid, watch.tgids))
		set_bit(child->tgid, watch.tgids);
	else if (test_bit(child->tgid, watch.tgids))
		clear_bit(child->tgid, watch.tgids);
}

static enum kind kind_of(unsigned int probe)
{
	return cb_watch_probes[probe].by_fault ? KIND_FAULT : KIND_ALLOCATOR;
}

static __always_inline enum level this_level(void)
{
	if (in_nmi())
		return LEVEL_NMI;
	if (in_hardirq())
		return LEVEL_HARDIRQ;
	return in_serving_softirq() ? LEVEL_SOFTIRQ : LEVEL_TASK;
}

/* Finds its place, or one that is free, or NULL. */
static struct caller *find_caller(struct callers *c, const unsigned long *frame, unsigned int nr)
{
	unsigned long hash = 0;
	unsigned int i;

	for (i = 0; i < nr; i++)
		hash = hash * 31 + (frame[i] >> 2);
	for (i = 0; i < CALLER_TRIES; i++) {
		struct caller *at = &c->table[(hash + i) % watch.nr_callers];

		if (!at->nr || (at->nr == nr && !memcmp(at->frame, frame, nr * sizeof(*frame))))
			return at;
	}
	return NULL;
}

static void add_caller(struct callers *c, const unsigned long *frame, unsigned int nr,
		       u64 samples, u64 pages)
{
	struct caller *at = nr ? find_caller(c, frame, nr) : NULL;

	if (!at) {
		c->lost += samples;
		return;
	}
	if (!at->nr) {
		memcpy(at->frame, frame, nr * sizeof(*frame));
		at->nr = nr;
	}
	at->samples += samples;
	at->pages += pages;
}

static void choose_next(struct callers *c)
{
	c->next = 1 + mul_u64_u32_shr(2 * watch.period - 1, prandom_u32_state(&c->random), 32);
}

/*
 * A walk of the stack costs more than all the rest. So a caller is looked for
 * once in so many cleared pages: the larger the clear, the surer it is seen, and
 * the share of the pages comes out right. At random, lest a caller's rhythm
 * meet ours.
 */
static noinline void look_at_caller(struct callers *c)
{
	unsigned long frame[CALLER_FRAMES];
	unsigned int nr = stack_trace_save(frame, CALLER_FRAMES, 2);

	add_caller(c, frame, nr, 1, c->pages);
	c->pages = 0;
	choose_next(c);
}

static __always_inline void count_cleared(struct callers *c, unsigned int order)
{
	c->pages += 1U << order;
	if (unlikely(c->pages >= c->next))
		look_at_caller(c);
}

/* Tracepoint kmem:mm_page_alloc. In any context, preemptible or not. */
static void sees_alloc(void *unused, struct page *page, unsigned int order, gfp_t gfp,
		       int migratetype)
{
	enum cleared cleared = NOT_CLEARED;
	enum context context;
	struct watch_cpu *w;
	enum level level;

	if (!is_watched(current) || order >= CB_ORDERS)
		return;
	if (!page)
		cleared = NO_MEMORY;
	else if (want_init_on_free())
		;
	else if (gfp & __GFP_ZERO)
		cleared = BY_REQUEST;
	else if (want_init_on_alloc(gfp))
		cleared = BY_INIT_ON_ALLOC;
	level = this_level();
	context = level ? CTX_NOWAIT + level :
		  gfpflags_allow_blocking(gfp) ? CTX_PROCESS : CTX_NOWAIT;

	preempt_disable_notrace();
	w = watch.cpu[raw_smp_processor_id()];
	w->count[context][cleared][order]++;
	if (cleared == BY_REQUEST || cleared == BY_INIT_ON_ALLOC)
		count_cleared(&w->callers[level], order);
	preempt_enable_notrace();
}

/* A function that clears is entered. Returns false if its end is not wanted. */
bool cb_watch_enter(unsigned int probe, unsigned int order, struct cb_watch_call *call)
{
	struct watch_cpu *w;

	if (!is_watched(current) || order >= CB_ORDERS || order > CB_ORDER_MAX)
		return false;
	call->order = order;
	if (kind_of(probe) == KIND_FAULT) {
		preempt_disable_notrace();
		w = watch.cpu[raw_smp_processor_id()];
		count_cleared(&w->callers[this_level()], order);
		preempt_enable_notrace();
	}
	call->start = cb_clock();
	return true;
}

/* ... and left, perhaps on another CPU. */
void cb_watch_leave(unsigned int probe, const struct cb_watch_call *call)
{
	u64 ns = cb_clock_ns(cb_clock() - call->start);
	struct watch_cpu *w;
	unsigned long flags;

	/* One histogram for all levels, or there would be four times as many. */
	local_irq_save(flags);
	w = watch.cpu[raw_smp_processor_id()];
	if (in_nmi())
		w->missed++;
	else
		hist_add(w->time[kind_of(probe)][call->order], ns);
	local_irq_restore(flags);
}

/* Memory */

static void free_cpu(struct watch_cpu *w)
{
	unsigned int i;

	if (!w)
		return;
	for (i = 0; i < NR_LEVELS; i++)
		vfree(w->callers[i].table);
	/* The histograms of a CPU are one piece. */
	vfree(w->time[0][0]);
	vfree(w);
}

static size_t hist_step(void)
{
	return hist_size((struct hist_shape) { WATCH_BITS, WATCH_TOP });
}

static struct watch_cpu *new_cpu(int cpu)
{
	int nid = cpu_to_node(cpu);
	struct watch_cpu *w = vzalloc_node(sizeof(*w), nid);
	unsigned int i, order;
	void *hists;

	if (!w)
		return NULL;
	hists = vzalloc_node(hist_step() * NR_KINDS * (CB_ORDER_MAX + 1), nid);
	if (!hists)
		goto no_memory;
	for (i = 0; i < NR_KINDS; i++)
		for (order = 0; order <= CB_ORDER_MAX; order++, hists += hist_step())
			w->time[i][order] = hists;
	for (i = 0; i < NR_LEVELS; i++) {
		w->callers[i].table = vzalloc_node(array_size(watch.nr_callers,
							      sizeof(struct caller)), nid);
		if (!w->callers[i].table)
			goto no_memory;
	}
	return w;

no_memory:
	free_cpu(w);
	return NULL;
}

/* As it was when it was new, but for the memory that belongs to it */
static void reset_cpu(struct watch_cpu *w, int cpu)
{
	unsigned int i, order;

	memset(w->count, 0, sizeof(w->count));
	w->missed = 0;
	for (i = 0; i < NR_KINDS; i++)
		for (order = 0; order <= CB_ORDER_MAX; order++)
			hist_init(w->time[i][order], WATCH_BITS, WATCH_TOP);
	for (i = 0; i < NR_LEVELS; i++) {
		struct callers *c = &w->callers[i];

		memset(c->table, 0, watch.nr_callers * sizeof(*c->table));
		c->lost = 0;
		c->pages = 0;
		prandom_seed_state(&c->random, 1 + cpu * NR_LEVELS + i);
		choose_next(c);
	}
}

static void free_all(void)
{
	int cpu;

	if (watch.cpu)
		for_each_possible_cpu(cpu)
			free_cpu(watch.cpu[cpu]);
	kvfree(watch.cpu);
	watch.cpu = NULL;
	vfree(watch.tgids);
	watch.tgids = NULL;
}

static int allocate_all(void)
{
	int cpu;

	watch.nr_callers = clamp(watch_callers, 1U, 65536U);
	watch.period = clamp(watch_period, 1U, 1U << 20);
	/* Numbers of processes are below PID_MAX_LIMIT: 512 KiB on 64 bits. */
	watch.tgids = vzalloc(BITS_TO_LONGS(PID_MAX_LIMIT) * sizeof(long));
	watch.cpu = kvcalloc(nr_cpu_ids, sizeof(*watch.cpu), GFP_KERNEL);
	if (!watch.tgids || !watch.cpu)
		goto no_memory;
	for_each_possible_cpu(cpu) {
		watch.cpu[cpu] = new_cpu(cpu);
		if (!watch.cpu[cpu])
			goto no_memory;
		reset_cpu(watch.cpu[cpu], cpu);
	}
	return 0;

no_memory:
	free_all();
	return -ENOMEM;
}

/* Adding up, when nothing counts any more */

static void add_hist(struct hist *to, const struct hist *from)
{
	unsigned int i;

	if (!from->count)
		return;
	for (i = 0; i < hist_buckets(from->shape); i++)
		to->bucket[i] += from->bucket[i];
	to->count += from->count;
	to->sum += from->sum;
	to->min = min(to->min, from->min);
	to->max = max(to->max, from->max);
}

static void merge_cpu(struct watch_cpu *to, const struct watch_cpu *from)
{
	const u64 *src = &from->count[0][0][0];
	u64 *dst = &to->count[0][0][0];
	unsigned int i, k;

	for (i = 0; i < sizeof(from->count) / sizeof(*src); i++)
		dst[i] += src[i];
	to->missed += from->missed;
	for (i = 0; i < NR_KINDS; i++)
		for (k = 0; k <= CB_ORDER_MAX; k++)
			add_hist(to->time[i][k], from->time[i][k]);
	for (i = 0; i < NR_LEVELS; i++) {
		const struct callers *c = &from->callers[i];

		to->callers[i].lost += c->lost;
		for (k = 0; k < watch.nr_callers; k++)
			if (c->table[k].nr)
				add_caller(&to->callers[i], c->table[k].frame, c->table[k].nr,
					   c->table[k].samples, c->table[k].pages);
	}
}

static struct watch_cpu *sum_of_all(void)
{
	return watch.cpu ? watch.cpu[cpumask_first(cpu_possible_mask)] : NULL;
}

static void add_up(void)
{
	struct watch_cpu *sum = sum_of_all();
	int cpu;

	for_each_possible_cpu(cpu) {
		if (watch.cpu[cpu] == sum)
			continue;
		merge_cpu(sum, watch.cpu[cpu]);
		free_cpu(watch.cpu[cpu]);
		watch.cpu[cpu] = NULL;
	}
}

/* Attaching */

static void find_tracepoint(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "mm_page_alloc"))
		watch.alloc = tp;
	else if (!strcmp(tp->name, "sched_process_fork"))
		watch.fork = tp;
}

/* The two functions have the types that this kernel's tracepoints call. */
static void check_types(void)
{
	check_trace_callback_type_mm_page_alloc(sees_alloc);
	check_trace_callback_type_sched_process_fork(sees_fork);
}

static void detach(void)
{
	unsigned int kind;

	for (kind = 0; kind < NR_KINDS; kind++)
		if (watch.timed[kind] >= 0)
			watch.missed[kind] = cb_watch_probe_stop(watch.timed[kind]);
	tracepoint_probe_unregister(watch.alloc, (void *)sees_alloc, NULL);
	tracepoint_probe_unregister(watch.fork, (void *)sees_fork, NULL);
	tracepoint_synchronize_unregister();
}

static int attach(void)
{
	int ret;

	check_types();
	for_each_kernel_tracepoint(find_tracepoint, NULL);
	if (!watch.alloc || !watch.fork) {
		pr_info("watch: refused; this kernel has no tracepoint kmem:mm_page_alloc or sched:sched_process_fork\n");
		return -EDOM;
	}
	ret = tracepoint_probe_register(watch.fork, (void *)sees_fork, NULL);
	if (ret)
		return ret;
	ret = tracepoint_probe_register(watch.alloc, (void *)sees_alloc, NULL);
	if (ret) {
		tracepoint_probe_unregister(watch.fork, (void *)sees_fork, NULL);
		tracepoint_synchronize_unregister();
	}
	return ret;
}

/* Proving and calibrating, with the caller as the only process that is watched */

#define PROOF_ORDER		3
#define COST_PASSES		31
#define COST_ALLOCATIONS	256

static bool was_seen(enum kind kind, unsigned int order)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (watch.cpu[cpu]->time[kind][order]->count)
			return true;
	return false;
}

static const char *prove_by_alloc(void)
{
	struct page *page = alloc_pages(GFP_KERNEL | __GFP_ZERO, PROOF_ORDER);

	if (!page)
		return "no memory to prove it by";
	__free_pages(page, PROOF_ORDER);
	return was_seen(KIND_ALLOCATOR, PROOF_ORDER) ? NULL :
	       "a known allocation did not pass through it: inlined into its callers";
}

/* A page fault on a huge page of the process that writes to the file */
static const char *prove_by_fault(void)
{
	unsigned long addr, at;

	if (!IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE))
		return "this kernel has no huge page fault to prove it by";
	addr = vm_mmap(NULL, 0, 2 * PMD_SIZE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, 0);
	if (IS_ERR_VALUE(addr))
		return "no memory to prove it by";
	at = ALIGN(addr, PMD_SIZE);
	put_user(1, (char __user *)at);
	vm_munmap(addr, 2 * PMD_SIZE);
	if (was_seen(KIND_FAULT, PMD_SHIFT - PAGE_SHIFT))
		return NULL;
	/* Since 6.13 such a fault does not clear what init_on_alloc has cleared. */
	if (want_init_on_alloc(0))
		return "no huge page fault passed through it: init_on_alloc may leave it nothing";
	return "no huge page fault passed through it (is transparent_hugepage/enabled always?)";
}

/* Return: NULL, or why @probe times nothing; it is not there then. */
static const char *start_probe(unsigned int probe)
{
	const char *why = cb_watch_probe_start(probe);

	if (why)
		return why;
	why = kind_of(probe) == KIND_FAULT ? prove_by_fault() : prove_by_alloc();
	if (why)
		cb_watch_probe_stop(probe);
	return why;
}

/* Return: is anything timed? */
static bool start_probes(void)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < NR_KINDS; i++) {
		watch.timed[i] = -1;
		watch.missed[i] = 0;
	}
	for (i = 0; i < CB_WATCH_PROBES; i++) {
		if (watch.timed[kind_of(i)] >= 0)
			continue;
		watch.why_not[i] = watch_time ? start_probe(i) : "watch_time is 0";
		if (watch.why_not[i])
			continue;
		watch.timed[kind_of(i)] = i;
		any = true;
	}
	return any;
}

/* The quickest of some passes, in ticks: one page, cleared, and given back */
static u64 time_allocations(void)
{
	u64 best = U64_MAX;
	unsigned int pass, i;

	for (pass = 0; pass < COST_PASSES; pass++) {
		u64 start = cb_clock();

		for (i = 0; i < COST_ALLOCATIONS; i++) {
			struct page *page = alloc_pages(GFP_KERNEL | __GFP_ZERO, 0);

			if (page)
				__free_pages(page, 0);
		}
		best = min(best, cb_clock() - start);
		cond_resched();
	}
	return best;
}

/*
 * test_alloc_ns: such a loop for whoever reads the parameter, so that the costs
 * of several ways to watch can be compared
 */
static int test_alloc_get(char *buf, const struct kernel_param *unused)
{
	u64 tenths = div_u64(cb_clock_ns(time_allocations()) * 10, COST_ALLOCATIONS);

	return sysfs_emit(buf, "%llu.%llu\n", tenths / 10, tenths % 10);
}

static const struct kernel_param_ops test_alloc_ops = { .get = test_alloc_get };
module_param_cb(test_alloc_ns, &test_alloc_ops, NULL, 0400);
MODULE_PARM_DESC(test_alloc_ns, "for tests only: read it to have pages allocated, cleared and freed, and the time of one");

/* What one allocation costs more than before, in tenths of ns */
static u64 cost_above(u64 before, u64 after)
{
	return after > before ? div_u64(cb_clock_ns(after - before) * 10, COST_ALLOCATIONS) : 0;
}

/* Those that descend from @pid by now. New ones are seen by sees_fork(). */
static void watch_tree(int tgid)
{
	const struct task_struct *p, *up;
	bool more;

	set_bit(tgid, watch.tgids);
	do {
		more = false;
		rcu_read_lock();
		for_each_process(p) {
			up = rcu_dereference(p->real_parent);
			if (!test_bit(p->tgid, watch.tgids) && test_bit(up->tgid, watch.tgids)) {
				set_bit(p->tgid, watch.tgids);
				more = true;
			}
		}
		rcu_read_unlock();
	} while (more);
}

/* The number by which the kernel knows the process that the caller names, or 0 */
static int tgid_of(int pid)
{
	const struct task_struct *task;
	int tgid = 0;

	rcu_read_lock();
	task = pid_task(find_vpid(pid), PIDTYPE_PID);
	if (task)
		tgid = task->tgid;
	rcu_read_unlock();
	return tgid;
}

/**
 * cb_watch_start() - begin to count
 * @pid: of a process, which is watched with its descendants; 0: all
 *
 * What an earlier watch has left is lost. Process context, with cb_run.lock held
 * and neither a run nor a watch under way.
 *
 * Return: 0; -ESRCH: no such process; -EDOM: not on this kernel, which the log
 * explains; -ENOMEM.
 */
int cb_watch_start(int pid)
{
	int own = current->tgid, tgid = pid ? tgid_of(pid) : 0, cpu, ret;
	u64 bare, counted;

	if (pid && !tgid)
		return -ESRCH;
	free_all();
	ret = allocate_all();
	if (ret)
		return ret;
	watch.all = false;
	watch.pid = pid;
	watch.by_free = want_init_on_free();
	bare = time_allocations();
	set_bit(own, watch.tgids);
	ret = attach();
	if (ret) {
		free_all();
		return ret;
	}
	counted = time_allocations();
	watch.cost_count = cost_above(bare, counted);
	watch.cost_time = start_probes() ? cost_above(counted, time_allocations()) : 0;

	/* From here on those count who were meant. */
	clear_bit(own, watch.tgids);
	for_each_possible_cpu(cpu)
		reset_cpu(watch.cpu[cpu], cpu);
	if (pid)
		watch_tree(tgid);
	else
		WRITE_ONCE(watch.all, true);
	WRITE_ONCE(watch.on, true);
	return 0;
}

/* cb_watch_stop() - end it, if there is one. Process context, cb_run.lock held. */
void cb_watch_stop(void)
{
	if (!watch.on)
		return;
	detach();
	add_up();
	vfree(watch.tgids);
	watch.tgids = NULL;
	watch.on = false;
}

/* cb_watch_exit() - when the module goes */
void cb_watch_exit(void)
{
	cb_watch_stop();
	free_all();
}

bool cb_watching(void)
{
	return READ_ONCE(watch.on);
}

/* cb_watch_show() - the file `watch`: what may be written back */
void cb_watch_show(struct seq_file *m)
{
	if (watch.on && watch.all)
		seq_puts(m, "all\n");
	else
		seq_printf(m, "%d\n", watch.on ? watch.pid : 0);
}

/* The file of the results */

static void show_counts(struct seq_file *m, const struct watch_cpu *w)
{
	unsigned int ctx, by, order;

	for (ctx = 0; ctx < NR_CTX; ctx++)
		for (by = 0; by < NR_CLEARED; by++)
			for (order = 0; order < CB_ORDERS; order++) {
				u64 n = w->count[ctx][by][order];

				if (n)
					seq_printf(m, "alloc\t%s\t%u\t%s\t%llu\t%llu\t-\t-\t-\t-\t-\n",
						   context_names[ctx], order, cleared_names[by],
						   n, n << order);
			}
}

static void show_quantile(struct seq_file *m, const struct hist *h, unsigned int permille)
{
	seq_printf(m, "\t%llu", div_u64(hist_quantile(h, permille) + HIST_MILLI / 2, HIST_MILLI));
}

static void show_times(struct seq_file *m, const struct watch_cpu *w, enum kind kind)
{
	const char *name = cb_watch_probes[watch.timed[kind]].function;
	unsigned int order;

	for (order = 0; order <= CB_ORDER_MAX; order++) {
		const struct hist *h = w->time[kind][order];

		if (!h->count)
			continue;
		seq_printf(m, "clear\t-\t%u\t%s\t%llu\t%llu", order, kind_names[kind],
			   h->count, h->count << order);
		show_quantile(m, h, 500);
		show_quantile(m, h, 900);
		show_quantile(m, h, 990);
		seq_printf(m, "\t%llu\t%s\n", h->max, name);
	}
	if (watch.missed[kind])
		seq_printf(m, "lost\t-\t-\t-\t%llu\t-\t-\t-\t-\t-\tcalls of %s that the probe missed\n",
			   watch.missed[kind], name);
}

static void show_not_timed(struct seq_file *m, enum kind kind)
{
	unsigned int i;

	for (i = 0; i < CB_WATCH_PROBES; i++)
		if (kind_of(i) == kind)
			seq_printf(m, "not_timed\t-\t-\t%s\t-\t-\t-\t-\t-\t-\t%s: %s\n",
				   kind_names[kind], cb_watch_probes[i].function,
				   watch.why_not[i]);
}

static void show_callers(struct seq_file *m, const struct watch_cpu *w)
{
	static const char * const level_names[NR_LEVELS] = {
		"task", "softirq", "hardirq", "nmi"
	};
	unsigned int level, i, k;
	u64 lost = 0;

	for (level = 0; level < NR_LEVELS; level++) {
		const struct callers *c = &w->callers[level];

		lost += c->lost;
		for (i = 0; i < watch.nr_callers; i++) {
			const struct caller *at = &c->table[i];

			if (!at->nr)
				continue;
			seq_printf(m, "caller\t%s\t-\t-\t%llu\t%llu\t-\t-\t-\t-\t",
				   level_names[level], at->samples, at->pages);
			for (k = 0; k < at->nr; k++)
				seq_printf(m, "%s%ps", k ? " < " : "", (void *)at->frame[k]);
			seq_putc(m, '\n');
		}
	}
	if (lost)
		seq_printf(m, "lost\t-\t-\t-\t%llu\t-\t-\t-\t-\t-\tcallers (module parameter watch_callers is %u)\n",
			   lost, watch.nr_callers);
}

static void show_about(struct seq_file *m, const char *key, const char *fmt, ...) __printf(3, 4);
static void show_about(struct seq_file *m, const char *key, const char *fmt, ...)
{
	va_list args;

	seq_printf(m, "about\t-\t-\t-\t-\t-\t-\t-\t-\t-\t%s: ", key);
	va_start(args, fmt);
	seq_vprintf(m, fmt, args);
	va_end(args);
	seq_putc(m, '\n');
}

/* cb_watch_results() - all that the last watch counted. cb_run.lock held. */
void cb_watch_results(struct seq_file *m)
{
	const struct watch_cpu *w = sum_of_all();
	unsigned int kind;

#define CB_WATCH_NAME(_name)	"\t" #_name
	seq_printf(m, "%s\n%s\n", CB_WATCH_MAGIC, &(CB_WATCH_COLUMNS(CB_WATCH_NAME))[1]);
	if (watch.on || !w) {
		show_about(m, "state", watch.on ? "watching" : "idle");
		return;
	}
	show_about(m, "state", "done");
	if (watch.all)
		show_about(m, "watched", "all");
	else
		show_about(m, "watched", "%d", watch.pid);
	show_about(m, "cost_count_ns", "%llu.%llu", watch.cost_count / 10, watch.cost_count % 10);
	show_about(m, "cost_time_ns", "%llu.%llu", watch.cost_time / 10, watch.cost_time % 10);
	show_about(m, "caller_period_pages", "%u", watch.period);
	if (watch.by_free)
		show_about(m, "init_on_free", "memory is cleared when it is freed, not when it is allocated");
	show_counts(m, w);
	for (kind = 0; kind < NR_KINDS; kind++) {
		if (watch.timed[kind] >= 0)
			show_times(m, w, kind);
		else
			show_not_timed(m, kind);
	}
	if (w->missed)
		seq_printf(m, "lost\t-\t-\t-\t%llu\t-\t-\t-\t-\t-\tdurations in an NMI\n",
			   w->missed);
	show_callers(m, w);
}

#else /* !CONFIG_TRACEPOINTS || !CONFIG_STACKTRACE */

int cb_watch_start(int pid)
{
	pr_info("watch: refused; this kernel has no tracepoints (CONFIG_TRACEPOINTS, CONFIG_STACKTRACE)\n");
	return -EDOM;
}

void cb_watch_stop(void)
{
}

void cb_watch_exit(void)
{
}

bool cb_watching(void)
{
	return false;
}

void cb_watch_show(struct seq_file *m)
{
	seq_puts(m, "0\n");
}

void cb_watch_results(struct seq_file *m)
{
#define CB_WATCH_NAME(_name)	"\t" #_name
	seq_printf(m, "%s\n%s\n", CB_WATCH_MAGIC, &(CB_WATCH_COLUMNS(CB_WATCH_NAME))[1]);
}
#endif
