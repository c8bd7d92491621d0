// SPDX-License-Identifier: Apache-2.0
/*
 * src_pmu.c - instructions per cycle and cache misses of the node, from hardware counters, where
 * the machine has them.
 */
#include <math.h>

#include "probe/core/layout.h"
#include "probe/source/pmu.h"
#include "probe/core/source.h"

struct pmu_source {
	struct pmu *pmu;
};

static int pmu_source_open(void *self, const struct probe_env *env)
{
	struct pmu_source *s = self;

	return pmu_open(&s->pmu, env->why);
}

static void pmu_source_close(void *self)
{
	struct pmu_source *s = self;

	pmu_close(s->pmu);
}

static int pmu_source_read(void *self, struct sink *out)
{
	struct pmu_source *s = self;
	double n[PMU_COUNTERS], v[PMUNODE_END];
	int r = pmu_read(s->pmu, n);

	if (r < 0)
		return r;
	v[PMUNODE_CYCLES] = n[PMU_CYCLES];
	v[PMUNODE_INSTRUCTIONS] = n[PMU_INSTRUCTIONS];
	v[PMUNODE_MISSES] = n[PMU_MISSES];
	v[PMUNODE_IPC] = n[PMU_CYCLES] > 0 ? n[PMU_INSTRUCTIONS] / n[PMU_CYCLES] : (double)NAN;
	sink_sample(out, &(struct sample_item){ layout_pmunode.layout, "", PMUNODE_END, v });
	return 0;
}

static const struct wire_dict *const layouts[] = { &layout_pmunode };

const struct source source_pmu = {
	.name = "pmu",
	.help = "instructions per cycle and cache misses, from hardware counters",
	.period_ms = 10000,
	.steady = true,
	.needs_hardware = true,
	.size = sizeof(struct pmu_source),
	.layouts = layouts,
	.nlayouts = ARRAY_SIZE(layouts),
	.open = pmu_source_open,
	.read = pmu_source_read,
	.close = pmu_source_close,
};
