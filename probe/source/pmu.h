// SPDX-License-Identifier: Apache-2.0
/*
 * pmu.h - hardware counters: cycles, instructions and last-level cache misses, one group per CPU.
 * Read by descriptors; no kernel program, no interrupt.
 */
#pragma once

#include "lib/base/base.h"

enum pmu_counter { PMU_CYCLES, PMU_INSTRUCTIONS, PMU_MISSES, PMU_COUNTERS };

struct pmu;

/* On failure *out is NULL, and why (WHY_LEN bytes) holds a sentence. */
int pmu_open(struct pmu **out, char *why) MUST_CHECK;
void pmu_close(struct pmu *p); /* NULL is fine */

/* Counts since the last call, summed over all CPUs; NaN: not counted. Or -errno. */
int pmu_read(struct pmu *p, double out[static PMU_COUNTERS]) MUST_CHECK;

/*
 * The counts of one CPU as returned by read(): the number of counters, the time the group was
 * enabled, the time it was running (less if others use the same counters), then the values.
 */
enum { PMU_WORDS = 3 + PMU_COUNTERS };

struct pmu_cpu {
	uint64_t last[PMU_WORDS];
	bool seen;
};

/* Adds the counts since the last call to sum, scaled to the enabled time. False: it was not
 * running.
 */
bool pmu_add(struct pmu_cpu *c, const uint64_t word[static PMU_WORDS],
	     double sum[static PMU_COUNTERS]);

DEFINE_AUTO(struct pmu *, pmu_close)
