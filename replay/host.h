// SPDX-License-Identifier: Apache-2.0
/*
 * host.h - one recorded host as a node of its own: the probe's detect, red, spool and uplink, fed
 * with that host's records. Its address follows from its number: 10.0.0.1 is the first.
 */
#pragma once

#include "lib/daemon/loop.h"
#include "lib/uplink/endpoints.h"
#include "replay/recording.h"

struct host;

struct host_config {
	const char *name;
	uint32_t number; /* from 0 */
	const struct endpoints *collectors;
	const char *keys, *collector_key, *token; /* keys: directory, one per host in it */
	struct loop *loop;
	double slow_ms; /* as in the probe */
};

int host_open(struct host **out, const struct host_config *cfg, char *why) MUST_CHECK;
void host_close(struct host *h); /* NULL is allowed */

struct addr host_addr(uint32_t number, uint16_t port);

/*
 * Replays a record. wall_ns: its end, by the clock of the replay. other: the caller or the callee.
 */
void host_request(struct host *h, const struct recording *r, const struct record *q,
		  struct addr client, struct addr upstream, uint64_t wall_ns);
void host_call(struct host *h, const struct recording *r, const struct record *q,
	       struct addr callee, uint64_t wall_ns);
void host_event(struct host *h, const struct recording *r, const struct record *q,
		uint64_t wall_ns);
/* Ends a tick of the given number of seconds; all: also flush the counts of known keys. */
void host_tick(struct host *h, uint64_t wall_ns, bool all);
void host_look(struct host *h); /* call every UPLINK_TICK_MS */

bool host_is_up(const struct host *h);
uint32_t host_waiting(const struct host *h); /* batches not stored yet */
uint64_t host_lost(const struct host *h); /* batches lost for good */
