// SPDX-License-Identifier: Apache-2.0
/*
 * budget.h - throttles a source that costs more than its budget: each step halves its activity, and
 * the steps are taken back when the load is over. For reads, the activity is how often the source
 * is read; for kernel programs, the share of events they process. No clock and no sink.
 */
#pragma once

#include "lib/base/base.h"

enum {
	BUDGET_STEPS = 5, /* each halves the activity: at least 1/32 is left */
	BUDGET_LOOK_S = 20, /* default interval over which the cost is summed: a look */
	BUDGET_CALM_LOOKS = 15, /* cheap looks before a step is taken back */
	BUDGET_CALM_S = BUDGET_CALM_LOOKS * BUDGET_LOOK_S,
};

struct budget {
	uint32_t look_s; /* 0: BUDGET_LOOK_S */
	uint32_t patience; /* expensive looks in a row that are tolerated before a step */
	uint32_t step; /* activity is 1 / 2^step */
	uint32_t turn; /* periods since the last read */
	uint64_t since_ns, cpu_ns,
		of_ns; /* current look: start, cost, time the cost is a part of */
	uint64_t calm_ns; /* cheap since then; 0: not cheap */
	uint32_t over; /* expensive looks in a row */
	double share; /* of one CPU (reads) or of all (programs), in the last look */
};

enum budget_change { BUDGET_SAME, BUDGET_RARER, BUDGET_OFTENER };

bool budget_due(struct budget *b); /* to be called each period: whether to read the source now */
/*
 * Adds the CPU time of a read. may: the allowed share of one CPU, 0: no limit. A look measures the
 * cost at the current step, and a step is taken back only if twice that cost is within may.
 */
enum budget_change budget_took(struct budget *b, uint64_t mono_ns, uint64_t cpu_ns, double may);
/*
 * Adds cpu_ns of kernel programs, counted during of_ns of CPU time (of all CPUs together). As
 * above; a look in which nothing was counted decides nothing.
 */
enum budget_change budget_counted(struct budget *b, uint64_t mono_ns, uint64_t cpu_ns,
				  uint64_t of_ns, double may);
