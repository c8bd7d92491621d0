// SPDX-License-Identifier: Apache-2.0
#include "probe/request/red/red_item.h"

#include <stdio.h>

#include "probe/request/judge/item_time.h"

static uint8_t class_of(uint16_t status)
{
	return status >= 100 && status < 600 ? (uint8_t)(status / 100) : 0;
}

void red_item_call(struct red *r, const char *app, const char *route, const struct up_item *u,
		   uint64_t now_ns)
{
	char peer[ADDR_TEXT];
	const struct red_key k = { .app = app,
				   .route = route,
				   .peer = up_addr_text(u, peer),
				   .role = RED_CLIENT,
				   .status_class = class_of(u->status),
				   .failed = (u->flags & (UP_NO_CONNECT | UP_NO_ANSWER)) ||
					     u->status >= 500 };

	red_count(r, &k, u->response_us, now_ns);
}

/* Counts the wait for a peer by another protocol. Its outcome is unknown and counts as success. */
static void count_waited(struct red *r, struct red_key k, const struct up_item *peer,
			 uint64_t now_ns)
{
	char addr[ADDR_TEXT];

	k.role = RED_WAITED;
	k.peer = up_addr_text(peer, addr);
	k.status_class = 2;
	k.failed = false;
	red_count(r, &k, peer->response_us, now_ns);
}

/* Counts for the ranking of hosts: own time, if all calls are known, and time by client. */
static void count_for_rank(struct red *r, const struct request_item *q, const struct up_item *peer,
			   struct red_key k, uint64_t now_ns)
{
	uint64_t us = item_judged_us(q);
	uint64_t up_us = item_upstream_us(q) + (peer ? peer->response_us : 0);
	char ip[ADDR_TEXT];

	if (peer)
		count_waited(r, k, peer, now_ns);

	k.role = RED_OWN;
	if (!(q->flags & (REQUEST_UPSTREAM_UNKNOWN | REQUEST_UPS_CUT)))
		red_count(r, &k, us > up_us ? us - up_us : 0, now_ns);
	k.role = RED_SERVED;
	k.route = "";
	k.peer = q->remote.len ? addr_ip_text(&q->remote, ip) : "unix:";
	red_count(r, &k, us, now_ns);
}

void red_item_request(struct red *r, const struct request_item *q, const struct up_item *peer,
		      uint32_t counted, uint64_t now_ns)
{
	char port[16];
	struct red_key k = { .app = q->app,
			     .route = q->route,
			     .peer = port,
			     .role = RED_SERVER,
			     .status_class = class_of(q->status),
			     .failed = item_failed(q) || q->status == 499 };

	snprintf(port, sizeof(port), q->local.len ? ":%u" : "unix:", q->local.port);
	red_count(r, &k, item_judged_us(q), now_ns);
	count_for_rank(r, q, peer, k, now_ns);
	for (uint32_t i = 0; i < q->nups; i++)
		if (!(counted >> i & 1))
			red_item_call(r, q->app, q->route, &q->ups[i], now_ns);
}
