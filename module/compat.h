/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every difference between kernels that the module knows of stands here, so
 * that the rest reads like code of the newest one. Features are probed where
 * the preprocessor, or a grep in Kbuild, can see them.
 */
#ifndef CLEARBENCH_COMPAT_H
#define CLEARBENCH_COMPAT_H

#include <linux/hardirq.h>
#include <linux/highmem.h>
#include <linux/hrtimer.h>
#include <linux/kasan.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "clearbench needs Linux 6.1 or later"
#endif

/* The newest kernel that the tests have run on; `info` says so of newer ones. */
#define CB_NEWEST_TESTED	"7.3"
#define CB_UNTESTED		(LINUX_VERSION_CODE >= KERNEL_VERSION(7, 4, 0))

/* MAX_ORDER became inclusive in 6.4 and was renamed in 6.8. */
#ifndef MAX_PAGE_ORDER
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
#define MAX_PAGE_ORDER		(MAX_ORDER - 1)
#else
#define MAX_PAGE_ORDER		MAX_ORDER
#endif
#endif

/*
 * Interrupts of this CPU that x86 counts apart from those of devices: the tick,
 * calls and wake-ups by other CPUs. Elsewhere they are among the others.
 */
static inline unsigned long cb_arch_irqs(void)
{
#if !defined(CONFIG_X86_LOCAL_APIC) || defined(CONFIG_UML)
	return 0;
#elif defined(CB_HAVE_IRQ_COUNTS)
	return raw_cpu_read(irq_stat.counts[IRQ_COUNT_APIC_TIMER])
#ifdef CONFIG_SMP
		+ raw_cpu_read(irq_stat.counts[IRQ_COUNT_RESCHEDULE]) +
		raw_cpu_read(irq_stat.counts[IRQ_COUNT_CALL_FUNCTION])
#endif
		;
#else
	return raw_cpu_read(irq_stat.apic_timer_irqs)
#ifdef CONFIG_SMP
		+ raw_cpu_read(irq_stat.irq_resched_count) +
		raw_cpu_read(irq_stat.irq_call_count)
#endif
		;
#endif
}

/*
 * Extents above MAX_PAGE_ORDER: alloc_contig_pages() where a module may call it,
 * or where this is no module.
 */
#if !defined(CB_HAVE_CONTIG_PAGES) && !defined(MODULE) && defined(CONFIG_CONTIG_ALLOC)
#define CB_HAVE_CONTIG_PAGES	1
#endif
#ifdef CB_HAVE_CONTIG_PAGES
#define CB_LARGE_ORDERS_BY	"alloc_contig_pages"
#else
#define CB_LARGE_ORDERS_BY	"gathered blocks"
#endif

/*
 * clear_pages() came in 7.0, together with PROCESS_PAGES_NON_PREEMPT_BATCH; an
 * architecture that has its own defines it as a macro too.
 */
#ifdef PROCESS_PAGES_NON_PREEMPT_BATCH
#ifdef clear_pages
#define CB_CLEAR_PAGES		"native"
#else
#define CB_CLEAR_PAGES		"generic"
#endif
#else /* !PROCESS_PAGES_NON_PREEMPT_BATCH */

#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)
#include <asm/cpufeature.h>
#include "primitives.h"

#define CB_CLEAR_PAGES		"open-coded"
/* The value of 7.0 for a native clear_pages(), 32 MiB */
#define PROCESS_PAGES_NON_PREEMPT_BATCH	(SZ_32M >> PAGE_SHIFT)

/* The alternative that is live for clear_page(), over the whole length. */
static __always_inline void clear_pages(void *addr, unsigned int npages)
{
	unsigned long len = npages * PAGE_SIZE;

	if (static_cpu_has(X86_FEATURE_ERMS))
		prim_stosb(addr, len);
	else if (static_cpu_has(X86_FEATURE_REP_GOOD))
		prim_stosq(addr, len);
	else
		for (; npages; npages--, addr += PAGE_SIZE)
			clear_page(addr);
}
#else
#define CB_CLEAR_PAGES		"generic"
#define PROCESS_PAGES_NON_PREEMPT_BATCH	1

static __always_inline void clear_pages(void *addr, unsigned int npages)
{
	for (; npages; npages--, addr += PAGE_SIZE)
		clear_page(addr);
}
#endif
#endif /* !PROCESS_PAGES_NON_PREEMPT_BATCH */

/*
 * clear_user_highpages() came with them. Before that there was its page by page
 * relative only.
 */
#ifndef CB_HAVE_CLEAR_USER_HIGHPAGES
static __always_inline void clear_user_highpages(struct page *page, unsigned long vaddr,
						 unsigned int npages)
{
#if defined(clear_user_highpage) || defined(CONFIG_HIGHMEM) || !defined(CONFIG_X86_64)
	for (; npages; npages--, page++, vaddr += PAGE_SIZE)
		clear_user_highpage(page, vaddr);
#else
	clear_pages(page_address(page), npages);
#endif
}
#endif

/* hrtimer_setup() took the place of hrtimer_init() in 6.15 */
#ifndef CB_HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *timer),
				 clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}
#endif

/* fprobe hands ftrace_regs to its handlers since 6.14; before that a kretprobe does. */
#if defined(CB_HAVE_FPROBE_REGS) && defined(CONFIG_FPROBE)
#define CB_HAVE_FPROBE		1
#endif

/*
 * Kernels whose sched_dynamic_mode() has neither none nor voluntary: where one of
 * these is in force it was forced, if not by this module then by the one that was
 * loaded before.
 */
#define CB_REFUSES_MODELS	(LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0) &&	\
				 IS_ENABLED(CONFIG_PREEMPT_DYNAMIC) &&			\
				 IS_ENABLED(CONFIG_ARCH_HAS_PREEMPT_LAZY))

/* The lazy model came in 6.13; on PREEMPT_RT it made the model switchable. */
#ifdef CB_HAVE_PREEMPT_MODEL_LAZY
#define CB_RT_FULL		"rt-full"
#else
#define CB_RT_FULL		"rt"
static inline bool preempt_model_lazy(void)
{
	return false;
}
#endif

/**
 * cb_preempt_model() - name of the preemption model in force
 *
 * Not before the scheduler has chosen one: while the kernel boots, the helpers
 * warn. A module is always late enough.
 */
static inline const char *cb_preempt_model(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return preempt_model_lazy() ? "rt-lazy" : CB_RT_FULL;
	if (preempt_model_lazy())
		return "lazy";
	if (preempt_model_full())
		return "full";
	return preempt_model_voluntary() ? "voluntary" : "none";
}

/* The kernel's rule for the pages of one call: see its clear_contig_highpages() */
static inline bool cb_preemptible(void)
{
	return IS_ENABLED(CONFIG_PREEMPT_RT) || preempt_model_full() ||
	       preempt_model_lazy();
}

#endif /* CLEARBENCH_COMPAT_H */
