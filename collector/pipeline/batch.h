// SPDX-License-Identifier: Apache-2.0
/*
 * batch.h - one batch on its way from the wire to the tables.
 *
 * A batch owns its arena, its bytes and its rows. The loop's thread fills it until it is queued,
 * the writer's thread after that. The comment of each field names the step that sets it.
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
	zmq_msg_t body; /* receive: the encoded bytes */
	struct wire_batch_head head; /* receive */
	const char *relay; /* receive: the region that the sender may relay; "": it is a node */
	struct wire_body items; /* decode; limit may cut it */
	struct wire_batch_head of; /* origin: the head of the node that made the rows */
	const struct origin_item *origin; /* origin: NULL if the sender is a node */
	size_t origin_len; /* origin: bytes of the origin item, which come first in the body */
	uint32_t room; /* receive: rows that the node may still send for that second */
	const struct layout **layout; /* enrich: of each sample */
	uint64_t needed[8]; /* enrich: unknown layouts; any others are requested later */
	uint32_t nneeded;
	const char *malformed; /* any stage: why the batch can never be stored, or NULL */

	uint64_t now_ns, from_ns, until_ns; /* writer: wall time; the range with partitions */
	uint64_t other_from_ns, other_until_ns; /* writer: a second range; 0: none */
	uint64_t raw_from_ns, raw_until_ns; /* writer: the part of it with sample_raw partitions */
	uint64_t tick_ns; /* store: head.wall_ns, or now if there is no partition for it */
	struct rows rows[FACT_END]; /* store */
	uint64_t *entity_id, *key_id; /* store: of each sample, of each red */
	uint64_t *checks_id; /* store: of each request; 0: none */
	size_t *stored_at; /* store: offset of the commit time in each request row */
	size_t *event_stored_at; /* store: the same for each event row */
	uint32_t clamped; /* store: rows whose own time has no partition */
	const char *name; /* commit: of the node that sent the batch */
	uint64_t gap_from; /* commit: seq of the first batch lost before this one, or its own */
	enum outcome outcome; /* commit */
	bool resent; /* commit: already stored under another head, before the relay renumbered */
};

struct batch *batch_new(void);
void batch_free(struct batch *b); /* NULL is fine */
void batch_forget_rows(struct batch *b); /* drops the rows that store made, before a retry */

static inline size_t batch_bytes(const struct batch *b)
{
	return zmq_msg_size(&b->body);
}

/* The number of items that count against the limit per second. */
static inline uint32_t batch_item_rows(const struct batch *b)
{
	uint32_t n = b->items.nrequests + b->items.nevents + b->items.nreds + b->items.nsamples +
		     b->items.nprofiles;

	for (uint32_t i = 0; i < b->items.nplaces; i++)
		n += b->items.places[i].n;
	return n;
}

DEFINE_AUTO(struct batch *, batch_free)
