// SPDX-License-Identifier: Apache-2.0
/*
 * cpu_quota.h - cgroups throttled by their CPU quota in more periods than usual for them: one event
 * per episode (episode.h). No system calls.
 *
 * A tick: cpu_quota_seen for each cgroup with periods, then cpu_quota_step.
 */
#pragma once

#include "probe/core/sink.h"

enum { THROTTLES_MAX = 16 }; /* at a time; more are no events */

struct cpu_quota {
	struct throttle *one;
	uint32_t n, room;
};

struct throttled { /* since the last tick */
	double periods, stopped; /* of these, throttled ones */
	double seconds; /* throttled time, summed over all CPUs */
	double cpus; /* its quota */
};

void cpu_quota_free(struct cpu_quota *t);
void cpu_quota_seen(struct cpu_quota *t, const char *path, const struct throttled *now);
void cpu_quota_step(struct cpu_quota *t, uint64_t now_ns, uint64_t wall_ns, struct sink *out);
