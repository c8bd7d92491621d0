// SPDX-License-Identifier: Apache-2.0
/*
 * watermarks.h - the loop's view of every epoch: what is queued, what is stored, what is to be answered.
 *
 * Pure: no sockets, no database; times are handed in (mono ns, but what
 * an ACK says of its batch). Only the batch after the last
 * queued one is taken. A NACK carries what is stored, never what is only queued: a probe may forget
 * what a mark covers.
 */
#pragma once

#include "collector/access/peer.h"
#include "lib/wire/wire.h"

struct watermarks;

enum {
	MARKS_MAX = 100000,
	MARKS_OF_NODE = 1000, /* no node takes the room of others, */
	MARKS_AT_ONCE = 8, /* or, between two sweeps, their database */
};

enum mark_state {
	MARK_NEW, /* nobody has asked the database yet */
	MARK_LOADING,
	MARK_KNOWN,
	MARK_UNKNOWN_NODE, /* the database has no such node: it must say HELLO */
};

struct mark {
	uint64_t node, epoch;
	enum mark_state state;
	bool tagged, due;
	uint8_t ack, nack; /* streams to be answered, by bit */
	uint64_t queued[STREAM_END], stored[STREAM_END];
	size_t bytes; /* of what is queued and not stored, at least */
	uint64_t second[STREAM_END]; /* of the last tick, since 1970 */
	uint32_t rows[STREAM_END]; /* that were queued of it */
	uint64_t sent_ns[STREAM_END],
		came_ns[STREAM_END]; /* of the last queued: by its clock, ours */
	uint64_t nack_mark[STREAM_END], nack_ns[STREAM_END]; /* the last one sent */
	uint64_t heard_ns, keys_ns; /* keys_ns: when it was last told about keys */
	struct peer peer; /* who spoke for it last */
	struct mark *next_due;
};

enum mark_verdict { MARK_NEXT, MARK_DUPLICATE, MARK_GAP, MARK_UNSYNCED };

struct watermarks *watermarks_new(void);
void watermarks_free(struct watermarks *m); /* NULL is fine */

struct mark *watermarks_find(const struct watermarks *m, uint64_t node, uint64_t epoch);
struct mark *watermarks_get(struct watermarks *m, uint64_t node, uint64_t epoch); /* NULL: no room */

enum mark_verdict watermarks_judge(struct watermarks *m, struct mark *k, const struct wire_batch_head *h);
void watermarks_queued(struct mark *k, const struct wire_batch_head *h, uint64_t wall_ns);
uint32_t watermarks_room(const struct mark *k, const struct wire_batch_head *h, uint32_t per_s);
void watermarks_rows(struct mark *k, const struct wire_batch_head *h, uint32_t rows);
void watermarks_refused(struct watermarks *m, struct mark *k, uint8_t stream); /* ask for it again later */

bool watermarks_idle(const struct mark *k); /* all that was queued is stored */
void watermarks_stored(struct watermarks *m, struct mark *k, const uint64_t seq[static STREAM_END]);
void watermarks_load(struct watermarks *m, struct mark *k,
		const uint64_t seq[static STREAM_END]); /* no less */

/* The next epoch with something to answer, NULL for none; again: those put off come back. */
struct mark *watermarks_next_due(struct watermarks *m);
bool watermarks_take_ack(struct mark *k, uint8_t stream);
bool watermarks_take_nack(struct mark *k, uint8_t stream, uint64_t now_ns); /* false: none, or not yet */

void watermarks_sweep(struct watermarks *m, uint64_t now_ns); /* from time to time: forget, count, put due */

DEFINE_AUTO(struct watermarks *, watermarks_free)
