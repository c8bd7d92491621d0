// SPDX-License-Identifier: Apache-2.0
#include "probe/cgroup/cgroup_others.h"

#include <math.h>

#include "probe/procfs/proc_delta.h"

enum fold {
	SUM_TOP, /* includes the cgroups below: add those at the top only */
	SUM_ALL, /* of the cgroup itself: add all */
	NO_SUM, /* a limit, or a share of the same time: no sum exists */
};

static const enum fold folds[CGROUP_END] = {
	[CGROUP_CPU_PERIODS] = SUM_ALL,	   [CGROUP_CPU_THROTTLED_PERIODS] = SUM_ALL,
	[CGROUP_CPU_THROTTLED] = SUM_ALL,  [CGROUP_CPU_QUOTA] = NO_SUM,
	[CGROUP_CPU_PERIOD] = NO_SUM,	   [CGROUP_MEM_LIMIT] = NO_SUM,
	[CGROUP_MEM_LIMIT_HITS] = SUM_ALL, [CGROUP_MEM_HIGH_HITS] = SUM_ALL,
	[CGROUP_OOM_KILLS] = SUM_ALL,	   [CGROUP_PSI_CPU_SOME] = NO_SUM,
	[CGROUP_PSI_CPU_FULL] = NO_SUM,	   [CGROUP_PSI_MEM_SOME] = NO_SUM,
	[CGROUP_PSI_MEM_FULL] = NO_SUM,	   [CGROUP_PSI_IO_SOME] = NO_SUM,
	[CGROUP_PSI_IO_FULL] = NO_SUM,	   [CGROUP_PIDS_MAX] = NO_SUM,
	[CGROUP_CGROUPS] = SUM_ALL,
};

void cgroup_others_begin(struct cgroup_others *o)
{
	o->n = 0;
	proc_clear(o->v, CGROUP_END);
}

void cgroup_others_add(struct cgroup_others *o, const double v[static CGROUP_END], bool top)
{
	o->n++;
	for (int i = 0; i < CGROUP_END; i++) {
		if (isnan(v[i]) || folds[i] == NO_SUM || (folds[i] == SUM_TOP && !top))
			continue;
		o->v[i] = isnan(o->v[i]) ? v[i] : o->v[i] + v[i];
	}
}
