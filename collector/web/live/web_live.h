// SPDX-License-Identifier: Apache-2.0
/*
 * web_live.h - the thread that follows the request table and publishes new rows to the hub.
 *
 * It queries when notified and twice a second, so that a lost notification costs half a second.
 * It also tracks whether the database answers.
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
bool web_live_is_healthy(struct web_live *l, char why[160]); /* whether the database answers */

/* The rows in (since, upto] as the start of a stream: at most the newest 1000, after the number
 * skipped. */
int web_live_backlog(struct web_db *db, struct web_mark since, struct web_mark upto,
		     struct web_blob **out) MUST_CHECK;
int web_mark_read(const char *id, struct web_mark *out) MUST_CHECK; /* parses an event id */
