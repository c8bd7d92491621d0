// SPDX-License-Identifier: Apache-2.0
/*
 * writer_queue.h - the two ways between the loop and the writer: work down, notes up. Both are bounded.
 *
 * Nobody waits for the other: work that finds no room stays the caller's (-EAGAIN), a note that
 * finds none is dropped and counted (the probe asks again). Once closed, what is queued is still
 * taken, then -EPIPE.
 */
#pragma once

#include "collector/pipeline/batch.h"

struct writer_queue;

enum work_kind { WORK_BATCH, WORK_HELLO, WORK_LOAD };

enum { WORK_TEXT = 4 * ITEM_MAX_NAME + 1 };

struct work {
	enum work_kind kind;
	uint64_t node, epoch;
	struct batch *batch; /* WORK_BATCH; owned */
	char name[WORK_TEXT], machine[WORK_TEXT], version[WORK_TEXT]; /* WORK_HELLO */
	uint64_t wall_ns; /* the same, by the node's clock */
};

enum note_kind {
	NOTE_STORED, /* these marks are in the database */
	NOTE_LOADED, /* the same, and what was queued beyond is not on its way any more */
	NOTE_UNKNOWN_NODE, /* no such node in the database */
};

struct note {
	enum note_kind kind;
	bool hello; /* answers a HELLO */
	bool tagged;
	uint64_t node, epoch;
	uint64_t seq[STREAM_END];
	size_t bytes; /* of the batches that are done with */
};

struct writer_queue *writer_queue_new(void);
void writer_queue_free(struct writer_queue *l); /* and what is still in it; NULL is fine */

struct work *work_new(enum work_kind kind, uint64_t node, uint64_t epoch);
void work_free(struct work *w); /* NULL is fine */

bool writer_queue_room(const struct writer_queue *l); /* for a batch */
int writer_queue_send(struct writer_queue *l, struct work *w) MUST_CHECK;
int writer_queue_take(struct writer_queue *l, uint64_t timeout_ms, struct work **out) MUST_CHECK;
void writer_queue_done(const struct work *w); /* its batch is no longer on its way */

void writer_queue_note(struct writer_queue *l, const struct note *n);
int writer_queue_note_fd(const struct writer_queue *l); /* readable: there are notes */
void writer_queue_hear(struct writer_queue *l); /* before taking all of them */
bool writer_queue_take_note(struct writer_queue *l, struct note *out);

void writer_queue_close(struct writer_queue *l); /* no more work; wakes writer_queue_wait */
bool writer_queue_closed(const struct writer_queue *l);
void writer_queue_wait(struct writer_queue *l, int ms); /* or until closed */

DEFINE_AUTO(struct writer_queue *, writer_queue_free)
