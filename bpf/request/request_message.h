/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_message.h - follows the messages of one direction of a connection (RFC 9112). A message
 * begins where the one before it ends, never because the first bytes of a read look like one.
 *
 * One struct message_reader per direction, the same for servers and callers: requests (rq) and
 * answers (an). What each state does with the bytes that come:
 *
 *   state        takes                 then
 *   START        empty lines           START; the first other byte begins a message (began)
 *                a request line        HEAD; a line that is none: LOST
 *                a status line         HEAD; a line that is none: LOST
 *                "PROXY ...", first    START (PROXY protocol, version 1)
 *                NUL CR LF, first      QUIT (version 2: CR LF CR LF NUL CR LF QUIT LF)
 *   QUIT         "QUIT" LF             PROXY
 *   PROXY        four bytes            SKIP, by the length in them
 *   SKIP         `left` bytes          START
 *   START_REST   to the end of a line  HEAD
 *   PROXY_REST   to the end of a line  START
 *   HEAD         a field line          HEAD; notes length, coding and event streams
 *                the empty line        the body: BODY, SIZE, CLOSE or TUNNEL; without one, and
 *                                      after an interim answer (1xx): START
 *   HEAD_REST    to the end of a line  HEAD
 *   BODY         `left` bytes          START
 *   SIZE         the line of a chunk   DATA; of the last chunk: TRAILER
 *   SIZE_REST    to the end of a line  DATA, TRAILER
 *   DATA         `left` bytes          SIZE
 *   TRAILER      a field line          TRAILER; the empty line: START
 *   TRAILER_REST to the end of a line  TRAILER
 *   CLOSE        everything            CLOSE: the body ends with the connection
 *   TUNNEL       everything            TUNNEL: another protocol, or CONNECT's answer is awaited
 *   LOST         everything            LOST; a read that looks like a request begins one
 *
 * A line may be split anywhere: up to CARRY bytes of its beginning are kept. The *_REST states skip
 * the rest of a longer one.
 */
#pragma once

#include "bpf/request/request_fields.h"

/* The end of a start line, at x->at. 1: stop. */
static __always_inline int start_line_ends(struct message_reader *r, volatile struct scan *x,
					   const struct scratch *b, __u32 hook)
{
	__u32 at = x->line, len = x->at - at;
	__u8 c = byte_at(b, at);

	if (len == 1 || (len == 2 && c == '\r'))
		return 0;
	if (!c && len == 3 && !r->spoken && !r->begun) {
		r->state = MESSAGE_QUIT;
		return 0;
	}
	if (r->begun &&
	    (x->answers ? answer_line_read(r, x, b) : request_line_read(r, hook, x->at))) {
		r->state = MESSAGE_HEAD;
		return 0;
	}
	message_lost(r);
	x->events |= EVENT_BAD;
	return 1;
}

static __always_inline bool line_is_empty(const volatile struct scan *x, const struct scratch *b)
{
	__u32 len = x->at - x->line;

	return len == 1 || (len == 2 && byte_at(b, x->line) == '\r');
}

static __always_inline int size_line_ends(struct message_reader *r, __u32 hook)
{
	if (r->state == MESSAGE_SIZE && !size_read(r, hook))
		return 1;
	r->state = r->left ? MESSAGE_DATA : MESSAGE_TRAILER;
	return r->left != 0;
}

/* A line from x->line to x->at is complete. 1: no line is expected next, or stop. Global. */
__noinline int line_ends(struct message_reader *r, __u32 hook)
{
	volatile struct scan *x = scan_of(hook);
	const struct scratch *b = scratch_of(hook);

	if (!r || !x || !b)
		return 1;
	switch (r->state) {
	case MESSAGE_START:
		return start_line_ends(r, x, b, hook);
	case MESSAGE_QUIT:
		if (x->at - x->line == 5 &&
		    (__u32)word_at(b, x->line) == WORD4('Q', 'U', 'I', 'T')) {
			r->state = MESSAGE_PROXY;
			return 1;
		}
		message_lost(r);
		x->events |= EVENT_BAD;
		return 1;
	case MESSAGE_PROXY_REST:
		r->state = MESSAGE_START;
		return 0;
	case MESSAGE_HEAD:
		if (!line_is_empty(x, b)) {
			field_read(r, hook, 1);
			return 0;
		}
		head_ends(r, x);
		return r->state != MESSAGE_START;
	case MESSAGE_START_REST:
	case MESSAGE_HEAD_REST:
		r->state = MESSAGE_HEAD;
		return 0;
	case MESSAGE_SIZE:
	case MESSAGE_SIZE_REST:
		return size_line_ends(r, hook);
	case MESSAGE_TRAILER:
		if (line_is_empty(x, b))
			message_ends(r);
		return 0;
	case MESSAGE_TRAILER_REST:
		r->state = MESSAGE_TRAILER;
		return 0;
	}
	return 1;
}

#define PROXY_WORD WORD8('P', 'R', 'O', 'X', 'Y', ' ', 0, 0)

/*
 * Between messages, at the first byte of a line. 1: a message begins; 2: more bytes are needed to
 * see whether it does.
 */
static __always_inline int start_begins(struct message_reader *r, volatile struct scan *x,
					const struct scratch *b)
{
	__u8 c = byte_at(b, x->line);
	__u32 n = x->have - x->line;
	__u64 w, mask;

	if (c == '\r' || c == '\n')
		return 0;
	if (!r->spoken && !x->answers) {
		if (!c)
			return 0;
		w = word_at(b, x->line);
		mask = n < 6 ? (1ull << (n * 8 & 63)) - 1 : (1ull << 48) - 1;
		if ((w & mask) == (PROXY_WORD & mask)) {
			if (n < 6)
				return 2;
			r->state = MESSAGE_PROXY_REST;
			return 0;
		}
	}
	r->begun = r->spoken = 1;
	return 1;
}

/* How many bytes up to the first one marked by its highest bit. */
static __always_inline __u32 bytes_to(__u64 marks)
{
	return ((((marks & -marks) - 1) & EACH_BYTE(1)) * EACH_BYTE(1)) >> 56;
}

/*
 * Searches the scratch for ends of lines, a word at a time. 1: stop; 0: the state may have changed.
 * Global.
 */
__noinline int scan_lines(struct message_reader *r, __u32 hook)
{
	volatile struct scan *x = scan_of(hook);
	const struct scratch *b = scratch_of(hook);

	if (!r || !x || !b)
		return 1;
	for (int i = 0; i < SCAN_STEPS; i++) {
		__u32 at = x->at;
		__u64 w, m;
		__u8 c;

		if (at >= x->have)
			return 0;
		if (r->state == MESSAGE_START && !r->begun) {
			int begins = start_begins(r, x, b);

			if (begins == 2) {
				x->at = x->have;
				return 0;
			}
			if (begins && !x->answers) {
				x->events |= EVENT_BEGAN;
				return 1;
			}
		}
		w = word_at(b, at) ^ (EACH_BYTE('\n'));
		m = (w - EACH_BYTE(1)) & ~w & EACH_BYTE(0x80);
		if (!m) {
			x->at = at + 8;
			continue;
		}
		x->at = at + bytes_to(m);
		c = byte_at(b, x->line) | 0x20;
		if (r->state == MESSAGE_HEAD && c > '/' && c != 'c' && c != 't') {
			x->line = x->at;
			continue;
		}
		if (line_ends(r, hook)) {
			x->line = x->at;
			return x->events & EVENT_BAD;
		}
		x->line = x->at;
	}
	return 0;
}

/* Takes bytes that are only counted. */
static __always_inline void message_take(struct message_reader *r, volatile struct scan *x)
{
	__u32 pending = x->have - x->at, n = pending + x->s.total, k;

	if (r->state < MESSAGE_CLOSE && n > r->left)
		n = r->left;
	k = n < pending ? n : pending;
	x->at += k;
	x->line = x->at;
	if (n > k)
		span_skip((struct span *)&x->s, n - k);
	if (r->state >= MESSAGE_CLOSE)
		return;
	r->left -= n;
	if (r->left)
		return;
	if (r->state == MESSAGE_BODY)
		message_ends(r);
	else
		r->state = r->state == MESSAGE_DATA ? MESSAGE_SIZE : MESSAGE_START;
}

/* Reads the next bytes behind those that are kept of their line. Global. */
__noinline int message_fill(struct message_reader *r, __u32 hook)
{
	volatile struct scan *x = scan_of(hook);
	struct scratch *b = scratch_of(hook);
	__u32 n, carried;

	if (!r || !x || !b)
		return 0;
	carried = r->carried < CARRY ? r->carried : CARRY - 1;
	n = x->s.len < BLOCK ? x->s.len : BLOCK;
	if (!n && x->s.p) {
		span_skip((struct span *)&x->s, 0);
		return 0;
	}
	if (carried)
		__builtin_memcpy(b->b, r->carry, CARRY);
	if (x->s.p && bpf_probe_read_user(b->b + at_most(carried, CARRY), at_most(n, BLOCK),
					  (const void *)x->s.p)) {
		count(STAT_USER_FAULT);
		x->s.p = NULL;
	}
	if (!x->s.p) {
		message_lost(r);
		return 0;
	}
	span_skip((struct span *)&x->s, n);
	x->line = 0;
	x->at = carried;
	x->have = n + carried;
	r->carried = 0;
	n = x->have;
	n = at_most(n, CARRY + BLOCK);
	*(__u64 *)(b->b + n) = 0;
	*(__u64 *)(b->b + n + 8) = 0;
	*(__u64 *)(b->b + n + 16) = 0;
	return 0;
}

/* The bytes ended within a line that is too long to be kept. */
static __always_inline void line_is_long(struct message_reader *r, volatile struct scan *x,
					 const struct scratch *b, __u32 hook)
{
	switch (r->state) {
	case MESSAGE_START:
		if (!r->begun || x->answers || !request_line_read(r, hook, 0)) {
			message_lost(r);
			x->events |= EVENT_BAD;
		} else {
			r->state = MESSAGE_START_REST;
		}
		break;
	case MESSAGE_QUIT:
		message_lost(r);
		break;
	case MESSAGE_HEAD:
		field_read(r, hook, 0);
		r->state = MESSAGE_HEAD_REST;
		break;
	case MESSAGE_SIZE:
		if (size_read(r, hook))
			r->state = MESSAGE_SIZE_REST;
		break;
	case MESSAGE_TRAILER:
		r->state = MESSAGE_TRAILER_REST;
		break;
	}
}

static __always_inline bool line_is_skipped(__u8 state)
{
	return state >= MESSAGE_START_REST && state <= MESSAGE_TRAILER_REST;
}

/* The bytes read end within a line: keeps its beginning. Global. */
__noinline int line_keep(struct message_reader *r, __u32 hook)
{
	volatile struct scan *x = scan_of(hook);
	const struct scratch *b = scratch_of(hook);
	__u32 n, at;

	if (!r || !x || !b)
		return 0;
	at = x->line;
	x->at = x->have;
	n = x->have - at;
	x->line = x->have;
	r->carried = 0;
	if (!n || n > CARRY + BLOCK || line_is_skipped(r->state))
		return 0;
	if (r->state == MESSAGE_START && r->begun && x->answers && n >= STATUS_LINE) {
		x->line = at;
		if (answer_line_read(r, x, b)) {
			r->state = MESSAGE_START_REST;
		} else {
			message_lost(r);
			x->events |= EVENT_BAD;
		}
		return 0;
	}
	if (n < CARRY) {
		bpf_probe_read_kernel(r->carry, at_most(n, CARRY),
				      b->b + at_most(at, 2 * REQ_ANSWER - CARRY));
		r->carried = n;
		return 0;
	}
	x->line = at;
	line_is_long(r, x, b, hook);
	x->line = x->have;
	return 0;
}

/* The length of a PROXY head, version 2, from its last two bytes. */
static __always_inline void proxy_read(struct message_reader *r, volatile struct scan *x,
				       const struct scratch *b)
{
	__u32 at = x->line;

	if (x->have - at < 4) {
		x->at = x->have;
		return;
	}
	r->left = byte_at(b, at + 2) << 8 | byte_at(b, at + 3);
	r->state = r->left ? MESSAGE_SKIP : MESSAGE_START;
	x->at = x->line = at + 4;
}

/* Bytes of a connection whose messages are not followed: a request is recognized by its first ones.
 */
static __always_inline void message_look(struct message_reader *r, volatile struct scan *x,
					 const struct scratch *b, __u32 hook)
{
	if (!x->answers && x->at == 0 && x->s.total == x->len) {
		message_fill(r, hook);
		x->at = x->line;
	}
	if (!x->answers && x->at == 0 && x->have && is_request(word_at(b, 0))) {
		message_reset(r);
		return;
	}
	x->at = x->line = x->have;
	span_skip((struct span *)&x->s, x->s.total);
}

/* 1: stop. Global. */
__noinline int message_step(struct message_reader *r, __u32 hook)
{
	volatile struct scan *x = scan_of(hook);
	const struct scratch *b = scratch_of(hook);

	if (!r || !x || !b || (x->at >= x->have && !x->s.total))
		return 1;
	if (r->state == MESSAGE_LOST) {
		message_look(r, x, b, hook);
		return 0;
	}
	if (message_counts(r->state)) {
		message_take(r, x);
		return 0;
	}
	if (x->at >= x->have) {
		message_fill(r, hook);
		return 0;
	}
	if (r->state == MESSAGE_PROXY)
		proxy_read(r, x, b);
	else if (scan_lines(r, hook))
		return 1;
	if (x->at >= x->have && !message_counts(r->state) && r->state != MESSAGE_LOST)
		line_keep(r, hook);
	return 0;
}

/*
 * Follows the bytes of the call up to the first byte of a request, or to their end. Returns the
 * events so far. Global.
 */
__noinline int message_run(struct message_reader *r, __u32 hook)
{
	volatile struct scan *x = scan_of(hook);

	if (!r || !x)
		return 0;
	x->events &= ~EVENT_BEGAN;
	for (int i = 0; i < MESSAGE_STEPS; i++)
		if (message_step(r, hook))
			return x->events;
	message_lost(r);
	x->at = x->have;
	x->s.total = 0;
	return x->events;
}

/* The bytes of the call that have not been followed yet. */
static __always_inline __u32 message_rest(const volatile struct scan *x)
{
	return x->have - x->line + x->s.total;
}

/* How far TCP has come in this direction. */
static __always_inline __u32 message_seq(struct sock *sk, __u32 hook)
{
	return hook == HOOK_RECV ? TCP_READ(sk, copied_seq) : TCP_READ(sk, write_seq);
}

/*
 * The bytes that the current call moved are to be followed. Bytes that no hook saw, where a message
 * was open, end what is known of it.
 */
static __always_inline void message_open(struct conn *c, struct message_reader *r, struct sock *sk,
					 enum hook hook, bool answers, __u32 len)
{
	volatile struct scan *x = scan_of(hook);
	struct scratch *b = scratch_of(hook);
	__u32 n;

	if (!x || !b)
		return;
	__builtin_memset((void *)&x->s, 0, sizeof(x->s));
	x->len = len;
	x->at = x->have = x->line = x->events = x->interim = 0;
	x->answers = answers;
	x->status = 0;
	span_of_call((struct span *)&x->s, len);
	x->s.total = len;
	if (calls_many() && message_is_open(r))
		x->s.p = NULL;
	if (message_is_open(r) && !c->local && message_seq(sk, hook) - len != r->seq)
		message_lost(r);
	if (!x->s.p && is_uring() && !r->carried) {
		n = packet_head_take(sk, hook == HOOK_SEND, b);
		if (n > len)
			n = len;
		n = at_most(n, REQ_ANSWER);
		x->have = n;
		x->s.total = len - n;
		*(__u64 *)(b->b + n) = 0;
	}
}

/* The call's bytes have been followed. */
static __always_inline void message_close(struct conn *c, struct message_reader *r, struct sock *sk,
					  enum hook hook)
{
	if (!c->local && message_is_open(r))
		r->seq = message_seq(sk, hook);
}

_Static_assert(__builtin_offsetof(struct conn, heard) < __builtin_offsetof(struct conn, line),
	       "a client's line is its own");

/* Reads the next bytes of the call into c->line, from `at` on. Returns how many are in it. Global.
 */
__noinline int line_read(struct conn *c, struct span *s, __u32 at)
{
	__u32 n;

	if (!c || !s)
		return 0;
	for (int i = 0; i < SPAN_PIECES && s->p && at < REQ_LINE; i++) {
		n = s->len < REQ_LINE - at ? s->len : REQ_LINE - at;
		if (bpf_probe_read_user(c->line + at_most(at, REQ_LINE), at_most(n, REQ_LINE),
					s->p))
			break;
		at += n;
		if (!span_has_next(s))
			break;
		span_next(s);
	}
	return at;
}

/*
 * Copies the first bytes of the request that begins at x->line in the scratch into c->line. Returns
 * how many. Those that are not in the scratch are read again.
 */
static __always_inline __u32 line_keep_first(struct conn *c, const volatile struct scan *x,
					     const struct scratch *b)
{
	__u32 at = x->line, n = at_most(x->have - at, REQ_LINE), rest = message_rest(x);
	__u32 kept = rest > x->len ? rest - x->len : 0; /* of an earlier call */
	struct span s = {};

	bpf_probe_read_kernel(c->line, at_most(n, REQ_LINE), b->b + at);
	if (n == REQ_LINE || !x->s.total)
		return n;
	span_of_call(&s, x->len);
	if (!kept && rest < x->len)
		span_skip(&s, x->len - rest);
	return s.p ? line_read(c, &s, kept) : n;
}
