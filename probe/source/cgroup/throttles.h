// SPDX-License-Identifier: Apache-2.0
/*
 * throttles.h - cgroups that their CPU quota stops in more of its periods than is usual for them:
 * an event each, from when that is so until it is over (episode.h). No system calls.
 *
 * A tick: throttles_seen for each that had periods, then throttles_step.
 */
#pragma once

#include "probe/core/sink.h"

enum { THROTTLES_MAX = 16 }; /* at a time; those beyond are no events */

struct throttles {
	struct throttle *one;
	uint32_t n, room;
};

struct throttled { /* since the last tick */
	double periods, stopped; /* of these, those in which it was stopped */
	double seconds; /* it stood still, on all CPUs together */
	double cpus; /* its quota */
};

void throttles_free(struct throttles *t);
void throttles_seen(struct throttles *t, const char *path, const struct throttled *now);
void throttles_step(struct throttles *t, uint64_t now_ns, uint64_t wall_ns, struct sink *out);
