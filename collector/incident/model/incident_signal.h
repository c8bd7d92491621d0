// SPDX-License-Identifier: Apache-2.0
/*
 * incident_signal.h - one kind of fault on one node: counted in ten-second buckets, and judged.
 *
 * A signal is sufficient if the window has least_events events, slow enough, that are
 * least_percent of the route's requests; or, since their rate rose, five times that percentage
 * for ten seconds: on a busy route it takes long until a fault is that share of the whole
 * window. A signal ends when it is no longer sufficient, or when less than a quarter as many
 * events come for half a minute.
 */
#pragma once

#include "collector/incident/model/incident.h"

void signal_class(const struct incident_row *r, char class[static SIGNAL_CLASS]);
bool signal_is_own(const char *class); /* caused neither by an upstream nor by a client */
enum signal_kind signal_kind_of(const char *class);
/* The signal that names the incident: the worst slow one, else a failing one; NULL: no
 * signals. */
const struct signal *signal_headline(const struct incident *i);
bool signal_is_relevant(const struct incident_row *r,
			const char *class); /* whether the row is evidence of a fault */

void signal_count(struct signal *g, const struct incident_limits *l, const struct incident_row *r);

/* The class of a slowdown found by means: none of its requests need be abnormal. */
#define SIGNAL_MEAN "slow"

struct incident_slowdown {
	int64_t begin_us, end_us;
	uint32_t n;
	double excess_us; /* total of the n requests */
};

void signal_count_mean(struct signal *g, const struct incident_slowdown *m);

/*
 * The requests that red counted for a signal's route since signal_window_start: n, until when,
 * and how many since signal_rise_start. 0: none.
 */
struct signal_requests {
	double n;
	int64_t until_us;
	double risen;
};

/* Converts a time of the signal's node to the collector's clock, to compare times of several
 * nodes. */
int64_t signal_collector_us(const struct signal *g, int64_t own_us);
bool signal_is_due(const struct signal *g, const struct incident_limits *l, int64_t now_us);
bool signal_judge(struct signal *g, const struct incident_limits *l, struct signal_requests asked,
		  int64_t now_us);
/*
 * Whether the window has no more events than a limit learnt from `before` requests lets through
 * of `asked` requests.
 */
bool signal_is_chance(const struct signal *g, const struct incident_limits *l, double asked,
		      double before);
void signal_end(struct signal *g); /* ends it within its incident, which it still belongs to */
/* Starts it within incident `in`, or within a new one (NULL). */
void signal_begin(struct signal *g, const struct incident_limits *l, const struct incident *in);
