// SPDX-License-Identifier: Apache-2.0
/*
 * session.h - a database connection that is ready to store: migrated, with partitions made ahead.
 *
 * Call session_ready before each group: it does the upkeep that is due, and costs nothing when none
 * is. It fails with pg.h's errors, and session_why returns the reason as text. Call session_broken
 * after a transaction that failed for another reason than its data.
 */
#pragma once

#include "collector/core/retain.h"
#include "collector/db/pg.h"

struct session;

struct session_config {
	const char *database, *region;
	struct retain keep;
};

struct session *session_new(const struct session_config *cfg); /* the caller owns its strings */
void session_free(struct session *s); /* NULL is fine */

/* A HELLO or a batch of a node with this time came. */
void session_hear(struct session *s, uint64_t node, uint64_t wall_ns, bool hello);
int session_ready(struct session *s) MUST_CHECK;
void session_broken(struct session *s);

struct pg *session_pg(const struct session *s);
uint64_t session_number(const struct session *s); /* changes with each connect */
uint64_t session_region(const struct session *s);
uint64_t session_from_ns(const struct session *s); /* wall; partitions exist from here */
uint64_t session_until_ns(const struct session *s); /* to here (exclusive) */
/* The hours for which sample_raw has partitions, within those days. */
uint64_t session_raw_from_ns(const struct session *s);
uint64_t session_raw_until_ns(const struct session *s);
/* A second range of days, around the time of the nodes, while PostgreSQL's clock is far off; 0:
 * none. */
uint64_t session_other_from_ns(const struct session *s);
uint64_t session_other_until_ns(const struct session *s);
/* The time of arrival: by the clock of this host if it is in a range with partitions, or else by
 * the clock that the newest rows confirm. */
uint64_t session_now_ns(const struct session *s);
uint64_t session_commit_ns(struct session *s, uint64_t wall_ns); /* wall, strictly increasing */
const char *session_why(const struct session *s);

DEFINE_AUTO(struct session *, session_free)
