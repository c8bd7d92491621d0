// SPDX-License-Identifier: Apache-2.0
/*
 * red_merge.h - adds up rows of red: one row per key and status class of a minute or ten minutes.
 *
 * The input comes in the order of node, key and class, any number of rows at a time. Finished rows
 * collect in rows, a COPY without its end, which the caller sends. Start with a zeroed struct, call
 * red_merge_begin for each slot, and free it at last; it owns all its memory.
 */
#pragma once

#include "collector/db/copy.h"
#include "collector/db/pg.h"

enum { RED_SLOTS = 63 }; /* of durations; a higher slot can only be an error */

struct red_merge {
	uint64_t slot_ns; /* when it began */
	bool open; /* the current row is not among rows yet */
	uint64_t node, key;
	int16_t status_class;
	int64_t n, sum_us, counts[RED_SLOTS];
	struct buf rows;
	uint32_t nread, nrows; /* since the last red_merge_taken */
	uint64_t nbad, bad_node, bad_key; /* nbad: rows of this slot with malformed durations */
};

void red_merge_begin(struct red_merge *m, uint64_t slot_ns);
/* A pg_row of node_id, key_id, status_class, n, sum_us, lo, b. Malformed durations are left out and
 * counted in nbad. -EBADMSG: another column is malformed. */
int red_merge_row(void *m, const PGresult *row) MUST_CHECK;
void red_merge_end(struct red_merge *m); /* finishes the last row */
void red_merge_taken(struct red_merge *m); /* empties rows */
void red_merge_free(struct red_merge *m);
