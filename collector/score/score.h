// SPDX-License-Identifier: Apache-2.0
/*
 * score.h - how bad a node is, in four classes, each by the worst that was found in it.
 *
 * Pure numbers: what was measured goes in, 0..100 and what it is by comes out. What could not be
 * known has no score, and never a 0 for it; docs/reference/api.md has the formula.
 */
#pragma once

#include "lib/base/base.h"

enum score_class {
	SCORE_SATURATION,
	SCORE_LOAD,
	SCORE_LATENCY,
	SCORE_ERROR,
	SCORE_CLASSES,
};

enum score_metric {
#define SCORED(ID, kind, name) SCORED_##ID,
#include "collector/score/scored.def"
	SCORED_END
};

enum {
	SCORE_NAME = 64,
	SCORE_DISKS = 6,
	SCORE_APPS = 6,
	SCORE_EVENTS = 6,
	SCORE_CAUSES = 8, /* looked for in one class */
	SCORE_JUDGED = 20, /* requests of one app by which it may be judged alone */
};

/* Of counters the sum over the time, of gauges the mean; NaN: not known. */
struct score_disk {
	char name[SCORE_NAME];
	double busy_s, weighted_s;
};

struct score_requests { /* of servers; excess is of those judged */
	double n, errors, judged, excess_us;
};

struct score_app {
	char name[SCORE_NAME];
	struct score_requests of;
};

struct score_event {
	char kind[SCORE_NAME];
	bool critical;
	uint64_t n;
};

struct score_facts {
	double v[SCORED_END];
	uint32_t ndisks, napps, nevents;
	struct score_disk disk[SCORE_DISKS];
	struct score_requests requests; /* of the node, all apps */
	struct score_app app[SCORE_APPS];
	struct score_event event[SCORE_EVENTS];
};

struct score_cause {
	const char *code;
	const char *what; /* disk, app, kind of event; "": the node */
	double value; /* in the unit of the code */
	double score; /* 0..100 */
};

struct score {
	bool known;
	struct score_cause worst; /* known: by which; else only code, why it is not */
	uint32_t nunknown;
	const char *unknown[SCORE_CAUSES]; /* what belongs to it and could not be looked at */
};

void score_judge(const struct score_facts *f, struct score s[static SCORE_CLASSES]);
