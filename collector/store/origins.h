// SPDX-License-Identifier: Apache-2.0
/*
 * origins.h - the nodes and regions that relays speak of, in the database.
 *
 * A node is of one region: origins_check, before the transaction, poisons the batches of those that
 * are another's here. origins_store makes them known in the transaction of their rows; after a
 * rollback call origins_forget. Errors are pg.h's.
 */
#pragma once

#include "collector/pipeline/batch.h"
#include "collector/db/pg.h"

struct origins;

struct origins *origins_new(void);
void origins_free(struct origins *o); /* NULL is fine */

int origins_check(struct origins *o, struct pg *p, struct batch *const *b, size_t n) MUST_CHECK;
int origins_store(struct origins *o, struct pg *p, struct batch *const *b, size_t n) MUST_CHECK;
void origins_forget(struct origins *o);

/* In the transaction of their rows, too: sets again of each. */
int origins_again(struct pg *p, struct batch *const *b, size_t n) MUST_CHECK;

/* origins_incident.c: what a region said of one of its incidents, for who correlates to take. */
int origins_store_incident(struct pg *p, const struct batch *b,
			   const struct incident_item *q) MUST_CHECK;

DEFINE_AUTO(struct origins *, origins_free)
