// SPDX-License-Identifier: Apache-2.0
/*
 * incident_set.h - the signals and incidents of now: rows are counted, signals open, join and
 * close.
 *
 * For one thread, without clock and database: who is near is asked of the caller. What is changed
 * is marked dirty, for the store to write; each step is told to the caller as it is taken.
 */
#pragma once

#include "collector/incident/model/incident_signal.h"

struct incident_set;

enum { INCIDENT_SIGNALS = 65536 };

struct incident_steps {
	void (*take)(void *arg, struct incident *i, int64_t at_us, const char *kind,
		     const struct signal *s, const struct incident *other);
	void *arg;
};

/* limits and steps stay the caller's. */
struct incident_set *incident_set_new(const struct incident_limits *limits,
				      const struct incident_steps *steps);
void incident_set_free(struct incident_set *s); /* NULL is fine */

/* NULL: it says nothing, or there is no room, which *full says. */
struct signal *incident_set_count(struct incident_set *s, const struct incident_row *r, bool *full);

/* The signals that may be open, or over, and were not asked about lately, at most max. */
size_t incident_set_due(struct incident_set *s, int64_t now_us, struct signal **out, size_t max);

/* near: the nodes within reach of g's, itself too, sorted. Joins, reopens, merges, or opens. */
struct incident_place {
	uint64_t region;
	const char *region_name;
	const uint64_t *near;
	size_t nnear;
	int64_t now_us;
};
struct incident *incident_set_open(struct incident_set *s, struct signal *g,
				   const struct incident_place *p);

/* Of this region, what is over is closed; what cannot come again is forgotten. */
void incident_set_pass(struct incident_set *s, uint64_t region, int64_t now_us);
void incident_set_forget(struct incident_set *s, int64_t now_us); /* signals that are silent */

size_t incident_set_count_of(const struct incident_set *s); /* incidents; by place they are: */
struct incident *incident_set_at(const struct incident_set *s, size_t i);
struct incident *incident_set_find(const struct incident_set *s, uint64_t id);

/* For incident_remote.c and incident_set_open.c, which move what is in it. */
const struct incident_limits *incident_set_limits(const struct incident_set *s);
void incident_set_step(struct incident_set *s, struct incident *i, int64_t at_us, const char *kind,
		       const struct signal *g, const struct incident *other);
void incident_set_close(struct incident_set *s, struct incident *i, int64_t at_us);
/* NULL-safe: what it was merged into, at last. */
struct incident *incident_set_target(const struct incident_set *s, struct incident *i);
/* What goes on of both. */
struct incident *incident_set_merge(struct incident_set *s, struct incident *into,
				    struct incident *from, int64_t at_us);
struct incident *incident_set_merge_older(struct incident_set *s, struct incident *a,
					  struct incident *b, int64_t at_us);
bool incident_reaches(const struct incident *i, const uint64_t *near, size_t n); /* near: sorted */
struct signal *incident_set_signal_of(const struct incident_set *s, uint64_t node, const char *app,
				      const char *route, const char *class); /* NULL: none yet */

/* Of what was stored before this process began. */
struct incident *incident_set_add(struct incident_set *s, const struct incident *i);
struct signal *incident_set_signal(struct incident_set *s, uint64_t node, const char *app,
				   const char *route, const char *class);
void incident_set_attach(struct incident *i, struct signal *g);
