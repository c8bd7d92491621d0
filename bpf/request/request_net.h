/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_net.h - TCP's own account of a request's connections: how long sending was limited and by
 * which side (the chronographs of struct tcp_sock), and the retransmissions by cause.
 */
#pragma once

#include "bpf/request/loss.h"
#include "bpf/request/request_sock.h"

enum { CHRONO_BUSY = 1, CHRONO_RWND = 2, CHRONO_SNDBUF = 3 }; /* enum tcp_chrono */

/* One chronograph, its running period included. */
static __always_inline __u32 chrono_of(struct sock *sk, __u32 which, __u32 running, __u32 since)
{
	return TCP_READ(sk, chrono_stat[which - 1]) + (which == running ? since : 0);
}

static __always_inline void net_begin(struct conn *c, struct sock *sk)
{
	c->retrans0 = TCP_READ(sk, total_retrans);
	c->ooo0 = TCP_READ(sk, rcv_ooopack);
	TCP_READ_INTO(&c->chrono0, sk, chrono_stat);
}

/*
 * Notes TCP's byte counts, to compare with the bytes seen by the hooks; len: of the request just
 * read.
 */
static __always_inline void net_count(struct conn *c, struct sock *sk, int len)
{
	c->write0 = TCP_READ(sk, write_seq);
	c->copied0 = TCP_READ(sk, copied_seq) - len;
}

/*
 * More bytes were written since the request was read than the hooks saw; now: bytes not counted
 * yet.
 */
static __always_inline bool net_unsent(const struct conn *c, struct sock *sk, int now)
{
	return !c->local && TCP_READ(sk, write_seq) - c->write0 != (__u32)c->head.bytes_out + now;
}

/*
 * More bytes were read since the request began than the hooks saw; next: bytes of the following
 * request.
 */
static __always_inline bool net_unread(const struct conn *c, struct sock *sk, int next)
{
	return !c->local && TCP_READ(sk, copied_seq) - c->copied0 != (__u32)c->head.bytes_in + next;
}

/*
 * Two requests, or two answers, in a row: the peer does not wait, or a hook did not run (kernel 7
 * skips some). In the first case TCP's counts equal those of the hooks.
 */
static __always_inline void net_out_of_order(struct conn *c, bool unseen)
{
	if (!unseen)
		c->pipelined = PIPELINED;
	else if (c->pipelined != PIPELINED)
		c->pipelined = UNSEEN_HERE;
}

/* The request and its answer were seen to the last byte: earlier doubts are cleared. */
static __always_inline void net_trust(struct conn *c, struct sock *sk, int next)
{
	if (c->pipelined == UNSEEN_BEFORE && c->head.status && !net_unsent(c, sk, 0) &&
	    !net_unread(c, sk, next))
		c->pipelined = PIPELINED_NOT;
}

static __always_inline __u32 us_of(__u32 jiffies)
{
	__u64 us = jiffies * (control.jiffy_ns / 1000);

	return us < ~0u ? us : ~0u;
}

/* How long the answer's sending was limited by each side, and how long its bytes were in flight. */
static __always_inline void net_held(struct conn *c, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u32 running = BPF_CORE_READ_BITFIELD_PROBED(tp, chrono_type);
	__u32 since = (__u32)bpf_jiffies64() - TCP_READ(sk, chrono_start);
	__u32 rwnd = chrono_of(sk, CHRONO_RWND, running, since) - c->chrono0[CHRONO_RWND - 1];
	__u32 sndbuf = chrono_of(sk, CHRONO_SNDBUF, running, since) - c->chrono0[CHRONO_SNDBUF - 1];

	c->head.net.rwnd_us = us_of(rwnd);
	c->head.net.sndbuf_us = us_of(sndbuf);
	c->head.net.busy_us = us_of(chrono_of(sk, CHRONO_BUSY, running, since) -
				    c->chrono0[CHRONO_BUSY - 1] + rwnd + sndbuf);
}

static __always_inline void net_facts(struct conn *c, struct sock *sk)
{
	struct req_head *h = &c->head;

	h->retrans = TCP_READ(sk, total_retrans) - c->retrans0;
	h->srtt_us = TCP_READ(sk, srtt_us) >> 3;
	h->rcv_ooo = TCP_READ(sk, rcv_ooopack) - c->ooo0;
	/* From the read on: an answer sent in one blocking call began when that call ended. */
	if (h->last_ns - h->read_ns > REQ_HELD_NS) /* shorter: not worth reading the chronographs */
		net_held(c, sk);
}

static __always_inline void loss_add(struct req_net *n, __u32 kind)
{
	if (n->lost[kind] < 0xffff)
		n->lost[kind]++;
}

static __always_inline void loss_seen(struct sock *sk)
{
	struct conn *c = conn_get(sk);
	struct req_calls *cs;

	if (!c || c->state == CONN_IDLE)
		return;
	if (c->role == ROLE_SERVER) {
		loss_add(&c->head.net, loss_kind(sk));
	} else if (c->role == ROLE_CLIENT && c->parent) {
		cs = bpf_map_lookup_elem(&calls_of, &c->parent);
		if (cs)
			loss_add(&cs->net, loss_kind(sk));
	}
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(on_retransmit, struct sock *sk)
{
	if (control.on)
		loss_seen(sk);
	return 0;
}

/* Newer kernels also report segments that could not be sent. */
SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(on_retransmit_tried, struct sock *sk, void *skb, int err)
{
	if (control.on && !err)
		loss_seen(sk);
	return 0;
}
