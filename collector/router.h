// SPDX-License-Identifier: Apache-2.0
/*
 * router.h - the socket that probes connect to, with what keeps libzmq 4.3.4 out of trouble.
 *
 * A message is who sent it and one or two frames; anything else is dropped and counted. An answer
 * to a probe that has gone is dropped and counted too.
 */
#pragma once

#include <zmq.h>

#include "../lib/buf.h"
#include "marks.h"

struct router;

struct router *router_open(int listening_fd,
			   const char *bind); /* the fd is the router's; NULL: errno */
void router_close(struct router *r); /* sends what is queued, for a moment; NULL is fine */
void *router_socket(const struct router *r);

/* How many frames: 1 or 2; 0: one was dropped; -EAGAIN: nothing there. The frames are initialized.
 */
int router_recv(struct router *r, struct peer *from, zmq_msg_t frame[static 2]) MUST_CHECK;
void router_send(struct router *r, struct peer *to, const struct buf *frame);

DEFINE_AUTO(struct router *, router_close)
