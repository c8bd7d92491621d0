// SPDX-License-Identifier: Apache-2.0
/*
 * budget.h - how often a source may be read: less often when its reads cost more of a processor
 * than it may take, and as often as it wants again when that is over. No clock and no sink.
 */
#pragma once

#include "../lib/base.h"

enum {
	BUDGET_STEPS = 5, /* each doubles the time between two reads: at most 32 times as long */
	BUDGET_LOOK_S = 20, /* over so long what the reads cost is summed up */
	BUDGET_CALM_S = 300, /* so long it must be cheap before it is read more often again */
};

struct budget {
	uint32_t step; /* it is read each 2^step-th time */
	uint32_t turn; /* times since it was read */
	uint64_t since_ns, cpu_ns; /* of this look: when it began, what its reads cost */
	uint64_t calm_ns; /* cheap since then; 0: it is not */
	double share; /* of one processor, by the last look */
};

enum budget_change { BUDGET_SAME, BUDGET_RARER, BUDGET_OFTENER };

bool budget_due(struct budget *b); /* asked at each period: is this one it is read in? */
/*
 * Its read took so long on a CPU; may: the share of one processor that it may take, 0: any. A look
 * goes by what it costs as it is read now, and goes back a step only if twice that is within may.
 */
enum budget_change budget_took(struct budget *b, uint64_t mono_ns, uint64_t cpu_ns, double may);
