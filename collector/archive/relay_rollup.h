// SPDX-License-Identifier: Apache-2.0
/*
 * relay_rollup.h - puts per-minute rollups into the outbox: they are collected during compaction
 * and stored in the same transaction.
 *
 * Each part of an hour has a number and replaces the part that was sent under that number before.
 * Parts of finished hours count from 0, early parts from ROLLUP_EARLY; the first part of the
 * finished hour deletes the early ones. A part that is too large for a frame is split.
 */
#pragma once

#include "collector/db/pg.h"
#include "collector/archive/chunk_builder.h"

enum { ROLLUP_EARLY = 1 << 24, ROLLUP_PIECES = 256 };

struct relay_rollup;

struct relay_rollup *relay_rollup_new(const char *region, uint64_t hour_s);
void relay_rollup_free(struct relay_rollup *r); /* NULL is fine */

/* minutes: the rollup of these entities; it is copied. whole: replaces the whole hour. */
void relay_rollup_add(struct relay_rollup *r, const struct chunk_builder_chunk *of,
		      const struct chunk *minutes, uint32_t part, bool whole);
/* Stores all parts with the names of nodes, metrics and entities. Errors are those of pg.h. */
int relay_rollup_put(struct relay_rollup *r, struct pg *p) MUST_CHECK;
