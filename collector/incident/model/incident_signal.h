// SPDX-License-Identifier: Apache-2.0
/*
 * incident_signal.h - what goes wrong on one node in one way: counted by ten seconds, and judged.
 *
 * It says enough when there are some events of the window, slow enough, and these are some of a
 * hundred requests of the route; or, since their rate rose, five times as many of it, for ten
 * seconds: of a busy route it takes long until these are a part of the whole window. One that said
 * so has ended when it says so no more, or when less than a quarter as many come for half a minute.
 */
#pragma once

#include "collector/incident/model/incident.h"

void signal_class(const struct incident_row *r, char class[static SIGNAL_CLASS]);
bool signal_is_own(const char *class); /* neither by what it asked, nor by who asked */
enum signal_kind signal_kind_of(const char *class);
/* What an incident is called by: what was slow, if anything was; NULL: nothing of it. */
const struct signal *signal_headline(const struct incident *i);
bool signal_says(const struct incident_row *r, const char *class); /* something about a fault */

void signal_count(struct signal *g, const struct incident_limits *l, const struct incident_row *r);

/* The class of what is slow on the whole, by its mean: no request of it need be abnormal. */
#define SIGNAL_MEAN "slow"

struct incident_slowdown {
	int64_t begin_us, end_us;
	uint32_t n;
	double excess_us; /* of all n */
};

void signal_count_mean(struct signal *g, const struct incident_slowdown *m);

/*
 * What red has of a signal's route since signal_since: n requests, up to when, and how many of them
 * since signal_rises; 0: nothing.
 */
struct incident_asked {
	double n;
	int64_t until_us;
	double risen;
};

/* A time of its node by the collector's clock, by which those of several nodes are compared. */
int64_t signal_here(const struct signal *g, int64_t own_us);
bool signal_is_due(const struct signal *g, const struct incident_limits *l, int64_t now_us);
bool signal_judge(struct signal *g, const struct incident_limits *l, struct incident_asked asked,
		  int64_t now_us);
/*
 * Of a route of which so many requests were counted before: whether it is no more than a limit that
 * is learnt from these lets through of asked ones.
 */
bool signal_is_chance(const struct signal *g, const struct incident_limits *l, double asked,
		      double before);
void signal_end(struct signal *g); /* as a part of its incident, which stays whose it is */
/* As a part of in, from now on, or of a new one if NULL. */
void signal_begin(struct signal *g, const struct incident_limits *l, const struct incident *in);
