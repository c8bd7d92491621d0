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

/* Where the bytes of one direction stand; request_message.h has the table. */
enum message_state {
	MESSAGE_START,
	MESSAGE_QUIT,
	MESSAGE_PROXY,
	MESSAGE_HEAD,
	MESSAGE_SIZE,
	MESSAGE_TRAILER,
	MESSAGE_START_REST, /* from here on: the rest of a line is skipped */
	MESSAGE_PROXY_REST,
	MESSAGE_HEAD_REST,
	MESSAGE_SIZE_REST,
	MESSAGE_TRAILER_REST,
	MESSAGE_SKIP, /* from here on: `left` bytes are skipped */
	MESSAGE_BODY,
	MESSAGE_DATA,
	MESSAGE_CLOSE, /* from here on: the end is not in the bytes */
	MESSAGE_TUNNEL,
	MESSAGE_LOST,
};

enum message_found {
	FOUND_LENGTH = 1,
	FOUND_CODING = 2,
	FOUND_CHUNKED = 4, /* as the last coding */
	FOUND_EVENTS = 8, /* text/event-stream */
	FOUND_BAD = 16, /* lengths that contradict each other, or cannot be read */
};

enum message_method { METHOD_OTHER, METHOD_HEAD, METHOD_CONNECT };

enum { CARRY = 64 };

struct message_reader {
	__u8 state; /* enum message_state */
	__u8 found; /* enum message_found, in the head */
	__u8 carried; /* bytes kept of an unfinished line */
	__u8 begun; /* a byte of the message's start line was seen */
	__u8 spoken; /* a message has begun on this connection */
	__u8 whole; /* the last message was seen to its end */
	__u8 method; /* enum message_method; of answers: that of their request */
	__u8 unused;
	__u16 status;
	__u32 seq; /* TCP's count behind the last byte followed */
	__u64 left;
	char carry[CARRY] __attribute__((aligned(8)));
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
	__u8 has_calls;
	__u8 fresh; /* client: connected, nothing sent yet */
	__u8 dead; /* client: ended in interrupt context; its owner has not noticed yet */
	__u8 slot; /* client: index of the call in its request */
	__u8 local; /* AF_UNIX: there is no struct tcp_sock behind it */
	__u8 sole; /* server: followed from the connection's first byte, in its first request */
	__u8 other; /* ignored: an outgoing connection of another protocol than HTTP */
	__u32 target; /* server: hash of method and target (request_names.h); 0: not known */
	__u32 name[3]; /* server: by enum name_kind, of those that are noted; 0: none */
	__u32 retrans0, ooo0; /* the socket's values when the request began */
	__u32 chrono0[3];
	__u32 write0, copied0; /* the socket's values before the answer, and before the request */
	struct message_reader rq, an; /* of the connection's requests and answers */
	__u64 parent; /* client: id of the request it works for; 0: not known */
	__u64 owner_ino; /* AF_UNIX, syscall hooks: inode of the owner, as the address sk may be
			    reused */
	union {
		struct {
			struct req_head
				head; /* as it goes into the ring: head and line in one piece */
			/* twice the length stored, so that the verifier accepts the bound */
			char line[2 * REQ_LINE] __attribute__((aligned(8)));
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
	__uint(max_entries, HOOK_STATE); /* reading and writing */
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
