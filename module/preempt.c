// SPDX-License-Identifier: GPL-2.0
/*
 * The `force_preempt` knob: preemption models that the kernel contains and does
 * not admit.
 *
 * Since 7.0 sched_dynamic_mode(), the parser behind the sched/preempt file,
 * refuses none and voluntary on x86; the code that would switch to them is still
 * there. A kretprobe lets the two words through, and the kernel switches itself,
 * by its own call. Nothing is called by a looked-up address, which a CPU that
 * checks indirect calls would answer with a fault.
 */
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <linux/string.h>

#include "clearbench.h"

static bool active;
static bool forced;	/* the last switch was one that the kernel had refused */

#if defined(CONFIG_KRETPROBES) && defined(CONFIG_PREEMPT_DYNAMIC) && !defined(CONFIG_PREEMPT_RT)

/* enum in kernel/sched/core.c: preempt_dynamic_none and _voluntary, the same since 5.12 */
static const char * const refused_models[] = { "none", "voluntary" };

struct parse_call {
	int model;	/* which of them was asked for, or -1 */
};

static int parser_enters(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const char *word = (const char *)regs_get_kernel_argument(regs, 0);
	struct parse_call *call = (void *)ri->data;

	call->model = match_string(refused_models, ARRAY_SIZE(refused_models), word);
	return 0;
}

static int parser_returns(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct parse_call *call = (void *)ri->data;
	int ret = regs_return_value(regs);

	if (ret < 0 && call->model < 0)
		return 0;	/* a word that is none at all */
	WRITE_ONCE(forced, ret < 0);
	if (ret < 0)
		regs_set_return_value(regs, call->model);
	return 0;
}

static struct kretprobe parser_probe = {
	.kp.symbol_name = "sched_dynamic_mode",
	.entry_handler = parser_enters,
	.handler = parser_returns,
	.data_size = sizeof(struct parse_call),
	.maxactive = 4,
};

static int probe_start(void)
{
	/* A probe that was used before has to be blank but for what is ours. */
	parser_probe.kp.addr = NULL;
	parser_probe.kp.flags = 0;
	return register_kretprobe(&parser_probe);
}

static void probe_stop(void)
{
	unregister_kretprobe(&parser_probe);
}
#else
static int probe_start(void)
{
	return -EOPNOTSUPP;
}

static void probe_stop(void)
{
}
#endif

/**
 * cb_preempt_forced() - is the model in force one that the kernel refuses?
 *
 * It stays so when the knob is off again, and when the module is unloaded,
 * until another one is written.
 */
bool cb_preempt_forced(void)
{
	return (READ_ONCE(forced) || CB_REFUSES_MODELS) && !cb_preemptible();
}

/**
 * cb_force_preempt() - let refused models in, or do so no longer. Process context.
 *
 * Return: 0, or -EDOM where this kernel has no kretprobes, no PREEMPT_DYNAMIC,
 * is PREEMPT_RT, or cannot be probed there.
 */
int cb_force_preempt(bool on)
{
	if (on == active)
		return 0;
	if (!on) {
		probe_stop();
		if (cb_preempt_forced())
			pr_warn("the forced model %s stays: write another to sched/preempt in debugfs\n",
				cb_preempt_model());
	} else if (probe_start()) {
		return -EDOM;
	}
	active = on;
	return 0;
}
