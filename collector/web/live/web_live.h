// SPDX-License-Identifier: Apache-2.0
/*
 * web_live.h - the thread that follows the table of requests and tells the hub what is new.
 *
 * It looks when it is notified and twice a second besides, so that a lost notice costs half a
 * second. It is also the one who knows whether the database answers.
 */
#pragma once

#include "lib/base/buf.h"
#include "collector/web/live/web_hub.h"
#include "collector/web/call/web_pool.h"

struct web_live;

int web_live_start(struct web_live **out, struct web_hub *hub, const char *conninfo,
		   int stop_fd) MUST_CHECK;
void web_live_notify(struct web_live *l);
void web_live_stop(struct web_live *l); /* after stop_fd is readable; NULL is fine */
void web_live_free(struct web_live *l); /* stopped, or NULL */
bool web_live_well(struct web_live *l, char why[160]); /* does the database answer? */

/* Rows in (since, upto] as the start of a stream; the newest 1000 at most, and how many were
 * skipped. */
int web_live_backlog(struct web_db *db, struct web_mark since, struct web_mark upto,
		     struct web_blob **out) MUST_CHECK;
int web_mark_read(const char *id, struct web_mark *out) MUST_CHECK; /* of an event's id */
