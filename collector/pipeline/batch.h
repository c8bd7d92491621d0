// SPDX-License-Identifier: Apache-2.0
/*
 * batch.h - one batch on its way from the wire to the tables.
 *
 * It owns its arena, its bytes and its rows. The loop's thread fills it up to the queue, the
 * writer's from there on; each field says who fills it.
 */
#pragma once

#include <zmq.h>

#include "lib/wire/wire.h"
#include "collector/pipeline/layouts.h"

enum fact {
	FACT_SAMPLE,
	FACT_SAMPLE_RAW,
	FACT_REQUEST,
	FACT_RED,
	FACT_UNREAD,
	FACT_EVENT,
	FACT_EVIDENCE,
	FACT_PROFILE,
	FACT_END
};

enum outcome {
	OUTCOME_OPEN,
	OUTCOME_TAKEN,
	OUTCOME_DONE,
	OUTCOME_QUARANTINED,
	OUTCOME_DUPLICATE,
	OUTCOME_GAP,
	OUTCOME_UNKNOWN_NODE
};

struct rows {
	struct buf bytes; /* for COPY BINARY */
	uint32_t n;
};

struct batch {
	struct arena *arena;
	zmq_msg_t body; /* receive: its bytes */
	struct wire_batch_head head; /* receive */
	const char *relay; /* receive: the region that its sender may relay; "": it is a node */
	struct wire_body items; /* decode; limit may cut it */
	struct wire_batch_head of; /* origin: whose rows these are: head, or what a relay says */
	const struct origin_item *origin; /* origin: NULL if the sender is a node */
	size_t origin_len; /* origin: its bytes, which are the first of the body */
	uint32_t room; /* receive: rows that its node may still have in that second */
	const struct layout **layout; /* enrich: of each sample */
	uint64_t needed[8]; /* enrich: layouts that are not known yet; more are asked for later */
	uint32_t nneeded;
	const char *malformed; /* any stage: why nothing of it can be stored; NULL: it can */

	uint64_t now_ns, from_ns,
		until_ns; /* writer: wall time, and for which there are partitions */
	uint64_t raw_from_ns, raw_until_ns; /* writer: of these, for which there is sample_raw */
	uint64_t tick_ns; /* store: head.wall_ns, or now if there is no partition for it */
	struct rows rows[FACT_END]; /* store */
	uint64_t *entity_id, *key_id; /* store: of each sample, of each red */
	uint64_t *checks_id; /* store: of each request; 0: none */
	size_t *stored_at; /* store: where in the bytes of each request row the commit time goes */
	size_t *event_stored_at; /* store: of each event row */
	uint32_t clamped; /* store: rows whose own time has no partition */
	const char *name; /* commit: of the node that sent it */
	uint64_t gap_from; /* commit: seq of the first batch lost before this one, or its own */
	enum outcome outcome; /* commit */
	bool resent; /* commit: what it holds was stored by another head, whose relay numbered anew
		     */
};

struct batch *batch_new(void);
void batch_free(struct batch *b); /* NULL is fine */
void batch_forget_rows(struct batch *b); /* what store made, so that it can be made anew */

static inline size_t batch_bytes(const struct batch *b)
{
	return zmq_msg_size(&b->body);
}

/* Of its items, those that are limited in a second. */
static inline uint32_t batch_item_rows(const struct batch *b)
{
	uint32_t n = b->items.nrequests + b->items.nevents + b->items.nreds + b->items.nsamples +
		     b->items.nprofiles;

	for (uint32_t i = 0; i < b->items.nplaces; i++)
		n += b->items.places[i].n;
	return n;
}

DEFINE_AUTO(struct batch *, batch_free)
