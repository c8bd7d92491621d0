// SPDX-License-Identifier: Apache-2.0
/*
 * incident_set.h - the current signals and incidents: counts rows, and opens, joins and closes
 * signals.
 *
 * For one thread, without clock and database: the caller provides the neighbors of a node.
 * Changed items are marked dirty for the caller to write; each step is passed to the caller as
 * it happens.
 */
#pragma once

#include "collector/incident/model/incident_signal.h"

struct incident_set;

enum { INCIDENT_SIGNALS = 65536 };

struct incident_steps {
	void (*on_step)(void *arg, struct incident *i, int64_t at_us, const char *kind,
			const struct signal *s, const struct incident *other);
	void *arg;
};

/* The caller owns limits and steps. */
struct incident_set *incident_set_new(const struct incident_limits *limits,
				      const struct incident_steps *steps);
void incident_set_free(struct incident_set *s); /* NULL is fine */

/* NULL: the row is no evidence of a fault, or there is no room (*full). */
struct signal *incident_set_count(struct incident_set *s, const struct incident_row *r, bool *full);

/* The signals to judge now: possibly open or over, and not judged lately. At most max. */
size_t incident_set_due(struct incident_set *s, int64_t now_us, struct signal **out, size_t max);

/* neighbors: the nodes within reach of g's node, itself included, sorted. is_taken: whether an
 * incident of this id is stored, such as one that was merged. Joins, reopens, merges or opens. */
struct incident_place {
	uint64_t region;
	const char *region_name;
	const uint64_t *neighbors;
	size_t nneighbors;
	int64_t now_us;
	bool (*is_taken)(void *arg, uint64_t id); /* NULL: none is stored */
	void *arg;
};
struct incident *incident_set_open(struct incident_set *s, struct signal *g,
				   const struct incident_place *p);

/* Closes the incidents of this region that are over and forgets those that cannot reopen. */
void incident_set_pass(struct incident_set *s, uint64_t region, int64_t now_us);
void incident_set_forget(struct incident_set *s, int64_t now_us); /* forgets silent signals */

size_t incident_set_count_of(const struct incident_set *s); /* number of incidents */
struct incident *incident_set_at(const struct incident_set *s, size_t i);
struct incident *incident_set_find(const struct incident_set *s, uint64_t id);

/* For incident_remote.c and incident_set_open.c, which change the set. */
const struct incident_limits *incident_set_limits(const struct incident_set *s);
void incident_set_step(struct incident_set *s, struct incident *i, int64_t at_us, const char *kind,
		       const struct signal *g, const struct incident *other);
void incident_set_close(struct incident_set *s, struct incident *i, int64_t at_us);
/* The incident that i was finally merged into; NULL-safe. */
struct incident *incident_set_target(const struct incident_set *s, struct incident *i);
/* Returns the one that remains. */
struct incident *incident_set_merge(struct incident_set *s, struct incident *into,
				    struct incident *from, int64_t at_us);
struct incident *incident_set_merge_older(struct incident_set *s, struct incident *a,
					  struct incident *b, int64_t at_us);
bool incident_reaches(const struct incident *i, const uint64_t *neighbors,
		      size_t n); /* neighbors: sorted */
struct signal *incident_set_signal_of(const struct incident_set *s, uint64_t node, const char *app,
				      const char *route, const char *class); /* NULL: none */

/* Restore what an earlier process stored. */
struct incident *incident_set_add(struct incident_set *s, const struct incident *i);
struct signal *incident_set_signal(struct incident_set *s, uint64_t node, const char *app,
				   const char *route, const char *class);
void incident_set_attach(struct incident *i, struct signal *g);
