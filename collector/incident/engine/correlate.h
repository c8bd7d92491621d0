// SPDX-License-Identifier: Apache-2.0
/*
 * correlate.h - the thread that makes incidents of what is stored, by the time of the data.
 *
 * Of several collectors on one database one does. It has a connection of its own; while the
 * database is away, or refuses, that is said once and tried again, and nothing else waits for it.
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
/* -EBUSY: too many wait, or it is stopping; else c->done comes. Any thread may call. */
int correlate_put(struct correlate *c, struct incident_command *cmd) MUST_CHECK;
/* What waits is answered; -ETIMEDOUT: the database hangs in a call, and nothing may be freed. */
int correlate_stop(struct correlate *c) MUST_CHECK; /* NULL is fine */
void correlate_free(struct correlate *c); /* after stopping; NULL is fine */
