// SPDX-License-Identifier: Apache-2.0
/*
 * meter.h - what the probe itself costs: its process, and of each source the reads, the kernel
 * programs and the maps. Which programs and maps are a source's is seen by what its open opened.
 *
 * How long kernel programs run the kernel tells only while somebody has it count (bpf_stats.h), some
 * 50 ns more for each run: so it does for METER_COUNT_S from the start, and from then on in windows
 * that together are a twentieth of the time, each at a moment by chance. What came in them stands
 * for all of the time. Where that is not permitted those values are NaN, unless others have it
 * count (sysctl kernel.bpf_stats_enabled).
 */
#pragma once

#include "probe/core/sink.h"

enum { METER_COUNT_S = 10 };

struct meter;
struct switch_chain;

/*
 * While it was counted: runs, how long they took, and in meter_runs_of in how long that was. missed
 * is always counted: what the kernel left out (bpf_prog_info.recursion_misses), as the same program
 * had begun on that processor and was interrupted; or preempted, as tracepoints may be from kernel
 * 7.0 on (tracepoint_srcu): then it is left out for all others there until that task goes on.
 * bpf_preempt_disable does not help: what is pending comes when it is enabled, still within the
 * program (seen with 7.3.4).
 */
struct meter_runs {
	uint64_t runs, ns, counted_ns, missed;
};

/* chain: parted while it counts, joined in between; NULL: there is none. */
struct meter *meter_new(size_t sources, struct switch_chain *chain);
void meter_free(struct meter *m); /* NULL is fine */

void meter_before_open(struct meter *m);
void meter_after_open(struct meter *m, size_t source);
/* While there are still privileges: -errno, and no times of programs, where it may not. A window
 * in each each_s of the clock. */
int meter_count(struct meter *m, uint64_t mono_ns, uint32_t each_s) MUST_CHECK;
/* Opens a window or closes one when it is time to, to be called each meter_watch_ms. True: one was
 * closed. */
bool meter_watch(struct meter *m, uint64_t mono_ns);
uint32_t meter_watch_ms(const struct meter *m);
/* Of all windows that were closed; ns with what the hooks themselves cost (bpf_stats_bias.h). */
struct meter_runs meter_runs_of(const struct meter *m, size_t source);

void meter_read(struct meter *m, size_t source, uint64_t cpu_ns, bool failed);
void meter_skipped(struct meter *m, size_t source);

/* Samples of what came since the last call: one of the process, one of each source that is on. */
void meter_tell(struct meter *m, uint64_t mono_ns, const char *const *names, const bool *on,
		const char *procfs, struct sink *out);
