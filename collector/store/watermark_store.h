// SPDX-License-Identifier: Apache-2.0
/*
 * watermark_store.h - the watermarks in the database, and their updates. For the writer's thread.
 *
 * A watermark moves only from the value cached here, in the transaction that stores the batches. If
 * another collector moved it meanwhile, nothing moves (-ESTALE) and it is read again. Other errors
 * are pg.h's.
 */
#pragma once

#include "collector/pipeline/batch.h"
#include "collector/db/pg.h"

struct watermark_store;

struct entry {
	uint64_t node, epoch;
	bool known; /* read from the database, and not invalidated since */
	bool unknown_node; /* the node has no row: it never sent a HELLO to this database */
	bool tagged;
	bool exists[STREAM_END]; /* has a row */
	uint64_t seq[STREAM_END]; /* in the database */
	uint64_t next[STREAM_END]; /* in the current transaction */
	uint64_t lost[STREAM_END]; /* batches lost, in the current transaction */
	char name[64]; /* of the node, for log lines */
	bool clock_off; /* writer_log.h: a warning was logged */
	bool gap; /* writer: a batch was not the next one */
	uint64_t noted; /* writer: the last group in which a note was sent */
	size_t bytes; /* of the group's batches, for the next note */
};

struct watermark_store *watermark_store_new(void);
void watermark_store_free(struct watermark_store *l); /* NULL is fine */

struct entry *watermark_store_entry(struct watermark_store *l, uint64_t node, uint64_t epoch);
void watermark_store_invalidate(struct watermark_store *l); /* read every entry again before use */
/* Between groups: drops all entries if there are too many. */
void watermark_store_trim(struct watermark_store *l);
int watermark_store_load(struct watermark_store *l, struct pg *p, struct entry *const *e,
			 size_t n) MUST_CHECK;

void watermark_store_begin(struct entry *e); /* starts a transaction: no batch judged yet */
/* TAKEN, DUPLICATE, GAP or UNKNOWN_NODE. Call it for each batch in queue order. */
enum outcome watermark_store_judge(struct entry *e, const struct wire_batch_head *h);
/* Moves the rows from seq to next; after the commit call watermark_store_moved. */
int watermark_store_move(struct pg *p, struct entry *const *e, size_t n) MUST_CHECK;
void watermark_store_moved(struct entry *const *e, size_t n);

DEFINE_AUTO(struct watermark_store *, watermark_store_free)
