// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * nginx_uprobe.bpf.c - records nginx's own view of a finished request, from one uprobe on
 * ngx_http_free_request(r, rc), which every request passes at its end, in the worker's thread.
 *
 * r and the structs it points to are process memory, read at offsets found by user space
 * (probe/request/nginx/nginx_offsets.c). Until these are known, the struct is sent unparsed. Each
 * read of user memory costs 90 ns whatever its length, so the struct is read in one piece.
 */
#include "bpf/lib/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/lib/bound.h"
#include "bpf/request/nginx_uprobe.h"

#if defined(__TARGET_ARCH_x86)
#define ARG1(r) ((r)->di)
#define ARG2(r) ((r)->si)
#define AT(r) ((r)->ip)
#elif defined(__TARGET_ARCH_arm64)
#define ARG1(r) ((r)->regs[0])
#define ARG2(r) ((r)->regs[1])
#define AT(r) ((r)->pc)
#endif

enum {
	SIGNATURE = 0x50545448, /* "HTTP" */
	START_WORDS = 6, /* start_sec, start_msec, method, http_version, length and data of line */
	STATES_MAX = 1000,
	ROOMS = 4,
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NGINX_BINARIES);
	__type(key, __u32);
	__type(value, struct nginx_layout);
} layouts SEC(".maps");

struct { /* replaced by the map of the socket hooks before loading */
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} ring SEC(".maps");

/*
 * As long as any offset can reach, for the verifier. On a preemptible kernel a worker may enter on
 * a CPU where another worker was interrupted: each takes one room.
 */
struct room {
	__u64 taken;
	char request[2 * NGINX_REQUEST] __attribute__((aligned(8)));
	char states[2 * NGINX_TRIES * NGINX_STATE] __attribute__((aligned(8)));
	struct nginx_event e;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, ROOMS);
	__type(key, __u32);
	__type(value, struct room);
} rooms SEC(".maps");

struct text {
	__u64 len, at;
};

struct array {
	__u64 elts, nelts, size, nalloc;
};

static __always_inline void lose(struct nginx_layout *l)
{
	__sync_fetch_and_add(&l->lost, 1);
}

static __always_inline bool in_scope(const struct nginx_layout *l)
{
	return !l->scope_id || bpf_get_current_ancestor_cgroup_id(l->scope_level) == l->scope_id;
}

static __always_inline struct sock *sock_of_fd(__u32 fd)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();
	struct fdtable *table = BPF_CORE_READ(t, files, fdt);
	struct file **files = BPF_CORE_READ(table, fd), *f = NULL;
	struct socket *s;

	if (fd >= BPF_CORE_READ(table, max_fds) ||
	    bpf_probe_read_kernel(&f, sizeof(f), files + fd) || !f)
		return NULL;
	if ((BPF_CORE_READ(f, f_inode, i_mode) & S_IFMT) != S_IFSOCK)
		return NULL;
	s = BPF_CORE_READ(f, private_data);
	return s ? BPF_CORE_READ(s, sk) : NULL;
}

/* Addresses in the form of the sockets' records, which are matched by them. */
static __always_inline bool addrs_of(struct nginx_head *h, struct sock *sk)
{
	struct sock_common *c = &sk->__sk_common;
	__u16 family = BPF_CORE_READ(c, skc_family);
	__be32 to, from;

	if (BPF_CORE_READ(sk, sk_protocol) != IPPROTO_TCP)
		return false;
	h->remote.port = bpf_ntohs(BPF_CORE_READ(c, skc_dport));
	h->local.port = bpf_ntohs(BPF_CORE_READ((struct inet_sock *)sk, inet_sport));
	if (family == AF_INET) {
		to = BPF_CORE_READ(c, skc_daddr);
		from = BPF_CORE_READ(c, skc_rcv_saddr);
		__builtin_memcpy(h->remote.ip, &to, 4);
		__builtin_memcpy(h->local.ip, &from, 4);
		h->remote.len = h->local.len = 4;
		return true;
	}
	if (family != AF_INET6)
		return false;
	h->remote.len = h->local.len = 16;
	return !BPF_CORE_READ_INTO(&h->remote.ip, c, skc_v6_daddr) &&
	       !BPF_CORE_READ_INTO(&h->local.ip, c, skc_v6_rcv_saddr);
}

/* Process, time and connection. False: the connection is not one that the socket hooks see. */
static __always_inline bool head_of(struct nginx_head *h, const struct nginx_layout *l,
				    __u64 connection)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task();
	__u64 ids = bpf_get_current_pid_tgid();
	struct nginx_connection c;
	struct sock *sk;

	h->token = l->token;
	h->tgid = ids >> 32;
	h->tid = (__u32)ids;
	h->now_ns = bpf_ktime_get_ns();
	__builtin_memset(&h->remote, 0, sizeof(h->remote));
	__builtin_memset(&h->local, 0, sizeof(h->local));
	BPF_CORE_READ_STR_INTO(&h->comm, t, group_leader, comm);
	if (bpf_probe_read_user(&c, sizeof(c), (void *)connection))
		return false;
	h->sent = c.sent;
	sk = sock_of_fd(c.fd);
	return sk && addrs_of(h, sk);
}

static __always_inline void try_read(struct room *x, __u32 i, __u64 size)
{
	struct nginx_try *t = &x->e.tries[i];
	const char *state = x->states + at_most(i * size, NGINX_TRIES * NGINX_STATE);
	struct text peer = {};
	__u64 name;

	__builtin_memcpy(t, state, 4 * sizeof(__u64));
	__builtin_memcpy(&name, state + at_most(size - 8, NGINX_STATE), sizeof(name));
	t->peer_len = 0;
	if (!name || bpf_probe_read_user(&peer, sizeof(peer), (void *)name) || !peer.len)
		return;
	if (!bpf_probe_read_user(t->peer, at_most(peer.len, NGINX_PEER), (void *)peer.at))
		t->peer_len = peer.len;
}

/* The first tries; the last one replaces those for which there is no room. */
static __always_inline void tries_read(struct room *x, __u64 at)
{
	struct array a;
	__u64 size, n;

	if (bpf_probe_read_user(&a, sizeof(a), (void *)at) || !a.nelts || a.nelts > STATES_MAX ||
	    a.nelts > a.nalloc || a.size < NGINX_STATE_MIN || a.size > NGINX_STATE)
		return;
	size = a.size;
	n = at_most(a.nelts, NGINX_TRIES);
	if (bpf_probe_read_user(x->states, at_most(n * size, NGINX_TRIES * NGINX_STATE),
				(void *)a.elts))
		return;
	if (a.nelts > NGINX_TRIES &&
	    bpf_probe_read_user(
		    x->states + at_most((NGINX_TRIES - 1) * size, NGINX_TRIES * NGINX_STATE),
		    at_most(size, NGINX_STATE), (void *)(a.elts + (a.nelts - 1) * size)))
		return;
	x->e.nstates = a.nelts;
	x->e.head.ntries = n;
	for (__u32 i = 0; i < NGINX_TRIES; i++)
		if (i < n)
			try_read(x, i, size);
}

/* The end as in nginx's log: its clock stands still while its loop works. */
static __always_inline void clock_read(struct nginx_event *e, __u64 at)
{
	__u64 now[2] = {};

	if (at && !bpf_probe_read_user(&at, sizeof(at), (void *)at))
		bpf_probe_read_user(now, sizeof(now), (void *)at);
	e->end_sec = now[0];
	e->end_msec = now[1];
}

static __always_inline void event_send(struct nginx_event *e, struct nginx_layout *l)
{
	__u64 len = offsetof(struct nginx_event, line) + at_most(e->head.line_len, REQ_LINE);

	if (e->head.ntries)
		len = offsetof(struct nginx_event, tries) +
		      at_most(e->head.ntries, NGINX_TRIES) * sizeof(struct nginx_try);
	if (bpf_ringbuf_output(&ring, e, len, 0))
		lose(l);
}

static __always_inline void request_read(struct nginx_layout *l, struct room *x, __u64 r,
					 const struct pt_regs *regs)
{
	struct nginx_event *e = &x->e;
	__u64 start[START_WORDS], connection, states, need = l->start + sizeof(start);
	__u32 signature;

	if (bpf_probe_read_user(x->request, at_most(need, NGINX_REQUEST), (void *)r)) {
		lose(l);
		return;
	}
	__builtin_memcpy(&signature, x->request, sizeof(signature));
	__builtin_memcpy(&connection, x->request + 8, sizeof(connection));
	if (signature != SIGNATURE || !head_of(&e->head, l, connection))
		return;
	__builtin_memcpy(&states, x->request + at_most(l->states, NGINX_REQUEST), sizeof(states));
	__builtin_memcpy(&e->status, x->request + at_most(l->status, NGINX_REQUEST), 8);
	__builtin_memcpy(start, x->request + at_most(l->start, NGINX_REQUEST), sizeof(start));
	e->start_sec = start[0];
	e->start_msec = start[1];
	e->head.line_len = at_most(start[4], REQ_LINE);
	e->nstates = e->head.ntries = 0;
	if (bpf_probe_read_user(e->line, at_most(e->head.line_len, REQ_LINE), (void *)start[5])) {
		lose(l);
		return;
	}
	clock_read(e, l->clock_at ? l->clock_at + (AT(regs) - l->probe_at) : 0);
	if (states)
		tries_read(x, states);
	event_send(e, l);
}

static __always_inline void request_look(struct nginx_layout *l, __u32 binary, __u64 r, __s64 rc)
{
	struct nginx_look *k;

	if (__sync_fetch_and_add(&l->looks, -1) <= 0) {
		l->looks = 0;
		return;
	}
	k = bpf_ringbuf_reserve(&ring, sizeof(*k), 0);
	if (!k) {
		lose(l);
		return;
	}
	__builtin_memset(&k->head, 0, sizeof(k->head));
	k->head.kind = REQ_KIND_NGINX_LOOK;
	k->head.binary = binary;
	k->head.rc = rc;
	k->at = r;
	if (bpf_probe_read_user(k->request, sizeof(k->request), (void *)r) ||
	    bpf_probe_read_user(&k->connection, sizeof(k->connection), (void *)k->request[1]) ||
	    !head_of(&k->head, l, k->request[1]))
		bpf_ringbuf_discard(k, 0);
	else
		bpf_ringbuf_submit(k, 0);
}

static __always_inline struct room *room_take(void)
{
	for (__u32 i = 0; i < ROOMS; i++) {
		__u32 key = i;
		struct room *x = bpf_map_lookup_elem(&rooms, &key);

		if (x && !__sync_lock_test_and_set(&x->taken, 1))
			return x;
	}
	return NULL;
}

SEC("uprobe")
int on_free_request(struct pt_regs *regs)
{
	__u32 binary = (__u32)bpf_get_attach_cookie(regs);
	struct nginx_layout *l = bpf_map_lookup_elem(&layouts, &binary);
	struct room *x;

	if (!l || l->mode == NGINX_OFF || !in_scope(l))
		return 0;
	if (l->mode == NGINX_LOOKS) {
		request_look(l, binary, ARG1(regs), ARG2(regs));
		return 0;
	}
	x = room_take();
	if (!x) {
		lose(l);
		return 0;
	}
	x->e.head.kind = REQ_KIND_NGINX;
	x->e.head.binary = binary;
	x->e.head.rc = (__s64)ARG2(regs);
	request_read(l, x, ARG1(regs), regs);
	__sync_lock_test_and_set(&x->taken, 0);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
