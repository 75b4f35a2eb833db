/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A watch: between what counts and what probes.
 */
#ifndef CLEARBENCH_WATCH_H
#define CLEARBENCH_WATCH_H

#include <linux/types.h>

#define CB_WATCH_PROBES		4

/**
 * struct cb_watch_function - a kernel function that clears
 * @function: its name
 * @by_fault: it is called by page faults, on memory that the allocator has
 *	given; else by the allocator itself
 * @pages_arg: number of its argument that says how many pages; -1: its first
 *	argument is a folio
 */
struct cb_watch_function {
	const char *function;
	bool by_fault;
	int pages_arg;
};

/**
 * struct cb_watch_call - from its entry to its return
 * @start: when it was entered, in ticks of cb_clock()
 * @order: of the extent
 */
struct cb_watch_call {
	u64 start;
	unsigned int order;
};

extern const struct cb_watch_function cb_watch_probes[CB_WATCH_PROBES];

/* watch_probe.c */
const char *cb_watch_probe_start(unsigned int probe);
u64 cb_watch_probe_stop(unsigned int probe);

/* watch.c; in any context */
bool cb_watch_enter(unsigned int probe, unsigned int order, struct cb_watch_call *call);
void cb_watch_leave(unsigned int probe, const struct cb_watch_call *call);

#endif /* CLEARBENCH_WATCH_H */
