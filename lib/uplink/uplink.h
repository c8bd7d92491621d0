// SPDX-License-Identifier: Apache-2.0
/*
 * uplink.h - brings what the spool holds to the collector, and the collector's marks back.
 *
 * Says HELLO until it is WELCOME, sends within a window, rewinds on a NACK, and opens a new socket
 * when acks stay away: to the next of the collectors, and with the next of the keys that it trusts.
 * It speaks only when the collector goes or comes back, or does not take this node. The strings,
 * layouts, keys, spool and loop of the configuration stay the caller's and outlive it.
 */
#pragma once

#include "lib/daemon/loop.h"
#include "lib/uplink/endpoints.h"
#include "lib/uplink/keyring.h"
#include "lib/spool/spool.h"

struct uplink;

enum { UPLINK_TICK_MS = 100, UPLINK_LAYOUTS = 192 };

struct uplink_config {
	const char *node, *machine, *version;
	const char *relay; /* the region that it brings all of; NULL: a probe */
	const struct endpoints *collectors; /* any of them will do */
	struct keyring *keys;
	size_t spool_mb; /* for what is said, like the next; 0: no limit of its own */
	const char *spool_where; /* "in memory" */
	const struct wire_dict *const *layouts; /* of what this process puts into the spool */
	size_t nlayouts; /* UPLINK_LAYOUTS at most */
	struct spool *spool;
	struct loop *loop;
	void (*on_fresh)(void *arg); /* the collector knows nothing of this probe any more */
	void (*on_clock)(void *arg, const struct clock_item *c); /* to be told to it; may be NULL */
	void *arg;
};

struct uplink_stat {
	uint64_t hellos, opened, batches, dicts, nacks, rewinds;
	uint64_t ignored; /* what came and was not for us, or not to be read */
};

int uplink_open(struct uplink **out, const struct uplink_config *cfg) MUST_CHECK;
void uplink_close(struct uplink *u); /* NULL is fine */

int uplink_input(void *uplink); /* a loop_fn: takes what came; the loop calls it */
int uplink_tick(void *uplink); /* a loop_fn: to be called every UPLINK_TICK_MS */
void uplink_send(struct uplink *u); /* what the window allows; after each append */

bool uplink_up(const struct uplink *u);
const char *uplink_where(const struct uplink *u); /* the collector of now */
struct uplink_stat uplink_stat(const struct uplink *u);

DEFINE_AUTO(struct uplink *, uplink_close)
