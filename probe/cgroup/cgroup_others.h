// SPDX-License-Identifier: Apache-2.0
/*
 * cgroup_others.h - aggregates the cgroups that are not listed into one entity. The values added
 * are deltas since the last tick, so the sum stays correct when a cgroup becomes listed or
 * unlisted, or is removed.
 */
#pragma once

#include "probe/core/layout.h"

struct cgroup_others {
	double v[CGROUP_END];
	uint32_t n;
};

void cgroup_others_begin(struct cgroup_others *o);
/* top: no ancestor is among the others, so its values that include descendants are added. */
void cgroup_others_add(struct cgroup_others *o, const double v[static CGROUP_END], bool top);
