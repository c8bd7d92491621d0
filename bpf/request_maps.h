/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_maps.h - the state behind requests: one struct conn per TCP socket that speaks HTTP (in
 * the socket's own storage, so it dies with it), one struct thread per thread that serves, and one
 * struct calls per request in flight that has called upstream. Counters; the ring.
 */
#pragma once

#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "request.h"

enum conn_role { ROLE_NEW, ROLE_SERVER, ROLE_CLIENT, ROLE_IGNORED };

/*
 * A server's connection: IDLE -> OPEN (request read) -> ANSWERED (first byte of the answer) ->
 * IDLE. The sweep claims an ANSWERED one by SWEEPING; whoever moves the state away from ANSWERED or
 * SWEEPING, atomically, is the one who reports the request.
 * A client's: IDLE -> OPEN (request sent, or connecting) -> ANSWERED -> IDLE.
 */
enum conn_state { CONN_IDLE, CONN_OPEN, CONN_ANSWERED, CONN_SWEEPING };

struct conn {
	__u32 state; /* enum conn_state */
	__u8 role;
	__u8 loop; /* watched by an epoll: its thread serves many */
	__u8 pipelined;
	__u8 has_body; /* the request may be followed by bytes that are not a request */
	__u8 unsure; /* fewer than eight bytes have come: it may not be a request at all */
	__u8 has_calls;
	__u8 fresh; /* client: connected, nothing sent yet */
	__u8 dead; /* client: ended in interrupt context, its owner has not been told */
	__u8 slot; /* client: place of the call in its request */
	__u32 retrans0, ooo0; /* of the socket, when the request began */
	__u64 parent; /* client: id of the request it works for; 0: not known */
	union {
		struct {
			char answer[REQ_ANSWER];
			__u32 answer_len;
			__u32 tail; /* the four bytes before the last one sent */
			struct req_head
				head; /* as it goes into the ring: head and line in one piece */
			char line[REQ_LINE];
			char room[REQ_LINE]; /* never written: what span_append might touch, to the
						verifier */
		};
		struct {
			struct req_call call;
			char comm[REQ_COMM];
			__u32 tgid;
		};
	};
};

/* The request a thread is working on. */
struct thread {
	__u64 cur;
	__u64 nvcsw; /* the thread's voluntary switches when cur was set */
	__u32 loop; /* an event loop: once it has slept, cur means nothing */
};

struct calls {
	__u32 n;
	__u32 answered; /* no new call can belong to it */
	__u64 touched_ns;
	struct req_call call[REQ_CALLS];
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct conn);
} conns SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, __u64);
	__type(value, struct calls);
} calls_of SEC(".maps");

/* Processes that answer from another thread than the one that read: no association by thread. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} hoppers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 * 1024 * 1024);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, STAT_END);
	__type(key, __u32);
	__type(value, __u64);
} stats SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct calls);
} empty_calls SEC(".maps");

struct req_control control;

static __always_inline void count(__u32 stat)
{
	__u64 *n = bpf_map_lookup_elem(&stats, &stat);

	if (n)
		(*n)++;
}

static __always_inline struct conn *conn_make(struct sock *sk, enum conn_role role)
{
	struct conn *c = bpf_sk_storage_get(&conns, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);

	if (!c) {
		count(STAT_CONN_FULL);
		return NULL;
	}
	c->role = role;
	return c;
}

static __always_inline void addr_of(struct req_addr *a, struct sock *sk, bool remote)
{
	if (sk->__sk_common.skc_family == AF_INET) {
		__be32 ip = remote ? sk->__sk_common.skc_daddr : sk->__sk_common.skc_rcv_saddr;

		__builtin_memcpy(a->ip, &ip, 4);
		a->len = 4;
	} else {
		bpf_probe_read_kernel(a->ip, 16,
				      remote ? &sk->__sk_common.skc_v6_daddr
					     : &sk->__sk_common.skc_v6_rcv_saddr);
		a->len = 16;
	}
	a->port = remote ? bpf_ntohs(sk->__sk_common.skc_dport) : sk->__sk_common.skc_num;
}

/* Plain loads instead of a helper for each field: kernel 6.2, and we need 6.3 anyway. */
extern void *bpf_rdonly_cast(const void *obj, __u32 btf_id) __ksym;

static __always_inline const struct tcp_sock *tcp_of(struct sock *sk)
{
	return bpf_rdonly_cast(sk, bpf_core_type_id_kernel(struct tcp_sock));
}

static __always_inline void process_name(char comm[REQ_COMM])
{
	struct task_struct *t = bpf_get_current_task_btf();

	BPF_CORE_READ_STR_INTO((char(*)[REQ_COMM])comm, t, group_leader, comm);
}

/* What this thread is working on; 0 when that cannot be said for sure. */
static __always_inline __u64 cur_get(__u32 *loop)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct thread *th = bpf_task_storage_get(&threads, t, 0, 0);

	if (!th || !th->cur || (th->loop && th->nvcsw != t->nvcsw))
		return 0;
	*loop = th->loop;
	return th->cur;
}

static __always_inline void cur_set(__u64 id, __u32 loop)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct thread *th = bpf_task_storage_get(&threads, t, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!th)
		return;
	th->cur = id;
	th->nvcsw = t->nvcsw;
	th->loop = loop;
}

static __always_inline void cur_clear(void)
{
	struct thread *th = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);

	if (th)
		th->cur = 0;
}
