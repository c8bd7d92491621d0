// SPDX-License-Identifier: Apache-2.0
/* compact_read.h - reads sample rows and chunks from PostgreSQL's binary format. */
#pragma once

#include "collector/core/pairmap.h"
#include "collector/db/pg.h"
#include "collector/archive/chunk_builder.h"

struct compact_read {
	struct chunk_builder *builder;
	const struct pairmap *layouts; /* (layout, 0): uint32_t, the number of values */
	uint64_t hour_us; /* wall time of the beginning of the hour */
	struct arena *arena; /* of one row */
};

/* For pg_each, with the named columns; -EBADMSG: the row is malformed. */
int compact_read_raw(void *read, const PGresult *row); /* ts, node, layout, entities, a, b */
int compact_read_sample(void *read, const PGresult *row); /* ts, node, layout, entity, v */
int compact_read_chunk(void *read, const PGresult *row); /* node, layout, entities, chunk */
