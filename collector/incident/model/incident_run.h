// SPDX-License-Identifier: Apache-2.0
/*
 * incident_run.h - finds runs of counts of a route that are slower than before. Pure.
 *
 * A run has at least three counts and least_events requests. The mean of each count exceeds the
 * median of the quarter of an hour before, outside incidents, by least_excess_ms and by three
 * interquartile ranges.
 */
#pragma once

#include "collector/incident/model/incident_signal.h"

enum { RUN_COUNT_S = 10 }; /* the interval of red_flush */

/* Whether the node had an incident at that time: none, one that is open, or one that has closed
 * and has already reported these counts. */
enum run_incident { RUN_NO_INCIDENT, RUN_OPEN_INCIDENT, RUN_CLOSED_INCIDENT };

struct run_count {
	int64_t ts_us; /* end of the count */
	double n, excess_us;
	enum run_incident incident;
};

/*
 * c: sorted by time; call it for each i in turn. False: no run ends with count i. whole: the run
 * from its first count on. Its counts are marked as part of an incident, so that they do not
 * raise the baseline.
 */
bool incident_run(struct run_count *c, size_t i, const struct incident_limits *l,
		  struct incident_slowdown *whole);
