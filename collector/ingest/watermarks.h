// SPDX-License-Identifier: Apache-2.0
/*
 * watermarks.h - per node and epoch: the last batch queued, the last batch stored (the high-water
 * mark), and the ACKs and NACKs that are due.
 *
 * No sockets and no database. The caller passes all times, in monotonic ns; the times in an ACK are
 * wall time. The batch that follows the last queued one is accepted, and so is a later one whose
 * seq equals its base_seq: the probe has dropped those between. A NACK carries the stored mark and
 * never the queued one, because the probe deletes everything up to the mark it receives.
 */
#pragma once

#include "collector/access/peer.h"
#include "lib/wire/wire.h"

struct watermarks;

enum {
	MARKS_MAX = 100000,
	MARKS_OF_NODE = 1000, /* epochs of one node */
	MARKS_AT_ONCE = 8, /* new epochs of one node between two sweeps: each costs a query */
};

enum mark_state {
	MARK_NEW, /* not looked up in the database yet */
	MARK_LOADING,
	MARK_KNOWN,
	MARK_UNKNOWN_NODE, /* the database has no such node: it must send HELLO */
};

struct mark {
	uint64_t node, epoch;
	enum mark_state state;
	bool tagged, due;
	uint8_t ack, nack; /* streams that wait for an answer, by bit */
	uint64_t queued[STREAM_END], stored[STREAM_END];
	size_t bytes; /* upper bound of the bytes queued but not stored */
	uint64_t second[STREAM_END]; /* Unix second of the latest rows */
	uint32_t rows[STREAM_END]; /* queued in that second */
	uint64_t sent_ns[STREAM_END]; /* when the last queued batch was sent (node's clock) */
	uint64_t came_ns[STREAM_END]; /* when it arrived (our clock) */
	uint64_t nack_mark[STREAM_END], nack_ns[STREAM_END]; /* the last NACK sent */
	uint64_t heard_ns, keys_ns; /* last message; last news about keys sent */
	struct peer peer; /* connection of the last message */
	struct mark *next_due;
};

enum mark_verdict { MARK_NEXT, MARK_DUPLICATE, MARK_GAP, MARK_UNSYNCED };

struct watermarks *watermarks_new(void);
void watermarks_free(struct watermarks *m); /* NULL is fine */

struct mark *watermarks_find(const struct watermarks *m, uint64_t node, uint64_t epoch);
struct mark *watermarks_get(struct watermarks *m, uint64_t node,
			    uint64_t epoch); /* NULL: no room */

enum mark_verdict watermarks_judge(struct watermarks *m, struct mark *k,
				   const struct wire_batch_head *h);
void watermarks_queued(struct mark *k, const struct wire_batch_head *h, uint64_t wall_ns);
uint32_t watermarks_room(const struct mark *k, const struct wire_batch_head *h, uint32_t per_s);
void watermarks_rows(struct mark *k, const struct wire_batch_head *h, uint32_t rows);
void watermarks_refused(struct watermarks *m, struct mark *k, uint8_t stream); /* a NACK is due */

bool watermarks_idle(const struct mark *k); /* all that was queued is stored */
void watermarks_stored(struct watermarks *m, struct mark *k, const uint64_t seq[static STREAM_END]);
void watermarks_load(struct watermarks *m, struct mark *k,
		     const uint64_t seq[static STREAM_END]); /* from the database */

/*
 * The next epoch with an ACK or NACK due, or NULL. An epoch whose NACK was deferred is queued again
 * by watermarks_sweep.
 */
struct mark *watermarks_next_due(struct watermarks *m);
bool watermarks_take_ack(struct mark *k, uint8_t stream);
bool watermarks_take_nack(struct mark *k, uint8_t stream,
			  uint64_t now_ns); /* false: none due, or too soon */

void watermarks_sweep(struct watermarks *m,
		      uint64_t now_ns); /* every tick: drops idle epochs, updates counters */

DEFINE_AUTO(struct watermarks *, watermarks_free)
