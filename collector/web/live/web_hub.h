// SPDX-License-Identifier: Apache-2.0
/*
 * web_hub.h - one ring of events, read by every open stream at its own pace.
 *
 * A client is a position in the ring, so memory does not grow with slow clients: one that falls off
 * the tail gets "skipped" with the number. Positions are (stored, number), which is the order of
 * commits. Blobs are counted references; a function that takes one owns it. Any thread may call.
 */
#pragma once

#include <microhttpd.h>

#include "lib/base/base.h"

struct web_hub;
struct web_blob;

struct web_mark {
	uint64_t stored_us, number;
};

/* The newest of each kind is enough for everybody. */
enum web_slot { WEB_SLOT_STATUS, WEB_SLOT_PING, WEB_SLOTS };

struct web_hub_stats {
	uint64_t clients, published, skipped;
};

struct web_blob *web_blob_new(const void *data, size_t len);

struct web_hub *web_hub_new(void);
void web_hub_free(struct web_hub *h); /* NULL is fine; no client is left */
void web_hub_begin(struct web_hub *h,
		   struct web_mark at); /* rows after this one will be published */
void web_hub_publish(struct web_hub *h, struct web_mark at, struct web_blob *b);
void web_hub_set(struct web_hub *h, enum web_slot slot, struct web_blob *b); /* NULL empties it */
void web_hub_wake(struct web_hub *h); /* once, after publishing: clients read on */
void web_hub_close(struct web_hub *h); /* every stream ends, none begins */
struct web_hub_stats web_hub_stats(struct web_hub *h);

/*
 * Where a client that saw `since` (NULL: only what comes) goes on: 0 and *next; -ENODATA if the
 * ring begins later, and then rows in (since, *upto] come before *next; -EAGAIN before
 * web_hub_begin.
 */
int web_hub_find(struct web_hub *h, const struct web_mark *since, uint64_t *next,
		 struct web_mark *upto) MUST_CHECK;
/* The response owns the client. backlog comes first, may be NULL. NULL: closing, or too many. */
struct MHD_Response *web_hub_join(struct web_hub *h, struct MHD_Connection *conn, uint64_t next,
				  struct web_blob *backlog);
