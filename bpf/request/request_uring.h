/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_uring.h - requests moved by io_uring. The socket tracepoints give time and length, but no
 * system call has the buffer, so the bytes are copied from the packets, at the root cgroup. The
 * first such call on a socket is reported to user space (STAT_URING), which only then attaches
 * on_ingress and on_egress; these only read the packets of that port's sockets.
 */
#pragma once

#include "bpf/request/request_peek.h"

enum { PF_IO_WORKER = 0x10 };

/*
 * The first bytes of the last packet that began a message; len 0: already taken, or no packet yet.
 */
struct packet_head {
	__u32 len;
	char b[REQ_ANSWER] __attribute__((aligned(8)));
};

struct packet_heads {
	struct packet_head in, out;
};

#ifdef REQUEST_SYSCALLS

static __always_inline bool is_uring(void)
{
	return false; /* io_uring does not show in the exit of a system call */
}

static __always_inline __u32 packet_head_take(struct sock *sk, bool out, struct scratch *x)
{
	return 0;
}

static __always_inline void uring_seen(struct sock *sk)
{
}

#else

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct packet_heads);
} packet_heads SEC(".maps");

/* Local ports on which io_uring was seen to read or write. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 256);
	__type(key, __u32);
	__type(value, __u32);
} uring_ports SEC(".maps");

/* In io_uring_enter(), or in one of its worker threads. */
static __always_inline bool is_uring(void)
{
	struct task_struct *t = bpf_get_current_task_btf();

	return (t->flags & PF_IO_WORKER) ||
	       REGS_NR((struct pt_regs *)bpf_task_pt_regs(t)) == NR_IO_URING_ENTER;
}

static __always_inline __u32 packet_head_take(struct sock *sk, bool out, struct scratch *x)
{
	struct packet_heads *hs = bpf_sk_storage_get(&packet_heads, sk, 0, 0);
	struct packet_head *h;
	__u32 n;

	if (!hs)
		return 0;
	h = out ? &hs->out : &hs->in;
	n = at_most(h->len, REQ_ANSWER);
	__builtin_memcpy(x->b, h->b, REQ_ANSWER);
	h->len = 0;
	return n;
}

/* From now on the packets of this port are read; earlier ones were missed. */
static __always_inline void uring_seen(struct sock *sk)
{
	__u32 port = sk->__sk_common.skc_num, one = 1;

	count(STAT_URING);
	bpf_map_update_elem(&uring_ports, &port, &one, BPF_ANY);
	bpf_sk_storage_get(&packet_heads, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
}

/* Offset of the payload from the IP header; 0: no payload. */
static __always_inline __u32 payload_of(struct __sk_buff *skb)
{
	__u32 at;
	__u8 b;

	if (bpf_skb_load_bytes(skb, 0, &b, 1))
		return 0;
	at = b >> 4 == 4 ? (b & 15) * 4 : 40;
	if (bpf_skb_load_bytes(skb, at + 12, &b, 1))
		return 0;
	at += (b >> 4) * 4;
	return skb->len > at ? at : 0;
}

static __always_inline void packet_keep(struct __sk_buff *skb, bool out)
{
	struct bpf_sock *sk = skb->sk ? bpf_sk_fullsock(skb->sk) : NULL;
	struct packet_heads *hs;
	struct packet_head *h;
	__u32 port, at;
	__u64 w = 0, n;

	if (!sk || sk->protocol != IPPROTO_TCP)
		return;
	hs = bpf_sk_storage_get(&packet_heads, sk, 0, 0);
	port = sk->src_port;
	if (!hs && bpf_map_lookup_elem(&uring_ports, &port))
		hs = bpf_sk_storage_get(&packet_heads, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	at = hs ? payload_of(skb) : 0;
	if (!at || bpf_skb_load_bytes(skb, at, &w, sizeof(w)) || (!is_request(w) && !is_answer(w)))
		return;
	h = out ? &hs->out : &hs->in;
	n = at_most(skb->len - at, REQ_ANSWER);
	if (n == 0 || bpf_skb_load_bytes(skb, at, h->b, n))
		return;
	h->len = n;
}

#endif
