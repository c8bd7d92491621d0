// SPDX-License-Identifier: Apache-2.0
/*
 * relay_box.h - the outbox table as a spool: the next batches are read ahead into memory, and
 * acknowledged batches are deleted from the table. Errors are those of pg.h.
 */
#pragma once

#include "lib/spool/spool.h"
#include "collector/db/pg.h"

struct relay_box {
	struct pg *pg;
	struct spool *spool; /* owned */
	uint64_t epoch; /* of the table */
	uint64_t base[STREAM_END]; /* batches before it are deleted */
	uint64_t read[STREAM_END]; /* the last batch that was read */
};

/* Reads no batch yet. -ENODATA: the outbox was never used. The caller keeps p. */
int relay_box_open(struct relay_box *r, struct pg *p) MUST_CHECK;
/* Before relay_box_open: renumbers the batches if the database was restored or replaced. */
int relay_box_home(struct pg *p) MUST_CHECK;
int relay_box_begin(struct pg *p) MUST_CHECK; /* gives an unused outbox its epoch */
int relay_box_ahead(struct relay_box *r, bool start) MUST_CHECK; /* start: the first read */
int relay_box_delete(struct relay_box *r) MUST_CHECK;
int relay_box_left(struct relay_box *r) MUST_CHECK; /* counts the batches in the table */
