// SPDX-License-Identifier: Apache-2.0
/*
 * web_pool.h - the threads that may block on PostgreSQL, each with its own connection.
 *
 * An accepted job runs exactly once, also during shutdown (its queries then fail with
 * -ECANCELED).
 */
#pragma once

#include "collector/web/call/web_db.h"

struct web_pool;

struct web_job {
	struct web_job *next;
	void (*run)(struct web_job *job, struct web_db *db);
};

int web_pool_start(struct web_pool **out, const char *conninfo, int stop_fd) MUST_CHECK;
int web_pool_put(struct web_pool *p,
		 struct web_job *job) MUST_CHECK; /* -EBUSY: too many jobs are queued */
/* Call it after stop_fd is readable: runs the queued jobs and takes no more. */
void web_pool_stop(struct web_pool *p);
void web_pool_free(struct web_pool *p); /* stopped, or NULL */
