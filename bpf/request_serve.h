/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_serve.h - the server side: from the first byte of a request that is read to the last byte
 * of its answer that is written.
 */
#pragma once

#include "request_answer.h"
#include "request_call.h"

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
	bpf_ringbuf_submit(h, BPF_RB_NO_WAKEUP);
}

static __always_inline void event_fill(struct req_event *e, const struct conn *c,
				       const struct calls *cs)
{
	__builtin_memcpy(&e->head, &c->head, sizeof(e->head));
	__builtin_memcpy(e->line, c->line, sizeof(e->line));
	e->head.ncalls = 0;
	if (c->pipelined)
		e->head.flags |= REQ_PIPELINED;
	if (!cs)
		return;
	__builtin_memcpy(e->call, cs->call, sizeof(e->call));
	e->head.ncalls = cs->n < REQ_CALLS ? cs->n : REQ_CALLS;
	if (cs->n > REQ_CALLS)
		e->head.flags |= REQ_CALLS_CUT;
}

static __always_inline void request_report_with_calls(struct conn *c)
{
	struct calls *cs = bpf_map_lookup_elem(&calls_of, &c->head.id);
	struct req_event *e = bpf_ringbuf_reserve(&ring, sizeof(*e), 0);

	if (e) {
		event_fill(e, c, cs);
		bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	} else {
		count(STAT_RING_FULL);
	}
	if (cs)
		bpf_map_delete_elem(&calls_of, &c->head.id);
}

/* The caller has just moved the state away from ANSWERED, SWEEPING or OPEN, alone. */
static __always_inline void request_report(struct conn *c)
{
	__u32 n = c->head.line_len;

	count(STAT_SEEN);
	if (c->pipelined)
		c->head.flags |= REQ_PIPELINED;
	if (c->has_calls) {
		request_report_with_calls(c);
		return;
	}
	if (n > REQ_LINE)
		n = REQ_LINE;
	if (bpf_ringbuf_output(&ring, &c->head, sizeof(c->head) + n, BPF_RB_NO_WAKEUP))
		count(STAT_RING_FULL);
}

static __always_inline void request_facts(struct conn *c, struct sock *sk)
{
	const struct tcp_sock *tp = tcp_of(sk);

	c->head.retrans = tp->total_retrans - c->retrans0;
	c->head.srtt_us = tp->srtt_us >> 3;
	c->head.rcv_ooo = tp->rcv_ooopack - c->ooo0;
	if (c->head.first_ns && c->head.last_ns - c->head.first_ns > REQ_LONG_NS &&
	    answer_is_stream(c))
		c->head.flags |= REQ_STREAM;
}

/* An answer that has begun is finished: true for the one caller that has to report it. */
static __always_inline bool answer_ends(struct conn *c)
{
	__u32 was = __sync_val_compare_and_swap(&c->state, CONN_ANSWERED, CONN_IDLE);

	return was == CONN_ANSWERED;
}

/* The first bytes of what came, into the place of the line; the first eight of them as a word. */
static __always_inline __u64 line_read(struct conn *c, const struct span *s)
{
	__u64 w;

	__builtin_memset(c->line, 0, sizeof(w));
	c->head.line_len = span_append(c->line, 0, REQ_LINE, s);
	__builtin_memcpy(&w, c->line, sizeof(w));
	return w;
}

/* An epoll watches the socket: the thread that reads it serves others too. */
static __always_inline bool is_in_epoll(struct sock *sk)
{
	return sk->sk_socket->file->f_ep != NULL; /* a NULL on the way reads as 0 */
}

/* Its line is in place already. */
static __always_inline void request_begin(struct conn *c, struct sock *sk, __u64 word, int len)
{
	__u64 now = bpf_ktime_get_ns(), id = bpf_get_current_pid_tgid();
	struct req_head *h = &c->head;
	const struct inet_connection_sock *icsk =
		bpf_rdonly_cast(sk, bpf_core_type_id_kernel(struct inet_connection_sock));
	const struct tcp_sock *tp = tcp_of(sk);

	h->kind = REQ_KIND_REQUEST;
	h->flags = 0;
	h->id = now << 8 | (bpf_get_smp_processor_id() & 0xff);
	h->read_ns = now;
	h->first_ns = h->last_ns = 0;
	h->bytes_in = len;
	h->bytes_out = 0;
	h->tgid = id >> 32;
	h->tid = (__u32)id;
	h->queue_jiffies = (__u32)bpf_jiffies64() - icsk->icsk_ack.lrcvtime;
	h->status = 0;
	h->ncalls = 0;
	c->answer_len = 0;
	c->has_calls = 0;
	c->has_body = !is_bodiless(word);
	c->retrans0 = tp->total_retrans;
	c->ooo0 = tp->rcv_ooopack;
	c->loop = is_in_epoll(sk);
	c->state = CONN_OPEN;
	cur_set(h->id, c->loop);
}

/* True for a request, and for the few bytes that may become one. */
static __always_inline bool begins_request(struct conn *c, __u64 w)
{
	__u32 n = c->head.line_len;

	c->unsure = n < sizeof(w);
	return n < sizeof(w) ? n > 0 && may_be_request(w, n) : is_request(w);
}

/* The first request on a socket makes it a server's. */
static __always_inline void server_first(struct sock *sk, int len)
{
	struct span s = span_of_call(len);
	__u64 w = first_word(&s);
	struct conn *c;

	if (is_client_hello(w) || is_http2(w)) {
		if (conn_make(sk, ROLE_IGNORED))
			unread_report(is_http2(w) ? REQ_UNREAD_HTTP2 : REQ_UNREAD_TLS);
		return;
	}
	if (!s.len || (s.len < sizeof(w) ? !may_be_request(w, s.len) : !is_request(w)))
		return;
	c = conn_make(sk, ROLE_SERVER);
	if (!c)
		return;
	addr_of(&c->head.remote, sk, true);
	addr_of(&c->head.local, sk, false);
	process_name(c->head.comm);
	w = line_read(c, &s);
	if (begins_request(c, w))
		request_begin(c, sk, w, len);
}

/* The rest of a head, or a body: what is missing of the line is added to it. */
static __always_inline void server_more(struct conn *c, const struct span *s, int len)
{
	__u32 at = c->head.line_len;
	__u64 w;

	c->head.bytes_in += len;
	if (c->state != CONN_OPEN)
		return;
	if (at < REQ_LINE)
		c->head.line_len = span_append(c->line, at, REQ_LINE, s);
	if (c->unsure && c->head.line_len >= sizeof(w)) {
		__builtin_memcpy(&w, c->line, sizeof(w));
		c->unsure = 0;
		c->has_body = !is_bodiless(w);
		if (!is_request(w)) {
			c->state = CONN_IDLE;
			c->role = ROLE_IGNORED;
			return;
		}
	}
	cur_set(c->head.id, c->loop);
}

static __always_inline void server_bytes(struct conn *c, struct sock *sk, int len)
{
	struct span s = { 0 };
	__u64 w;
	__u32 was;

	if (c->state != CONN_OPEN || !c->has_body || c->head.line_len < REQ_LINE)
		s = span_of_call(len);
	if (c->state == CONN_IDLE) {
		w = line_read(c, &s);
		if (begins_request(c, w))
			request_begin(c, sk, w, len);
		return;
	}
	if ((c->state == CONN_OPEN && (c->has_body || c->unsure)) || !is_request(first_word(&s))) {
		server_more(c, &s, len);
		return;
	}
	was = __sync_lock_test_and_set(&c->state, CONN_IDLE);
	if (was == CONN_OPEN)
		c->pipelined = 1; /* a request before the last one's answer */
	if (was != CONN_IDLE) {
		request_facts(c, sk);
		request_report(c);
	}
	w = line_read(c, &s);
	if (begins_request(c, w))
		request_begin(c, sk, w, len);
}

/* Nothing to read: no end of the answer, an event loop may look at any time. */
static __always_inline void server_recv(struct conn *c, struct sock *sk, int ret)
{
	if (ret > 0)
		server_bytes(c, sk, ret);
	else if (c->state == CONN_OPEN)
		cur_set(c->head.id, c->loop);
	else
		cur_clear();
}

/* The first bytes of the answer: nothing that starts now can be part of the work on it. */
static __always_inline void answer_begins(struct conn *c, __u64 now)
{
	__u32 tgid = c->head.tgid, one = 1;
	struct calls *cs = bpf_map_lookup_elem(&calls_of, &c->head.id);

	c->head.first_ns = now;
	if (cs) {
		cs->answered = 1;
		c->has_calls = 1;
	}
	if ((__u32)bpf_get_current_pid_tgid() != c->head.tid) {
		c->head.flags |= REQ_HOPPED;
		bpf_map_update_elem(&hoppers, &tgid, &one, BPF_ANY);
	}
	c->state = CONN_ANSWERED;
}

static __always_inline void server_send(struct conn *c, int len)
{
	__u64 now = bpf_ktime_get_ns();
	struct span s;
	__u16 status;

	if (c->state == CONN_OPEN) {
		s = span_of_call(len);
		status = answer_read(c, &s);
		if (status >= 100 && status < 200 && status != 101) {
			c->answer_len = 0;
			cur_set(c->head.id, c->loop); /* 100 Continue: not yet the answer */
			return;
		}
		if (answer_is_short(c)) {
			c->head.bytes_out += len;
			return;
		}
		if (!status)
			c->head.flags |= REQ_HEAD_MISSED;
		c->head.status = status;
		answer_tail(c, len);
		answer_begins(c, now);
	} else if (c->state == CONN_ANSWERED) {
		s = span_of_call(len);
		if (is_answer(first_word(&s)))
			c->pipelined = 1; /* a second answer without a request between */
		answer_tail(c, len);
	} else if (c->state == CONN_IDLE && c->head.id) {
		count(STAT_LATE);
	}
	c->head.last_ns = now;
	c->head.bytes_out += len;
	cur_clear();
}

/*
 * From the sweep: report an answer that is whole. The copy is made first and the claim
 * after it, so a request that arrives meanwhile wins and reports this one itself.
 */
static __always_inline void request_sweep(struct conn *c, struct sock *sk)
{
	struct calls *cs = c->has_calls ? bpf_map_lookup_elem(&calls_of, &c->head.id) : NULL;
	struct req_event *e;

	if (__sync_val_compare_and_swap(&c->state, CONN_ANSWERED, CONN_SWEEPING) != CONN_ANSWERED)
		return;
	request_facts(c, sk);
	e = bpf_ringbuf_reserve(&ring, sizeof(*e), 0);
	if (e)
		event_fill(e, c, cs);
	if (__sync_val_compare_and_swap(&c->state, CONN_SWEEPING, CONN_IDLE) != CONN_SWEEPING) {
		if (e)
			bpf_ringbuf_discard(e, BPF_RB_NO_WAKEUP);
		return;
	}
	count(STAT_SEEN);
	if (e)
		bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	else
		count(STAT_RING_FULL);
	if (cs)
		bpf_map_delete_elem(&calls_of, &c->head.id);
}

/* An upgraded connection (101) speaks something else from here on. */
static __always_inline void server_upgraded(struct conn *c, struct sock *sk)
{
	if (!answer_ends(c))
		return;
	request_facts(c, sk);
	request_report(c);
	unread_report(REQ_UNREAD_UPGRADED);
	c->role = ROLE_IGNORED;
}

/* The connection ends while a request is open or its answer is on the way. */
static __always_inline void server_state(struct conn *c, struct sock *sk, int from, int to)
{
	int error = sk->sk_err;
	__u32 was = __sync_lock_test_and_set(&c->state, CONN_IDLE);

	if (was == CONN_IDLE)
		return;
	if (was == CONN_OPEN) {
		struct calls *cs = bpf_map_lookup_elem(&calls_of, &c->head.id);

		if (cs)
			c->has_calls = 1;
		c->head.last_ns = bpf_ktime_get_ns();
		/* the peer's FIN or RST came first: it gave up */
		if (from == TCP_CLOSE_WAIT || (to == TCP_CLOSE && error))
			c->head.flags |= REQ_CLIENT_CLOSED;
		else
			c->head.flags |= REQ_NO_ANSWER;
	}
	request_facts(c, sk);
	request_report(c);
}
