// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tcp.bpf.c - TCP connections per application: time to connect, failed connects by cause, bytes,
 * segments, round trips and retransmissions.
 *
 * No hook runs per packet. A socket is read when it begins, when it ends, when user space asks, and
 * at a retransmission; in between TCP's own counters do the counting. What a connection did before
 * the program was loaded is not counted.
 */
#include "bpf/lib/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/request/loss.h"
#include "bpf/lib/slot.h"
#include "bpf/lib/sock_file.h"
#include "bpf/net/tcp_app.h"

enum { SOCK_DONE = 1 };
enum {
	ENETDOWN = 100,
	ENETUNREACH = 101,
	ETIMEDOUT = 110,
	ECONNREFUSED = 111,
	EHOSTDOWN = 112,
	EHOSTUNREACH = 113,
};

__u64 lost = 0; /* sockets not followed for lack of room */
struct tcp_totals totals = {};

/* TCP's counters at the last reading. */
struct seen {
	__u64 sent_bytes, received_bytes;
	__u64 sent, received, sent_data; /* 32-bit counters that wrap */
};

struct of_sock {
	struct tcp_app_key app;
	__u64 asked_ns; /* time of the connect; 0: connected, or not a caller */
	struct seen seen;
	__u32 again; /* at the last retransmission */
	bool asked; /* this end opened the connection */
	bool counted; /* included in the number of open connections */
};

/* Storage is cloned to accepted sockets, which begin with the listener's. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, int);
	__type(value, struct of_sock);
} socks SEC(".maps");

/* Emptied by user space; a peer without room is only missing among the worst ones. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TCP_PEERS);
	__type(key, struct tcp_peer_key);
	__type(value, struct tcp_peer);
} peers SEC(".maps");

static __always_inline void add(__u64 *to, __u64 n)
{
	__sync_fetch_and_add(to, n);
}

static __always_inline void read_counts(struct seen *now, struct sock *sk, struct tcp_sock *tp)
{
	now->sent_bytes = tp->bytes_sent - tp->bytes_retrans;
	/* The FIN counts as one byte. */
	now->received_bytes = tp->bytes_received - (sk->__sk_common.skc_flags >> SOCK_DONE & 1);
	now->sent = tp->segs_out;
	now->received = tp->segs_in;
	now->sent_data = tp->data_segs_out;
}

/* From now on the socket belongs to this task. */
static __always_inline struct of_sock *sock_begin(struct sock *sk, struct task_struct *t)
{
	struct of_sock *s = bpf_sk_storage_get(&socks, sk, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	struct tcp_app_key key = {};
	struct tcp_app *app;

	if (!s || !tp) {
		add(&lost, 1);
		return NULL;
	}
	app = app_of(&key, t);
	if (app)
		add(&app->sockets, 1);
	s->app = key;
	s->asked_ns = 0;
	s->counted = s->asked = false;
	s->again = tp->total_retrans;
	read_counts(&s->seen, sk, tp);
	return s;
}

/* Atomic exchange: if a socket ends while it is being read, the two readings count it once. */
static __always_inline __u64 counter_increase(__u64 *last, __u64 now)
{
	return now - __sync_lock_test_and_set(last, now);
}

static __always_inline __u64 since_of_32(__u64 *last, __u64 now)
{
	return (__u64)(__s64)(__s32)counter_increase(last, now);
}

/* Adds what the connection did since the last reading. */
static __always_inline void sock_account(struct sock *sk, struct of_sock *s, struct tcp_app *app)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	__u64 received, sent_data;
	struct seen now;
	__u32 slot;

	if (!tp)
		return;
	read_counts(&now, sk, tp);
	received = since_of_32(&s->seen.received, now.received);
	add(&app->n.received, received);
	add(&app->n.sent, since_of_32(&s->seen.sent, now.sent));
	sent_data = since_of_32(&s->seen.sent_data, now.sent_data);
	add(&app->n.sent_data, sent_data);
	add(&totals.sent_data, sent_data);
	add(&app->n.sent_bytes, counter_increase(&s->seen.sent_bytes, now.sent_bytes));
	add(&app->n.received_bytes, counter_increase(&s->seen.received_bytes, now.received_bytes));
	if (!received || !tp->srtt_us)
		return;
	slot = slot_of(tp->srtt_us >> 3, TCP_FIRST_US, TCP_SLOTS);
	if (slot < TCP_SLOTS) /* for the verifier */
		add(&app->n.round_trip[slot], 1);
}

static __always_inline void opened(struct of_sock *s, struct tcp_app *app)
{
	s->counted = true;
	add(&app->n.open, 1);
}

static __always_inline void connected(struct of_sock *s, struct tcp_app *app)
{
	__u64 ns = bpf_ktime_get_ns() - s->asked_ns;
	__u32 slot = slot_of(ns, TCP_FIRST_NS, TCP_SLOTS);

	s->asked_ns = 0;
	if (slot < TCP_SLOTS)
		add(&app->n.connect[slot], 1);
	add(&app->n.connect_ns, ns);
	add(&app->n.connects, 1);
	add(&totals.connects, 1);
	opened(s, app);
}

static __always_inline void accepted(struct sock *sk, struct of_sock *s, struct tcp_app *app)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);

	if (tp) /* retransmitted SYN-ACKs are not counted */
		s->again = tp->total_retrans;
	add(&app->sockets, 1);
	add(&app->n.accepts, 1);
	opened(s, app);
}

static __always_inline void peer_of(struct tcp_peer_key *key, struct sock *sk, struct of_sock *s)
{
	key->app = s->app;
	if (s->asked)
		key->port = bpf_ntohs(sk->__sk_common.skc_dport);
	if (sk->__sk_common.skc_family == AF_INET) {
		__be32 ip = sk->__sk_common.skc_daddr;

		__builtin_memcpy(key->ip, &ip, sizeof(ip));
		key->len = sizeof(ip);
	} else {
		bpf_probe_read_kernel(key->ip, sizeof(key->ip), &sk->__sk_common.skc_v6_daddr);
		key->len = sizeof(key->ip);
	}
}

static __always_inline void went_wrong(struct sock *sk, struct of_sock *s, __u32 fault, __u64 n)
{
	struct tcp_peer_key key = {};
	struct tcp_peer first = {}, *peer;

	add(&totals.fault[fault], n);
	key.fault = fault;
	peer_of(&key, sk, s);
	peer = bpf_map_lookup_elem(&peers, &key);
	if (!peer) {
		bpf_map_update_elem(&peers, &key, &first, BPF_NOEXIST);
		peer = bpf_map_lookup_elem(&peers, &key);
	}
	if (!peer)
		return;
	add(&peer->n, n);
	if (!peer->dev[0])
		BPF_CORE_READ_STR_INTO(&peer->dev, sk, sk_dst_cache, dev, name);
}

/* The cause is in sk_err, except when the caller itself gave up. */
static __always_inline __u32 failed_by(struct sock *sk, struct of_sock *s)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);

	switch (sk->sk_err) {
	case ECONNREFUSED:
		return TCP_REFUSED;
	case ETIMEDOUT:
		return TCP_TIMED_OUT;
	case ENETDOWN:
	case ENETUNREACH:
	case EHOSTDOWN:
	case EHOSTUNREACH:
		return TCP_UNREACHABLE;
	case 0:
		return tp && tp->segs_out == s->seen.sent ? TCP_NOT_SENT : TCP_GIVEN_UP;
	default:
		return TCP_FAILED;
	}
}

static __always_inline void failed(struct sock *sk, struct of_sock *s, struct tcp_app *app)
{
	__u32 fault = failed_by(sk, s);

	if (fault < TCP_REFUSED || fault >= TCP_FAULTS) /* for the verifier */
		return;
	add(&app->n.failed[fault - TCP_REFUSED], 1);
	went_wrong(sk, s, fault, 1);
}

/*
 * Retransmissions without an event: the kernel skips on_again() where it interrupts itself. The
 * next event of the socket includes them; after its last one the end of the socket does.
 */
static __always_inline void account_again(struct sock *sk, struct of_sock *s, struct tcp_app *app)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);

	if (tp && s->counted)
		add(&app->n.again, tp->total_retrans - s->again);
}

static __always_inline void ended(struct sock *sk, struct of_sock *s, int from)
{
	struct tcp_app *app = bpf_map_lookup_elem(&apps, &s->app);

	if (app) {
		if (s->asked_ns)
			failed(sk, s, app);
		account_again(sk, s, app);
		sock_account(sk, s, app);
		if (s->counted)
			add(&app->n.open, -1);
		if (s->counted || s->asked || from == TCP_LISTEN)
			add(&app->sockets, -1);
	}
	bpf_sk_storage_delete(&socks, sk);
}

/*
 * A connecting or listening task changes the state itself; other changes may come with a packet, in
 * any task.
 */
SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(on_state, struct sock *sk, int from, int to)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct tcp_app *app;
	struct of_sock *s;

	if (sk->sk_protocol != IPPROTO_TCP) /* other protocols have states, too */
		return 0;
	if (to == TCP_SYN_SENT || to == TCP_LISTEN) {
		s = in_scope(t) ? sock_begin(sk, t) : NULL;
		if (s && to == TCP_SYN_SENT) {
			s->asked = true;
			s->asked_ns = bpf_ktime_get_ns();
		}
		return 0;
	}
	if (to != TCP_ESTABLISHED && to != TCP_CLOSE)
		return 0;
	s = bpf_sk_storage_get(&socks, sk, 0, 0);
	if (!s)
		return 0;
	if (to == TCP_CLOSE) {
		ended(sk, s, from);
		return 0;
	}
	app = bpf_map_lookup_elem(&apps, &s->app);
	if (app && from == TCP_SYN_SENT && s->asked_ns) {
		connected(s, app);
	} else if (app && from == TCP_SYN_RECV && !s->asked) {
		accepted(sk, s, app);
	}
	return 0;
}

/*
 * One event may cover several segments. Newer kernels also report segments that could not be sent,
 * counted before the attempt; older kernels count these without an event until the next
 * retransmission.
 */
SEC("tp_btf/tcp_retransmit_skb")
int on_again(__u64 *ctx)
{
	struct sock *sk = (void *)ctx[0];
	struct of_sock *s = bpf_sk_storage_get(&socks, sk, 0, 0);
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	struct tcp_app *app = s ? bpf_map_lookup_elem(&apps, &s->app) : NULL;
	__u32 kind, n;

	if (!app || !tp)
		return 0;
	n = tp->total_retrans - s->again;
	if (!n)
		return 0;
	s->again = tp->total_retrans;
	kind = loss_kind(sk);
	if (kind == REQ_LOSS_SYN) {
		add(&app->n.syn_again, n);
		return 0;
	}
	add(&app->n.again, n);
	if (kind == REQ_LOSS_RTO)
		add(&app->n.timeouts, 1);
	went_wrong(sk, s, TCP_AGAIN, n);
	return 0;
}

static __always_inline bool is_tcp(struct sock *sk)
{
	__u16 family = sk->__sk_common.skc_family;

	return (family == AF_INET || family == AF_INET6) && sk->sk_type == SOCK_STREAM &&
	       sk->sk_protocol == IPPROTO_TCP;
}

/*
 * Runs once after attaching: the sockets that existed before, under any process that has them open.
 */
SEC("iter/task_file")
int on_file(struct bpf_iter__task_file *ctx)
{
	struct sock *sk = sock_of_file(ctx->file);
	struct task_struct *t = ctx->task;
	struct tcp_app *app;
	struct of_sock *s;
	__u8 state;

	if (!t || !sk || !is_tcp(sk) || !in_scope(t))
		return 0;
	state = sk->__sk_common.skc_state;
	if (state == TCP_CLOSE || bpf_sk_storage_get(&socks, sk, 0, 0))
		return 0;
	s = sock_begin(sk, t);
	if (!s || state == TCP_LISTEN)
		return 0;
	s->asked = state == TCP_SYN_SENT;
	app = bpf_map_lookup_elem(&apps, &s->app);
	if (app && !s->asked)
		opened(s, app);
	return 0;
}

static __always_inline void look_at(struct sock *sk)
{
	struct of_sock *s = sk ? bpf_sk_storage_get(&socks, sk, 0, 0) : NULL;
	struct tcp_app *app;

	if (!s || !s->counted)
		return;
	app = bpf_map_lookup_elem(&apps, &s->app);
	if (app)
		sock_account(sk, s, app);
}

/* Every open socket, when user space asks. */
SEC("iter/bpf_sk_storage_map")
int on_look(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	look_at(ctx->sk); /* ctx->value is read only */
	return 0;
}

/* For kernels that do not let programs walk this map. */
SEC("iter/task_file")
int on_look_files(struct bpf_iter__task_file *ctx)
{
	look_at(sock_of_file(ctx->file));
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
