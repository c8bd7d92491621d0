// SPDX-License-Identifier: Apache-2.0
/*
 * uplink_state.h - the state of an uplink. uplink_state.c has the steps, uplink_answer.c and
 * uplink_keys.c handle what the collector sends, uplink.c drives them. Private to lib/uplink.
 */
#pragma once

#include "lib/uplink/dealer.h"
#include "lib/uplink/offset.h"
#include "lib/uplink/uplink.h"

#define MS 1000000ull

static const uint64_t PATIENCE_NS = 3000 * MS; /* without an answer; doubles after each failure */

enum uplink_at { CONNECTING, GREETED, UP };

struct uplink {
	struct uplink_config cfg;
	uint64_t node_id;
	void *zmq;
	struct dealer dealer;
	unsigned at, key; /* index of the collector, of the trusted key */
	unsigned tried; /* keys that failed at this collector */
	bool failing; /* a handshake failed since this socket was opened */
	struct buf frame;
	enum uplink_at state;
	uint64_t since_ns; /* the state's beginning */
	uint64_t progress_ns; /* when the window last opened or an ack moved it */
	uint64_t patience_ns;
	uint64_t nack_mark[STREAM_END], nack_until_ns[STREAM_END];
	uint64_t dict_until_ns[UPLINK_LAYOUTS + 1]; /* last entry: for layouts that are not ours */
	uint64_t hello_ns; /* earliest next HELLO */
	bool away, foreign; /* already logged */
	uint8_t refused; /* the enum wire_why already logged */
	unsigned failed; /* handshakes since the last good one, as far as counted */
	struct offset offset; /* of the collector's clock */
	struct uplink_stat stat;
};

int uplink_open_dealer(struct uplink *u, struct dealer *out) MUST_CHECK;
void uplink_next_collector(struct uplink *u);
void uplink_say_away(struct uplink *u); /* logs it once */
void uplink_start_over(struct uplink *u); /* on a new socket, with HELLO */
void uplink_lost(struct uplink *u); /* the same, and logs it */
void uplink_go_on(struct uplink *u); /* with the batches that may be sent now; starts a new epoch if
					it is time */
void uplink_say_back(struct uplink *u, bool stores);
void uplink_say_hello(struct uplink *u);
void uplink_refused(struct uplink *u, const void *frame, size_t len);
void uplink_keys(struct uplink *u, const void *frame, size_t len);
void uplink_hear_handshakes(struct uplink *u);
