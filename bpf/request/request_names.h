/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_names.h - names of requests and of calls: method with target, and the ids in their heads.
 * A call is of the one unanswered request of its process that has the same name.
 *
 * A process has a habit from its first request on. By default its threads show whose calls they
 * make: a call is of the request that its thread read last (request_call.h). A process that was
 * seen to read on before it calls, to call for another request than that one, or to answer by
 * another thread, is judged by names only. A call that no name gives to a request is unknown, and
 * so is what the requests called that were unanswered then.
 */
#pragma once

#include "bpf/request/request_message.h"
#include "bpf/request/request_time.h"

enum {
	NAME_BYTES = 128, /* of a head that are read for its method and target */
	NAME_WORDS = NAME_BYTES / 8,
	NAME_HEAD = 512, /* bytes of a head that are read for ids */
};

#define NAMED_SINCE_NS 1000000000 /* requests older than that are taken for answered */

enum name_kind { NAME_TARGET, NAME_ID, NAME_TRACE, NAME_KINDS };

struct habit {
	__u64 unknown_ns; /* its last call whose request is not known; 0: none */
	__u64 named_ns; /* its requests have names from here on; 0: it has not called yet */
	__u32 by_names; /* its threads do not show whose calls they make */
	__u32 counted; /* and it has called since */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct habit);
} habits SEC(".maps");

struct name {
	__u32 tgid, hash;
};

/* The unanswered requests of one name: if there is one, ids is its id. */
struct named {
	__u64 ids; /* XOR of all */
	__u32 n;
	__u32 unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct name);
	__type(value, struct named);
} names SEC(".maps");

static __always_inline struct habit *habit_of(__u32 tgid)
{
	return bpf_map_lookup_elem(&habits, &tgid);
}

static __always_inline struct habit *habit_make(__u32 tgid)
{
	struct habit *h = habit_of(tgid), none = {};

	if (h)
		return h;
	bpf_map_update_elem(&habits, &tgid, &none, BPF_NOEXIST);
	return habit_of(tgid);
}

/* Its threads do not show whose calls they make; names count from now on. */
static __always_inline void habit_lost(struct habit *h)
{
	if (h)
		h->by_names = 1;
}

/* A call whose request is not known, of a process that serves. */
static __always_inline void call_unknown(struct habit *h, __u64 now)
{
	if (!h)
		return;
	h->unknown_ns = now;
	control.unknown_ns = now;
	count(STAT_UNKNOWN);
}

/* A request that was unanswered at a call whose request is not known, and has none of its own. */
static __always_inline bool may_have_called(__u32 tgid, __u64 read_ns)
{
	struct habit *h;

	if (control.unknown_ns < read_ns)
		return false;
	h = habit_of(tgid);
	return h && h->unknown_ns >= read_ns;
}

static __always_inline void name_add(__u32 tgid, __u32 hash, __u64 id)
{
	struct name key = { tgid, hash };
	struct named one = { .ids = id, .n = 1 }, *e;

	if (!bpf_map_update_elem(&names, &key, &one, BPF_NOEXIST))
		return;
	e = bpf_map_lookup_elem(&names, &key);
	if (!e)
		return;
	__sync_fetch_and_xor(&e->ids, id);
	__sync_fetch_and_add(&e->n, 1);
}

static __always_inline void name_drop(__u32 tgid, __u32 hash, __u64 id)
{
	struct name key = { tgid, hash };
	struct named *e = bpf_map_lookup_elem(&names, &key);

	if (!e)
		return;
	if (e->n <= 1) {
		if (e->ids == id)
			bpf_map_delete_elem(&names, &key);
		return;
	}
	__sync_fetch_and_xor(&e->ids, id);
	__sync_fetch_and_add(&e->n, -1);
}

/* The request answers, or ends: it calls nobody any more. */
static __always_inline void names_drop(struct conn *c)
{
	for (int i = 0; i < NAME_KINDS; i++) {
		if (c->name[i])
			name_drop(c->head.tgid, c->name[i], c->head.id);
		c->name[i] = 0;
	}
}

/* The high bit of each byte that is a blank; exact for the first one. */
static __always_inline __u64 blanks_in(__u64 w)
{
	__u64 v = w ^ EACH_BYTE(' ');

	return (v - EACH_BYTE(1)) & ~v & EACH_BYTE(0x80);
}

struct name_bytes {
	char b[NAME_BYTES];
};

/*
 * Hash of the method and the target at the beginning of a head, of which n bytes are there; 0: they
 * are not whole. Of a longer one than NAME_BYTES, the hash of those. Global.
 */
__noinline int name_of_target(const struct name_bytes *x, __u32 n)
{
	__u64 h = 0x9e3779b97f4a7c15ull, w, z;
	bool method = false;

	if (!x)
		return 0;
	for (__u32 i = 0; i < NAME_WORDS; i++) {
		w = word_of(x->b + 8 * i);
		z = blanks_in(w);
		if (z && !method) {
			method = true;
			z &= z - 1;
		}
		if (z) {
			z &= -z; /* the end of the target */
			w &= (z >> 7) - 1;
		}
		h = (h ^ w) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 32;
		if (z)
			return n < 8 * (i + 1) ? 0 : (int)((__u32)h | 1);
	}
	return n < NAME_BYTES ? 0 : (int)((__u32)h | 1);
}

/*
 * State of the search for ids, and the head. In a map and volatile, because the verifier does not
 * track values stored there.
 */
struct head {
	__u32 hash; /* of the line's name, or of the value */
	__u32 at; /* enum head_at */
	__u32 kind; /* enum name_kind, of the value */
	__u32 end; /* of the value, beside the end of the line */
	__u32 skip; /* parts of the value before the one that counts */
	__u32 found_id, found_trace; /* hashes of the values; 0: none */
	char b[2 * NAME_HEAD];
};

enum head_at { AT_FIRST, AT_NAME, AT_VALUE, AT_REST };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct head);
} heads SEC(".maps");

#define HASH_BEGIN 2166136261u
#define HASH_ADD(h, c) (((h) ^ (__u32)(c)) * 16777619u)

/* FNV-1a of the names in lower case. */
enum {
	HASH_TRACEPARENT = 0x6c0b151e,
	HASH_B3_TRACE_ID = (int)0xbbe2f824,
	HASH_B3 = (int)0x8e2c27e2,
	HASH_UBER_TRACE_ID = (int)0xa39217b5,
	HASH_REQUEST_ID = (int)0xe2c21457,
};

/*
 * The name of a header ended: does its value name the request? Of a trace only its id counts, as
 * each hop puts its own span behind it.
 */
static __always_inline void head_value(volatile struct head *h)
{
	h->at = AT_VALUE;
	h->kind = NAME_TRACE;
	h->end = '-';
	h->skip = 0;
	switch ((int)h->hash) {
	case HASH_TRACEPARENT:
		h->skip = 1;
		break;
	case HASH_B3:
	case HASH_B3_TRACE_ID:
		break;
	case HASH_UBER_TRACE_ID:
		h->end = ':';
		break;
	case HASH_REQUEST_ID:
		h->kind = NAME_ID;
		h->end = '\r';
		break;
	default:
		h->at = AT_REST;
	}
	h->hash = HASH_BEGIN;
}

static __always_inline void head_byte(volatile struct head *h, __u8 b)
{
	if (b == '\n') {
		h->at = AT_NAME;
		h->hash = HASH_BEGIN;
	} else if (h->at == AT_NAME && b == ':') {
		head_value(h);
	} else if (h->at == AT_NAME) {
		h->hash = HASH_ADD(h->hash, b >= 'A' && b <= 'Z' ? b | 32 : b);
	} else if (h->at == AT_VALUE && (b == h->end || b == '\r')) {
		if (h->skip && b != '\r') {
			h->skip = 0;
			h->hash = HASH_BEGIN;
			return;
		}
		h->at = AT_REST;
		if (h->kind == NAME_ID)
			h->found_id = h->hash | 1;
		else
			h->found_trace = h->hash | 1;
	} else if (h->at == AT_VALUE && b != ' ' && b != '\t') {
		h->hash = HASH_ADD(h->hash, b);
	}
}

/* Finds the ids in the first n bytes of the head. Global. */
__noinline int head_search(struct head *head, __u32 n)
{
	volatile struct head *h = head;

	if (!head)
		return 0;
	h->at = AT_FIRST;
	h->found_id = h->found_trace = 0;
	for (__u32 i = 0; i < NAME_HEAD; i++) {
		if (i >= n)
			break;
		head_byte(h, h->b[i]);
	}
	return 0;
}

/* As name_of_target, of the first n bytes of a request that are in c->line. */
static __always_inline __u32 line_target(const struct conn *c, __u32 n)
{
	return name_of_target((const struct name_bytes *)c->line, n);
}

/*
 * The ids in the head that begins `skip` bytes into the len bytes of this system call. NULL: it
 * cannot be read.
 */
static __always_inline struct head *head_read(__u32 skip, __u32 len)
{
	__u32 zero = 0;
	struct head *h = bpf_map_lookup_elem(&heads, &zero);
	struct span s = {};
	__u64 n;

	span_of_call(&s, len);
	if (skip)
		span_skip(&s, skip);
	if (!h || !s.p)
		return NULL;
	n = at_most(s.len, NAME_HEAD);
	if (bpf_probe_read_user(h->b, n, s.p)) {
		count(STAT_USER_FAULT);
		return NULL;
	}
	head_search(h, n);
	return h;
}

static __always_inline void request_name_is(struct conn *c, enum name_kind kind, __u32 hash)
{
	if (!hash || c->name[kind])
		return;
	c->name[kind] = hash;
	name_add(c->head.tgid, hash, c->head.id);
}

/*
 * More of the request is in c->line: its head, or the rest of it, begins `skip` bytes into the len
 * bytes of the system call. Its names are noted once its process calls anybody.
 */
static __always_inline void request_named(struct conn *c, __u32 skip, __u32 len)
{
	struct habit *h = habit_make(c->head.tgid);
	struct head *head;

	c->target = line_target(c, c->head.line_len);
	if (!h || !h->named_ns)
		return;
	request_name_is(c, NAME_TARGET, c->target);
	head = h->by_names ? head_read(skip, len) : NULL;
	if (!head)
		return;
	request_name_is(c, NAME_ID, head->found_id);
	request_name_is(c, NAME_TRACE, head->found_trace);
}

/* The one request of that name that waits for no call; 0: none, or several. */
static __always_inline __u64 request_by_name(__u32 tgid, __u32 hash, __u32 *n)
{
	struct name key = { tgid, hash };
	struct named *e = hash ? bpf_map_lookup_elem(&names, &key) : NULL;
	struct req_calls *cs;
	__u64 id;

	*n = e ? e->n : 0;
	if (*n != 1)
		return 0;
	id = e->ids;
	cs = bpf_map_lookup_elem(&calls_of, &id);
	return cs && (cs->answered || cs->open) ? 0 : id;
}

/* The request named by the ids in the head of the call that is being sent; 0: not known. */
static __always_inline __u64 request_by_ids(__u32 tgid, __u32 skip, __u32 len)
{
	struct head *head = head_read(skip, len);
	__u64 id;
	__u32 n;

	if (!head)
		return 0;
	id = request_by_name(tgid, head->found_id, &n);
	return id ? id : request_by_name(tgid, head->found_trace, &n);
}
