// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * request_sockets.bpf.c - HTTP/1 requests from the socket tracepoints of kernel 6.3 and later.
 *
 * sock_recv_length and sock_send_length run in the calling thread, at the end of the call, with its
 * return value; other system calls pass no hook.
 */
#include "bpf/request/request_hooks.h"
#include "bpf/request/request_sched.h"
#include "bpf/lib/sock_file.h"

SEC("tp_btf/sock_recv_length")
int BPF_PROG(on_recv, struct sock *sk, int ret, int flags)
{
	if (control.on && !(flags & MSG_PEEK))
		sock_read(sk, ret);
	return 0;
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(on_send, struct sock *sk, int ret, int flags)
{
	if (control.on && ret > 0)
		sock_written(sk, ret);
	return 0;
}

/* Attached when io_uring has been seen on a socket. */
SEC("cgroup_skb/ingress")
int on_ingress(struct __sk_buff *skb)
{
	packet_keep(skb, false);
	return 1; /* accept the packet */
}

SEC("cgroup_skb/egress")
int on_egress(struct __sk_buff *skb)
{
	packet_keep(skb, true);
	return 1;
}

static __always_inline void sweep_sock(struct sock *sk)
{
	__u64 now = sweep_time();
	struct conn *c = sk ? conn_get(sk) : NULL;

	if (c)
		sweep_conn(c, sk, now);
}

SEC("iter/bpf_sk_storage_map")
int sweep(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	sweep_sock(ctx->sk); /* ctx->value is read only */
	return 0;
}

/* For kernels that do not let programs walk this map. */
SEC("iter/task_file")
int sweep_otherwise(struct bpf_iter__task_file *ctx)
{
	sweep_sock(sock_of_file(ctx->file));
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
