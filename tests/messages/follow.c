// SPDX-License-Identifier: Apache-2.0
/* follow.c - compiled with the headers of tests/messages/shim in place of libbpf's. */
#define REQUEST_SYSCALLS
#define __TARGET_ARCH_x86
#ifdef __clang__ /* the kernel reads and writes words at any address */
#pragma clang attribute push(__attribute__((no_sanitize("alignment"))), apply_to = function)
#endif
#include "bpf/request/request_message.h"
#ifdef __clang__
#pragma clang attribute pop
#endif

#include "tests/messages/follow.h"

struct pt_regs shim_regs;

static struct conn conn;
static bool is_answers;

void follow_new(bool answers)
{
	memset(&conn, 0, sizeof(conn));
	conn.local = 1; /* no TCP behind it */
	is_answers = answers;
}

void follow_call(void *iov, size_t n, unsigned len, struct follow_call *out)
{
	struct message_reader *r = is_answers ? &conn.an : &conn.rq;
	enum hook hook = is_answers ? HOOK_SEND : HOOK_RECV;
	volatile struct scan *x = scan_of(hook);

	memset(out, 0, sizeof(*out));
	shim_regs.orig_ax = is_answers ? NR_WRITEV : NR_READV;
	shim_regs.si = (unsigned long)iov;
	shim_regs.dx = n;
	message_open(&conn, r, NULL, hook, is_answers, len);
	while (message_run(r, hook) & EVENT_BEGAN && out->nbegins < FOLLOW_BEGINS) {
		out->begins[out->nbegins] = (long)len - (long)message_rest(x);
		if (!out->nbegins++) {
			out->line_len = line_keep_first(&conn, x, scratch_of(hook));
			memcpy(out->line, conn.line, FOLLOW_LINE);
		}
	}
	message_close(&conn, r, NULL, hook);
	out->finals = !!(x->events & EVENT_FINAL) + !!(x->events & EVENT_AGAIN);
	out->status = x->status;
	out->bad = x->events & EVENT_BAD;
	out->open = message_is_open(r);
	out->lost = r->state == MESSAGE_LOST;
}
