// SPDX-License-Identifier: Apache-2.0
/* dealer.h - the probe's only kind of ZeroMQ socket, with all its options. */
#pragma once

#include "lib/uplink/handshake.h"
#include "lib/uplink/keys.h"
#include "lib/spool/spool.h"

/* watch reports failed connection attempts (handshake.h). */
struct dealer {
	void *sock, *watch;
};

void *dealer_context(void); /* seeds libzmq's random numbers first; dies out of memory */
/* Starts to connect; does not wait for the connection. */
int dealer_open(void *zmq, const char *endpoint, const struct key_pair *own,
		const char *collector_key, struct dealer *out) MUST_CHECK;
void dealer_close(struct dealer *d); /* drops what the socket had queued */
int dealer_send(void *sock, const struct buf *frame) MUST_CHECK; /* -EAGAIN: not connected */
/* Does not copy the body: the message holds the batch until libzmq releases it. */
int dealer_send_batch(void *sock, const struct buf *head, struct spool_batch *b) MUST_CHECK;
