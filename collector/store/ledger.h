// SPDX-License-Identifier: Apache-2.0
/*
 * ledger.h - the marks in the database, and how they are moved. For the writer's thread.
 *
 * A mark moves only from the value that this ledger knows, in the transaction that stores the
 * batches: if another collector moved it meanwhile, nothing moves (-ESTALE) and it is read again.
 * Errors besides are pg.h's.
 */
#pragma once

#include "collector/pipeline/batch.h"
#include "collector/db/pg.h"

struct ledger;

struct entry {
	uint64_t node, epoch;
	bool known; /* read from the database, and not in doubt since */
	bool stranger; /* the node has no row: it never said HELLO to this database */
	bool tagged;
	bool exists[STREAM_END]; /* has a row */
	uint64_t seq[STREAM_END]; /* in the database */
	uint64_t next[STREAM_END]; /* in the transaction under way */
	uint64_t lost[STREAM_END]; /* by it */
	char name[64]; /* of the node, for what is said */
	bool clock_off; /* tell.h: said so */
	bool gap; /* the writer's: a batch came that was not the next */
	uint64_t noted; /* and in which group it told the loop last */
	size_t bytes; /* of the group's batches, to be told */
};

struct ledger *ledger_new(void);
void ledger_free(struct ledger *l); /* NULL is fine */

struct entry *ledger_entry(struct ledger *l, uint64_t node, uint64_t epoch);
void ledger_doubt(struct ledger *l); /* read everything again before it is used */
void ledger_trim(struct ledger *l); /* between groups: forget all, if they are too many */
int ledger_load(struct ledger *l, struct pg *p, struct entry *const *e, size_t n) MUST_CHECK;

void ledger_begin(struct entry *e); /* a transaction: nothing of it is judged yet */
/* TAKEN, TWICE, GAP or STRANGER: for each batch in turn, in the order of the queue. */
enum fate ledger_judge(struct entry *e, const struct wire_batch_head *h);
int ledger_move(struct pg *p, struct entry *const *e, size_t n) MUST_CHECK; /* to next */
void ledger_moved(struct entry *const *e, size_t n); /* it is committed */

DEFINE_AUTO(struct ledger *, ledger_free)
