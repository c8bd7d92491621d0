// SPDX-License-Identifier: Apache-2.0
/*
 * source_throttle.h - a source that costs more than it may: what is done about it (budget.h), and told. Its
 * reads may take a share of one processor, and are made more rarely. Its kernel programs run on any
 * processor, and may take that share of all of them together; they then look at a part of what
 * happens, if the source has a way to (source.h). Each is an event that lasts, a line in the log
 * and the state of the source.
 */
#pragma once

#include "probe/overhead/budget.h"
#include "probe/event/ongoing_event.h"
#include "probe/overhead/meter.h"
#include "probe/core/source.h"

struct source_throttle { /* zeroed, but for look_s of both budgets: nothing is left out */
	struct budget reads, programs;
	struct ongoing_event reads_over, programs_over; /* events */
	struct meter_runs seen; /* of its programs, so far */
};

void source_throttle_begin(struct source_throttle *t, uint32_t look_s);
/* It was read, which took so long. True: the state has changed. */
bool source_throttle_read(struct source_throttle *t, const struct source *s, double may_percent, uint64_t cpu_ns,
		 struct sink *out);
/* So much was counted of its programs, of all the time so far, on ncpu processors. */
bool source_throttle_programs(struct source_throttle *t, const struct source *s, void *self, double may_percent,
		     const struct meter_runs *runs, uint32_t ncpu, struct sink *out);
/* What is left out now, and why: false, and why as it was, if nothing is. */
bool source_throttle_why(const struct source_throttle *t, const struct source *s, double may_percent,
		char why[static WHY_LEN]);
