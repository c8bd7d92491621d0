/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_peer.h - peers by another protocol than HTTP, on outgoing connections: whether one
 * answered, and the time that its thread waited for its bytes.
 *
 * A thread that serves one request at a time reads for that one. Of a loop only the request is
 * known for which it opened the connection, until it sends on it again. The time is only known of
 * the former, as a loop waits for all at once: the request's split has it as waits for bytes, and
 * this adds where the bytes came from.
 */
#pragma once

#include "bpf/request/request_call.h"

/*
 * A connection older than the probe: the ports show which end opened it, as Linux gives connecting
 * sockets ports from here on.
 */
enum { PORTS_OF_CALLERS = 32768 };

static __always_inline bool was_opened_here(struct sock *sk)
{
	return SOCK_READ(sk, __sk_common.skc_family) != AF_UNIX &&
	       SOCK_READ(sk, __sk_common.skc_num) >= PORTS_OF_CALLERS &&
	       bpf_ntohs(SOCK_READ(sk, __sk_common.skc_dport)) < PORTS_OF_CALLERS;
}

/* AF_UNIX: the peer has the address of a listener. */
static __always_inline bool is_to_listener(struct sock *sk)
{
	struct sock *peer;

	if (!bpf_core_type_exists(struct unix_sock))
		return false;
	peer = BPF_CORE_READ((const struct unix_sock *)sk, peer);
	return peer && BPF_CORE_READ((const struct unix_sock *)peer, addr);
}

static __always_inline bool is_same_addr(const struct req_addr *a, const struct req_addr *b)
{
	const __u64 *x = (const __u64 *)a->ip, *y = (const __u64 *)b->ip;

	return a->len == b->len && a->port == b->port && x[0] == y[0] && x[1] == y[1];
}

/* One that failed stays; else the one with the longest wait. */
static __always_inline void peer_add(struct req_peer *to, const struct req_peer *p)
{
	if (is_same_addr(&to->addr, &p->addr)) {
		to->wait_ns += p->wait_ns;
		to->state |= p->state;
		to->error = p->error ? p->error : to->error;
		to->first = p->first ? p->first : to->first;
	} else if (!to->addr.len || p->wait_ns > to->wait_ns ||
		   (p->state & ~PEER_READ && !(to->state & ~PEER_READ))) {
		*to = *p;
	}
}

/* The request for which this thread now reads or writes on connection c (NULL: not followed). */
static __always_inline __u64 peer_request(const struct conn *c, const struct thread *th)
{
	__u64 id = th ? thread_cur(th) : 0;

	if (th && th->loop)
		return c ? c->parent : 0;
	return id == CUR_NOBODY ? 0 : id;
}

/* Adds p to request id, with the time that this thread waited. */
static __always_inline void peer_note(struct thread *th, __u64 id, struct req_peer *p, __u64 now)
{
	struct req_calls *cs;

	if (th && !th->loop && control.split) {
		time_back(th, now);
		p->wait_ns = th->wait_ns[WAIT_RECV] + th->wait_ns[WAIT_POLL];
	}
	cs = calls_make(id);
	if (!cs || cs->answered)
		return;
	cs->touched_ns = now;
	if (!th)
		th = thread_get();
	if (th) {
		th->calls = 1;
		th->unserved = 0;
		if (p->wait_ns)
			time_to(th, &cs->split, now, WAIT_RECV);
	}
	peer_add(&cs->peer, p);
}

/* Read from the peer: bytes, or its end. */
static __always_inline void peer_read(struct conn *c, struct sock *sk, int ret)
{
	struct thread *th = thread_get();
	__u64 now = bpf_ktime_get_ns(), id;
	struct req_peer p = {};
	bool heard = c && c->heard;

	if (is_to_be_tried_again(ret) || (ret <= 0 && heard))
		return;
	if (c)
		c->heard = 1;
	id = peer_request(c, th);
	if (!id) {
		if (!heard)
			call_unknown(habit_of(bpf_get_current_pid_tgid() >> 32), now);
		return;
	}
	p.state = ret > 0 ? PEER_READ : PEER_ENDED;
	p.error = ret > 0 ? 0 : ret ? -ret : EPIPE;
	p.first = c ? c->first : 0;
	addr_of(&p.addr, sk, true);
	peer_note(th, id, &p, now);
}

/* Sent to the peer on a connection that is known to be of another protocol. */
static __always_inline void peer_sent(struct conn *c)
{
	struct thread *th = thread_get();
	__u64 id = th ? thread_cur(th) : 0;

	if (th)
		th->unserved = 0;
	if (th && th->loop && c->heard)
		c->parent = 0;
	else if (!th || !th->loop)
		c->parent = id == CUR_NOBODY ? 0 : id;
	c->heard = 0;
}

/* The connection was opened for its request: it counts even if nothing is ever read from it. */
static __always_inline void peer_opened(struct conn *c, struct sock *sk)
{
	struct req_peer p = { .first = c->first };

	if (!c->parent)
		return;
	addr_of(&p.addr, sk, true);
	peer_note(NULL, c->parent, &p, bpf_ktime_get_ns());
}

#define FASTCGI_BEGINS 0x0101 /* version 1, FCGI_BEGIN_REQUEST */

/* The first bytes on an AF_UNIX connection to a listener: its connect() was not seen. */
static __always_inline void peer_first(struct sock *sk, const struct scratch *x, __u32 n)
{
	struct thread *th = thread_get();
	__u64 id = th ? thread_cur(th) : 0;
	struct conn *c;

	if (!id || id == CUR_NOBODY || SOCK_READ(sk, __sk_common.skc_family) != AF_UNIX ||
	    !is_to_listener(sk))
		return;
	c = conn_make(sk, ROLE_IGNORED, STAT_END);
	if (!c)
		return;
	c->other = 1;
	c->parent = id;
	c->first = n < 4 ? 0 : (__u32)word_of(x->b);
	c->heard = 0;
	if ((c->first & 0xffff) == FASTCGI_BEGINS) /* others, as a log, may be older */
		peer_opened(c, sk);
}
