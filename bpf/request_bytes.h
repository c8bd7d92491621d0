/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_bytes.h - the first bytes of what a system call moved, read from its own buffer, and what
 * they say. No read goes past the call's return value: what lies behind it is the last message.
 */
#pragma once

#include "request_maps.h"

#if defined(__TARGET_ARCH_x86)
enum {
	NR_READ = 0,
	NR_WRITE = 1,
	NR_READV = 19,
	NR_WRITEV = 20,
	NR_SENDTO = 44,
	NR_RECVFROM = 45,
	NR_SENDMSG = 46,
	NR_RECVMSG = 47,
};
#define REGS_NR(r) ((r)->orig_ax)
#define REGS_ARG2(r) ((r)->si)
#define REGS_ARG3(r) ((r)->dx)
#elif defined(__TARGET_ARCH_arm64)
enum {
	NR_READ = 63,
	NR_WRITE = 64,
	NR_READV = 65,
	NR_WRITEV = 66,
	NR_SENDTO = 206,
	NR_RECVFROM = 207,
	NR_SENDMSG = 211,
	NR_RECVMSG = 212,
};
#define REGS_NR(r) ((r)->syscallno)
#define REGS_ARG2(r) ((r)->regs[1])
#define REGS_ARG3(r) ((r)->regs[2])
#endif

/* Where the call's bytes begin, how many lie there in one piece, and where the next piece is told.
 */
struct span {
	const void *p;
	__u32 len;
	__u32 total; /* of all pieces */
	const struct user_iovec *next; /* NULL: there is one piece */
};

enum { SPAN_PIECES = 8 }; /* looked at, when the first ones are too short to be of use */

static __always_inline struct span span_of_iov(const struct user_iovec *iov, __u32 len)
{
	struct span s = { .total = len };
	struct user_iovec v;

	if (bpf_probe_read_user(&v, sizeof(v), iov))
		return s;
	s.p = (const void *)v.base;
	s.len = v.len < len ? v.len : len;
	s.next = s.len < len ? iov + 1 : NULL;
	return s;
}

static __always_inline struct span span_of_call(__u32 len)
{
	struct pt_regs *r = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	const void *arg = (const void *)REGS_ARG2(r);
	struct user_msghdr m;
	struct span s = { 0 };

	switch (REGS_NR(r)) {
	case NR_READ:
	case NR_WRITE:
	case NR_SENDTO:
	case NR_RECVFROM:
		s.p = arg;
		s.len = s.total = len;
		return s;
	case NR_READV:
	case NR_WRITEV:
		return span_of_iov(arg, len);
	case NR_SENDMSG:
	case NR_RECVMSG:
		if (bpf_probe_read_user(&m, sizeof(m), arg))
			return s;
		return span_of_iov((const struct user_iovec *)m.iov, len);
	default:
		return s;
	}
}

/*
 * Appends the call's bytes to dst, which holds at of them, up to max; returns how many it then
 * holds. dst is part of a map value that has room for max bytes more behind them.
 */
static __always_inline __u32 span_append(char *dst, __u32 at, __u32 max, const struct span *s)
{
	struct span piece = *s;

	for (int i = 0; i < SPAN_PIECES; i++) {
		__u32 n = piece.len, room = max - at;

		if (!piece.p || at >= max)
			return at;
		n = n < room ? n : room;
		if (n > max) /* it is not: said for the verifier */
			return at;
		if (bpf_probe_read_user(dst + at, n, piece.p)) {
			count(STAT_USER_FAULT);
			return at;
		}
		at += n;
		if (!piece.next)
			return at;
		piece = span_of_iov(piece.next, piece.total - piece.len);
	}
	return at;
}

/* The last piece of what a call sent. All of an iovec is taken to have gone out. */
static __always_inline struct span span_of_last(__u32 len)
{
	struct pt_regs *r = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	__u64 nr = REGS_NR(r), iov = REGS_ARG2(r), n = REGS_ARG3(r);
	struct user_msghdr m;

	if (nr == NR_SENDMSG) {
		if (bpf_probe_read_user(&m, sizeof(m), (const void *)iov))
			return (struct span){ 0 };
		iov = m.iov;
		n = m.iovlen;
	} else if (nr != NR_WRITEV) {
		return span_of_call(len);
	}
	return span_of_iov((const struct user_iovec *)iov + (n - 1), len);
}

/* The first eight bytes; fewer are filled up with zeroes. */
static __always_inline __u64 first_word(const struct span *s)
{
	__u32 n = s->len;
	__u64 w = 0;

	if (!s->p)
		return 0;
	if (n > sizeof(w))
		n = sizeof(w);
	if (bpf_probe_read_user(&w, n, s->p)) {
		count(STAT_USER_FAULT);
		return 0;
	}
	return w;
}

#define WORD4(a, b, c, d) ((__u32)(a) | (__u32)(b) << 8 | (__u32)(c) << 16 | (__u32)(d) << 24)

static __always_inline bool is_bodiless(__u64 w)
{
	__u32 m = (__u32)w;

	return m == WORD4('G', 'E', 'T', ' ') || m == WORD4('H', 'E', 'A', 'D');
}

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

/* The first n < 8 bytes of what may become a request. */
static __always_inline bool may_be_request(__u64 w, __u32 n)
{
	__u32 m = n < 4 ? (1u << (n * 8)) - 1 : ~0u, v = (__u32)w & m;

	return v == (WORD4('G', 'E', 'T', ' ') & m) || v == (WORD4('H', 'E', 'A', 'D') & m) ||
	       v == (WORD4('P', 'O', 'S', 'T') & m) || v == (WORD4('P', 'U', 'T', ' ') & m) ||
	       v == (WORD4('P', 'A', 'T', 'C') & m) || v == (WORD4('D', 'E', 'L', 'E') & m) ||
	       v == (WORD4('O', 'P', 'T', 'I') & m);
}

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

/* The status in the first STATUS_LINE bytes of an answer; 0: this is none. */
static __always_inline __u16 status_in(const char *h)
{
	__u64 w;

	__builtin_memcpy(&w, h, sizeof(w));
	if (!is_answer(w) || h[8] != ' ' || h[9] < '1' || h[9] > '5' || h[10] < '0' ||
	    h[10] > '9' || h[11] < '0' || h[11] > '9')
		return 0;
	return (h[9] - '0') * 100 + (h[10] - '0') * 10 + (h[11] - '0');
}

static __always_inline __u16 status_of(const struct span *s)
{
	char h[16] = {};

	if (s->len < STATUS_LINE || !s->p)
		return 0;
	if (bpf_probe_read_user(h, STATUS_LINE, s->p)) {
		count(STAT_USER_FAULT);
		return 0;
	}
	return status_in(h);
}
