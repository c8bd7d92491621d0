// SPDX-License-Identifier: Apache-2.0
/*
 * outbox.h - what of stored batches the global collector is to have, in the table outbox.
 *
 * Written in the transaction that stores them: all of the stream of events as it came, of that of
 * metrics the counts of requests. Errors are pg.h's. Who packs puts there what was told by the
 * minute (relay_rollup.h).
 */
#pragma once

#include "collector/pipeline/batch.h"
#include "collector/db/pg.h"

struct outbox;

struct outbox *outbox_new(const char *region); /* stays the caller's */
void outbox_free(struct outbox *o); /* NULL is fine */

int outbox_store(struct outbox *o, struct pg *p, struct batch *const *b, size_t n) MUST_CHECK;

/* Bodies that are not of a stored batch; *seq: of the last one in the stream of events. */
struct outbox_body {
	bool metric; /* into the stream of metrics, else of events */
	uint64_t wall_ns;
	uint32_t items;
	struct buf body;
};
int outbox_put(struct pg *p, const struct outbox_body *b, size_t n, uint64_t *seq) MUST_CHECK;

DEFINE_AUTO(struct outbox *, outbox_free)
