// SPDX-License-Identifier: Apache-2.0
/*
 * remote_nodes.h - the nodes and regions that relays speak of, in the database.
 *
 * A node is of one region: remote_nodes_check, before the transaction, poisons the batches of those
 * that are another's here. remote_nodes_store makes them known in the transaction of their rows;
 * after a rollback call remote_nodes_forget. Errors are pg.h's.
 */
#pragma once

#include "collector/pipeline/batch.h"
#include "collector/db/pg.h"

struct remote_nodes;

struct remote_nodes *remote_nodes_new(void);
void remote_nodes_free(struct remote_nodes *o); /* NULL is fine */

int remote_nodes_check(struct remote_nodes *o, struct pg *p, struct batch *const *b,
		       size_t n) MUST_CHECK;
int remote_nodes_store(struct remote_nodes *o, struct pg *p, struct batch *const *b,
		       size_t n) MUST_CHECK;
void remote_nodes_forget(struct remote_nodes *o);

/* In the transaction of their rows, too: sets again of each. */
int remote_nodes_again(struct pg *p, struct batch *const *b, size_t n) MUST_CHECK;

/* remote_nodes_incident.c: what a region said of one of its incidents, for who correlates to take.
 */
int remote_nodes_store_incident(struct pg *p, const struct batch *b,
				const struct incident_item *q) MUST_CHECK;

DEFINE_AUTO(struct remote_nodes *, remote_nodes_free)
