// SPDX-License-Identifier: Apache-2.0
/*
 * relay.h - brings what is in the outbox to the global collector: a thread with a connection and a
 * database session of its own.
 *
 * It sends by the rules of a probe (uplink.h) under the outbox's epoch and numbers, and deletes
 * what is acknowledged, so that it may end at any moment. Of several collectors of one database one
 * relays. Now and then it puts into the outbox what is known of nodes, and up to when all was told.
 */
#pragma once

#include "collector/core/collector_config.h"
#include "collector/store/outbox.h"

struct relay;

int relay_open(struct relay **out, const struct config *c, char *err,
	       size_t errlen) MUST_CHECK; /* its keys; c outlives it. An error with a sentence */
int relay_start(struct relay *r) MUST_CHECK;
void relay_stop(struct relay *r); /* NULL is fine; also one that was not started */

/* relay_nodes.c: nodes of this region that were heard a moment ago, from *from on; *from: where to
 * go on, 0: these were all. ITEM_MAX_SEEN_NODES fit into out. */
int relay_seen(struct pg *p, const char *region, uint64_t *from, struct seen_node *out,
	       uint32_t *n) MUST_CHECK;

/* What the global collector was not told yet of nodes here; *seq as outbox_put's. */
int relay_nodes(struct pg *p, const char *region, uint64_t *seq) MUST_CHECK;

/* relay_incident.c: incidents here that are not as they were told last. up: the other side is
 * there, and is told how they go on, too. */
int relay_incidents(struct pg *p, const char *region, bool up) MUST_CHECK;
