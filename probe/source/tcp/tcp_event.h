// SPDX-License-Identifier: Apache-2.0
/* tcp_event.h - the event of an episode of lost segments or failed connects, and its peers. */
#pragma once

#include <linux/types.h>

#include "bpf/net/tcp.h"
#include "lib/base/addr.h"
#include "lib/wire/item.h"
#include "probe/procfs/app.h"
#include "probe/event/episode.h"

enum { TCP_WORST = 3 };

enum tcp_trouble_kind { TROUBLE_RETRANSMIT, TROUBLE_CONNECT, TROUBLES };

struct tcp_worst { /* of one application and peer */
	char app[APP_NAME], dev[TCP_DEV];
	struct addr peer;
	enum tcp_fault fault;
	uint64_t n;
};

struct tcp_trouble {
	enum tcp_trouble_kind kind;
	const struct episode *episode;
	bool going_on;
	int64_t wall_minus_mono_ns; /* the same for all updates of an episode */
	uint64_t n; /* segments or connects */
	struct tcp_worst worst[TCP_WORST];
	size_t nworst;
};

struct tcp_text { /* storage for the texts of an event */
	char app[TCP_WORST][ITEM_MAX_TEXT], dev[TCP_WORST][4 * TCP_DEV];
	char peer[TCP_WORST][ADDR_TEXT], what[TCP_WORST][ITEM_MAX_TEXT];
};

void tcp_event(const struct tcp_trouble *s, struct tcp_text *text, struct event_item *out);
