// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "probe/request/explain/verdict_rules.h"

enum {
	SEGMENT = 1448, /* bytes, with the usual MTU */
	FIRST_WINDOW = 10 * SEGMENT, /* sent before the first ACK is needed */
	ROUNDS_MAX = 32,
	SYN_US = 1000000, /* minimum cost of a lost SYN */
};

bool verdict_is_unix(const struct request_item *r)
{
	return !r->remote.len && !r->local.len;
}

static void put_peer(struct request_item *r, struct verdict_text *t)
{
	verdict_put(r, "peer", verdict_is_unix(r) ? "unix" : addr_text(&r->remote, t->addr));
}

/* Rounds of slow start until this many bytes are sent and acknowledged. */
static uint32_t slow_start_rounds(uint64_t bytes)
{
	uint32_t n = 0;

	for (uint64_t window = FIRST_WINDOW; bytes && n < ROUNDS_MAX; window *= 2, n++)
		bytes -= bytes < window ? bytes : window;
	return n;
}

/* A call takes one round trip, plus one to connect. A one-round request and its answer take none.
 */
uint64_t verdict_trips_us(const struct request_item *r, enum part p)
{
	uint32_t n = slow_start_rounds(r->bytes_in) + slow_start_rounds(r->bytes_out);
	uint64_t us = 0;

	if (p == PART_CLIENT)
		return n > 2 ? (n - 2ull) * r->srtt_us : 0;
	for (uint32_t i = 0; i < r->nups; i++)
		us += (uint64_t)r->ups[i].srtt_us * (r->ups[i].flags & UP_REUSED ? 1 : 2);
	return us;
}

/* Total retransmissions, and their kinds. */
static void put_loss(struct request_item *r, const struct req_net *n, struct verdict_text *t)
{
	static const char *const names[] = { [REQ_LOSS_SYN] = "syn",
					     [REQ_LOSS_FAST] = "fast",
					     [REQ_LOSS_SLOW_START] = "slow-start",
					     [REQ_LOSS_RTO] = "rto",
					     [REQ_LOSS_TLP] = "tlp" };
	uint32_t count = 0;
	size_t len = 0;

	for (size_t i = REQ_LOSS_SYN; i < ARRAY_SIZE(names); i++) {
		if (!n->lost[i])
			continue;
		len += (size_t)snprintf(t->error + len, sizeof(t->error) - len, "%s%s",
					count ? ", " : "", names[i]);
		count += n->lost[i];
	}
	verdict_number(r, "count", count);
	verdict_put(r, "kind", t->error);
}

/* At least half of the part, and half of the excess. */
static bool is_most(uint64_t us, uint64_t of_part, struct excess_time e)
{
	return verdict_is_half(us, of_part) && verdict_is_half(us, e.us);
}

static const struct up_item *longest_try(const struct request_item *r)
{
	const struct up_item *u = &r->ups[0];

	for (uint32_t i = 1; i < r->nups; i++)
		if (item_try_us(r, &r->ups[i]) > item_try_us(r, u))
			u = &r->ups[i];
	return u;
}

static bool lost_a_syn(const struct verdict_facts *f, const struct up_item *u, struct excess_time e)
{
	return f->up_net.lost[REQ_LOSS_SYN] && u->connect_us >= SYN_US - SYN_US / 8 &&
	       verdict_is_half(u->connect_us, e.us);
}

/*
 * Upstream calls were slow. net.loss: retransmissions to upstreams can have cost half of the
 * excess, or a lost SYN delayed the connect by that much. net.rtt: the needed round trips can have
 * cost half of the excess and half of the upstream time. Otherwise up.slow, naming the longest try.
 * net.wait when no try is known.
 */
enum reason_id verdict_upstream(struct request_item *r, const struct verdict_facts *f,
				struct excess_time e, struct verdict_text *t)
{
	uint64_t us = f->split.us[PART_UPSTREAM];
	const struct up_item *u = longest_try(r);
	bool lost;

	if (!r->nups) {
		verdict_put(r, "app", r->app);
		verdict_times(r, us);
		return R_NET_WAIT;
	}
	lost = lost_a_syn(f, u, e) ||
	       verdict_is_half(breakdown_loss_us(&f->up_net, u->srtt_us), e.us);
	if (!lost && !is_most(verdict_trips_us(r, PART_UPSTREAM), us, e)) {
		verdict_put(r, "addr", up_addr_text(u, t->addr));
		verdict_times(r, item_try_us(r, u));
		return R_UP_SLOW;
	}
	verdict_put(r, "peer", up_addr_text(u, t->addr));
	verdict_times(r, us);
	if (!lost) {
		verdict_number(r, "rtt_ms", verdict_ms(u->srtt_us));
		return R_NET_RTT;
	}
	put_loss(r, &f->up_net, t);
	return R_NET_LOSS;
}

/*
 * The client was slow. net.peer_window or net.sndbuf: the socket was blocked by the client's
 * window, or by its own send buffer, for half of the excess. A closing window causes probes and
 * retransmissions, so it is checked before net.loss. net.loss and net.rtt as above. Otherwise
 * client.slow: slow to send or to receive.
 */
enum reason_id verdict_client(struct request_item *r, const struct verdict_facts *f,
			      struct excess_time e, struct verdict_text *t)
{
	uint64_t us = f->split.us[PART_CLIENT];

	put_peer(r, t);
	if (verdict_is_half(f->net.rwnd_us, e.us)) {
		verdict_times(r, f->net.rwnd_us);
		return R_NET_PEER_WINDOW;
	}
	if (verdict_is_half(breakdown_loss_us(&f->net, r->srtt_us), e.us)) {
		verdict_times(r, us);
		put_loss(r, &f->net, t);
		return R_NET_LOSS;
	}
	if (verdict_is_half(f->net.sndbuf_us, e.us)) {
		verdict_times(r, f->net.sndbuf_us);
		return R_NET_SNDBUF;
	}
	verdict_times(r, us);
	if (is_most(verdict_trips_us(r, PART_CLIENT), us, e)) {
		verdict_number(r, "rtt_ms", verdict_ms(r->srtt_us));
		return R_NET_RTT;
	}
	return R_CLIENT_SLOW;
}
