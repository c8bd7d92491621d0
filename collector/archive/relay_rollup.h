// SPDX-License-Identifier: Apache-2.0
/*
 * relay_rollup.h - what nodes told, by the minute, on its way into the outbox: added as it is
 * packed, and put there in the transaction that packs.
 *
 * A part of an hour has a number, by which it is in the place of what was told under that number:
 * hours that are over count from 0, what is told before that from ROLLUP_EARLY on, which the first
 * of the hour that is over ends. One that is too large for a frame is several.
 */
#pragma once

#include "collector/db/pg.h"
#include "collector/archive/chunk_builder.h"

enum { ROLLUP_EARLY = 1 << 24, ROLLUP_PIECES = 256 };

struct relay_rollup;

struct relay_rollup *relay_rollup_new(const char *region, uint64_t hour_s);
void relay_rollup_free(struct relay_rollup *r); /* NULL is fine */

/* minutes: of these entities; what it points to may go. whole: in the place of the whole hour. */
void relay_rollup_add(struct relay_rollup *r, const struct chunk_builder_chunk *of,
		      const struct chunk *minutes, uint32_t part, bool whole);
/* All that was added, with the names of what it is about. Errors are pg.h's. */
int relay_rollup_put(struct relay_rollup *r, struct pg *p) MUST_CHECK;
