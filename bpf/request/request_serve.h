/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_serve.h - the server side of a request: from its first byte read to the last byte of its
 * answer written.
 */
#pragma once

#include "bpf/request/request_report.h"

/* Ends an answer that has begun: true for the one caller that must report it. */
static __always_inline bool answer_ends(struct conn *c)
{
	__u32 was = __sync_val_compare_and_swap(&c->state, CONN_ANSWERED, CONN_IDLE);

	return was == CONN_ANSWERED;
}

/* The first bytes received; returns the first eight as a word, padded with zeroes. */
static __always_inline __u64 line_read(struct scratch *x, struct sock *sk, int len, __u32 *n)
{
	struct span s = {};
	bool known;

	__builtin_memset(x->b, 0, sizeof(__u64));
	span_of_call(&s, len);
	known = s.p;
	*n = span_gather(HOOK_RECV, 0, REQ_LINE, &s);
	if (!known && is_uring())
		*n = at_most(packet_head_take(sk, false, x), REQ_LINE);
	return *n ? word_of(x->b) : 0;
}

/* True for a request, and for a few bytes that may become one. */
static __always_inline bool begins_request(__u64 w, __u32 n)
{
	return n < sizeof(w) ? n > 0 && may_be_request(w, n) : is_request(w);
}

static __always_inline void request_begin(struct conn *c, struct sock *sk, const struct scratch *x,
					  __u32 n, int len)
{
	__u64 now = bpf_ktime_get_ns(), w = word_of(x->b);
	struct task_struct *t = bpf_get_current_task_btf();
	struct req_head *h = &c->head;
	struct thread *th = thread_make();

	__builtin_memcpy(c->line, x->b, REQ_LINE);
	h->line_len = n;
	h->kind = REQ_KIND_REQUEST;
	h->flags = 0;
	h->id = now << 8 | (bpf_get_smp_processor_id() & 0xff);
	h->read_ns = h->body_ns = now;
	h->first_ns = h->last_ns = 0;
	h->bytes_in = len;
	h->bytes_out = 0;
	h->tgid = t->tgid;
	h->tid = t->pid;
	h->status = 0;
	h->ncalls = 0;
	c->unsure = n < sizeof(w);
	c->answer_len = 0;
	c->framing = FRAMING_UNREAD;
	c->has_calls = 0;
	if (c->pipelined == UNSEEN_HERE)
		c->pipelined = UNSEEN_BEFORE;
	c->has_body = !is_bodiless(w);
	if (!c->local) {
		h->queue_jiffies = (__u32)bpf_jiffies64() - ICSK_READ(sk, icsk_ack.lrcvtime);
		net_begin(c, sk);
		net_count(c, sk, len);
	}
	if (!c->loop)
		c->loop = is_in_epoll(sk) || is_uring(); /* io_uring is an event loop, too */
	c->state = CONN_OPEN;
	__builtin_memset(&h->net, 0, sizeof(h->net) * 2 + sizeof(h->split));
	request_named(c, x, n, len);
	if (!th)
		return;
	queue_time(h, th, now);
	time_leave(th, thread_cur(th), now);
	if (c->loop && th->unserved && thread_cur(th))
		habit_lost(habit_of(h->tgid)); /* it reads on before it serves the last one */
	cur_begin(th, h->id, c->loop);
	th->target = c->target;
	th->unserved = !c->has_body && !c->unsure;
}

/* The first request on a socket makes it a server's. */
static __always_inline void server_first(struct sock *sk, int len)
{
	struct scratch *x = scratch_of(HOOK_RECV);
	struct conn *c;
	__u32 n;
	__u64 w;

	if (!x)
		return;
	w = line_read(x, sk, len, &n);
	if (is_client_hello(w) || is_http2(w)) {
		if (conn_make(sk, ROLE_IGNORED, STAT_END))
			unread_report(is_http2(w) ? REQ_UNREAD_HTTP2 : REQ_UNREAD_TLS);
		return;
	}
	if (!n && is_uring()) {
		uring_seen(sk);
		unread_report(REQ_UNREAD_URING);
	}
	if (!begins_request(w, n))
		return;
	c = conn_make(sk, ROLE_SERVER, STAT_CONN_FULL);
	if (!c)
		return;
	addr_of(&c->head.remote, sk, true);
	addr_of(&c->head.local, sk, false);
	c->head.netns = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
	process_name(c->head.comm);
	request_begin(c, sk, x, n, len);
}

/* The thread works on this request. */
static __always_inline void server_works(struct conn *c, __u64 now)
{
	struct thread *th = thread_make();
	__u64 cur;

	if (!th)
		return;
	cur = thread_cur(th);
	if (was_at(th, cur, c->head.id))
		time_to(th, &c->head.split, now, WAIT_SEND);
	else
		time_leave(th, cur, now);
	thread_works_on(th, c->head.id, c->loop);
	th->target = c->target;
}

/* The rest of a head, or a body: adds missing bytes to the stored line. */
static __always_inline void server_more(struct conn *c, struct scratch *x, int len)
{
	__u32 at = c->head.line_len;
	struct span s = {};
	__u64 w, now;

	c->head.bytes_in += len;
	if (c->state != CONN_OPEN)
		return;
	if (at < REQ_LINE) {
		span_of_call(&s, len);
		__builtin_memcpy(x->b, c->line, REQ_LINE);
		c->head.line_len = span_gather(HOOK_RECV, at, REQ_LINE, &s);
		__builtin_memcpy(c->line, x->b, REQ_LINE);
		request_named(c, x, c->head.line_len, len);
	}
	w = word_of(c->line);
	if (c->unsure && c->head.line_len >= sizeof(w)) {
		c->unsure = 0;
		c->has_body = !is_bodiless(w);
		if (!is_request(w)) {
			names_drop(c);
			c->state = CONN_IDLE;
			c->role = ROLE_IGNORED;
			return;
		}
	}
	now = bpf_ktime_get_ns();
	server_works(c, now);
	c->head.body_ns = now;
	c->head.split.own_body_ns = c->head.split.own_ns;
}

/* Bytes on a connection that has had a request: more of that one, or the next one. */
static __always_inline void server_bytes(struct conn *c, struct sock *sk, int len)
{
	struct scratch *x = scratch_of(HOOK_RECV);
	bool open = c->state == CONN_OPEN;
	bool more = open && (c->has_body || c->unsure || calls_many());
	__u64 w = 0;
	__u32 n = 0, was;

	if (!x)
		return;
	if (!more)
		w = line_read(x, sk, len, &n);
	if (more || (c->state != CONN_IDLE && !is_request(w))) {
		server_more(c, x, len);
		return;
	}
	if (!begins_request(w, n))
		return;
	was = __sync_lock_test_and_set(&c->state, CONN_IDLE);
	if (was == CONN_OPEN) { /* the last one got no answer */
		names_drop(c);
		net_out_of_order(c, net_unsent(c, sk, 0));
	}
	if (was != CONN_IDLE) {
		request_facts(c, sk, HOOK_RECV, len);
		request_report(c, HOOK_RECV);
	}
	request_begin(c, sk, x, n, len);
}

/* Like client_looked: a read that finds nothing changes nothing. */
static __always_inline void server_looked(struct conn *c)
{
	struct thread *th = thread_get();

	if (th && c->state == CONN_OPEN && thread_cur(th) == c->head.id)
		time_to(th, &c->head.split, bpf_ktime_get_ns(), WAIT_SEND);
}

/* An empty read does not end the answer, as an event loop may poll at any time. */
static __always_inline void server_recv(struct conn *c, struct sock *sk, int ret)
{
	if (ret > 0)
		server_bytes(c, sk, ret);
	else if (is_to_be_tried_again(ret))
		server_looked(c);
	else if (c->state == CONN_OPEN)
		server_works(c, bpf_ktime_get_ns());
	else
		cur_clear();
}

/* Request id has a call that belongs, or may belong, to another request. */
static __always_inline void calls_doubt(__u64 id)
{
	struct req_calls *cs = bpf_map_lookup_elem(&calls_of, &id);

	if (!cs || cs->doubtful)
		return;
	cs->doubtful = 1;
	for (__u32 i = 0; i < cs->n && i < REQ_CALLS; i++)
		count(STAT_UNKNOWN);
}

/* It calls nobody any more. Without a call of its own, it may have made one that is not known. */
static __always_inline void calls_missed(struct conn *c, const struct req_calls *cs)
{
	names_drop(c);
	if (cs && cs->n ? cs->doubtful : may_have_called(c->head.tgid, c->head.read_ns))
		c->head.flags |= REQ_DOUBTFUL;
}

/* The calls of its process are given to their requests by name, whatever its threads did. */
static __always_inline bool is_by_names(const struct conn *c)
{
	struct habit *h = habit_of(c->head.tgid);

	return h && h->by_names;
}

/* The first bytes of the answer: nothing that starts later is part of the work on it. */
static __always_inline void answer_begins(struct conn *c, struct sock *sk, struct thread *th,
					  __u64 now, int len)
{
	struct task_struct *t = bpf_get_current_task_btf();
	bool hopped = t->pid != (int)c->head.tid;
	struct req_calls *cs = NULL;

	c->head.first_ns = now;
	if (th && th->by_call == BY_CALL_READ && thread_cur(th) && th->cur != c->head.id &&
	    th->call_ns >= c->head.read_ns && !is_by_names(c)) {
		c->head.flags |= REQ_DOUBTFUL;
		calls_doubt(c->head.id);
		calls_doubt(th->cur);
	}
	/* A thread that never called has no calls to look for, unless they were given by name. */
	if (hopped || c->name[NAME_TARGET] || (th && th->calls))
		cs = bpf_map_lookup_elem(&calls_of, &c->head.id);
	if (cs) {
		cs->answered = 1;
		c->has_calls = 1;
		/* An earlier answer was missed: this one and the calls may be the next one's. */
		if (cs->n && net_unsent(c, sk, len))
			net_out_of_order(c, true);
	}
	calls_missed(c, cs);
	if (th && (th->by_timer || was_due(th, c->head.id, now)))
		answer_timed(c, cs, th);
	if (hopped) {
		answer_hopped(c, th);
		c->head.flags |= REQ_HOPPED;
		habit_lost(habit_make(c->head.tgid));
	}
	c->state = CONN_ANSWERED;
	wake();
}

/* False: the bytes sent do not begin the answer, or are too few. */
static __always_inline bool answer_opens(struct conn *c, struct sock *sk, struct thread *th,
					 __u64 now, int len)
{
	struct span s = {};
	__u16 status;

	span_of_call(&s, len);
	answer_keep(c, sk, &s);
	status = c->answer_len < STATUS_LINE ? 0 : status_in(c->answer);
	if (status >= 100 && status < 200 && status != 101) {
		c->answer_len = 0;
		c->write0 += len;
		server_works(c, now); /* 100 Continue: not the final answer */
		return false;
	}
	if (answer_is_short(c)) {
		c->head.bytes_out += len;
		return false;
	}
	if (!status)
		c->head.flags |= REQ_HEAD_MISSED;
	c->head.status = status;
	c->crowded = s.niov > 2;
	answer_tail(c, &s);
	answer_begins(c, sk, th, now, len);
	return true;
}

/* More of an answer: its bytes are only read while its end is not known. */
static __always_inline void answer_goes_on(struct conn *c, struct sock *sk, int len)
{
	enum framing f = answer_framing(c, HOOK_SEND);
	bool whole = answer_is_whole(c, HOOK_SEND);
	struct span s = {};

	if (f == FRAMING_CLOSE || (f == FRAMING_LENGTH && !whole) || calls_many())
		return;
	span_of_call(&s, len);
	if (f == FRAMING_OPEN && c->answer_len < REQ_ANSWER)
		answer_keep(c, sk, &s);
	else if ((whole || f == FRAMING_OPEN) && is_answer(first_word(&s))) /* no request */
		net_out_of_order(c, net_unread(c, sk, 0));
	c->tail = span_tail(&s);
}

static __always_inline void server_send(struct conn *c, struct sock *sk, int len)
{
	struct thread *th = thread_get();
	__u64 now = bpf_ktime_get_ns();
	bool first = c->state == CONN_OPEN;

	if (first && !th)
		th = thread_make(); /* a pool thread: its time is measured from now on */
	if (first) {
		if (!answer_opens(c, sk, th, now, len))
			return;
	} else if (c->state == CONN_ANSWERED) {
		answer_goes_on(c, sk, len);
	} else if (c->state == CONN_IDLE && c->head.id) {
		count(STAT_LATE);
	}
	c->head.last_ns = now;
	c->head.bytes_out += len;
	if (!th)
		return;
	time_to(th, &c->head.split, now, WAIT_RECV);
	if (first)
		c->head.split.own_first_ns = c->head.split.own_ns;
	th->cur = 0;
	th->idle = th->pool;
}

/* True: the request is still claimed, and must be reported now. */
static __always_inline bool sweep_claimed(struct conn *c)
{
	if (__sync_val_compare_and_swap(&c->state, CONN_SWEEPING, CONN_IDLE) != CONN_SWEEPING)
		return false;
	count(STAT_SEEN);
	if (c->has_calls)
		bpf_map_delete_elem(&calls_of, &c->head.id);
	return true;
}

/*
 * From the sweep: reports a whole answer. It copies first and claims afterwards, so a request that
 * arrives in between wins and reports this one itself. one_call: if a second call may have begun in
 * between, the request must wait.
 */
static __always_inline void request_sweep(struct conn *c, struct sock *sk, bool one_call)
{
	struct req_calls *cs = c->has_calls ? bpf_map_lookup_elem(&calls_of, &c->head.id) : NULL;
	struct req_event *e;

	if (__sync_val_compare_and_swap(&c->state, CONN_ANSWERED, CONN_SWEEPING) != CONN_ANSWERED)
		return;
	request_facts(c, sk, HOOK_SWEEP, 0);
	calls_check(c, cs, HOOK_SWEEP);
	e = bpf_ringbuf_reserve(&ring, sizeof(*e), 0);
	if (!e) { /* a separate test, as verifiers before 6.3 track it once only */
		if (sweep_claimed(c))
			count(STAT_RING_FULL);
		return;
	}
	event_fill(e, c, cs);
	if (one_call && e->head.ncalls > 1) {
		__sync_val_compare_and_swap(&c->state, CONN_SWEEPING, CONN_ANSWERED);
	} else if (sweep_claimed(c)) {
		bpf_ringbuf_submit(e, 0);
		return;
	}
	bpf_ringbuf_discard(e, 0);
}

/* An upgraded connection (101) speaks another protocol from here on. */
static __always_inline void server_upgraded(struct conn *c, struct sock *sk)
{
	if (!answer_ends(c))
		return;
	request_facts(c, sk, HOOK_SEND, 0);
	request_report(c, HOOK_SEND);
	unread_report(REQ_UNREAD_UPGRADED);
	c->role = ROLE_IGNORED;
}

enum { PF_EXITING = 4 }; /* include/linux/sched.h */

/* This process ends, and its sockets with it. */
static __always_inline bool is_exiting(void)
{
	return bpf_get_current_task_btf()->flags & PF_EXITING;
}

/* The connection ends while a request is open or its answer is being sent. */
static __always_inline void server_state(struct conn *c, struct sock *sk, int from, int to)
{
	int error = SOCK_READ(sk, sk_err);
	__u32 was = __sync_lock_test_and_set(&c->state, CONN_IDLE);

	if (was == CONN_IDLE)
		return;
	if (was == CONN_OPEN) {
		struct req_calls *cs = bpf_map_lookup_elem(&calls_of, &c->head.id);

		if (cs)
			c->has_calls = 1;
		calls_missed(c, cs);
		c->head.last_ns = bpf_ktime_get_ns();
		/* the peer's FIN or RST came first: the client gave up */
		if (from == TCP_CLOSE_WAIT || (to == TCP_CLOSE && error))
			c->head.flags |= REQ_CLIENT_CLOSED;
		else
			c->head.flags |= REQ_NO_ANSWER | (is_exiting() ? 0 : REQ_DROPPED);
		cur_end(c->head.id);
	}
	request_facts(c, sk, HOOK_STATE, 0);
	request_report(c, HOOK_STATE);
}
