// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * request.bpf.c - rung A: HTTP/1 requests from the socket tracepoints of kernel 6.3 and later.
 *
 * sock_recv_length and sock_send_length run in the thread that made the call, after it, with its
 * return value; nothing is hooked that other system calls pass. The state machine is in
 * request_serve.h and request_call.h.
 */
#include "request_serve.h"

/* This thread is in the cgroup that is watched, or below it. */
static __always_inline bool in_scope(void)
{
	return !control.scope_id ||
	       bpf_get_current_ancestor_cgroup_id(control.scope_level) == control.scope_id;
}

static __always_inline bool is_watched(struct sock *sk)
{
	__u16 family = sk->__sk_common.skc_family;

	return control.on && sk->sk_protocol == IPPROTO_TCP &&
	       (family == AF_INET || family == AF_INET6) &&
	       (bpf_get_current_pid_tgid() >> 32) != control.own_tgid && in_scope();
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(on_recv, struct sock *sk, int ret, int flags)
{
	struct conn *c;

	if ((flags & MSG_PEEK) || !is_watched(sk))
		return 0;
	c = bpf_sk_storage_get(&conns, sk, 0, 0);
	if (!c) {
		if (ret > 0)
			server_first(sk, ret);
	} else if (c->role == ROLE_SERVER) {
		server_recv(c, sk, ret);
	} else if (c->role == ROLE_CLIENT) {
		client_recv(c, sk, ret);
	}
	return 0;
}

static __always_inline void client_first(struct sock *sk, int len)
{
	struct span s = span_of_call(len);
	struct conn *c;

	if (!is_request(first_word(&s)))
		return;
	c = conn_make(sk, ROLE_CLIENT);
	if (c)
		client_send(c, sk, len);
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(on_send, struct sock *sk, int ret, int flags)
{
	struct conn *c;

	if (ret <= 0 || !is_watched(sk))
		return 0;
	c = bpf_sk_storage_get(&conns, sk, 0, 0);
	if (!c) {
		client_first(sk, ret); /* a client's connection older than the probe */
	} else if (c->role == ROLE_SERVER) {
		server_send(c, ret);
		if (c->head.status == 101)
			server_upgraded(c, sk);
	} else if (c->role == ROLE_CLIENT) {
		client_send(c, sk, ret);
	}
	return 0;
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(on_state, struct sock *sk, int from, int to)
{
	struct conn *c;

	if (!control.on || sk->sk_protocol != IPPROTO_TCP)
		return 0;
	if (to == TCP_SYN_SENT) { /* in connect(): this thread is the caller */
		if ((bpf_get_current_pid_tgid() >> 32) != control.own_tgid && in_scope())
			client_connect(sk);
		return 0;
	}
	if (from != TCP_SYN_SENT && to != TCP_FIN_WAIT1 && to != TCP_LAST_ACK && to != TCP_CLOSE)
		return 0;
	c = bpf_sk_storage_get(&conns, sk, 0, 0);
	if (!c)
		return 0;
	if (c->role == ROLE_SERVER)
		server_state(c, sk, from, to);
	else if (c->role == ROLE_CLIENT && to == TCP_ESTABLISHED)
		client_connected(c, sk);
	else if (c->role == ROLE_CLIENT)
		client_state(c, sk, from, to);
	return 0;
}

/*
 * close() of a client socket that had ended in interrupt context: no state changes any more, yet
 * this is where its owner turns to the next upstream.
 */
SEC("tp_btf/tcp_destroy_sock")
int BPF_PROG(on_destroy, struct sock *sk)
{
	struct conn *c;

	if (!control.on)
		return 0;
	c = bpf_sk_storage_get(&conns, sk, 0, 0);
	if (c && c->role == ROLE_CLIENT && c->dead)
		call_is_current(c, call_store(c));
	return 0;
}

static __always_inline void sweep_server(struct conn *c, struct sock *sk, __u64 silent_ns)
{
	enum answer_end end = answer_end(c);

	if (end == ANSWER_WHOLE || (end == ANSWER_UNKNOWN && silent_ns > REQ_SWEEP_NS))
		request_sweep(c, sk);
}

/* Answers that are whole, and that nothing else has ended. */
SEC("iter/bpf_sk_storage_map")
int sweep(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	struct sock *sk = ctx->sk;
	__u64 now = bpf_ktime_get_ns();
	struct conn *c;

	control.clock_ns = now;
	control.clock_jiffies = bpf_jiffies64();
	if (!sk)
		return 0;
	c = bpf_sk_storage_get(&conns, sk, 0, 0); /* ctx->value is read only */
	if (!c || c->state != CONN_ANSWERED)
		return 0;
	if (c->role == ROLE_SERVER)
		sweep_server(c, sk, now - c->head.last_ns);
	else if (c->role == ROLE_CLIENT && !c->parent && now - c->call.last_ns > REQ_SWEEP_NS)
		call_end(c);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
