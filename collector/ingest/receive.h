// SPDX-License-Identifier: Apache-2.0
/*
 * receive.h - what probes say, and what they are answered. Runs in the loop's thread.
 *
 * A batch goes through the front line into the link; its ACK goes out when the writer's note says
 * that it is stored.
 */
#pragma once

#include "collector/access/authorize.h"
#include "collector/pipeline/pipeline.h"
#include "collector/pipeline/writer_queue.h"

struct receive;

struct receive_config {
	struct router *router;
	struct key_registry *roster;
	const struct own_keys *own;
	uint32_t rows_per_s; /* of a node */
	struct writer_queue *link;
	struct layouts *layouts;
	struct pipeline *front;
};

struct receive *receive_new(const struct receive_config *cfg); /* all of it stays the caller's */
void receive_free(struct receive *r); /* NULL is fine */

/* loop_fn: the router has messages, the link has notes, the roster answers, every RECEIVE_TICK_MS
 */
enum { RECEIVE_TICK_MS = 100 };
int receive_messages(void *receive);
int receive_notes(void *receive);
int receive_answers(void *receive);
int receive_tick(void *receive);

DEFINE_AUTO(struct receive *, receive_free)
