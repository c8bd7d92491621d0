/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_sock.h - reads the fields of a socket and finds its struct conn.
 *
 * On socket tracepoints (kernel 6.3) the verifier trusts the socket: its fields are plain loads,
 * and the state is in the socket's own storage and freed with it. On system calls
 * (REQUEST_SYSCALLS, kernel 5.15) the socket was found by its fd: its fields are probed reads of
 * kernel memory, and the state is in a hash keyed by the socket's address, deleted when TCP
 * destroys the socket.
 */
#pragma once

#include "bpf/request/request_thread.h"

#ifdef REQUEST_SYSCALLS

#define SOCK_READ(sk, field) BPF_CORE_READ(sk, field)
#define TCP_READ(sk, field) BPF_CORE_READ((const struct tcp_sock *)(sk), field)
#define TCP_READ_INTO(to, sk, field) BPF_CORE_READ_INTO(to, (const struct tcp_sock *)(sk), field)
#define ICSK_READ(sk, field) BPF_CORE_READ((const struct inet_connection_sock *)(sk), field)

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC); /* memory only for used entries */
	__type(key, __u64);
	__type(value, struct conn);
} conns SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct conn);
} empty_conn SEC(".maps");

static __always_inline __u64 owner_of(struct sock *sk)
{
	return BPF_CORE_READ(sk, sk_socket, file, f_inode, i_ino);
}

/* An epoll watches the socket: the reading thread serves others too. */
static __always_inline bool is_in_epoll(struct sock *sk)
{
	return BPF_CORE_READ(sk, sk_socket, file, f_ep) != NULL;
}

static __always_inline void conn_drop(struct sock *sk)
{
	__u64 key = (__u64)sk;

	bpf_map_delete_elem(&conns, &key);
}

/* The end of an AF_UNIX socket is not visible: its address may belong to another socket by now. */
static __always_inline struct conn *conn_get(struct sock *sk)
{
	__u64 key = (__u64)sk;
	struct conn *c = bpf_map_lookup_elem(&conns, &key);

	if (!c || !c->local || c->owner_ino == owner_of(sk))
		return c;
	bpf_map_delete_elem(&conns, &key);
	return NULL;
}

static __always_inline struct conn *conn_new(struct sock *sk)
{
	__u64 key = (__u64)sk;
	__u32 zero = 0;
	struct conn *none = bpf_map_lookup_elem(&empty_conn, &zero);

	if (!none || bpf_map_update_elem(&conns, &key, none, BPF_NOEXIST))
		return NULL;
	return bpf_map_lookup_elem(&conns, &key);
}

#else

/*
 * Plain loads instead of one helper call per field: needs kernel 6.2; these hooks need 6.3 anyway.
 */
extern void *bpf_rdonly_cast(const void *obj, __u32 btf_id) __ksym;

#define SOCK_AS(sk, type)                                                                          \
	((const struct type *)bpf_rdonly_cast(sk, bpf_core_type_id_kernel(struct type)))
#define SOCK_READ(sk, field) ((sk)->field)
#define TCP_READ(sk, field) (SOCK_AS(sk, tcp_sock)->field)
#define TCP_READ_INTO(to, sk, field) __builtin_memcpy(to, TCP_READ(sk, field), sizeof(*(to)))
#define ICSK_READ(sk, field) (SOCK_AS(sk, inet_connection_sock)->field)

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct conn);
} conns SEC(".maps");

static __always_inline __u64 owner_of(struct sock *sk)
{
	return 0;
}

static __always_inline bool is_in_epoll(struct sock *sk)
{
	return sk->sk_socket->file->f_ep != NULL; /* a NULL in the chain reads as 0 */
}

static __always_inline struct conn *conn_get(struct sock *sk)
{
	return bpf_sk_storage_get(&conns, sk, 0, 0);
}

/* TCP sockets are counted, because their end is seen; at most conns_max are followed. */
static __always_inline struct conn *conn_new(struct sock *sk)
{
	bool counted = SOCK_READ(sk, sk_protocol) == IPPROTO_TCP;
	struct conn *c;

	if (counted && __sync_fetch_and_add(&control.conns, 1) >= control.conns_max) {
		__sync_fetch_and_add(&control.conns, -1);
		return NULL;
	}
	c = bpf_sk_storage_get(&conns, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!c && counted)
		__sync_fetch_and_add(&control.conns, -1);
	return c;
}

static __always_inline void conn_drop(struct sock *sk)
{
	__sync_fetch_and_add(&control.conns, -1);
}

#endif

/* NULL: no room; the counter `full` is incremented (STAT_END: none, as nothing is lost yet). */
static __always_inline struct conn *conn_make(struct sock *sk, enum conn_role role, __u32 full)
{
	struct conn *c = conn_get(sk);

	if (!c)
		c = conn_new(sk);
	if (!c) {
		if (full < STAT_END)
			count(full);
		return NULL;
	}
	c->role = role;
	c->local = SOCK_READ(sk, __sk_common.skc_family) == AF_UNIX;
	if (c->local)
		c->owner_ino = owner_of(sk);
	return c;
}

/*
 * The bound address of an AF_UNIX socket's peer, whose struct is at `peer`, by name. Global, as its
 * stack does not fit into that of its callers.
 */
__noinline int unix_addr_of(struct req_addr *a, __u64 peer)
{
	const struct unix_sock *u = (const struct unix_sock *)peer;
	struct req_unix name = {};
	struct unix_address *at;
	__u64 key;

	if (!a)
		return 0;
	at = BPF_CORE_READ(u, addr);
	if (!at)
		return 0;
	name.len = BPF_CORE_READ(at, len) - sizeof(unsigned short);
	if (bpf_probe_read_kernel(name.path, sizeof(name.path), &at->name[0].sun_path))
		return 0;
	key = (__u64)at;
	bpf_map_update_elem(&unix_names, &key, &name, BPF_ANY);
	__builtin_memcpy(a->ip, &key, sizeof(key));
	a->len = REQ_ADDR_UNIX;
	return 0;
}

static __always_inline void addr_of(struct req_addr *a, struct sock *sk, bool remote)
{
	__u16 family = SOCK_READ(sk, __sk_common.skc_family);

	if (family == AF_INET) {
		__be32 ip = remote ? SOCK_READ(sk, __sk_common.skc_daddr)
				   : SOCK_READ(sk, __sk_common.skc_rcv_saddr);

		__builtin_memcpy(a->ip, &ip, 4);
		a->len = 4;
	} else if (family == AF_INET6) {
		bpf_probe_read_kernel(a->ip, 16,
				      remote ? &sk->__sk_common.skc_v6_daddr
					     : &sk->__sk_common.skc_v6_rcv_saddr);
		a->len = 16;
	} else {
		if (remote && bpf_core_type_exists(struct unix_sock))
			unix_addr_of(a, (__u64)BPF_CORE_READ((const struct unix_sock *)sk, peer));
		return;
	}
	a->port = remote ? bpf_ntohs(SOCK_READ(sk, __sk_common.skc_dport))
			 : SOCK_READ(sk, __sk_common.skc_num);
}
