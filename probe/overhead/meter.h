// SPDX-License-Identifier: Apache-2.0
/*
 * meter.h - measures the cost of the probe: its process and, per source, the reads, the kernel
 * programs and the maps. The descriptors opened by a source's open are its programs and maps.
 *
 * The kernel measures the run time of programs only while its statistics are on (bpf_stats.h),
 * which costs about 50 ns per run. So they are on for METER_COUNT_S from the start, then in windows
 * at random moments that add up to a twentieth of the time. The counts of the windows are
 * extrapolated to the whole time. Without permission these values are NaN, unless sysctl
 * kernel.bpf_stats_enabled is set.
 */
#pragma once

#include "probe/core/sink.h"

enum { METER_COUNT_S = 10 };

struct meter;
struct switch_chain;

/*
 * While the kernel counted: runs, their time, and (from meter_runs_of) the time in which it
 * counted. missed is always counted: runs that the kernel skipped (bpf_prog_info.recursion_misses)
 * because the same program was already running on that CPU and had been interrupted; or preempted,
 * which is possible for tracepoints since kernel 7.0 (tracepoint_srcu): then all other tasks on
 * that CPU skip it until the preempted task continues. bpf_preempt_disable does not help: a pending
 * preemption happens when it is enabled again, still within the program (seen with 7.3.4).
 */
struct meter_runs {
	uint64_t runs, ns, counted_ns, missed;
};

/* chain: parted while the kernel counts, joined in between; NULL: none. */
struct meter *meter_new(size_t sources, struct switch_chain *chain);
void meter_free(struct meter *m); /* NULL is fine */

void meter_before_open(struct meter *m);
void meter_after_open(struct meter *m, size_t source);
/*
 * Starts the count, before privileges are dropped; one window per each_s seconds. -errno: not
 * permitted, so there are no run times of programs.
 */
int meter_count(struct meter *m, uint64_t mono_ns, uint32_t each_s) MUST_CHECK;
/* Opens or closes a window if due; to be called each meter_watch_ms. True: a window was closed. */
bool meter_watch(struct meter *m, uint64_t mono_ns);
uint32_t meter_watch_ms(const struct meter *m);
/* The sum of all closed windows; ns includes the cost of the hooks (bpf_stats_bias.h). */
struct meter_runs meter_runs_of(const struct meter *m, size_t source);

void meter_read(struct meter *m, size_t source, uint64_t cpu_ns, bool failed);
void meter_skipped(struct meter *m, size_t source);

/* Emits samples of the cost since the last call: one of the process, one per source that is on. */
void meter_report(struct meter *m, uint64_t mono_ns, const char *const *names, const bool *on,
		  const char *procfs, struct sink *out);
