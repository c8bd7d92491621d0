// SPDX-License-Identifier: Apache-2.0
/*
 * link.h - the two ways between the loop and the writer: work down, notes up. Both are bounded.
 *
 * Nobody waits for the other: work that finds no room stays the caller's (-EAGAIN), a note that
 * finds none is dropped and counted (the probe asks again). Once closed, what is queued is still
 * taken, then -EPIPE.
 */
#pragma once

#include "collector/pipeline/batch.h"

struct link;

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
	NOTE_STRANGER, /* no such node in the database */
};

struct note {
	enum note_kind kind;
	bool hello; /* answers a HELLO */
	bool tagged;
	uint64_t node, epoch;
	uint64_t seq[STREAM_END];
	size_t bytes; /* of the batches that are done with */
};

struct link *link_new(void);
void link_free(struct link *l); /* and what is still in it; NULL is fine */

struct work *work_new(enum work_kind kind, uint64_t node, uint64_t epoch);
void work_free(struct work *w); /* NULL is fine */

bool link_room(const struct link *l); /* for a batch */
int link_send(struct link *l, struct work *w) MUST_CHECK;
int link_take(struct link *l, uint64_t timeout_ms, struct work **out) MUST_CHECK;
void link_done(const struct work *w); /* its batch is no longer on its way */

void link_note(struct link *l, const struct note *n);
int link_note_fd(const struct link *l); /* readable: there are notes */
void link_hear(struct link *l); /* before taking all of them */
bool link_take_note(struct link *l, struct note *out);

void link_close(struct link *l); /* no more work; wakes link_wait */
bool link_closed(const struct link *l);
void link_wait(struct link *l, int ms); /* or until closed */

DEFINE_AUTO(struct link *, link_free)
