/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_report.h - writes the ring records of finished requests with their calls, and of
 * connections that cannot be read.
 */
#pragma once

#include "bpf/request/request_call.h"

static __always_inline void unread_report(enum req_unread what)
{
	struct req_head *h = bpf_ringbuf_reserve(&ring, sizeof(*h), 0);

	if (!h) {
		count(STAT_RING_FULL);
		return;
	}
	__builtin_memset(h, 0, sizeof(*h));
	h->kind = REQ_KIND_UNREAD;
	h->flags = what;
	h->tgid = bpf_get_current_pid_tgid() >> 32;
	process_name(h->comm);
	bpf_ringbuf_submit(h, 0);
}

static __always_inline void split_add(struct req_split *to, const struct req_split *s)
{
	to->own_ns += s->own_ns;
	for (__u32 i = 0; i < WAIT_END; i++)
		to->wait_ns[i] += s->wait_ns[i];
	to->loop_ns += s->loop_ns;
}

static __always_inline void event_fill(struct req_event *e, const struct conn *c,
				       const struct req_calls *cs)
{
	__builtin_memcpy(&e->head, &c->head, sizeof(e->head));
	__builtin_memcpy(e->line, c->line, sizeof(e->line));
	e->head.ncalls = 0;
	__builtin_memset(&e->help, 0, sizeof(e->help));
	__builtin_memset(&e->peer, 0, sizeof(e->peer));
	if (c->pipelined)
		e->head.flags |= REQ_PIPELINED;
	if (!cs || cs->doubtful)
		return;
	e->head.up_net = cs->net;
	split_add(&e->head.split, &cs->split);
	e->help = cs->help;
	e->peer = cs->peer;
	__builtin_memcpy(e->call, cs->call, sizeof(e->call));
	e->head.ncalls = cs->n < REQ_CALLS ? cs->n : REQ_CALLS;
	if (cs->n > REQ_CALLS)
		e->head.flags |= REQ_CALLS_CUT;
	if (cs->n && cs->named)
		e->head.flags &= ~REQ_HOPPED; /* its call is known whichever thread made it */
}

static __always_inline void request_report_with_calls(struct conn *c)
{
	__u64 id = c->head.id;
	struct req_calls *cs = bpf_map_lookup_elem(&calls_of, &id);
	struct req_event *e;

	e = bpf_ringbuf_reserve(&ring, sizeof(*e), 0);
	if (e) {
		event_fill(e, c, cs);
		bpf_ringbuf_submit(e, 0);
	} else {
		count(STAT_RING_FULL);
	}
	if (cs)
		bpf_map_delete_elem(&calls_of, &id);
}

/*
 * The caller alone has just moved the state away from ANSWERED, SWEEPING or OPEN. Global, so that
 * the verifier checks it once.
 */
__noinline int request_report(struct conn *c)
{
	__u32 n;

	if (!c)
		return 0;
	n = c->head.line_len;
	count(STAT_SEEN);
	if (c->pipelined)
		c->head.flags |= REQ_PIPELINED;
	if (c->has_calls) {
		request_report_with_calls(c);
		return 0;
	}
	if (n > REQ_LINE)
		n = REQ_LINE;
	if (bpf_ringbuf_output(&ring, &c->head, sizeof(c->head) + n, 0))
		count(STAT_RING_FULL);
	return 0;
}

/* next: bytes of the following request, if it was already read. */
static __always_inline void request_facts(struct conn *c, struct sock *sk, int next)
{
	struct req_head *h = &c->head;

	if (!c->local)
		net_facts(c, sk);
	net_trust(c, sk, next);
	if (c->an.found & FOUND_EVENTS && h->first_ns && h->last_ns - h->first_ns > REQ_LONG_NS)
		h->flags |= REQ_STREAM;
}
