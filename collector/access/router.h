// SPDX-License-Identifier: Apache-2.0
/*
 * router.h - the socket that probes connect to, with what keeps libzmq 4.3.4 out of trouble.
 *
 * It speaks CURVE with the key it is given, and hears every connection's key by zap_auth.h. A message
 * is who sent it and one or two frames; anything else is dropped and counted. An answer to a probe
 * that has gone is dropped and counted too.
 */
#pragma once

#include <zmq.h>

#include "lib/base/buf.h"
#include "lib/uplink/keys.h"
#include "collector/ingest/watermarks.h"

struct router;

/* Of a message; the texts are valid as long as its first frame. */
struct sender {
	struct peer peer;
	const char *key; /* 40 characters; NULL: none was told, take nothing */
	const char *address;
};

void *router_context(void); /* for this and zap_auth.h; dies out of memory */
/* The fd is the router's; NULL: errno. -1 for an fd makes its own, for a trial. */
struct router *router_open(void *zmq, int listening_fd, const char *bind,
			   const struct key_pair *own);
void router_close(struct router *r); /* sends what is queued, for a moment; NULL is fine */
void *router_socket(const struct router *r);

/* How many frames: 1 or 2; 0: one was dropped; -EAGAIN: nothing there. The frames are initialized.
 */
int router_recv(struct router *r, struct sender *from, zmq_msg_t frame[static 2]) MUST_CHECK;
void router_look(struct router *r); /* cuts whose message does not end; a few times in a second */
void router_send(struct router *r, struct peer *to, const struct buf *frame);

DEFINE_AUTO(struct router *, router_close)
