// SPDX-License-Identifier: Apache-2.0
/*
 * correlate.h - the thread that makes incidents of stored rows, in the time of the data.
 *
 * Of several collectors on one database, one does this. The thread has its own connection. While
 * the database is away or refuses, it logs that once and retries; nothing else waits for it.
 */
#pragma once

#include "collector/incident/model/incident.h"
#include "collector/incident/engine/incident_command.h"

struct correlate;

struct correlate_config {
	const char *database;
	struct incident_limits limits;
};

int correlate_start(struct correlate **out, const struct correlate_config *cfg) MUST_CHECK;
/* Queues a command; c->done is called later. -EBUSY: too many are queued, or it is stopping. Any
 * thread may call. */
int correlate_put(struct correlate *c, struct incident_command *cmd) MUST_CHECK;
/* Answers the queued commands. -ETIMEDOUT: the database hangs in a call, and nothing may be
 * freed. */
int correlate_stop(struct correlate *c) MUST_CHECK; /* NULL is fine */
void correlate_free(struct correlate *c); /* after stopping; NULL is fine */
