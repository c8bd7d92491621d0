// SPDX-License-Identifier: Apache-2.0
/*
 * meter.h - what the probe itself costs: its process, and of each source the reads, the kernel
 * programs and the maps. Which programs and maps are a source's is seen by what its open opened.
 *
 * How long kernel programs run the kernel tells only while somebody asks it to count (some 50 ns
 * more for each run), and only CAP_SYS_ADMIN may ask, which a probe gives up: so it counts for
 * METER_COUNT_S from the start. Where others have it count (sysctl kernel.bpf_stats_enabled),
 * that is told, too; otherwise those values are NaN.
 */
#pragma once

#include "sink.h"

enum { METER_COUNT_S = 10 };

struct meter;

struct meter *meter_new(size_t sources);
void meter_free(struct meter *m); /* NULL is fine */

void meter_before_open(struct meter *m);
void meter_after_open(struct meter *m, size_t source);
/* While there are still privileges: -errno, and no times of programs, where it may not. */
int meter_count(struct meter *m, uint64_t mono_ns) MUST_CHECK;

uint64_t meter_cpu_ns(void); /* that this thread has used */
void meter_read(struct meter *m, size_t source, uint64_t cpu_ns, bool failed);
void meter_skipped(struct meter *m, size_t source);

/* Samples of what came since the last call: one of the process, one of each source that is on. */
void meter_tell(struct meter *m, uint64_t mono_ns, const char *const *names, const bool *on,
		const char *procfs, struct sink *out);
