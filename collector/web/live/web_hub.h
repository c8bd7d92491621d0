// SPDX-License-Identifier: Apache-2.0
/*
 * web_hub.h - one ring of events, read by each open stream at its own pace.
 *
 * A client is a position in the ring, so memory does not grow with slow clients: a client that
 * falls off the tail gets a "skipped" event with the count. Positions are (stored, number), the
 * order of commits. Blobs are reference-counted; a function that takes a blob owns it. Any
 * thread may call.
 */
#pragma once

#include <microhttpd.h>

#include "lib/base/base.h"

struct web_hub;
struct web_blob;

struct web_mark {
	uint64_t stored_us, number;
};

/* Events of which only the newest counts. */
enum web_slot { WEB_SLOT_STATUS, WEB_SLOT_PING, WEB_SLOTS };

struct web_hub_stats {
	uint64_t clients, published, skipped;
};

struct web_blob *web_blob_new(const void *data, size_t len);

struct web_hub *web_hub_new(void);
void web_hub_free(struct web_hub *h); /* NULL is fine; all clients must be gone */
/* The rows after `at` will be published. */
void web_hub_begin(struct web_hub *h, struct web_mark at);
void web_hub_publish(struct web_hub *h, struct web_mark at, struct web_blob *b);
void web_hub_set(struct web_hub *h, enum web_slot slot, struct web_blob *b); /* NULL empties it */
void web_hub_wake(struct web_hub *h); /* once after publishing: resumes the clients */
void web_hub_close(struct web_hub *h); /* ends every stream and refuses new ones */
struct web_hub_stats web_hub_stats(struct web_hub *h);

/*
 * Finds where a client resumes that has seen `since` (NULL: new events only). 0: at *next.
 * -ENODATA: `since` is older than the ring; rows in (since, *upto] must be sent before *next.
 * -EAGAIN: before web_hub_begin.
 */
int web_hub_find(struct web_hub *h, const struct web_mark *since, uint64_t *next,
		 struct web_mark *upto) MUST_CHECK;
/* The response owns the client. backlog is sent first and may be NULL. Returns NULL while
 * closing or with too many clients. */
struct MHD_Response *web_hub_join(struct web_hub *h, struct MHD_Connection *conn, uint64_t next,
				  struct web_blob *backlog);
