// SPDX-License-Identifier: Apache-2.0
/*
 * budget.h - how much a source may do: half as much, and half of that, when it costs more than it
 * may, and as much as it wants again when that is over. Of its reads, that is how often it is read;
 * of its kernel programs, how much of what happens they look at. No clock and no sink.
 */
#pragma once

#include "lib/base/base.h"

enum {
	BUDGET_STEPS = 5, /* each halves it: at least a 32nd part is left */
	BUDGET_LOOK_S = 20, /* over so long what it costs is summed up, if nothing else is said */
	BUDGET_CALM_LOOKS = 15, /* so long it must be cheap before it is given a step back */
	BUDGET_CALM_S = BUDGET_CALM_LOOKS * BUDGET_LOOK_S,
};

struct budget {
	uint32_t look_s; /* 0: BUDGET_LOOK_S */
	uint32_t patience; /* so many looks more than one must it cost too much in a row */
	uint32_t step; /* it is read each 2^step-th time */
	uint32_t turn; /* times since it was read */
	uint64_t since_ns, cpu_ns,
		of_ns; /* of this look: when it began, its cost, and in how long */
	uint64_t calm_ns; /* cheap since then; 0: it is not */
	uint32_t over; /* looks in a row */
	double share; /* of one processor, or of all, by the last look */
};

enum budget_change { BUDGET_SAME, BUDGET_RARER, BUDGET_OFTENER };

bool budget_due(struct budget *b); /* asked at each period: is this one it is read in? */
/*
 * Its read took so long on a CPU; may: the share of one processor that it may take, 0: any. A look
 * goes by what it costs as it is read now, and goes back a step only if twice that is within may.
 */
enum budget_change budget_took(struct budget *b, uint64_t mono_ns, uint64_t cpu_ns, double may);
/*
 * Its kernel programs took cpu_ns while of_ns of processors' time went by, of which this was
 * counted. As above; nothing is decided of a look in which nothing was counted.
 */
enum budget_change budget_counted(struct budget *b, uint64_t mono_ns, uint64_t cpu_ns,
				  uint64_t of_ns, double may);
