// SPDX-License-Identifier: Apache-2.0
/*
 * uplink.h - sends the spool's batches to the collector and applies its acks to the spool.
 *
 * It sends HELLO until WELCOME, sends batches within a window, rewinds on a NACK, and opens a new
 * socket when acks stay away: to the next collector, with the next trusted key. It logs only when
 * the collector goes away, comes back, or refuses this node. The caller owns the configuration's
 * strings, layouts, keys, spool and loop, which must outlive the uplink.
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
	const char *relay; /* the region it relays; NULL: a probe */
	const struct endpoints *collectors; /* any of them may serve */
	struct keyring *keys;
	size_t spool_mb; /* for log lines, like the next; 0: no own limit */
	const char *spool_where; /* "in memory" */
	const struct wire_dict *const *layouts; /* layouts of the batches this process spools */
	size_t nlayouts; /* UPLINK_LAYOUTS at most */
	struct spool *spool;
	struct loop *loop;
	void (*on_fresh)(
		void *arg); /* the collector has lost this probe's state, or a part of it */
	void (*on_clock)(void *arg,
			 const struct clock_item *c); /* a clock offset to report; may be NULL */
	void *arg;
};

struct uplink_stat {
	uint64_t hellos, opened, batches, dicts, nacks, rewinds;
	uint64_t ignored; /* frames that were not for us or not readable */
};

int uplink_open(struct uplink **out, const struct uplink_config *cfg) MUST_CHECK;
void uplink_close(struct uplink *u); /* NULL is fine */

int uplink_input(void *uplink); /* a loop_fn: handles incoming frames; the loop calls it */
int uplink_tick(void *uplink); /* a loop_fn: call it every UPLINK_TICK_MS */
void uplink_send(struct uplink *u); /* sends what the window allows; call it after each append */

bool uplink_up(const struct uplink *u);
const char *uplink_where(const struct uplink *u); /* the current collector */
struct uplink_stat uplink_stat(const struct uplink *u);

DEFINE_AUTO(struct uplink *, uplink_close)
