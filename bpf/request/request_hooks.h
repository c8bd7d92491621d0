/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_hooks.h - the entry points of the state machine for both kinds of hooks: bytes read from
 * a socket, bytes written to it, its TCP state, its end, and the sweep.
 */
#pragma once

#include "bpf/request/request_peer.h"
#include "bpf/request/request_serve.h"

/* This thread is in the watched cgroup or below it, and not the probe's. */
static __always_inline bool in_scope(void)
{
	if (bpf_get_current_task_btf()->tgid == (int)control.own_tgid)
		return false;
	return !control.scope_id ||
	       bpf_get_current_ancestor_cgroup_id(control.scope_level) == control.scope_id;
}

/* TCP, or a stream between two processes of this host. */
static __always_inline bool is_candidate(struct sock *sk)
{
	__u16 family = SOCK_READ(sk, __sk_common.skc_family);

	if (family == AF_UNIX)
		return SOCK_READ(sk, sk_type) == SOCK_STREAM;
	return (family == AF_INET || family == AF_INET6) &&
	       SOCK_READ(sk, sk_protocol) == IPPROTO_TCP;
}

static __always_inline void client_first(struct sock *sk, int len)
{
	struct scratch *x = scratch_of(HOOK_SEND);
	struct span s = {};
	struct conn *c;
	__u32 n;

	if (!x)
		return;
	__builtin_memset(x->b, 0, sizeof(__u64));
	span_of_call(&s, len);
	n = span_gather(HOOK_SEND, 0, sizeof(__u64), &s);
	if (!begins_plausibly(word_of(x->b), n)) {
		peer_first(sk, x, n);
		return;
	}
	c = conn_make(sk, ROLE_CLIENT, STAT_CLIENT_FULL);
	if (c)
		client_send(c, sk, len);
}

/* ret: what the call returned, bytes or -errno. */
static __always_inline void sock_read(struct sock *sk, int ret)
{
	struct conn *c = conn_get(sk);

	if (!c || c->role == ROLE_NEW) {
		if (ret > 0 && is_candidate(sk) && in_scope()) {
			server_first(c, sk, ret);
			if (was_opened_here(sk))
				peer_read(NULL, sk, ret);
		}
	} else if (c->role == ROLE_SERVER) {
		server_recv(c, sk, ret);
	} else if (c->role == ROLE_CLIENT) {
		client_recv(c, sk, ret);
	} else if (c->other) {
		peer_read(c, sk, ret);
	}
}

static __always_inline void sock_written(struct sock *sk, int len)
{
	struct conn *c = conn_get(sk);

	if (!c || c->role == ROLE_NEW) {
		if (is_candidate(sk) && in_scope())
			client_first(sk, len); /* connected before the probe started, or AF_UNIX */
	} else if (c->role == ROLE_SERVER) {
		server_send(c, sk, len);
		server_upgraded(c, sk);
		answer_ended(c, sk);
	} else if (c->role == ROLE_CLIENT) {
		client_send(c, sk, len);
		if (c->other)
			peer_opened(c, sk);
	} else if (c->other) {
		peer_sent(c);
	}
}

static __always_inline void sock_state(struct sock *sk, int from, int to)
{
	struct conn *c;

	if (to == TCP_SYN_SENT) { /* in connect(): this thread is the caller */
		if (in_scope())
			client_connect(sk);
		return;
	}
	if (from != TCP_SYN_SENT && to != TCP_FIN_WAIT1 && to != TCP_LAST_ACK && to != TCP_CLOSE)
		return;
	c = conn_get(sk);
	if (!c)
		return;
	if (c->role == ROLE_SERVER)
		server_state(c, sk, from, to);
	else if (c->role == ROLE_CLIENT && to == TCP_ESTABLISHED)
		client_connected(c, sk);
	else if (c->role == ROLE_CLIENT)
		client_state(c, sk, from, to);
}

/*
 * This call had already failed unnoticed: the loop was busy with another request, or had been woken
 * by the failure and waited for a CPU.
 */
static __always_inline void call_lay(const struct conn *c, struct req_calls *cs, __u64 now)
{
	struct thread *th = c->loop ? thread_get() : NULL;
	__u64 cur = th ? thread_cur(th) : 0, from = c->call.last_ns, to = now;

	if (!cs || !th || cur == c->parent || !control.split)
		return;
	if (cur && from < th->mark_ns)
		from = th->mark_ns;
	if (!cur)
		to = th->in_ns;
	if (to <= from)
		return;
	cs->split.wait_ns[cur ? WAIT_LOOP : WAIT_RUNQ] += to - from;
	cs->split.own_ns += to - from;
}

/*
 * For a client socket that had ended in interrupt context this is close(): no state changes any
 * more, but here its owner turns to the next upstream.
 */
static __always_inline void sock_destroyed(struct sock *sk)
{
	struct conn *c = conn_get(sk);

	if (!c)
		return;
	if (c->role == ROLE_CLIENT && c->dead) {
		__u64 now = bpf_ktime_get_ns();
		struct req_calls *cs = call_store(c, now);

		call_lay(c, cs, now);
		if (close_is_work(c))
			call_is_current(c, cs, now, WAIT_UPSTREAM);
	}
	conn_drop(sk);
}

/*
 * Silence ends an answer whose end cannot be seen: its bytes were not, or it lasts until the close
 * of an AF_UNIX socket.
 */
static __always_inline void sweep_server(struct conn *c, struct sock *sk, __u64 silent_ns)
{
	bool unsure = c->an.state == MESSAGE_LOST || (c->local && c->an.state == MESSAGE_CLOSE);

	if (silent_ns > (c->an.whole ? REQ_SETTLE_NS : REQ_SWEEP_NS) && (c->an.whole || unsure))
		request_sweep(c, sk);
}

/* Another CPU may have updated last_ns after `now` was read. */
static __always_inline __u64 silent_since(__u64 last_ns, __u64 now)
{
	return now > last_ns ? now - last_ns : 0;
}

/* Reports a whole answer that nothing else has ended. */
static __always_inline void sweep_conn(struct conn *c, struct sock *sk, __u64 now)
{
	if (c->state != CONN_ANSWERED)
		return;
	control.answered = 1;
	if (c->role == ROLE_SERVER)
		sweep_server(c, sk, silent_since(c->head.last_ns, now));
	else if (c->role == ROLE_CLIENT && !c->parent &&
		 silent_since(c->call.last_ns, now) > REQ_SWEEP_NS)
		call_end(c);
}

static __always_inline __u64 sweep_time(void)
{
	__u64 now = bpf_ktime_get_ns();

	control.clock_ns = now;
	control.clock_jiffies = bpf_jiffies64();
	return now;
}

/* TCP states, for both kinds of hooks. */
SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(on_state, struct sock *sk, int from, int to)
{
	if (control.on && sk->sk_protocol == IPPROTO_TCP)
		sock_state(sk, from, to);
	return 0;
}

SEC("tp_btf/tcp_destroy_sock")
int BPF_PROG(on_destroy, struct sock *sk)
{
	if (control.on)
		sock_destroyed(sk);
	return 0;
}
