/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_maps.h - the state behind requests: one struct conn per socket that speaks HTTP and one
 * struct req_calls per request in flight that has called upstream. Counters; the ring. How a socket
 * finds its struct conn is in request_sock.h, what is kept of threads in request_thread.h.
 */
#pragma once

#include "bpf/lib/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/lib/bound.h"
#include "bpf/request/request.h"

#define COUNTS STAT_END
#include "bpf/lib/counts.h"

enum conn_role { ROLE_NEW, ROLE_SERVER, ROLE_CLIENT, ROLE_IGNORED };

/*
 * A server's connection: IDLE -> OPEN (request read) -> ANSWERED (first byte of the answer) ->
 * IDLE. The sweep claims an ANSWERED one by SWEEPING; whoever moves the state away from ANSWERED or
 * SWEEPING, atomically, is the one who reports the request.
 * A client's: IDLE -> OPEN (request sent, or connecting) -> ANSWERED -> IDLE.
 */
enum conn_state { CONN_IDLE, CONN_OPEN, CONN_ANSWERED, CONN_SWEEPING };

/* How the end of an answer can be told (RFC 9112, 6.3). */
enum framing {
	FRAMING_UNREAD, /* nobody has looked yet */
	FRAMING_OPEN, /* its head is not whole in what is kept of it */
	FRAMING_NONE, /* no body: the head is all */
	FRAMING_LENGTH, /* whole at whole_at bytes */
	FRAMING_CHUNKED, /* whole when the last chunk has gone out */
	FRAMING_CLOSE, /* the end of the connection is its end */
};

/* Can an answer be another request's than the one it is laid to? */
enum pipelined {
	PIPELINED_NOT,
	UNSEEN_BEFORE, /* it could in an earlier one: until one has been seen whole */
	UNSEEN_HERE, /* something of this one was read or written, and its hook left out */
	PIPELINED, /* the peer does not wait: for good */
};

struct conn {
	__u32 state; /* enum conn_state */
	__u8 role;
	__u8 loop; /* watched by an epoll: its thread serves many */
	__u8 pipelined; /* enum pipelined */
	__u8 has_body; /* the request may be followed by bytes that are not a request */
	__u8 unsure; /* fewer than eight bytes have come: it may not be a request at all */
	__u8 has_calls;
	__u8 fresh; /* client: connected, nothing sent yet */
	__u8 dead; /* client: ended in interrupt context, its owner has not been told */
	__u8 slot; /* client: place of the call in its request */
	__u8 local; /* AF_UNIX: there is no struct tcp_sock behind it */
	__u8 framing; /* enum framing */
	__u8 stream; /* the answer is an event stream; known once framing is */
	__u8 head_whole; /* so is this: all of its head is kept */
	__u8 other; /* ignored: to whom it was opened from here, by another protocol than HTTP */
	__u8 crowded; /* the first send had so many pieces that it may hold two answers */
	__u32 retrans0, ooo0; /* of the socket, when the request began */
	__u32 chrono0[3];
	__u32 write0, copied0; /* before the answer, and before the request */
	__u64 parent; /* client: id of the request it works for; 0: not known */
	__u64 owner_ino; /* AF_UNIX, hooks on system calls: whose the address sk was */
	union {
		struct {
			struct req_head
				head; /* as it goes into the ring: head and line in one piece */
			char line[REQ_LINE] __attribute__((aligned(8)));
			char answer[REQ_ANSWER] __attribute__((aligned(8)));
			__u32 answer_len;
			__u32 tail; /* the four bytes before the last one sent */
			__u64 whole_at; /* bytes_out of a whole answer, if its head is whole and
					   tells */
		};
		struct {
			struct req_call call;
			__u64 sent_ns; /* when its request was written; 0: not yet */
			char comm[REQ_COMM];
			__u32 tgid;
		};
	};
};

/* Bytes on their way; twice as long as what is ever put there, which the verifier can see. */
struct scratch {
	char b[2 * REQ_ANSWER] __attribute__((aligned(8)));
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, __u64);
	__type(value, struct req_calls);
} calls_of SEC(".maps");

/* Processes that answer from another thread than the one that read: no association by thread. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} hoppers SEC(".maps");

/* The path of an AF_UNIX address, by the address of the kernel's copy of it. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 256);
	__type(key, __u64);
	__type(value, struct req_unix);
} unix_names SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 * 1024 * 1024);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct req_calls);
} empty_calls SEC(".maps");

/* A program does not run twice at a time on one processor, but one may interrupt another. */
enum hook { HOOK_RECV, HOOK_SEND, HOOK_STATE, HOOK_SWEEP, HOOK_END };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, HOOK_END);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

struct req_control control;

/*
 * The first record in an empty ring wakes a reader that rests; one that is awake does not wait on
 * it. An answer that only the sweep will find to be whole has no record yet: this is one.
 */
static __always_inline void wake(void)
{
	__u64 nothing = 0;

	if (control.resting)
		bpf_ringbuf_output(&ring, &nothing, sizeof(nothing), 0);
}

static __always_inline struct scratch *scratch_of(__u32 hook)
{
	return bpf_map_lookup_elem(&scratches, &hook);
}

static __always_inline void process_name(char comm[REQ_COMM])
{
	struct task_struct *t = bpf_get_current_task_btf();

	BPF_CORE_READ_STR_INTO((char(*)[REQ_COMM])comm, t, group_leader, comm);
}
