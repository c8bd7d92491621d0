// SPDX-License-Identifier: Apache-2.0
/*
 * incident_remote.h - imports an incident that a region reported, under the region's id.
 *
 * The region decides on its own incident: it is open or closed here as it is there, unless part
 * of it belongs to another region. An incident that spans regions has the id of the oldest one;
 * the others become parts of it. Pure: plain data in and out.
 */
#pragma once

#include "collector/incident/model/incident_set.h"

struct incident_remote_signal {
	uint64_t node, n;
	char *app, *route;
	char class[SIGNAL_CLASS];
	uint16_t reason;
	int64_t first_us, last_us, clock_us; /* as in struct signal */
	double excess_us;
};

struct incident_report {
	uint64_t id, at; /* at: the incident here that it was part of last; id: not imported yet */
	uint64_t region, into; /* into: 0, or the incident it was merged into there */
	uint64_t version;
	int64_t onset_us, last_us, opened_us, closed_us; /* closed 0: open */
	bool was_open; /* at the last import */
	bool has_row; /* `at` is stored here */
	struct incident_remote_signal *signal;
	size_t nsignals;
	const uint64_t *neighbors; /* nodes within reach of its signals' nodes, sorted */
	size_t nneighbors;
	int64_t now_us; /* newest data of its region */
};

/* Whether the incident is open again after it closed here so long ago that it must be reloaded
 * from the database. One that was open at the last import and is not loaded was closed here by
 * an operator. */
bool incident_set_must_reload(const struct incident_set *s, const struct incident_report *t);
/* False: what it depends on is not written yet; try again in the next pass. */
bool incident_set_is_ready(const struct incident_set *s, const struct incident_report *t);
/* The incident here that it is now part of, or NULL. */
struct incident *incident_set_import(struct incident_set *s, const struct incident_report *t);
