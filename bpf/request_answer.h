/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_answer.h - is an answer whole? Only the sweep asks, so the hooks just keep the first
 * bytes and the last; the head is searched when nothing else (the next request, a close) has ended
 * the answer before. RFC 9112, 6.3.
 */
#pragma once

#include "request_bytes.h"

enum { TAIL_LAST_CHUNK = 0x0d0a0d30 }; /* "0\r\n\r" little-endian is 30 0d 0a 0d */

/* An answer that fits into what is kept of it has its tail there. */
static __always_inline void answer_tail(struct conn *c, __u32 len)
{
	struct span s;

	if (len == c->answer_len && len >= 5 && len <= REQ_ANSWER) {
		__builtin_memcpy(&c->tail, &c->answer[(len - 5) & (REQ_ANSWER - 1)], 4);
		return;
	}
	s = span_of_last(len);
	c->tail = 0;
	if (s.p && s.len >= 5)
		bpf_probe_read_user(&c->tail, 4, s.p + s.len - 5);
}

/* What may still become a status line: too few bytes to say. */
static __always_inline bool answer_is_short(const struct conn *c)
{
	__u32 n = c->answer_len;
	__u64 w;

	if (n == 0 || n >= STATUS_LINE)
		return false;
	__builtin_memcpy(&w, c->answer, sizeof(w));
	if (n < 7)
		w &= (1ull << (n * 8)) - 1;
	return n < 7 ? w == (ANSWER_WORD & ((1ull << (n * 8)) - 1)) : is_answer(w);
}

/* Adds to the first bytes; returns the status they tell, 0 when they are no status line. */
static __always_inline __u16 answer_read(struct conn *c, const struct span *s)
{
	__u32 at = c->answer_len;

	if (at >= STATUS_LINE)
		at = 0;
	c->answer_len = span_append(c->answer, at, REQ_ANSWER - STATUS_LINE, s);
	return c->answer_len < STATUS_LINE ? 0 : status_in(c->answer);
}

struct scan {
	const struct conn *c;
	__u64 lower; /* the last eight bytes, letters in lower case */
	__u32 raw; /* the last four */
	__u32 head_len; /* 0: the end of the head has not been seen */
	__u64 length;
	bool has_length, in_length, chunked, events;
};

/* "-length:", " chunked" and "ext/even", first byte highest */
#define SCAN_LENGTH 0x2d6c656e6774683aull
#define SCAN_CHUNKED 0x206368756e6b6564ull
#define SCAN_EVENTS 0x6578742f6576656eull

static long scan_byte(__u32 i, struct scan *x)
{
	__u8 b;

	if (i >= REQ_ANSWER)
		return 1;
	b = x->c->answer[i];
	x->raw = x->raw << 8 | b;
	x->lower = x->lower << 8 | (b >= 'A' && b <= 'Z' ? b | 0x20 : b);
	if (x->in_length && b >= '0' && b <= '9') {
		x->length = x->length * 10 + (b - '0');
		x->has_length = true;
	} else if (x->in_length && b != ' ') {
		x->in_length = false;
	}
	if (x->lower == SCAN_LENGTH)
		x->in_length = !x->has_length;
	if (x->lower == SCAN_CHUNKED)
		x->chunked = true;
	if (x->lower == SCAN_EVENTS)
		x->events = true;
	if (x->raw == 0x0d0a0d0a) {
		x->head_len = i + 1;
		return 1;
	}
	return 0;
}

/* "text/event-stream": it lasts as long as somebody listens. */
static __always_inline bool answer_is_stream(const struct conn *c)
{
	struct scan x = { .c = c };
	__u32 n = c->answer_len;

	bpf_loop(n < REQ_ANSWER ? n : REQ_ANSWER, scan_byte, &x, 0);
	return x.events;
}

enum answer_end { ANSWER_GOES_ON, ANSWER_WHOLE, ANSWER_UNKNOWN };

/*
 * Whole: it cannot have a body, or as many bytes went out as it said, or the last chunk did.
 * Unknown: its head is longer than what is kept of it. Without either, the close of the connection
 * ends it.
 */
static __always_inline enum answer_end answer_end(const struct conn *c)
{
	struct scan x = { .c = c };
	__u32 n = c->answer_len;
	__u16 status = c->head.status;

	if (status == 204 || status == 304 || c->line[0] == 'H')
		return ANSWER_WHOLE;
	if (n < STATUS_LINE)
		return ANSWER_UNKNOWN;
	bpf_loop(n < REQ_ANSWER ? n : REQ_ANSWER, scan_byte, &x, 0);
	if (x.chunked)
		return c->tail == TAIL_LAST_CHUNK ? ANSWER_WHOLE : ANSWER_GOES_ON;
	if (x.has_length)
		return c->head.bytes_out >= x.length + (x.head_len ? x.head_len : n)
			       ? ANSWER_WHOLE
			       : ANSWER_GOES_ON;
	return x.head_len ? ANSWER_GOES_ON : ANSWER_UNKNOWN;
}
