// SPDX-License-Identifier: Apache-2.0
/* dealer.h - the one kind of ZeroMQ socket a probe has, with every option it needs. */
#pragma once

#include "spool.h"

void *dealer_context(void); /* seeds libzmq's random numbers first; dies out of memory */
int dealer_open(void *zmq, const char *endpoint,
		void **out) MUST_CHECK; /* connecting, not connected */
int dealer_send(void *sock, const struct buf *frame) MUST_CHECK; /* -EAGAIN: not connected */
/* The body is not copied: the message holds the batch until libzmq has done with it. */
int dealer_send_batch(void *sock, const struct buf *head, struct spool_batch *b) MUST_CHECK;
