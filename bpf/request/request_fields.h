/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_fields.h - what the lines of a message say: its start line, the fields on which its
 * length depends, and the sizes of chunks. request_message.h finds the lines.
 */
#pragma once

#include "bpf/request/request_uring.h"

enum {
	BLOCK = 384, /* bytes read at once */
	SCAN_STEPS = 96,
	MESSAGE_STEPS = 64,
};

_Static_assert(CARRY + BLOCK + CARRY <= 2 * REQ_ANSWER, "a line that begins anywhere can be kept");

enum scan_event {
	EVENT_BEGAN = 1, /* a request; the scan stops at its first byte */
	EVENT_BAD = 2, /* a start line that is none */
	EVENT_FINAL = 4, /* the status of a final answer is known */
	EVENT_AGAIN = 8, /* and that of another one */
	EVENT_INTERIM = 16, /* an interim answer ended, `interim` bytes into the call */
};

/*
 * State of the search. In a map and volatile, because the verifier does not track values stored
 * there: with registers it would follow every combination of findings through the loop.
 */
struct scan {
	struct span s; /* bytes of the call that are not in the scratch yet */
	__u32 len; /* bytes of the call */
	__u32 at, have; /* in the scratch: the next byte, and the end */
	__u32 line; /* where the current line begins */
	__u32 events, interim;
	__u32 answers; /* the messages are answers */
	__u32 status;
	__u64 last; /* the last eight bytes of a field's value without blanks, in lower case */
	__u64 number; /* a length, or the size of a chunk */
	__u32 digits; /* of it; NO_NUMBER: it cannot be read */
	__u32 blank; /* blanks followed them */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, HOOK_STATE); /* reading and writing */
	__type(key, __u32);
	__type(value, struct scan);
} scans SEC(".maps");

static __always_inline volatile struct scan *scan_of(__u32 hook)
{
	return bpf_map_lookup_elem(&scans, &hook);
}

static __always_inline __u64 word_at(const struct scratch *b, __u32 at)
{
	return *(const __u64 *)(b->b + at_most(at, CARRY + BLOCK + 16));
}

/* The bytes from `at` on, CARRY at least. */
static __always_inline const __u8 *bytes_at(const struct scratch *b, __u32 at)
{
	return (const __u8 *)b->b + at_most(at, CARRY + BLOCK);
}

static __always_inline __u8 byte_at(const struct scratch *b, __u32 at)
{
	return b->b[at_most(at, CARRY + BLOCK + 16)];
}

/* Skips n bytes; p becomes NULL where the place of the bytes behind them is not known. */
__noinline int span_skip(struct span *s, __u32 n)
{
	if (!s)
		return 0;
	for (int i = 0; i < SPAN_SKIPPED; i++) {
		__u32 k = n < s->len ? n : s->len;

		if (!s->p)
			break;
		s->p = (const char *)s->p + k;
		s->len -= k;
		s->total -= k;
		n -= k;
		if (s->len || !s->total)
			return 0;
		if (span_has_next(s))
			span_next(s);
		else
			s->p = NULL;
	}
	s->p = NULL;
	s->total -= n < s->total ? n : s->total;
	return 0;
}

static __always_inline bool message_counts(__u8 state)
{
	return state >= MESSAGE_SKIP;
}

/* A message has begun and not ended. */
static __always_inline bool message_is_open(const struct message_reader *r)
{
	return r->begun || (r->state != MESSAGE_START && r->state != MESSAGE_LOST);
}

/* The bytes behind a cut here are missing: the message's head or its length says so. */
static __always_inline bool message_is_cut(const struct message_reader *r)
{
	return message_is_open(r) && r->state < MESSAGE_CLOSE;
}

static __always_inline void message_reset(struct message_reader *r)
{
	r->state = MESSAGE_START;
	r->begun = 0;
	r->whole = 0;
	r->carried = 0;
	r->found = 0;
	r->status = 0;
	r->left = 0;
}

static __always_inline void message_ends(struct message_reader *r)
{
	r->state = MESSAGE_START;
	r->begun = 0;
	r->found &= FOUND_EVENTS; /* the row is not reported yet */
	r->left = 0;
	r->whole = 1;
}

static __always_inline void message_lost(struct message_reader *r)
{
	r->state = MESSAGE_LOST;
	r->begun = 0;
	r->carried = 0;
}

static __always_inline void message_body(struct message_reader *r)
{
	if (r->found & FOUND_CODING)
		r->state = r->found & FOUND_CHUNKED ? MESSAGE_SIZE : MESSAGE_CLOSE;
	else if (r->found & FOUND_BAD)
		message_lost(r);
	else if (r->left)
		r->state = MESSAGE_BODY;
	else
		message_ends(r);
}

static __always_inline void answer_head_ends(struct message_reader *r, volatile struct scan *x)
{
	__u16 status = r->status;

	if (status < 200 && status != 101) {
		r->state = MESSAGE_START;
		r->begun = r->found = 0;
		r->left = 0;
		x->events |= EVENT_INTERIM;
		x->interim = x->len - x->s.total - (x->have - x->at);
	} else if (status == 101 || (r->method == METHOD_CONNECT && status < 300)) {
		r->state = MESSAGE_TUNNEL;
	} else if (status == 204 || status == 304 || r->method == METHOD_HEAD) {
		message_ends(r);
	} else if (!(r->found & (FOUND_CODING | FOUND_LENGTH | FOUND_BAD))) {
		r->state = MESSAGE_CLOSE;
	} else {
		message_body(r);
	}
}

static __always_inline void head_ends(struct message_reader *r, volatile struct scan *x)
{
	if (x->answers)
		answer_head_ends(r, x);
	else if (r->method == METHOD_CONNECT)
		r->state = MESSAGE_TUNNEL;
	else if ((r->found & (FOUND_CODING | FOUND_CHUNKED)) == FOUND_CODING)
		message_lost(r);
	else
		message_body(r);
}

enum { DIGITS_MOST = 18, NO_NUMBER = 255 };

/* 1: the value ends, or cannot be read. */
static __always_inline int digit_read(volatile struct scan *x, __u8 c)
{
	__u8 d = c - '0';

	if (c == '\n')
		return 1;
	if (c == ' ' || c == '\t' || c == '\r') {
		x->blank = x->digits;
	} else if (d > 9 || x->blank || x->digits >= DIGITS_MOST) {
		x->digits = NO_NUMBER;
		return 1;
	} else {
		x->number = x->number * 10 + d;
		x->digits = x->digits + 1;
	}
	return 0;
}

/* The value of a Content-Length from `at` to the end of its line. Global. */
__noinline int length_read(struct message_reader *r, __u32 hook, __u32 at)
{
	volatile struct scan *x = scan_of(hook);
	const struct scratch *b = scratch_of(hook);
	const __u8 *p;

	if (!r || !x || !b)
		return 0;
	p = bytes_at(b, at);
	x->number = x->digits = x->blank = 0;
	for (__u32 i = 0; i < CARRY; i++)
		if (digit_read(x, p[i]))
			break;
	if (!x->digits || x->digits > DIGITS_MOST ||
	    ((r->found & FOUND_LENGTH) && x->number != r->left)) {
		r->found |= FOUND_BAD;
		return 0;
	}
	r->found |= FOUND_LENGTH;
	r->left = x->number;
	return 0;
}

#define WORD8(a, b, c, d, e, f, g, h)                                                              \
	((__u64)(a) | (__u64)(b) << 8 | (__u64)(c) << 16 | (__u64)(d) << 24 | (__u64)(e) << 32 |   \
	 (__u64)(f) << 40 | (__u64)(g) << 48 | (__u64)(h) << 56)
#define LOWER 0x2020202020202020ull /* letters in lower case; ":" and "-" stay */

#define CODING_CHUNKED 0x2c6368756e6b6564ull /* ",chunked", first byte highest */

/* The codings of a Transfer-Encoding from `at`: chunked must be the last one. Global. */
__noinline int coding_read(struct message_reader *r, __u32 hook, __u32 at)
{
	volatile struct scan *x = scan_of(hook);
	const struct scratch *b = scratch_of(hook);
	const __u8 *p;

	if (!r || !x || !b)
		return 0;
	p = bytes_at(b, at);
	x->last = ',';
	for (__u32 i = 0; i < CARRY; i++) {
		__u8 c = p[i];

		if (c == '\n')
			break;
		if (c != ' ' && c != '\t' && c != '\r')
			x->last = x->last << 8 | (c == ',' ? ',' : c | 0x20);
	}
	r->found |= FOUND_CODING;
	if (x->last == CODING_CHUNKED)
		r->found |= FOUND_CHUNKED;
	else
		r->found &= ~FOUND_CHUNKED;
	return 0;
}

static __always_inline bool is_length_field(__u64 w, __u64 v)
{
	return w == WORD8('c', 'o', 'n', 't', 'e', 'n', 't', '-') &&
	       (v & 0x00ffffffffffffffull) == WORD8('l', 'e', 'n', 'g', 't', 'h', ':', 0);
}

static __always_inline bool is_coding_field(__u64 w, __u64 v, __u64 rest)
{
	return w == WORD8('t', 'r', 'a', 'n', 's', 'f', 'e', 'r') &&
	       v == WORD8('-', 'e', 'n', 'c', 'o', 'd', 'i', 'n') &&
	       (rest & 0xffff) == WORD8('g', ':', 0, 0, 0, 0, 0, 0);
}

/* A field line of a head, from x->line, perhaps too long to be `whole`. Global. */
__noinline int field_read(struct message_reader *r, __u32 hook, __u32 whole)
{
	volatile struct scan *x = scan_of(hook);
	const struct scratch *b = scratch_of(hook);
	__u64 w, v, rest, events = WORD8('t', 'e', 'x', 't', '/', 'e', 'v', 'e');
	__u32 at;

	if (!r || !x || !b)
		return 0;
	at = x->line;
	w = word_at(b, at) | LOWER;
	v = word_at(b, at + 8) | LOWER;
	rest = word_at(b, at + 16) | LOWER;
	if (is_length_field(w, v) && whole)
		length_read(r, hook, at + 15);
	else if (is_coding_field(w, v, rest) && whole)
		coding_read(r, hook, at + 18);
	else if (is_length_field(w, v) || is_coding_field(w, v, rest))
		r->found |= FOUND_BAD;
	else if (w == WORD8('c', 'o', 'n', 't', 'e', 'n', 't', '-') &&
		 (v & 0xffffffffffull) == WORD8('t', 'y', 'p', 'e', ':', 0, 0, 0) &&
		 ((word_at(b, at + 13) | LOWER) == events ||
		  (word_at(b, at + 14) | LOWER) == events))
		r->found |= FOUND_EVENTS;
	return 0;
}

/* 1: the size ends, or cannot be read. */
static __always_inline int hex_read(volatile struct scan *x, __u8 c)
{
	__u8 d = c - '0';

	if (d > 9) {
		d = (c | 0x20) - 'a';
		if (d > 5)
			return 1;
		d += 10;
	}
	if (x->number >> 56) {
		x->digits = 0;
		return 1;
	}
	x->number = x->number << 4 | d;
	x->digits = x->digits + 1;
	return 0;
}

/* The line of a chunk from x->line, perhaps without its end. 0: it has no size. Global. */
__noinline int size_read(struct message_reader *r, __u32 hook)
{
	volatile struct scan *x = scan_of(hook);
	const struct scratch *b = scratch_of(hook);
	const __u8 *p;

	if (!r || !x || !b)
		return 0;
	p = bytes_at(b, x->line);
	x->number = x->digits = 0;
	for (__u32 i = 0; i < CARRY; i++)
		if (hex_read(x, p[i]))
			break;
	if (!x->digits) {
		message_lost(r);
		return 0;
	}
	r->left = x->number ? x->number + 2 : 0; /* with the end of the line behind the data */
	return 1;
}

#define TOKEN_LOW 0x03ff6cfa00000000ull /* tchar (RFC 9110, 5.6.2) by code: 0 to 63 */
#define TOKEN_HIGH 0x57ffffffc7fffffeull /* 64 to 127 */

static __always_inline bool is_token_char(__u8 c)
{
	__u64 set = c < 64 ? TOKEN_LOW : TOKEN_HIGH;

	return c < 128 && (set >> (c & 63) & 1);
}

enum { METHOD_MOST = 31 };

/* The first bytes, n of them in w, may begin a request: a token, empty lines, or a PROXY head. */
static __always_inline bool begins_plausibly(__u64 w, __u32 n)
{
	if (n && ((w & 0xff) == '\r' || (w & 0xff) == '\n'))
		return true;
	if (!n || !is_token_char(w))
		return false;
	for (__u32 i = 1; i < 8 && i < n; i++) {
		w >>= 8;
		if ((w & 0xff) == ' ')
			return true;
		if (!is_token_char(w))
			return false;
	}
	return true;
}

/*
 * The start line of a request from x->line to `end`, without its end if it is longer (end 0).
 * Returns 1 if it is one: a token, a target, a version. Global.
 */
__noinline int request_line_read(struct message_reader *r, __u32 hook, __u32 end)
{
	volatile struct scan *x = scan_of(hook);
	const struct scratch *b = scratch_of(hook);
	const __u8 *p;
	__u32 i, at;
	__u64 w;

	if (!r || !x || !b)
		return 0;
	at = x->line;
	p = bytes_at(b, at);
	x->digits = 0; /* the method's letters */
	for (__u32 i = 0; i < METHOD_MOST; i++) {
		if (!is_token_char(p[i]))
			break;
		x->digits = i + 1;
	}
	i = x->digits;
	if (!i || byte_at(b, at + i) != ' ')
		return 0;
	w = word_at(b, at);
	r->method = METHOD_OTHER;
	if (w == WORD8('C', 'O', 'N', 'N', 'E', 'C', 'T', ' '))
		r->method = METHOD_CONNECT;
	else if ((w & 0xffffffffffull) == WORD8('H', 'E', 'A', 'D', ' ', 0, 0, 0))
		r->method = METHOD_HEAD;
	if (!end)
		return 1;
	end--; /* the newline */
	if (end > at && byte_at(b, end - 1) == '\r')
		end--;
	if (end < at + i + 11)
		return 0;
	w = word_at(b, end - 8); /* "HTTP/1.1" */
	return (w & 0x00ffffffffffffffull) == ANSWER_WORD && (w >> 56) - '0' < 10 &&
	       byte_at(b, end - 9) == ' ';
}

/* The status of an answer that begins at x->line; 0: none. */
static __always_inline __u32 status_at(const struct scratch *b, __u32 at)
{
	__u64 w = word_at(b, at), v = word_at(b, at + 8);
	__u32 c = (v >> 8 & 0xff) - '0', d = (v >> 16 & 0xff) - '0', u = (v >> 24 & 0xff) - '0';

	if (!is_answer(w) || (v & 0xff) != ' ' || c - 1 > 8 || d > 9 || u > 9)
		return 0;
	return c * 100 + d * 10 + u;
}

static __always_inline bool answer_line_read(struct message_reader *r, volatile struct scan *x,
					     const struct scratch *b)
{
	__u32 status = status_at(b, x->line);

	if (!status)
		return false;
	r->status = status;
	r->whole = 0;
	if (status < 200 && status != 101)
		return true;
	x->events |= x->events & EVENT_FINAL ? EVENT_AGAIN : EVENT_FINAL;
	if (!(x->events & EVENT_AGAIN))
		x->status = status;
	return true;
}
