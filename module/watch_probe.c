// SPDX-License-Identifier: GPL-2.0
/*
 * Entry and return of the kernel's functions that clear: by fprobe where it has
 * the interface of 6.14, else by kretprobe.
 */
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/ptrace.h>

#include "clearbench.h"
#include "watch.h"

#ifdef CB_HAVE_FPROBE
#include <linux/fprobe.h>
#endif

const struct cb_watch_function cb_watch_probes[CB_WATCH_PROBES] = {
	{ "clear_highpages_kasan_tagged", false, 1 },	/* 7.2 on */
	{ "kernel_init_pages", false, 1 },		/* before that */
	{ "folio_zero_user", true, -1 },		/* 6.11 on */
	{ "clear_huge_page", true, 2 },			/* before that */
};

#if defined(CB_HAVE_FPROBE) || defined(CONFIG_KRETPROBES)

static unsigned int order_of(unsigned int probe, unsigned long arg)
{
	if (cb_watch_probes[probe].pages_arg < 0)
		return folio_order((const struct folio *)arg);
	return arg ? ilog2(arg) : CB_ORDERS;
}

static unsigned int arg_of(unsigned int probe)
{
	return max(cb_watch_probes[probe].pages_arg, 0);
}

static const char *why_not(int error)
{
	if (error == -ENOENT || error == -EINVAL)
		return "not in this kernel, or inlined everywhere";
	return error ? "cannot be probed" : NULL;
}
#endif

#if defined(CB_HAVE_FPROBE)

static int enters(struct fprobe *fp, unsigned long entry_ip, unsigned long ret_ip,
		  struct ftrace_regs *regs, void *data);
static void leaves(struct fprobe *fp, unsigned long entry_ip, unsigned long ret_ip,
		   struct ftrace_regs *regs, void *data);

static struct fprobe probes[CB_WATCH_PROBES];

static int enters(struct fprobe *fp, unsigned long entry_ip, unsigned long ret_ip,
		  struct ftrace_regs *regs, void *data)
{
	unsigned int probe = fp - probes;
	unsigned long arg = ftrace_regs_get_argument(regs, arg_of(probe));

	/* Anything but 0 spares us the return. */
	return !cb_watch_enter(probe, order_of(probe, arg), data);
}

static void leaves(struct fprobe *fp, unsigned long entry_ip, unsigned long ret_ip,
		   struct ftrace_regs *regs, void *data)
{
	cb_watch_leave(fp - probes, data);
}

/**
 * cb_watch_probe_start() - probe one of cb_watch_probes[]
 *
 * That it fires is for the caller to prove. Process context.
 *
 * Return: NULL, or why it cannot be probed.
 */
const char *cb_watch_probe_start(unsigned int probe)
{
	const char *name = cb_watch_probes[probe].function;

	probes[probe] = (struct fprobe) {
		.entry_data_size = sizeof(struct cb_watch_call),
		.entry_handler = enters,
		.exit_handler = leaves,
	};
	return why_not(register_fprobe_syms(&probes[probe], &name, 1));
}

/* cb_watch_probe_stop() - end it. Return: calls that it missed. */
u64 cb_watch_probe_stop(unsigned int probe)
{
	unregister_fprobe(&probes[probe]);
	return probes[probe].nmissed;
}

#elif defined(CONFIG_KRETPROBES)

static struct kretprobe probes[CB_WATCH_PROBES];

static unsigned int number_of(struct kretprobe_instance *ri)
{
	return get_kretprobe(ri) - probes;
}

static int enters(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	unsigned int probe = number_of(ri);
	unsigned long arg = regs_get_kernel_argument(regs, arg_of(probe));

	return !cb_watch_enter(probe, order_of(probe, arg), (void *)ri->data);
}

static int leaves(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct kretprobe *rp = get_kretprobe(ri);

	if (rp)		/* it may be gone by then */
		cb_watch_leave(rp - probes, (void *)ri->data);
	return 0;
}

const char *cb_watch_probe_start(unsigned int probe)
{
	probes[probe] = (struct kretprobe) {
		.kp.symbol_name = cb_watch_probes[probe].function,
		.entry_handler = enters,
		.handler = leaves,
		.data_size = sizeof(struct cb_watch_call),
		/* A fault may sleep within its clear, so more than one a CPU */
		.maxactive = 8 * num_possible_cpus() + 64,
	};
	return why_not(register_kretprobe(&probes[probe]));
}

u64 cb_watch_probe_stop(unsigned int probe)
{
	unregister_kretprobe(&probes[probe]);
	return probes[probe].nmissed;
}

#else

const char *cb_watch_probe_start(unsigned int probe)
{
	return "this kernel has neither fprobe nor kretprobes";
}

u64 cb_watch_probe_stop(unsigned int probe)
{
	return 0;
}
#endif
