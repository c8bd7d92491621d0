// SPDX-License-Identifier: Apache-2.0
#include "budget.h"

static const uint64_t SECOND = 1000000000u;

bool budget_due(struct budget *b)
{
	if (++b->turn < 1u << b->step)
		return false;
	b->turn = 0;
	return true;
}

static enum budget_change decide(struct budget *b, uint64_t mono_ns, double may)
{
	if (b->share > may) {
		b->calm_ns = 0;
		if (b->step == BUDGET_STEPS)
			return BUDGET_SAME;
		b->step++;
		return BUDGET_RARER;
	}
	if (b->step == 0 || 2 * b->share > may) {
		b->calm_ns = 0;
		return BUDGET_SAME;
	}
	if (!b->calm_ns)
		b->calm_ns = mono_ns;
	if (mono_ns - b->calm_ns < BUDGET_CALM_S * SECOND)
		return BUDGET_SAME;
	b->calm_ns = mono_ns; /* the next step waits as long */
	b->step--;
	return BUDGET_OFTENER;
}

enum budget_change budget_took(struct budget *b, uint64_t mono_ns, uint64_t cpu_ns, double may)
{
	if (!b->since_ns) { /* the first read sets up what later ones go on with */
		b->since_ns = mono_ns;
		return BUDGET_SAME;
	}
	b->cpu_ns += cpu_ns;
	if (mono_ns - b->since_ns < BUDGET_LOOK_S * SECOND)
		return BUDGET_SAME;
	b->share = (double)b->cpu_ns / (double)(mono_ns - b->since_ns);
	b->since_ns = mono_ns;
	b->cpu_ns = 0;
	return may > 0 ? decide(b, mono_ns, may) : BUDGET_SAME;
}
