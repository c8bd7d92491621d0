// SPDX-License-Identifier: Apache-2.0
/*
 * cgroup_others.h - the cgroups that are not listed, as one. What is added is what each of them did
 * since the last tick, so a sum stays right when one is listed, is no more, or dies.
 */
#pragma once

#include "probe/core/layout.h"

struct cgroup_others {
	double v[CGROUP_END];
	uint32_t n;
};

void cgroup_others_begin(struct cgroup_others *o);
/* top: none above it is among the others, so what it has of those below it counts. */
void cgroup_others_add(struct cgroup_others *o, const double v[static CGROUP_END], bool top);
