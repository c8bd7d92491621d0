// SPDX-License-Identifier: Apache-2.0
/*
 * incident_run.h - counts in a row that are slower than a route was before. Pure.
 *
 * A run is three counts long and of least_events requests, each count with a mean that is over what
 * it was in the quarter of an hour before, while nothing was wrong, by least_excess_ms, and by
 * three of its interquartile ranges.
 */
#pragma once

#include "collector/incident/model/incident_signal.h"

enum { RUN_COUNT_S = 10 }; /* red_flush makes one in ten seconds */

/* Whether its node had an incident then: which goes on, or is over, and has told what there was. */
enum run_wrong { RUN_RIGHT, RUN_WRONG, RUN_OVER };

struct run_count {
	int64_t ts_us; /* its end */
	double n, excess_us;
	enum run_wrong wrong;
};

/*
 * c: in order of time, and asked for so. False: none ends with the i-th; whole: all of it, from its
 * first count on. Its counts are wrong from then on, so that it does not become what was before.
 */
bool incident_run(struct run_count *c, size_t i, const struct incident_limits *l,
		  struct incident_slowdown *whole);
