/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_answer.h - detects the end of an answer (RFC 9112, 6.3). The hooks store its first bytes
 * and its last ones. The head is parsed when an answer takes more than one send, or when the sweep
 * finds that nothing else (the next request, a close) has ended the answer.
 */
#pragma once

#include "bpf/request/request_uring.h"

enum {
	TAIL_LAST_CHUNK = 0x0d0a0d30, /* "0\r\n\r\n" little-endian is 30 0d 0a 0d */
	HEAD_END = 0x0a0d0a0d,
};

/* Too few bytes to decide whether they begin a status line. */
static __always_inline bool answer_is_short(const struct conn *c)
{
	__u32 n = c->answer_len;
	__u64 w = word_of(c->answer);

	if (n == 0 || n >= STATUS_LINE)
		return false;
	if (n < 7)
		w &= (1ull << (n * 8)) - 1;
	return n < 7 ? w == (ANSWER_WORD & ((1ull << (n * 8)) - 1)) : is_answer(w);
}

/* The first n stored bytes end with the end of a head. */
static __always_inline bool answer_head_ends(const struct conn *c, __u64 n)
{
	__u32 w;

	n = at_most(n, REQ_ANSWER);
	if (n < STATUS_LINE)
		return false;
	__builtin_memcpy(&w, c->answer + (n - 4), sizeof(w));
	return w == HEAD_END;
}

/* Appends to the stored bytes of the answer, up to the end of its head. Global. */
__noinline int answer_add(struct conn *c, const struct span *s)
{
	struct scratch *x = scratch_of(HOOK_SEND);
	struct span rest;
	bool first;
	__u32 at;
	__u64 n;

	if (!x || !c || !s)
		return 0;
	at = c->answer_len;
	first = at == 0;
	if (at >= REQ_ANSWER)
		return 0;
	if (first) {
		n = at_most(s->len, REQ_ANSWER);
		if (bpf_probe_read_user(c->answer, n, s->p)) {
			count(STAT_USER_FAULT);
			return 0;
		}
		c->answer_len = at = n;
		if (!span_has_next(s) || n == REQ_ANSWER || answer_head_ends(c, n))
			return 0;
	}
	rest = *s;
	if (first)
		span_next(&rest);
	__builtin_memcpy(x->b, c->answer, REQ_ANSWER);
	n = span_gather(HOOK_SEND, at, REQ_ANSWER, &rest);
	__builtin_memcpy(c->answer, x->b, REQ_ANSWER);
	c->answer_len = n <= REQ_ANSWER ? n : 0;
	return 0;
}

static __always_inline void answer_keep(struct conn *c, struct sock *sk, const struct span *s)
{
	struct scratch *x = scratch_of(HOOK_SEND);

	if (s->p) {
		answer_add(c, s);
	} else if (x && c->answer_len == 0 && is_uring()) {
		c->answer_len = packet_head_take(sk, true, x);
		__builtin_memcpy(c->answer, x->b, REQ_ANSWER);
	}
}

/* The bytes just sent may end with the last chunk. */
static __always_inline void answer_tail(struct conn *c, const struct span *s)
{
	__u64 n = at_most(c->answer_len, REQ_ANSWER);

	if (s->total == n && n >= 5)
		__builtin_memcpy(&c->tail, c->answer + (n - 5), 4); /* all of it is stored */
	else
		c->tail = span_tail(s);
}

/*
 * State of the search. In a map and volatile, because the verifier does not track values stored
 * there: with registers it would follow every combination of findings through the loop.
 */
struct scan {
	__u64 last; /* the last eight bytes, letters in lower case */
	__u64 length;
	__u32 raw; /* the last four bytes, unchanged */
	__u32 head_len; /* 0: the end of the head has not been seen */
	__u32 found; /* enum scan_found */
};

enum scan_found { FOUND_LENGTH = 1, IN_LENGTH = 2, FOUND_CHUNKED = 4, FOUND_EVENTS = 8 };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, HOOK_END);
	__type(key, __u32);
	__type(value, struct scan);
} scans SEC(".maps");

/* "-length:", " chunked" and "ext/even", first byte highest */
#define SCAN_LENGTH 0x2d6c656e6774683aull
#define SCAN_CHUNKED 0x206368756e6b6564ull
#define SCAN_EVENTS 0x6578742f6576656eull

/* The lower-case bit is set in every byte; all patterns searched for have it set, too. */
static __always_inline void scan_byte(volatile struct scan *x, __u8 b)
{
	__u32 found = x->found;

	x->raw = x->raw << 8 | b;
	x->last = x->last << 8 | b | 0x20;
	if (found & IN_LENGTH) {
		if ((__u8)(b - '0') < 10) {
			x->length = x->length * 10 + (b - '0');
			x->found = found | FOUND_LENGTH;
		} else if (b != ' ') {
			x->found = found & ~IN_LENGTH;
		}
	} else if (x->last == SCAN_LENGTH && !(found & FOUND_LENGTH)) {
		x->found = found | IN_LENGTH;
	} else if (x->last == SCAN_CHUNKED) {
		x->found = found | FOUND_CHUNKED;
	} else if (x->last == SCAN_EVENTS) {
		x->found = found | FOUND_EVENTS;
	}
}

static __always_inline enum framing framing_of(const struct conn *c, const volatile struct scan *x)
{
	__u16 status = c->head.status;

	if (status == 204 || status == 304 || c->line[0] == 'H')
		return FRAMING_NONE;
	if (x->found & FOUND_CHUNKED)
		return FRAMING_CHUNKED;
	if (x->found & FOUND_LENGTH)
		return FRAMING_LENGTH;
	return x->head_len ? FRAMING_CLOSE : FRAMING_OPEN;
}

enum { SCAN_BYTES = 16 };

/*
 * Searches SCAN_BYTES of the stored bytes from `at`; 0: done. Global, with few bytes per call: the
 * verifier walks every iteration of a loop, but checks a global function once, not once per caller.
 */
__noinline int scan_some(const struct conn *c, __u32 hook, __u32 at)
{
	volatile struct scan *x = bpf_map_lookup_elem(&scans, &hook);

	if (!c || !x)
		return 0;
	at &= REQ_ANSWER - SCAN_BYTES;
	for (__u32 i = 0; i < SCAN_BYTES; i++) {
		if (at + i >= c->answer_len)
			return 0;
		scan_byte(x, c->answer[at + i]);
		if (x->raw == 0x0d0a0d0a) {
			x->head_len = at + i + 1;
			return 0;
		}
	}
	return 1;
}

/* Global, so that the verifier checks it once. */
__noinline int answer_scan(struct conn *c, __u32 hook)
{
	volatile struct scan *x = bpf_map_lookup_elem(&scans, &hook);

	if (!c || !x)
		return 0;
	x->last = x->length = 0;
	x->raw = x->head_len = x->found = 0;
	for (__u32 at = 0; at < REQ_ANSWER; at += SCAN_BYTES)
		if (!scan_some(c, hook, at))
			break;
	c->stream = (x->found & FOUND_EVENTS) != 0;
	c->framing = framing_of(c, x);
	c->head_whole = x->head_len != 0;
	c->whole_at = x->head_len ? x->head_len : c->answer_len;
	if (c->framing == FRAMING_LENGTH)
		c->whole_at += x->length;
	return 0;
}

/* An incomplete head may be complete by now. */
static __always_inline enum framing answer_framing(struct conn *c, enum hook hook)
{
	if (c->framing <= FRAMING_OPEN)
		answer_scan(c, hook);
	return c->framing;
}

static __always_inline bool answer_is_whole(struct conn *c, enum hook hook)
{
	switch (answer_framing(c, hook)) {
	case FRAMING_NONE:
		return true;
	case FRAMING_LENGTH:
		return c->head.bytes_out >= c->whole_at;
	case FRAMING_CHUNKED:
		return c->tail == TAIL_LAST_CHUNK;
	case FRAMING_UNREAD:
	case FRAMING_OPEN:
	case FRAMING_CLOSE:
		return false;
	}
	return false;
}

/*
 * More bytes were sent than the answer has. nginx can hold an answer back while it has already read
 * another request, calls upstream for that one, and then sends both answers at once.
 */
static __always_inline bool answer_has_more(struct conn *c, enum hook hook)
{
	enum framing f = answer_framing(c, hook);

	return (f == FRAMING_LENGTH || f == FRAMING_NONE) && c->head_whole &&
	       c->head.bytes_out > c->whole_at;
}
