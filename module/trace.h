/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of a run, so that trace-cmd, perf and bpftrace set its samples
 * beside interrupts, migrations and whatever else they record. They stand in the
 * code that accounts a sample, after the window has closed: the time stamp of
 * clearbench_sample is a little later than the end of its clear.
 *
 * Names are arrays and not strings, whose macros differ between kernels.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM clearbench

#if !defined(CLEARBENCH_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define CLEARBENCH_TRACE_H

#include <linux/string.h>
#include <linux/tracepoint.h>

#ifndef CB_TRACE_NAME_LEN
#define CB_TRACE_NAME_LEN	16	/* of a context or method; longer ones are cut */
#endif

TRACE_EVENT(clearbench_run_start,

	TP_PROTO(unsigned int cells, u64 samples, int cpu),

	TP_ARGS(cells, samples, cpu),

	TP_STRUCT__entry(
		__field(unsigned int, cells)
		__field(u64, samples)
		__field(int, cpu)
	),

	TP_fast_assign(
		__entry->cells = cells;
		__entry->samples = samples;
		__entry->cpu = cpu;
	),

	TP_printk("cells=%u samples=%llu cpu=%d",
		  __entry->cells, __entry->samples, __entry->cpu)
);

TRACE_EVENT(clearbench_run_end,

	TP_PROTO(unsigned int done, unsigned int cells, int error),

	TP_ARGS(done, cells, error),

	TP_STRUCT__entry(
		__field(unsigned int, done)
		__field(unsigned int, cells)
		__field(int, error)
	),

	TP_fast_assign(
		__entry->done = done;
		__entry->cells = cells;
		__entry->error = error;
	),

	TP_printk("done=%u cells=%u error=%d",
		  __entry->done, __entry->cells, __entry->error)
);

/* A sample that counts; not those of warm-up, verification and the noise floor */
TRACE_EVENT(clearbench_sample,

	TP_PROTO(const char *context, unsigned int order, const char *method,
		 unsigned int batch, int cpu, int nid, u64 ns, bool disturbed),

	TP_ARGS(context, order, method, batch, cpu, nid, ns, disturbed),

	TP_STRUCT__entry(
		__array(char, context, CB_TRACE_NAME_LEN)
		__array(char, method, CB_TRACE_NAME_LEN)
		__field(unsigned int, order)
		__field(unsigned int, batch)
		__field(int, cpu)
		__field(int, nid)
		__field(u64, ns)
		__field(bool, disturbed)
	),

	TP_fast_assign(
		strscpy_pad(__entry->context, context, CB_TRACE_NAME_LEN);
		strscpy_pad(__entry->method, method, CB_TRACE_NAME_LEN);
		__entry->order = order;
		__entry->batch = batch;
		__entry->cpu = cpu;
		__entry->nid = nid;
		__entry->ns = ns;
		__entry->disturbed = disturbed;
	),

	TP_printk("context=%s order=%u method=%s batch=%u cpu=%d nid=%d ns=%llu disturbed=%d",
		  __entry->context, __entry->order, __entry->method, __entry->batch,
		  __entry->cpu, __entry->nid, __entry->ns, __entry->disturbed)
);

#endif /* CLEARBENCH_TRACE_H */

/* Not in include/trace/events: found by the -I that Kbuild gives engine.o. */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
