// SPDX-License-Identifier: Apache-2.0
/*
 * router.h - the ROUTER socket that probes connect to, with workarounds for libzmq 4.3.4.
 *
 * It speaks CURVE with the given key and learns every connection's key from zap_auth.h. A message
 * is its sender and one or two frames; anything else is dropped and counted. An answer to a probe
 * that has gone is dropped and counted too.
 */
#pragma once

#include <zmq.h>

#include "lib/base/buf.h"
#include "lib/uplink/keys.h"
#include "collector/access/peer.h"

struct router;

/* The sender of a message; the texts are valid as long as its first frame. */
struct sender {
	struct peer peer;
	const char *key; /* 40 characters; NULL: unknown, accept nothing */
	const char *address;
};

void *router_context(void); /* for this and zap_auth.h; dies out of memory */
/* Takes listening_fd over; -1 makes a socket of its own, for a self-test. NULL: see errno. */
struct router *router_open(void *zmq, int listening_fd, const char *bind,
			   const struct key_pair *own);
void router_close(struct router *r); /* first tries to send what is queued; NULL is fine */
void *router_socket(const struct router *r);

/* The number of frames, 1 or 2; 0: a message was dropped; -EAGAIN: none waits. frame is
 * initialized. */
int router_recv(struct router *r, struct sender *from, zmq_msg_t frame[static 2]) MUST_CHECK;
void router_look(struct router *r); /* a few times a second: cuts slow peers */
void router_send(struct router *r, struct peer *to, const struct buf *frame);

DEFINE_AUTO(struct router *, router_close)
