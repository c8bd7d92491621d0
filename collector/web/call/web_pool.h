// SPDX-License-Identifier: Apache-2.0
/*
 * web_pool.h - the few threads that may wait for PostgreSQL, each with its own connection.
 *
 * A job that was accepted is run once, also while stopping (its queries then fail with -ECANCELED).
 */
#pragma once

#include "collector/web/call/web_db.h"

struct web_pool;

struct web_job {
	struct web_job *next;
	void (*run)(struct web_job *job, struct web_db *db);
};

int web_pool_start(struct web_pool **out, const char *conninfo, int stop_fd) MUST_CHECK;
int web_pool_put(struct web_pool *p, struct web_job *job) MUST_CHECK; /* -EBUSY: too many wait */
void web_pool_stop(
	struct web_pool *p); /* after stop_fd is readable; runs what waits, then takes no more */
void web_pool_free(struct web_pool *p); /* stopped, or NULL */
