// SPDX-License-Identifier: Apache-2.0
/*
 * incident_remote.h - an incident that a region told, taken into the set under the id that it has
 * there.
 *
 * The region judges its own: what it says is open is open here, and what it closed is closed, as
 * long as nothing of another region is a part of it. One that spans regions has the id of the older
 * one, and the others become parts of it. Whoever tells is no part of this: plain data in and out.
 */
#pragma once

#include "collector/incident/model/incident_set.h"

struct incident_remote_signal {
	uint64_t node, n;
	char *app, *route;
	char class[SIGNAL_CLASS];
	uint16_t reason;
	int64_t first_us, last_us, clock_us; /* as of a signal */
	double excess_us;
};

struct incident_telling {
	uint64_t id, at; /* at: the incident here that it was a part of last; id: none yet */
	uint64_t region, into; /* into: 0, or what it is a part of there */
	uint64_t version;
	int64_t onset_us, last_us, opened_us, closed_us; /* closed 0: open */
	bool was_open; /* when it was taken last */
	bool has_row; /* at has one here */
	struct incident_remote_signal *signal;
	size_t nsignals;
	const uint64_t *near; /* nodes within reach of those of its signals, sorted */
	size_t nnear;
	int64_t now_us; /* of its region */
};

/* It goes on again, and is over here for so long that it is to be read from where it is stored. One
 * that went on when it was taken last, and is not here, was closed here by a person. */
bool incident_set_lacks(const struct incident_set *s, const struct incident_telling *t);
/* False: what it follows is not written yet; to be asked with the next pass. */
bool incident_set_may_take(const struct incident_set *s, const struct incident_telling *t);
/* Of which incident here it is a part now; NULL: of none. */
struct incident *incident_set_take(struct incident_set *s, const struct incident_telling *t);
