/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_peek.h - reads the first bytes moved by a system call, from the caller's buffer, and
 * classifies them. Never reads beyond the call's return value: the bytes after it belong to the
 * previous message.
 */
#pragma once

#include "bpf/request/request_net.h"
#include "bpf/lib/syscall.h"

/*
 * The bytes of a call: the first piece, and the iovec with the other pieces. The cost is per read
 * of the process's memory (90 ns with SMAP under a hypervisor), not per byte, so the reads are few
 * and the second entry of an iovec is read with the first.
 */
struct span {
	const void *p;
	__u32 len; /* of this piece */
	__u32 total; /* of this piece and all following ones */
	const struct user_iovec *iov; /* the piece's entry; NULL: a single piece */
	__u32 niov; /* entries from iov on */
	struct user_iovec second;
};

enum {
	SPAN_PIECES = 8, /* pieces read when the first ones are too short */
	SPAN_SKIPPED = 64, /* pieces of a call whose place is known */
};

/* s: all zero. */
static __always_inline void span_of_iov(struct span *s, const struct user_iovec *iov, __u64 niov,
					__u32 len)
{
	struct user_iovec v[2] = {};

	s->total = len;
	if (bpf_probe_read_user(v, niov > 1 ? sizeof(v) : sizeof(v[0]), iov)) {
		count(STAT_USER_FAULT);
		return;
	}
	s->p = (const void *)v[0].base;
	s->len = v[0].len < len ? v[0].len : len;
	s->iov = iov;
	s->niov = niov;
	s->second = v[1];
}

static __always_inline void span_of_msg(struct span *s, const void *arg, __u32 len)
{
	struct user_msghdr m;

	if (bpf_probe_read_user(&m, sizeof(m), arg))
		count(STAT_USER_FAULT);
	else
		span_of_iov(s, (const struct user_iovec *)m.iov, m.iovlen, len);
}

/*
 * Fills s, which is all zero, with the place of the bytes that the current call moved. If the call
 * moved several messages the first one is taken, as the one behind this event is unknown;
 * calls_many reports that it may be another. Global, like others here, so that the verifier checks
 * it once and not in every state of its callers.
 */
__noinline int span_of_call(struct span *s, __u32 len)
{
	struct pt_regs *r = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	const void *arg = (const void *)REGS_ARG2(r);

	if (!s)
		return 0;
	switch (REGS_NR(r)) {
	case NR_READ:
	case NR_WRITE:
	case NR_SENDTO:
	case NR_RECVFROM:
		s->p = arg;
		s->len = s->total = len;
		break;
	case NR_READV:
	case NR_WRITEV:
		span_of_iov(s, arg, REGS_ARG3(r), len);
		break;
	case NR_SENDMSG:
	case NR_RECVMSG:
	case NR_RECVMMSG:
	case NR_SENDMMSG:
		span_of_msg(s, arg, len);
		break;
	}
	return 0;
}

static __always_inline bool calls_many(void)
{
	__u64 nr = REGS_NR((struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf()));

	return nr == NR_RECVMMSG || nr == NR_SENDMMSG;
}

static __always_inline bool span_has_next(const struct span *s)
{
	return s->p && s->iov && s->len < s->total && s->niov > 1;
}

/* Moves on to the next piece; p is NULL if it cannot be read. */
__noinline int span_next(struct span *s)
{
	const struct user_iovec *iov;
	__u32 niov, len;

	if (!s)
		return 0;
	iov = s->iov + 1;
	niov = s->niov - 1;
	len = s->total - s->len;
	__builtin_memset(s, 0, sizeof(*s));
	span_of_iov(s, iov, niov, len);
	return 0;
}

/* Adds the first piece and moves on to the next; p is NULL if there is nothing to add. */
__noinline int span_add(__u32 hook, __u32 at, __u32 max, struct span *s)
{
	struct scratch *x = scratch_of(hook);
	__u32 n;

	if (!x || !s)
		return at;
	n = s->len;
	if (max > REQ_ANSWER || at >= max) {
		s->p = NULL;
		return at;
	}
	n = n < max - at ? n : max - at;
	if (bpf_probe_read_user(x->b + at_most(at, REQ_ANSWER), at_most(n, REQ_ANSWER), s->p)) {
		count(STAT_USER_FAULT);
		s->p = NULL;
		return at;
	}
	if (span_has_next(s))
		span_next(s);
	else
		s->p = NULL;
	return at + n;
}

/*
 * Appends the call's bytes to the first `at` bytes of the hook's scratch, up to max, at most half
 * of its size. Returns the number of bytes there. Consumes s.
 */
static __always_inline __u32 span_gather(__u32 hook, __u32 at, __u32 max, struct span *s)
{
	for (int i = 0; i < SPAN_PIECES && s->p; i++)
		at = span_add(hook, at, max, s);
	return at;
}

/* The first eight bytes, padded with zeroes. */
static __always_inline __u64 first_word(const struct span *s)
{
	__u64 w = 0;

	if (!s->p)
		return 0;
	if (bpf_probe_read_user(&w, at_most(s->len, sizeof(w)), s->p)) {
		count(STAT_USER_FAULT);
		return 0;
	}
	return w;
}

#define WORD4(a, b, c, d) ((__u32)(a) | (__u32)(b) << 8 | (__u32)(c) << 16 | (__u32)(d) << 24)

#define EACH_BYTE(b) (0x0101010101010101ull * (b))

static __always_inline __u64 word_of(const char *b)
{
	__u64 w;

	__builtin_memcpy(&w, b, sizeof(w));
	return w;
}

/*
 * The methods by which a request is recognized where nothing is known of the bytes before it; where
 * a request is expected, any token is one.
 */
static __always_inline bool is_request(__u64 w)
{
	switch ((__u32)w) {
	case WORD4('G', 'E', 'T', ' '):
	case WORD4('H', 'E', 'A', 'D'):
	case WORD4('P', 'O', 'S', 'T'):
	case WORD4('P', 'U', 'T', ' '):
	case WORD4('P', 'A', 'T', 'C'):
	case WORD4('D', 'E', 'L', 'E'):
	case WORD4('O', 'P', 'T', 'I'):
		return true;
	default:
		return false;
	}
}

#define ANSWER_WORD 0x002e312f50545448ull /* "HTTP/1." */

static __always_inline bool is_answer(__u64 w)
{
	return (w & 0x00ffffffffffffffull) == ANSWER_WORD;
}

/* "PRI * HT", the preface of HTTP/2 with prior knowledge */
static __always_inline bool is_http2(__u64 w)
{
	return w == 0x5448202a20495250ull;
}

/* A TLS handshake record whose first message is a ClientHello. */
static __always_inline bool is_client_hello(__u64 w)
{
	return (w & 0xffff) == 0x0316 && ((w >> 40) & 0xff) == 1;
}

enum { STATUS_LINE = 12 }; /* "HTTP/1.1 200" */
