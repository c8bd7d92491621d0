// SPDX-License-Identifier: Apache-2.0
#include "probe/overhead/budget.h"

static const uint64_t SECOND = 1000000000u;

bool budget_due(struct budget *b)
{
	if (++b->turn < 1u << b->step)
		return false;
	b->turn = 0;
	return true;
}

static uint64_t look_ns(const struct budget *b)
{
	return (b->look_s ? b->look_s : BUDGET_LOOK_S) * SECOND;
}

static enum budget_change decide(struct budget *b, uint64_t mono_ns, double may)
{
	if (b->share > may) {
		b->calm_ns = 0;
		if (b->step == BUDGET_STEPS || b->over++ < b->patience)
			return BUDGET_SAME;
		b->over = 0;
		b->step++;
		return BUDGET_RARER;
	}
	b->over = 0;
	if (b->step == 0 || 2 * b->share > may) {
		b->calm_ns = 0;
		return BUDGET_SAME;
	}
	if (!b->calm_ns)
		b->calm_ns = mono_ns;
	if (mono_ns - b->calm_ns < BUDGET_CALM_LOOKS * look_ns(b))
		return BUDGET_SAME;
	b->calm_ns = mono_ns; /* the next step waits as long */
	b->step--;
	return BUDGET_OFTENER;
}

/* Adds to the current look, and decides at its end. */
static enum budget_change add_cost(struct budget *b, uint64_t mono_ns, uint64_t cpu_ns,
				   uint64_t of_ns, double may)
{
	b->cpu_ns += cpu_ns;
	b->of_ns += of_ns;
	if (mono_ns - b->since_ns < look_ns(b) || !b->of_ns)
		return BUDGET_SAME;
	b->share = (double)b->cpu_ns / (double)b->of_ns;
	b->since_ns = mono_ns;
	b->cpu_ns = b->of_ns = 0;
	return may > 0 ? decide(b, mono_ns, may) : BUDGET_SAME;
}

enum budget_change budget_took(struct budget *b, uint64_t mono_ns, uint64_t cpu_ns, double may)
{
	if (!b->since_ns) { /* the first read includes setup work and is not counted */
		b->since_ns = mono_ns;
		return BUDGET_SAME;
	}
	b->of_ns = mono_ns - b->since_ns; /* all of the time is counted */
	return add_cost(b, mono_ns, cpu_ns, 0, may);
}

enum budget_change budget_counted(struct budget *b, uint64_t mono_ns, uint64_t cpu_ns,
				  uint64_t of_ns, double may)
{
	if (!b->since_ns)
		b->since_ns = mono_ns;
	return add_cost(b, mono_ns, cpu_ns, of_ns, may);
}
