// SPDX-License-Identifier: Apache-2.0
/*
 * remote_nodes.h - stores the nodes and regions that relays report.
 *
 * A node belongs to one region. remote_nodes_check runs before the transaction and marks the
 * batches of nodes that belong to another region here as malformed. remote_nodes_store inserts the
 * nodes in the transaction of their rows; after a rollback call remote_nodes_forget. Errors are
 * pg.h's.
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

/* Sets `resent` of each batch, also in the transaction of the rows. */
int remote_nodes_find_resent(struct pg *p, struct batch *const *b, size_t n) MUST_CHECK;

/* remote_nodes_incident.c: stores an incident that a region reported, for the correlator
 * to import. */
int remote_nodes_store_incident(struct pg *p, const struct batch *b,
				const struct incident_item *q) MUST_CHECK;

DEFINE_AUTO(struct remote_nodes *, remote_nodes_free)
