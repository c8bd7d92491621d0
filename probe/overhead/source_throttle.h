// SPDX-License-Identifier: Apache-2.0
/*
 * source_throttle.h - throttles a source that exceeds its budget (budget.h), and reports it. Reads
 * may take a share of one CPU; above it, the source is read less often. Kernel programs run on any
 * CPU and may take that share of all CPUs together; above it, they process a part of the events, if
 * the source supports sampling (source.h). Each of the two is an ongoing event, a line in the log
 * and the state of the source.
 */
#pragma once

#include "probe/overhead/budget.h"
#include "probe/event/ongoing_event.h"
#include "probe/overhead/meter.h"
#include "probe/core/source.h"

struct source_throttle { /* zeroed except look_s of both budgets: not throttled */
	struct budget reads, programs;
	struct ongoing_event reads_over, programs_over; /* events */
	struct meter_runs seen; /* counts of its programs at the last call */
};

void source_throttle_begin(struct source_throttle *t, uint32_t look_s);
/* Adds the CPU time of a read. True: the state has changed. */
bool source_throttle_read(struct source_throttle *t, const struct source *s, double may_percent,
			  uint64_t cpu_ns, struct sink *out);
/* runs: the total counts of its programs, on ncpu CPUs. True: the state has changed. */
bool source_throttle_programs(struct source_throttle *t, const struct source *s, void *self,
			      double may_percent, const struct meter_runs *runs, uint32_t ncpu,
			      struct sink *out);
/* Writes how and why the source is throttled; false: it is not, and why is unchanged. */
bool source_throttle_why(const struct source_throttle *t, const struct source *s,
			 double may_percent, char why[static WHY_LEN]);
