// SPDX-License-Identifier: Apache-2.0
/*
 * red_merge.h - rows of red to one row of a minute or ten: of each key and status class the sums.
 *
 * Rows come in the order of node, key and class, as many at a time as the caller likes. What is
 * done is in rows, a COPY without its end, which the caller takes. It owns it all: zeroed, then
 * begun for each slot, and freed at last.
 */
#pragma once

#include "collector/db/copy.h"
#include "collector/db/pg.h"

enum { RED_SLOTS = 63 }; /* of durations: a later one cannot be told from an error */

struct red_merge {
	uint64_t slot_ns; /* when it began */
	bool open; /* there is one that is not among the rows */
	uint64_t node, key;
	int16_t status_class;
	int64_t n, sum_us, counts[RED_SLOTS];
	struct buf rows;
	uint32_t nread, nrows; /* since the last red_merge_take */
};

void red_merge_begin(struct red_merge *m, uint64_t slot_ns);
/* A pg_row of node_id, key_id, status_class, n, sum_us, lo, b. -EBADMSG: it is none. */
int red_merge_row(void *m, const PGresult *row) MUST_CHECK;
void red_merge_end(struct red_merge *m); /* the last one is done, too */
void red_merge_taken(struct red_merge *m); /* rows are empty again */
void red_merge_free(struct red_merge *m);
