// SPDX-License-Identifier: Apache-2.0
/*
 * receive.h - handles the messages of probes and sends the answers. Runs in the loop's thread.
 *
 * A batch passes the front pipeline into the writer's queue. Its ACK is sent when the writer
 * reports that the batch is stored.
 */
#pragma once

#include "collector/access/authorize.h"
#include "collector/pipeline/pipeline.h"
#include "collector/pipeline/writer_queue.h"

struct receive;

struct receive_config {
	struct router *router;
	struct key_registry *registry;
	const struct own_keys *own;
	uint32_t rows_per_s; /* limit of one node */
	struct writer_queue *link;
	struct layouts *layouts;
	struct pipeline *front;
};

struct receive *receive_new(const struct receive_config *cfg); /* borrows what cfg points to */
void receive_free(struct receive *r); /* NULL is fine */

/* Callbacks of the loop: the router has messages, the writer's queue has notes, the key registry
 * has answers, RECEIVE_TICK_MS have passed. */
enum { RECEIVE_TICK_MS = 100 };
int receive_messages(void *receive);
int receive_notes(void *receive);
int receive_answers(void *receive);
int receive_tick(void *receive);

DEFINE_AUTO(struct receive *, receive_free)
