// SPDX-License-Identifier: Apache-2.0
/* store.h - shared by the parts of the stage "store". Each part makes the rows of one kind
 * of item. */
#pragma once

#include "collector/pipeline/batch.h"

/* Offset of the commit time in a row: the field count, three bigints, and the field's length. */
enum { STORED_AT = 2 + 3 * (4 + 8) + 4 };

static inline bool store_has_day(const struct batch *b, uint64_t wall_ns)
{
	return (wall_ns >= b->from_ns && wall_ns < b->until_ns) ||
	       (wall_ns >= b->other_from_ns && wall_ns < b->other_until_ns);
}

void store_profile(struct batch *b, uint32_t i); /* store_profile.c */
void store_samples(struct batch *b); /* store_sample.c */
/* json is scratch memory. */
void store_request(struct batch *b, uint32_t i, struct buf *json); /* store_request.c */
void store_event(struct batch *b, uint32_t i, struct buf *json); /* store_event.c */

struct store_owner { /* the request or event that evidence belongs to */
	uint64_t id, start_ns, row_ns; /* row_ns: time of its row, which may differ from start_ns */
};

/* of: "event" or "", the kind that `place` numbers within the batch. */
uint64_t store_id(const struct wire_batch_head *h, const char *of, uint32_t place);
void store_params(struct buf *json, const struct param *p, uint32_t n);
void store_evidence(struct batch *b, const struct store_owner *o, const struct evidence_item *e,
		    uint32_t n);
