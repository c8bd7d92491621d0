// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tcpconnect.bpf.c - time of TCP connects and failed connects, by the remote port. It is
 * self-contained, like a program of your own; tcpconnect.conf beside it declares the metrics.
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

enum { SLOTS = 18, FIRST = 5 }; /* up to 32 us, 64, ... 2,097,152 us, more */
enum { TCP_ESTABLISHED = 1, TCP_SYN_SENT = 2, TCP_CLOSE = 7 }; /* include/net/tcp_states.h */

/* The kernel types that are read; CO-RE finds their offsets in the running kernel at load time. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct sock_common {
	__be16 skc_dport;
};

struct sock {
	struct sock_common __sk_common;
};
#pragma clang attribute pop

struct called {
	__u16 port;
	__u8 _unused[6]; /* a member that begins with _ becomes no label */
};

struct connects {
	__u64 us[SLOTS]; /* established connections by time to connect */
	__u64 sum_ns;
	__u64 failed; /* refused, timed out, or given up by the caller */
	__u64 calling; /* connects in progress */
};

struct call {
	__u64 ns; /* when the connect began */
	struct called to;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct called);
	__type(value, struct connects);
} connects SEC(".maps");

/* State of a connecting socket. Freed with the socket. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct call);
} calls SEC(".maps");

const struct connects none = {};
__u64 missed; /* connects not counted for lack of room */

static __always_inline struct connects *connects_to(const struct called *to)
{
	struct connects *c = bpf_map_lookup_elem(&connects, to);

	if (c)
		return c;
	bpf_map_update_elem(&connects, to, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&connects, to);
}

static __always_inline void connect_begin(struct sock *sk)
{
	struct call *call = bpf_sk_storage_get(&calls, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	struct connects *c;

	if (!call) {
		__sync_fetch_and_add(&missed, 1);
		return;
	}
	call->ns = bpf_ktime_get_ns();
	call->to.port = bpf_ntohs(sk->__sk_common.skc_dport);
	c = connects_to(&call->to);
	if (c)
		__sync_fetch_and_add(&c->calling, 1);
}

static __always_inline __u32 slot_of(__u64 us)
{
	__u32 slot = 0;

	while (slot < SLOTS - 1 && us > 1ull << (FIRST + slot))
		slot++;
	return slot;
}

static __always_inline void end(struct sock *sk, bool connected)
{
	struct call *call = bpf_sk_storage_get(&calls, sk, 0, 0);
	struct connects *c;
	__u32 slot;
	__u64 ns;

	if (!call || !call->ns)
		return;
	ns = bpf_ktime_get_ns() - call->ns;
	call->ns = 0;
	c = connects_to(&call->to);
	if (!c) {
		__sync_fetch_and_add(&missed, 1);
		return;
	}
	__sync_fetch_and_add(&c->calling, -1);
	if (!connected) {
		__sync_fetch_and_add(&c->failed, 1);
		return;
	}
	slot = slot_of(ns / 1000);
	if (slot < SLOTS) /* for the verifier */
		__sync_fetch_and_add(&c->us[slot], 1);
	__sync_fetch_and_add(&c->sum_ns, ns);
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(on_state, struct sock *sk, int from, int to)
{
	if (to == TCP_SYN_SENT)
		connect_begin(sk);
	else if (from == TCP_SYN_SENT && (to == TCP_ESTABLISHED || to == TCP_CLOSE))
		end(sk, to == TCP_ESTABLISHED);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
