// SPDX-License-Identifier: Apache-2.0
/*
 * outbox.h - queues stored batches in the table outbox, for the global collector.
 *
 * Written in the transaction that stores the batches. All of the event stream is queued as it came;
 * of the metric stream only the request counts. Per-minute rollups are added by the compaction
 * (relay_rollup.h). Errors are pg.h's.
 */
#pragma once

#include "collector/pipeline/batch.h"
#include "collector/db/pg.h"

struct outbox;

struct outbox *outbox_new(const char *region); /* the caller owns it */
void outbox_free(struct outbox *o); /* NULL is fine */

int outbox_store(struct outbox *o, struct pg *p, struct batch *const *b, size_t n) MUST_CHECK;

/* Queues bodies that do not come from a stored batch. *seq: the last number in the event stream. */
struct outbox_body {
	bool metric; /* metric stream, else event stream */
	uint64_t wall_ns;
	uint32_t items;
	struct buf body;
};
int outbox_put(struct pg *p, const struct outbox_body *b, size_t n, uint64_t *seq) MUST_CHECK;

DEFINE_AUTO(struct outbox *, outbox_free)
