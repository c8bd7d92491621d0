// SPDX-License-Identifier: Apache-2.0
/*
 * node_score.h - the score of a node in four classes, each set by the worst cause in its class.
 *
 * Pure arithmetic: measured values in, a score of 0..100 with its cause out. A class that could
 * not be measured has no score, which is not the same as 0. docs/reference/api.md has the
 * formulas.
 */
#pragma once

#include "lib/base/base.h"

enum node_score_class {
	SCORE_SATURATION,
	SCORE_LOAD,
	SCORE_LATENCY,
	SCORE_ERROR,
	SCORE_CLASSES,
};

enum node_score_metric {
#define SCORED(ID, kind, name) SCORED_##ID,
#include "collector/score/scored.def"
	SCORED_END
};

enum {
	SCORE_NAME = 64,
	SCORE_DISKS = 6,
	SCORE_APPS = 6,
	SCORE_EVENTS = 6,
	SCORE_CAUSES = 8, /* at most, in one class */
	SCORE_JUDGED = 20, /* an app is scored alone from this many requests on */
};

/* Counters: the sum over the time; gauges: the mean; NaN: not known. */
struct node_score_disk {
	char name[SCORE_NAME];
	double busy_s, weighted_s;
};

struct node_score_requests { /* of servers; excess_us: of the judged requests */
	double n, errors, judged, excess_us;
};

struct node_score_app {
	char name[SCORE_NAME];
	struct node_score_requests of;
};

struct node_score_event {
	char kind[SCORE_NAME];
	bool critical;
	uint64_t n;
};

struct node_score_facts {
	double v[SCORED_END];
	uint32_t ndisks, napps, nevents;
	struct node_score_disk disk[SCORE_DISKS];
	struct node_score_requests requests; /* of the node, all apps */
	struct node_score_app app[SCORE_APPS];
	struct node_score_event event[SCORE_EVENTS];
};

struct node_score_cause {
	const char *code;
	const char *what; /* disk, app, kind of event; "": the node */
	double value; /* in the unit of the code */
	double score; /* 0..100 */
};

struct node_score {
	bool known;
	struct node_score_cause worst; /* not known: only the code, which says why */
	uint32_t nunknown;
	const char *unknown[SCORE_CAUSES]; /* causes that could not be measured */
};

void node_score_judge(const struct node_score_facts *f, struct node_score s[static SCORE_CLASSES]);
