// SPDX-License-Identifier: Apache-2.0
/*
 * session.h - a database that is ready to store: connected, migrated, with partitions ahead.
 *
 * session_ready is called before each group; it does what is due and is free when nothing is. It
 * fails with pg.h's errors, and session_why says why in words. After a transaction that failed for
 * another reason than its data call session_broken.
 */
#pragma once

#include "collector/core/retain.h"
#include "collector/db/pg.h"

struct session;

struct session_config {
	const char *database, *region;
	struct retain keep;
};

struct session *session_new(const struct session_config *cfg); /* its strings stay the caller's */
void session_free(struct session *s); /* NULL is fine */

int session_ready(struct session *s) MUST_CHECK;
void session_broken(struct session *s);

struct pg *session_pg(const struct session *s);
uint64_t session_number(const struct session *s); /* another one after each connect */
uint64_t session_region(const struct session *s);
uint64_t session_from_ns(const struct session *s); /* wall: from here on there are partitions */
uint64_t session_until_ns(const struct session *s); /* up to here */
/* And within that, what is expected of samples: for these hours there is sample_raw. */
uint64_t session_raw_from_ns(const struct session *s);
uint64_t session_raw_until_ns(const struct session *s);
uint64_t session_commit_ns(struct session *s, uint64_t wall_ns); /* wall, but always rising */
const char *session_why(const struct session *s);

DEFINE_AUTO(struct session *, session_free)
