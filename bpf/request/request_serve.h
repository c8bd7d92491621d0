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

/* len: bytes that the call moved, of which the last `rest` are of the request. */
static __always_inline void request_begin(struct conn *c, struct sock *sk, __u32 len, __u32 rest)
{
	__u64 now = bpf_ktime_get_ns();
	struct task_struct *t = bpf_get_current_task_btf();
	struct req_head *h = &c->head;
	struct thread *th = thread_make();

	h->kind = REQ_KIND_REQUEST;
	h->flags = 0;
	h->id = now << 8 | (bpf_get_smp_processor_id() & 0xff);
	h->read_ns = h->body_ns = now;
	h->first_ns = h->last_ns = 0;
	h->bytes_in = rest;
	h->bytes_out = 0;
	h->tgid = t->tgid;
	h->tid = t->pid;
	h->status = 0;
	h->ncalls = 0;
	message_reset(&c->an);
	c->has_calls = 0;
	if (c->pipelined == UNSEEN_HERE)
		c->pipelined = UNSEEN_BEFORE;
	if (!c->local) {
		h->queue_jiffies = (__u32)bpf_jiffies64() - ICSK_READ(sk, icsk_ack.lrcvtime);
		net_begin(c, sk);
		net_count(c, sk, rest);
	}
	if (!c->loop)
		c->loop = is_in_epoll(sk) || is_uring(); /* io_uring is an event loop, too */
	c->state = CONN_OPEN;
	__builtin_memset(&h->net, 0, sizeof(h->net) * 2 + sizeof(h->split));
	request_named(c, rest < len ? len - rest : 0, len);
	if (!th)
		return;
	queue_time(h, th, now);
	time_leave(th, thread_cur(th), now);
	if (c->loop && th->unserved && thread_cur(th))
		habit_lost(habit_of(h->tgid)); /* it reads on before it serves the last one */
	cur_begin(th, h->id, c->loop);
	th->target = c->target;
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

/* The first request on a socket makes it a server's. */
static __always_inline void server_is(struct conn *c, struct sock *sk)
{
	c->role = ROLE_SERVER;
	addr_of(&c->head.remote, sk, true);
	addr_of(&c->head.local, sk, false);
	c->head.netns = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
	process_name(c->head.comm);
}

/*
 * The rest of a head, or a body: adds missing bytes to the stored line. len: of them, the call's
 * first ones.
 */
static __always_inline void server_more(struct conn *c, int len)
{
	struct scratch *x = scratch_of(HOOK_RECV);
	__u32 at = c->head.line_len;
	struct span s = {};
	__u64 now;

	c->head.bytes_in += len;
	if (c->state != CONN_OPEN)
		return;
	if (at < REQ_LINE && x) {
		span_of_call(&s, len);
		__builtin_memcpy(x->b, c->line, REQ_LINE);
		c->head.line_len = span_gather(HOOK_RECV, at, REQ_LINE, &s);
		__builtin_memcpy(c->line, x->b, REQ_LINE);
		request_named(c, 0, len);
	}
	now = bpf_ktime_get_ns();
	server_works(c, now);
	c->head.body_ns = now;
	c->head.split.own_body_ns = c->head.split.own_ns;
}

/* What began was no request. */
static __always_inline void request_cancel(struct conn *c)
{
	names_drop(c);
	cur_end(c->head.id);
	c->state = CONN_IDLE;
	c->head.id = 0;
	if (c->sole)
		c->role = ROLE_IGNORED; /* for good, whatever its bytes look like later */
}

/* A request begins: the one before it has ended. before: bytes of the call that belong to that one.
 */
static __always_inline void server_next(struct conn *c, struct sock *sk, int before, int len)
{
	__u32 was = __sync_lock_test_and_set(&c->state, CONN_IDLE);

	c->head.bytes_in += before;
	c->sole = 0;
	if (was == CONN_OPEN) { /* the last one got no answer */
		names_drop(c);
		net_out_of_order(c, net_unsent(c, sk, 0));
	}
	if (was != CONN_IDLE) {
		request_facts(c, sk, len - before);
		request_report(c);
	}
}

/* A request begins with the bytes from x->line on. */
static __always_inline void server_begins(struct conn *c, struct sock *sk, volatile struct scan *x,
					  int len)
{
	const struct scratch *b = scratch_of(HOOK_RECV);
	__u32 rest = message_rest(x);
	struct thread *th;

	if (!b)
		return;
	if (c->role == ROLE_NEW)
		server_is(c, sk);
	else
		server_next(c, sk, len - rest, len);
	c->head.line_len = line_keep_first(c, x, b);
	request_begin(c, sk, len, rest);
	if (message_run(&c->rq, HOOK_RECV) & EVENT_BEGAN) {
		net_out_of_order(c, false); /* a second one in the same read */
		message_run(&c->rq, HOOK_RECV);
	} else if (x->events & EVENT_BAD) {
		request_cancel(c);
	}
	th = thread_get();
	if (th)
		th->unserved = c->state == CONN_OPEN && !message_is_open(&c->rq);
}

/* Bytes on a connection that has had a request: more of that one, or the next one. */
static __always_inline void server_bytes(struct conn *c, struct sock *sk, int len)
{
	volatile struct scan *x = scan_of(HOOK_RECV);
	bool began;

	if (!x)
		return;
	message_open(c, &c->rq, sk, HOOK_RECV, false, len);
	began = message_run(&c->rq, HOOK_RECV) & EVENT_BEGAN;
	if (began)
		server_begins(c, sk, x, len);
	message_close(c, &c->rq, sk, HOOK_RECV);
	if (!began && x->events & EVENT_BAD && c->state == CONN_OPEN && !c->pipelined)
		request_cancel(c);
	else if (!began)
		server_more(c, len);
}

/* These are the first bytes that were ever read from the connection. False: it is not known. */
static __always_inline bool is_first_read(struct sock *sk, __u32 len)
{
	__u32 begin;

	if (SOCK_READ(sk, __sk_common.skc_family) == AF_UNIX)
		return false;
	begin = TCP_READ(sk, rcv_nxt) - (__u32)TCP_READ(sk, bytes_received);
	return TCP_READ(sk, copied_seq) - begin == len;
}

/*
 * The connection begins with another protocol. An older one of AF_UNIX may be in the midst of a
 * body, but hardly before a zero. With an answer to bytes that were sent before it is one that was
 * made to a server before the probe came, and its next call is seen.
 */
static __always_inline void server_is_other(struct sock *sk, __u64 w, __u32 len)
{
	bool local = SOCK_READ(sk, __sk_common.skc_family) == AF_UNIX;

	if (is_answer(w) && (local || TCP_READ(sk, bytes_sent)))
		return;
	if (local ? len >= 4 && !(w & 0xff) : is_first_read(sk, len))
		conn_make(sk, ROLE_IGNORED, STAT_END);
}

static __always_inline void server_first(struct conn *c, struct sock *sk, int len)
{
	struct span s = {};
	__u64 w;

	span_of_call(&s, len);
	w = first_word(&s);
	if (is_client_hello(w) || is_http2(w)) {
		if (conn_make(sk, ROLE_IGNORED, STAT_END))
			unread_report(is_http2(w) ? REQ_UNREAD_HTTP2 : REQ_UNREAD_TLS);
		return;
	}
	if (!s.p && is_uring()) {
		uring_seen(sk);
		unread_report(REQ_UNREAD_URING);
	}
	if (!c && !begins_plausibly(w, s.len) && (s.p || !is_uring())) {
		if (s.p)
			server_is_other(sk, w, len);
		return;
	}
	if (!c) {
		c = conn_make(sk, ROLE_NEW, STAT_CONN_FULL);
		if (c)
			c->sole = c->local || is_first_read(sk, len);
	}
	if (!c)
		return;
	server_bytes(c, sk, len);
	if (c->role == ROLE_SERVER && c->state == CONN_IDLE && c->rq.state == MESSAGE_LOST)
		c->role = ROLE_NEW;
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

/* False: the bytes sent do not begin the final answer, or are too few. *len: without interim ones.
 */
static __always_inline bool answer_opens(struct conn *c, struct sock *sk, struct thread *th,
					 const volatile struct scan *x, __u64 now, __u32 *len)
{
	if (x->events & EVENT_INTERIM) {
		c->write0 += c->head.bytes_out + x->interim;
		c->head.bytes_out = 0;
		*len -= x->interim;
		server_works(c, now);
	}
	if (!(x->events & EVENT_FINAL)) {
		if (c->an.state != MESSAGE_LOST) {
			c->head.bytes_out += *len;
			return false;
		}
		c->head.flags |= REQ_HEAD_MISSED;
	}
	c->head.status = x->status;
	answer_begins(c, sk, th, now, *len);
	return true;
}

/* The bytes sent are followed; an answer behind that of the request is another one's. */
static __always_inline void answer_bytes(struct conn *c, struct sock *sk, bool first, int len)
{
	volatile struct scan *x = scan_of(HOOK_SEND);
	__u32 events;

	if (!x)
		return;
	c->an.method = c->rq.method;
	message_open(c, &c->an, sk, HOOK_SEND, true, len);
	events = message_run(&c->an, HOOK_SEND);
	message_close(c, &c->an, sk, HOOK_SEND);
	if (events & EVENT_AGAIN || (!first && events & EVENT_FINAL))
		net_out_of_order(c, net_unread(c, sk, 0));
	if (c->rq.state == MESSAGE_TUNNEL && events & EVENT_FINAL && c->an.state != MESSAGE_TUNNEL)
		message_ends(&c->rq); /* CONNECT was refused */
}

/* The answer's last byte went to a socket whose end cannot be seen. */
static __always_inline void answer_ended(struct conn *c, struct sock *sk)
{
	if (!c->local || !c->an.whole || !answer_ends(c))
		return;
	request_facts(c, sk, 0);
	request_report(c);
}

static __always_inline void server_send(struct conn *c, struct sock *sk, int bytes)
{
	volatile struct scan *x = scan_of(HOOK_SEND);
	struct thread *th = thread_get();
	__u64 now = bpf_ktime_get_ns();
	bool first = c->state == CONN_OPEN;
	__u32 len = bytes;

	if (!x)
		return;
	if (first && !th)
		th = thread_make(); /* a pool thread: its time is measured from now on */
	if (c->state != CONN_IDLE)
		answer_bytes(c, sk, first, len);
	else if (c->head.id)
		count(STAT_LATE);
	if (first && !answer_opens(c, sk, th, x, now, &len))
		return;
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
 * arrives in between wins and reports this one itself.
 */
static __always_inline void request_sweep(struct conn *c, struct sock *sk)
{
	struct req_calls *cs = c->has_calls ? bpf_map_lookup_elem(&calls_of, &c->head.id) : NULL;
	struct req_event *e;

	if (__sync_val_compare_and_swap(&c->state, CONN_ANSWERED, CONN_SWEEPING) != CONN_ANSWERED)
		return;
	request_facts(c, sk, 0);
	e = bpf_ringbuf_reserve(&ring, sizeof(*e), 0);
	if (!e) { /* a separate test, as verifiers before 6.3 track it once only */
		if (sweep_claimed(c))
			count(STAT_RING_FULL);
		return;
	}
	event_fill(e, c, cs);
	if (sweep_claimed(c)) {
		bpf_ringbuf_submit(e, 0);
		return;
	}
	bpf_ringbuf_discard(e, 0);
}

/* The connection speaks another protocol from here on, or carries any (CONNECT). */
static __always_inline void server_upgraded(struct conn *c, struct sock *sk)
{
	if (c->an.state != MESSAGE_TUNNEL || !answer_ends(c))
		return;
	request_facts(c, sk, 0);
	request_report(c);
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
	request_facts(c, sk, 0);
	request_report(c);
}
