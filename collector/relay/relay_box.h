// SPDX-License-Identifier: Apache-2.0
/*
 * relay_box.h - the outbox as a spool: what is next in the table is read ahead into memory, what is
 * acknowledged there is deleted from the table. Errors are pg.h's.
 */
#pragma once

#include "lib/spool/spool.h"
#include "collector/db/pg.h"

struct relay_box {
	struct pg *pg;
	struct spool *spool; /* owned */
	uint64_t epoch; /* of the table */
	uint64_t base[STREAM_END]; /* what lies before it is deleted */
	uint64_t read[STREAM_END]; /* the last that was read */
};

/* With nothing read yet. -ENODATA: nobody ever wrote into it. p stays the caller's. */
int relay_box_open(struct relay_box *r, struct pg *p) MUST_CHECK;
/* Before it is opened: numbers anew what is in another database than it was. */
int relay_box_home(struct pg *p) MUST_CHECK;
int relay_box_begin(struct pg *p) MUST_CHECK; /* an outbox that nobody wrote into */
int relay_box_ahead(struct relay_box *r, bool start) MUST_CHECK; /* start: the first time */
int relay_box_delete(struct relay_box *r) MUST_CHECK;
int relay_box_left(struct relay_box *r) MUST_CHECK; /* counts what is in the table */
