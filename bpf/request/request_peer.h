/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_peer.h - waits of a request for a peer of another protocol than HTTP: the time its thread
 * waited for bytes until it read some, on an outgoing connection.
 *
 * Only for threads that serve one request at a time, as a loop waits for all at once. The request's
 * split has this time as waits for bytes; this adds where the bytes came from.
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

static __always_inline bool is_same_addr(const struct req_addr *a, const struct req_addr *b)
{
	const __u64 *x = (const __u64 *)a->ip, *y = (const __u64 *)b->ip;

	return a->len == b->len && a->port == b->port && x[0] == y[0] && x[1] == y[1];
}

static __always_inline void peer_add(struct req_peer *to, const struct req_peer *p)
{
	if (is_same_addr(&to->addr, &p->addr))
		to->wait_ns += p->wait_ns;
	else if (!to->addr.len || p->wait_ns > to->wait_ns)
		*to = *p;
}

/* Bytes were read from the peer. */
static __always_inline void peer_read(struct sock *sk)
{
	struct thread *th = thread_get();
	__u64 now = bpf_ktime_get_ns(), id = th ? thread_cur(th) : 0;
	struct req_peer p = {};
	struct req_calls *cs;

	if (!id || id == CUR_NOBODY || th->loop || !control.split)
		return;
	time_back(th, now);
	p.wait_ns = th->wait_ns[WAIT_RECV] + th->wait_ns[WAIT_POLL];
	cs = p.wait_ns ? calls_make(id) : NULL;
	if (!cs || cs->answered)
		return;
	th->calls = 1;
	cs->touched_ns = now;
	time_to(th, &cs->split, now, WAIT_RECV);
	addr_of(&p.addr, sk, true);
	peer_add(&cs->peer, &p);
}
