// SPDX-License-Identifier: Apache-2.0
/*
 * writer_queue.h - the bounded queues between the loop and the writer: work down, notes up.
 *
 * Neither side blocks. If the work queue is full, writer_queue_send returns -EAGAIN and the caller
 * keeps the work. If the note queue is full, the note is dropped and counted; the probe asks again.
 * After closing, queued work can still be taken; then writer_queue_take returns -EPIPE.
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
	uint64_t wall_ns; /* WORK_HELLO, by the node's clock */
};

enum note_kind {
	NOTE_STORED, /* these watermarks are in the database */
	NOTE_LOADED, /* the same, and no batch after them is queued any more */
	NOTE_UNKNOWN_NODE, /* the database has no such node */
};

struct note {
	enum note_kind kind;
	bool hello; /* answers a HELLO */
	bool tagged;
	uint64_t node, epoch;
	uint64_t seq[STREAM_END];
	size_t bytes; /* of the finished batches */
};

struct writer_queue *writer_queue_new(void);
void writer_queue_free(struct writer_queue *l); /* with its content; NULL is fine */

struct work *work_new(enum work_kind kind, uint64_t node, uint64_t epoch);
void work_free(struct work *w); /* NULL is fine */

bool writer_queue_room(const struct writer_queue *l); /* there is room for a batch */
int writer_queue_send(struct writer_queue *l, struct work *w) MUST_CHECK;
int writer_queue_take(struct writer_queue *l, uint64_t timeout_ms, struct work **out) MUST_CHECK;
void writer_queue_done(const struct work *w); /* the writer is done with its batch */

void writer_queue_note(struct writer_queue *l, const struct note *n);
int writer_queue_note_fd(const struct writer_queue *l); /* readable: there are notes */
void writer_queue_clear_signal(struct writer_queue *l); /* call it before taking all notes */
bool writer_queue_take_note(struct writer_queue *l, struct note *out);

void writer_queue_close(struct writer_queue *l); /* no more work; wakes writer_queue_wait */
bool writer_queue_closed(const struct writer_queue *l);
void writer_queue_wait(struct writer_queue *l, int ms); /* or until closed */

DEFINE_AUTO(struct writer_queue *, writer_queue_free)
