// SPDX-License-Identifier: Apache-2.0
/*
 * web.h - the console and its API, with own threads and own read-only database connections.
 *
 * Call web_listen (web_listen.h) first, as it may need privileges, drop them, then call web_start.
 * A database that is away or slow blocks nothing: requests are answered with 503 and streams stay
 * open. web_start returns 0 or -errno; web_stop accepts NULL.
 */
#pragma once

#include "collector/incident/engine/incident_command.h"

struct web;

struct web_config {
	const char *listen; /* host:port, loopback only, or unix:/path */
	int fd; /* from web_listen; 0: web_start listens itself */
	const char *database; /* conninfo of a role that may only select from the views */
	const char *version;
	unsigned keep_days; /* retention, shown for aged-out requests; 0: not known */
	/* Queues a command of the operator, or returns -EBUSY; NULL: no commands. */
	int (*on_command)(void *commands, struct incident_command *c);
	void *commands;
	unsigned mode; /* of a Unix socket that web_start makes */
	bool read_only; /* refuses commands with a sentence */
};

int web_start(struct web **out, const struct web_config *cfg) MUST_CHECK;
/* Any thread, after each COMMIT that stored requests; NULL is fine. */
void web_notify(struct web *w);
void web_stop(struct web *w);
