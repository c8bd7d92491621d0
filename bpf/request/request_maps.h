/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_maps.h - the maps of the request state machine: one struct conn per socket that speaks
 * HTTP, one struct req_calls per request in flight that has called upstream, the counters and the
 * ring. request_sock.h finds the struct conn of a socket; request_thread.h has the state of
 * threads.
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
 * IDLE. The sweep claims an ANSWERED one by setting SWEEPING. State changes are atomic: the hook
 * that moves the state away from ANSWERED or SWEEPING reports the request. A client's connection:
 * IDLE -> OPEN (request sent, or connecting) -> ANSWERED -> IDLE.
 */
enum conn_state { CONN_IDLE, CONN_OPEN, CONN_ANSWERED, CONN_SWEEPING };

/* What determines the end of an answer (RFC 9112, 6.3). */
enum framing {
	FRAMING_UNREAD, /* not examined yet */
	FRAMING_OPEN, /* the stored bytes do not hold the whole head */
	FRAMING_NONE, /* no body: the head is all */
	FRAMING_LENGTH, /* whole at whole_at bytes */
	FRAMING_CHUNKED, /* whole after the last chunk */
	FRAMING_CLOSE, /* ends with the connection */
};

/* Could an answer be assigned to the wrong request? */
enum pipelined {
	PIPELINED_NOT,
	UNSEEN_BEFORE, /* yes, from an earlier request: until one has been seen whole */
	UNSEEN_HERE, /* yes: a read or write of this request was missed by the hooks */
	PIPELINED, /* yes, permanently: the peer does not wait for answers */
};

struct conn {
	__u32 state; /* enum conn_state */
	__u8 role;
	__u8 loop; /* watched by an epoll: its thread serves many connections */
	__u8 pipelined; /* enum pipelined */
	__u8 has_body; /* the next bytes may be the request's body */
	__u8 unsure; /* fewer than eight bytes so far: it may not be a request */
	__u8 has_calls;
	__u8 fresh; /* client: connected, nothing sent yet */
	__u8 dead; /* client: ended in interrupt context; its owner has not noticed yet */
	__u8 slot; /* client: index of the call in its request */
	__u8 local; /* AF_UNIX: there is no struct tcp_sock behind it */
	__u8 framing; /* enum framing */
	__u8 stream; /* the answer is an event stream; known once framing is */
	__u8 head_whole; /* valid once framing is known: the whole head is stored */
	__u8 other; /* ignored: an outgoing connection of another protocol than HTTP */
	__u8 crowded; /* the first send had so many pieces that it may hold two answers */
	__u32 target; /* server: hash of method and target (request_names.h); 0: not known */
	__u32 name[3]; /* server: by enum name_kind, of those that are noted; 0: none */
	__u32 retrans0, ooo0; /* the socket's values when the request began */
	__u32 chrono0[3];
	__u32 write0, copied0; /* the socket's values before the answer, and before the request */
	__u64 parent; /* client: id of the request it works for; 0: not known */
	__u64 owner_ino; /* AF_UNIX, syscall hooks: inode of the owner, as the address sk may be
			    reused */
	union {
		struct {
			struct req_head
				head; /* as it goes into the ring: head and line in one piece */
			char line[REQ_LINE] __attribute__((aligned(8)));
			char answer[REQ_ANSWER] __attribute__((aligned(8)));
			__u32 answer_len;
			__u32 tail; /* the four bytes before the last one sent */
			__u64 whole_at; /* bytes_out of a whole answer, where its head gives the
					   length */
		};
		struct {
			struct req_call call;
			__u64 sent_ns; /* when the call's request was written; 0: not yet */
			char comm[REQ_COMM];
			__u32 tgid;
			__u32 first; /* other: the first four bytes sent; 0: not known */
			__u32 heard; /* other: bytes came since the last ones were sent */
		};
	};
};

/* Bytes in transit. Twice the length ever stored there, so that the verifier accepts the bound. */
struct scratch {
	char b[2 * REQ_ANSWER] __attribute__((aligned(8)));
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, __u64);
	__type(value, struct req_calls);
} calls_of SEC(".maps");

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

/*
 * Per-CPU scratch needs one slot per hook: a program cannot run twice at the same time on one CPU,
 * but one program may interrupt another.
 */
enum hook { HOOK_RECV, HOOK_SEND, HOOK_STATE, HOOK_SWEEP, HOOK_END };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, HOOK_END);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

struct req_control control;

/*
 * Wakes the resting reader with the first record in an empty ring; an awake reader is not waiting.
 * An answer whose end only the sweep can find has no record yet, so this sends one.
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
