// SPDX-License-Identifier: Apache-2.0
/*
 * web.h - the console and its API: own threads, own read-only database connections.
 *
 * Listen first (it may need privileges), drop them, then start. A database that is away or slow
 * stalls no one: requests are answered 503 and streams go on. Start answers 0 or -errno; stop takes
 * NULL.
 */
#pragma once

#include "collector/incident/engine/incident_command.h"

struct web;

struct web_config {
	const char *listen; /* host:port, loopback only */
	int fd; /* from web_listen; 0: web_start listens itself */
	const char *database; /* conninfo of the role that may only select from the views */
	const char *version;
	unsigned
		keep_days; /* retention: what a page about an aged-out request says; 0: not known */
	/* Takes what a person decides, or -EBUSY; NULL: nobody does. */
	int (*on_command)(void *commands, struct incident_command *c);
	void *commands;
};

int web_listen(const char *listen); /* fd, or -errno after one sentence in the log */
int web_start(struct web **out, const struct web_config *cfg) MUST_CHECK;
void web_notify(
	struct web *w); /* any thread, after each COMMIT that stored requests; NULL is fine */
void web_stop(struct web *w);
