// SPDX-License-Identifier: Apache-2.0
/*
 * pmu.h - the processors' own counters: cycles, instructions and misses of the last cache, of each
 * CPU as one group. Read by a descriptor each; no program, and no interrupt.
 */
#pragma once

#include "lib/base/base.h"

enum pmu_counter { PMU_CYCLES, PMU_INSTRUCTIONS, PMU_MISSES, PMU_COUNTERS };

struct pmu;

/* *out is NULL on failure: -errno with a sentence in why, of WHY_LEN bytes. */
int pmu_open(struct pmu **out, char *why) MUST_CHECK;
void pmu_close(struct pmu *p); /* NULL is fine */

/* What came since the last call, in all CPUs; NaN: not counted here. Or -errno. */
int pmu_read(struct pmu *p, double out[static PMU_COUNTERS]) MUST_CHECK;

/*
 * Of one CPU, as read() gives it: the number of counters, the time that the group was to count and
 * the time that it did, which is less if others want the same counters, then each one's value.
 */
enum { PMU_WORDS = 3 + PMU_COUNTERS };

struct pmu_cpu {
	uint64_t last[PMU_WORDS];
	bool seen;
};

/* Adds what came since the last one to sum, as if it had counted all the time. false: it has not
 * counted at all. */
bool pmu_take(struct pmu_cpu *c, const uint64_t word[static PMU_WORDS],
	      double sum[static PMU_COUNTERS]);

DEFINE_AUTO(struct pmu *, pmu_close)
