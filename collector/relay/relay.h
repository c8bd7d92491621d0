// SPDX-License-Identifier: Apache-2.0
/*
 * relay.h - sends the outbox to the global collector, in a thread with a connection and a database
 * session of its own.
 *
 * The relay sends by the rules of a probe (uplink.h) under the outbox's epoch and sequence numbers,
 * and deletes acknowledged batches, so that it may be stopped at any moment. Of several collectors
 * on one database, one relays. The relay also adds node descriptions, incidents and a heartbeat to
 * the outbox; the heartbeat marks up to when everything was sent.
 */
#pragma once

#include "collector/core/collector_config.h"
#include "collector/store/outbox.h"

struct relay;

int relay_open(struct relay **out, const struct config *c, char *err, size_t errlen)
	MUST_CHECK; /* opens its keys; c outlives it. Errors with a sentence */
int relay_start(struct relay *r) MUST_CHECK;
void relay_stop(struct relay *r); /* NULL is fine; also one that was not started */

/* relay_nodes.c: nodes of this region that were heard in the last minute, from node *from on; out
 * has room for ITEM_MAX_SEEN_NODES. Sets *from to the next node to ask for, 0 after the last. */
int relay_seen(struct pg *p, const char *region, uint64_t *from, struct seen_node *out,
	       uint32_t *n) MUST_CHECK;

/* Puts node descriptions that changed since they were last sent into the outbox; *seq as in
 * outbox_put. */
int relay_nodes(struct pg *p, const char *region, uint64_t *seq) MUST_CHECK;

/* relay_incident.c: puts incidents that changed since they were last sent into the outbox. up: the
 * global collector is connected, and gets updates of open incidents as well. */
int relay_incidents(struct pg *p, const char *region, bool up) MUST_CHECK;
