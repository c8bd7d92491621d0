// SPDX-License-Identifier: Apache-2.0
/*
 * watermark_store.h - the marks in the database, and how they are moved. For the writer's thread.
 *
 * A mark moves only from the value that this ledger knows, in the transaction that stores the
 * batches: if another collector moved it meanwhile, nothing moves (-ESTALE) and it is read again.
 * Errors besides are pg.h's.
 */
#pragma once

#include "collector/pipeline/batch.h"
#include "collector/db/pg.h"

struct watermark_store;

struct entry {
	uint64_t node, epoch;
	bool known; /* read from the database, and not in doubt since */
	bool unknown_node; /* the node has no row: it never said HELLO to this database */
	bool tagged;
	bool exists[STREAM_END]; /* has a row */
	uint64_t seq[STREAM_END]; /* in the database */
	uint64_t next[STREAM_END]; /* in the transaction under way */
	uint64_t lost[STREAM_END]; /* by it */
	char name[64]; /* of the node, for what is said */
	bool clock_off; /* writer_log.h: said so */
	bool gap; /* the writer's: a batch came that was not the next */
	uint64_t noted; /* and in which group it told the loop last */
	size_t bytes; /* of the group's batches, to be told */
};

struct watermark_store *watermark_store_new(void);
void watermark_store_free(struct watermark_store *l); /* NULL is fine */

struct entry *watermark_store_entry(struct watermark_store *l, uint64_t node, uint64_t epoch);
void watermark_store_doubt(struct watermark_store *l); /* read everything again before it is used */
void watermark_store_trim(
	struct watermark_store *l); /* between groups: forget all, if they are too many */
int watermark_store_load(struct watermark_store *l, struct pg *p, struct entry *const *e,
			 size_t n) MUST_CHECK;

void watermark_store_begin(struct entry *e); /* a transaction: nothing of it is judged yet */
/* TAKEN, DUPLICATE, GAP or UNKNOWN_NODE: for each batch in turn, in the order of the queue. */
enum outcome watermark_store_judge(struct entry *e, const struct wire_batch_head *h);
int watermark_store_move(struct pg *p, struct entry *const *e, size_t n) MUST_CHECK; /* to next */
void watermark_store_moved(struct entry *const *e, size_t n); /* it is committed */

DEFINE_AUTO(struct watermark_store *, watermark_store_free)
