/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_call.h - the client side: upstream calls and the request that each belongs to.
 *
 * A call belongs to the request on which its thread works when it connects, or at its first write
 * on a kept-alive connection. Every later action on that connection, except its close once there is
 * an answer, makes the call's request the thread's current one again. The parent must be
 * unanswered. Without a certain parent a call is reported by itself and counted: there is no
 * guessing. Names (request_names.h) can contradict the thread of a loop; they then decide for all
 * calls of its process.
 *
 * A loop that runs timers between two events (nginx's limit_req) can call for another request than
 * the one it read last, and this cannot be seen at the call. It is seen when that request is
 * answered: the loop's last action was to read the answer of a call that is bound to another
 * request and was sent after this request was read. Then the calls of both are doubtful
 * (answer_begins).
 */
#pragma once

#include "bpf/request/request_names.h"

/* Copies the call into its request. NULL: the request is over. */
static __always_inline struct req_calls *call_store(struct conn *c, __u64 now)
{
	struct req_calls *cs;

	if (!c->parent)
		return NULL;
	cs = bpf_map_lookup_elem(&calls_of, &c->parent);
	if (!cs || cs->doubtful) {
		c->parent = 0;
		return NULL;
	}
	cs->call[c->slot & (REQ_CALLS - 1)] = c->call;
	cs->touched_ns = now;
	return cs;
}

/*
 * The thread acts for this call: the call's request is its current one, and was since its last
 * action.
 */
static __always_inline void call_is_current(struct conn *c, struct req_calls *cs, __u64 now,
					    enum req_wait bytes)
{
	struct thread *th = thread_make();
	__u64 cur;

	if (!th)
		return;
	cur = thread_cur(th);
	if (cs && was_at(th, cur, c->parent))
		time_to(th, &cs->split, now, bytes);
	else
		time_leave(th, cur, now);
	thread_works_on(th, cs && !cs->answered ? c->parent : CUR_NOBODY, c->loop);
	th->target = cs ? cs->target : 0;
	th->by_call = bytes == WAIT_UPSTREAM ? BY_CALL_READ : BY_CALL_SENT;
	th->call_ns = c->sent_ns ? c->sent_ns : c->call.start_ns; /* a refused call is never sent */
}

static __always_inline void call_report(struct conn *c)
{
	struct req_call_event *e = bpf_ringbuf_reserve(&ring, sizeof(*e), 0);

	if (!e) {
		count(STAT_RING_FULL);
		return;
	}
	e->kind = REQ_KIND_CALL;
	e->tgid = c->tgid;
	__builtin_memcpy(e->comm, c->comm, REQ_COMM);
	e->call = c->call;
	bpf_ringbuf_submit(e, 0);
}

/* Adds a call to request id. Returns its index, or -1 if the request no longer exists. */
static __always_inline int calls_add(__u64 id, __u64 now)
{
	struct req_calls *cs = calls_make(id);
	__u32 n;

	if (!cs || cs->answered || cs->doubtful)
		return -1;
	n = cs->n++;
	cs->open++;
	cs->touched_ns = now;
	return n < REQ_CALLS ? n : REQ_CALLS - 1;
}

/* The call waits for no answer any more. */
static __always_inline void call_settled(const struct conn *c)
{
	struct req_calls *cs = c->parent ? bpf_map_lookup_elem(&calls_of, &c->parent) : NULL;

	if (cs && cs->open)
		cs->open--;
}

static __always_inline void call_bind(struct conn *c, __u64 id, __u64 now)
{
	int slot = id ? calls_add(id, now) : -1;

	c->parent = slot >= 0 ? id : 0;
	c->slot = slot;
}

/* The call is not of the request that it was given to when it connected. */
static __always_inline void call_unbind(struct conn *c)
{
	struct req_calls *cs = bpf_map_lookup_elem(&calls_of, &c->parent);

	c->parent = 0;
	if (!cs)
		return;
	if (cs->open)
		cs->open--;
	cs->call[c->slot & (REQ_CALLS - 1)].flags = 0;
	if (cs->n && c->slot + 1 == cs->n)
		cs->n--;
}

/* A call begins: finds its request. */
static __always_inline void call_begin(struct conn *c, struct sock *sk, __u32 flags, __u64 now)
{
	__u32 loop = 0, tgid = bpf_get_current_pid_tgid() >> 32;
	__u64 id = cur_get(&loop);
	struct habit *h = id ? habit_of(tgid) : NULL;
	struct thread *th = thread_get();
	struct req_calls *cs;

	call_bind(c, h && h->by_names ? 0 : id, now);
	cs = th && c->parent ? bpf_map_lookup_elem(&calls_of, &c->parent) : NULL;
	if (cs && !cs->target)
		cs->target = th->target;
	c->loop = loop || (th && th->loop);
	c->state = CONN_OPEN;
	__builtin_memset(&c->call, 0, sizeof(c->call));
	c->call.start_ns = now;
	c->call.flags = flags;
	c->sent_ns = 0;
	c->tgid = tgid;
	if (!c->parent)
		process_name(c->comm);
	if (!c->local)
		net_begin(c, sk);
	addr_of(&c->call.addr, sk, true);
}

/*
 * The request of a loop's call whose method and target hash to `target`, and which its thread
 * gives to c->parent (0: nobody). 0: not known. A request that called already may be called for
 * under any name by another one, so it contradicts nothing.
 */
static __always_inline __u64 call_of_loop(const struct conn *c, struct habit *h, __u32 target)
{
	struct req_calls *cs = c->parent ? bpf_map_lookup_elem(&calls_of, &c->parent) : NULL;
	struct req_calls *other;
	__u64 id;
	__u32 n;

	if (!target || (cs && cs->target == target))
		return c->parent;
	id = request_by_name(c->tgid, target, &n);
	if (!c->parent || n > 1)
		return id;
	if (!id)
		return c->parent; /* it calls under a name of its own */
	other = bpf_map_lookup_elem(&calls_of, &id);
	if (other && other->n)
		return c->parent;
	habit_lost(h);
	return id;
}

/* The call is request id's, by its name. */
static __always_inline void call_moves(struct conn *c, __u64 id, __u64 now)
{
	struct req_calls *cs;

	if (id == c->parent)
		return;
	if (c->parent)
		call_unbind(c);
	call_bind(c, id, now);
	cs = c->parent ? bpf_map_lookup_elem(&calls_of, &c->parent) : NULL;
	if (cs)
		cs->named = 1;
}

static __always_inline void call_by_names(struct conn *c, __u32 target, __u32 skip, __u32 len,
					  __u64 now)
{
	__u64 id;
	__u32 n;

	if (c->parent) /* by its thread, when it connected */
		call_unbind(c);
	id = request_by_ids(c->tgid, skip, len);
	call_moves(c, id ? id : request_by_name(c->tgid, target, &n), now);
}

/*
 * The head of a call is being sent: n bytes of it are in c->line, and it begins `skip` bytes into
 * the len bytes of the system call. Names may say that it is another's.
 */
static __always_inline void call_named(struct conn *c, __u32 n, __u32 skip, __u32 len, __u64 now)
{
	struct habit *h = habit_of(c->tgid);

	if (!h)
		return; /* it serves nobody */
	if (!h->named_ns)
		h->named_ns = now;
	if (h->by_names && !h->counted) {
		h->counted = 1;
		count(STAT_BY_NAMES);
	}
	if (h->by_names)
		call_by_names(c, line_target(c, n), skip, len, now);
	else if (c->loop)
		call_moves(c, call_of_loop(c, h, line_target(c, n)), now);
	if (!c->parent)
		call_unknown(h, now);
}

static __always_inline void call_facts(struct conn *c, struct sock *sk)
{
	if (c->local)
		return;
	c->call.retrans = TCP_READ(sk, total_retrans) - c->retrans0;
	c->call.srtt_us = TCP_READ(sk, srtt_us) >> 3;
}

/* The call is over. Without a request it is reported by itself. */
static __always_inline void call_end(struct conn *c)
{
	__u32 state = c->state;

	if (state != CONN_IDLE && !c->parent && (c->call.flags & (CALL_SENT | CALL_FAILED)))
		call_report(c);
	c->state = CONN_IDLE;
}

static __always_inline void client_connect(struct sock *sk)
{
	struct conn *c = conn_make(sk, ROLE_CLIENT, STAT_END);

	__u64 now = bpf_ktime_get_ns();

	if (!c)
		return;
	call_begin(c, sk, 0, now);
	c->fresh = 1;
	call_store(c, now);
}

static __always_inline void client_connected(struct conn *c, struct sock *sk)
{
	c->call.connect_ns = bpf_ktime_get_ns();
	call_facts(c, sk);
	call_store(c, c->call.connect_ns);
}

/*
 * A request begins: the call's own, or that of the next call on a kept connection. False: the peer
 * is not waited for.
 */
static __always_inline bool client_begins(struct conn *c, struct sock *sk, __u64 now)
{
	if (c->state == CONN_OPEN && !c->fresh)
		return false;
	if (!c->fresh) {
		call_end(c);
		call_begin(c, sk, CALL_REUSED, now);
	}
	c->fresh = 0;
	message_reset(&c->an);
	c->sent_ns = now;
	c->call.flags |= CALL_SENT;
	if (!c->local)
		c->call.local_port = SOCK_READ(sk, __sk_common.skc_num);
	return true;
}

/* The connection speaks another protocol than HTTP; it began with the first n bytes of c->line. */
static __always_inline void client_is_other(struct conn *c, __u32 n)
{
	c->call.flags &= ~CALL_SENT;
	c->fresh = 0;
	c->role = ROLE_IGNORED;
	c->other = 1;
	c->first = n < 4 ? 0 : (__u32)word_of(c->line);
	c->heard = 0;
	call_settled(c);
}

/* A request begins with the bytes from x->line on. Returns how many of them are in c->line. */
static __always_inline __u32 client_request(struct conn *c, struct sock *sk,
					    volatile struct scan *x, __u32 len, __u64 now)
{
	const struct scratch *b = scratch_of(HOOK_SEND);
	__u32 rest = message_rest(x), n;
	bool begins;

	if (!b)
		return 0;
	n = line_keep_first(c, x, b);
	begins = client_begins(c, sk, now);
	if (message_run(&c->rq, HOOK_SEND) & EVENT_BEGAN)
		message_run(&c->rq, HOOK_SEND);
	if (begins && !(x->events & EVENT_BAD))
		call_named(c, n, rest < len ? len - rest : 0, len, now);
	return n;
}

/* The first bytes on a connection can be those of a request, or of what may precede one. */
static __always_inline bool client_may_speak(struct conn *c, struct scratch *b, __u32 len, __u32 *n)
{
	struct span s = {};

	if (!c->fresh || c->rq.spoken || c->rq.carried || c->rq.state != MESSAGE_START)
		return true;
	__builtin_memset(b->b, 0, sizeof(__u64));
	span_of_call(&s, len);
	*n = span_gather(HOOK_SEND, 0, sizeof(__u64), &s);
	__builtin_memcpy(c->line, b->b, sizeof(__u64));
	return begins_plausibly(word_of(b->b), *n);
}

/* The first bytes written decide whether the connection speaks HTTP. */
static __always_inline void client_send(struct conn *c, struct sock *sk, int len)
{
	volatile struct scan *x = scan_of(HOOK_SEND);
	struct scratch *b = scratch_of(HOOK_SEND);
	__u64 now = bpf_ktime_get_ns();
	__u32 n = 0;

	if (!x || !b)
		return;
	if (client_may_speak(c, b, len, &n)) {
		message_open(c, &c->rq, sk, HOOK_SEND, false, len);
		if (message_run(&c->rq, HOOK_SEND) & EVENT_BEGAN)
			n = client_request(c, sk, x, len, now);
		message_close(c, &c->rq, sk, HOOK_SEND);
		if (x->events & EVENT_BAD && !c->an.spoken)
			client_is_other(c, n);
	} else {
		client_is_other(c, n);
	}
	call_is_current(c, call_store(c, now), now, WAIT_RECV);
}

static __always_inline void client_answer(struct conn *c, struct sock *sk, int len, __u64 now)
{
	volatile struct scan *x = scan_of(HOOK_RECV);
	__u32 events;

	if (!x)
		return;
	c->an.method = c->rq.method;
	message_open(c, &c->an, sk, HOOK_RECV, true, len);
	events = message_run(&c->an, HOOK_RECV);
	message_close(c, &c->an, sk, HOOK_RECV);
	if (c->state == CONN_OPEN && (events & EVENT_FINAL || c->an.state == MESSAGE_LOST)) {
		c->call.status = x->status;
		c->state = CONN_ANSWERED;
		call_settled(c);
		if (c->rq.state == MESSAGE_TUNNEL && c->an.state != MESSAGE_TUNNEL)
			message_ends(&c->rq); /* CONNECT was refused */
		wake();
	}
	c->call.last_ns = now;
	call_facts(c, sk);
}

static __always_inline void client_gone(struct conn *c, struct sock *sk, int error, __u64 now)
{
	if (c->state != CONN_OPEN)
		return;
	c->call.last_ns = now;
	c->call.flags |= CALL_NO_ANSWER;
	if (!c->call.error)
		c->call.error = error;
	call_facts(c, sk);
	c->state = CONN_ANSWERED;
	call_settled(c);
	wake();
}

/* Nothing to read yet, or interrupted by a signal. */
static __always_inline bool is_to_be_tried_again(int ret)
{
	return ret == -EAGAIN || ret == -EINTR || ret <= -ERESTARTSYS;
}

/* How long the bytes just read lay unread; one jiffy is within the clock's error. */
static __always_inline __u64 unread_ns(struct sock *sk)
{
	__u32 jiffies = (__u32)bpf_jiffies64() - ICSK_READ(sk, icsk_ack.lrcvtime);

	return jiffies > 1 && jiffies < 1u << 24 ? jiffies * control.jiffy_ns : 0;
}

/*
 * A read that finds nothing (whether a kept connection is still open, say) shows nothing about the
 * request on which the thread works. If it waited for this call, the wait was the call's.
 */
static __always_inline void client_looked(struct conn *c, struct req_calls *cs, __u64 now)
{
	struct thread *th = thread_get();

	if (th && cs && c->state == CONN_OPEN && thread_cur(th) == c->parent)
		time_to(th, &cs->split, now, WAIT_UPSTREAM);
}

static __always_inline void client_recv(struct conn *c, struct sock *sk, int ret)
{
	__u64 now = bpf_ktime_get_ns();
	bool nothing = ret <= 0 && (c->state == CONN_IDLE || is_to_be_tried_again(ret));
	bool ended = ret <= 0 && c->state == CONN_ANSWERED;
	struct req_calls *cs;

	if (ret > 0)
		client_answer(c, sk, ret, now);
	else if (!nothing)
		client_gone(c, sk, ret ? -ret : EPIPE, now); /* a FIN instead of an answer */
	cs = call_store(c, now);
	if (nothing || (ended && (!cs || cs->answered))) {
		client_looked(c, cs, now);
		return;
	}
	if (cs && c->loop && ret > 0 && !c->local)
		cs->split.loop_ns += unread_ns(sk);
	call_is_current(c, cs, now, WAIT_UPSTREAM);
}

/* State changes caused by the peer's last segments, in whatever thread they interrupt. */
static __always_inline bool is_last_ack(int from, int to)
{
	return to == TCP_CLOSE && from != TCP_SYN_SENT && from != TCP_ESTABLISHED &&
	       from != TCP_CLOSE_WAIT;
}

/*
 * Closing a connection with an unanswered call is work on its request. Closing a kept-alive one
 * makes room for a call of another request, which stays the current one.
 */
static __always_inline bool close_is_work(const struct conn *c)
{
	return c->call.flags & CALL_NO_ANSWER;
}

/*
 * close() by the owner, or the end of the connection in interrupt context (sk_err then has the
 * cause).
 */
static __always_inline void client_state(struct conn *c, struct sock *sk, int from, int to)
{
	int error = SOCK_READ(sk, sk_err);
	__u64 now = bpf_ktime_get_ns();
	struct req_calls *cs;

	if (from == TCP_SYN_SENT && to == TCP_CLOSE) {
		c->call.flags |= CALL_FAILED;
		if (!c->parent)
			call_unknown(habit_of(c->tgid), now);
	}
	client_gone(c, sk, error, now);
	cs = call_store(c, now);
	if (to == TCP_CLOSE && error)
		c->dead = 1;
	else if (!is_last_ack(from, to) && close_is_work(c))
		call_is_current(c, cs, now, WAIT_UPSTREAM);
	call_end(c);
}
