/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_profile.h - profiles a thread that has worked on one request for long without touching a
 * socket: samples its user stack at each tick of a timer. A tick in an idle or an unwatched thread
 * ends after one lookup.
 */
#pragma once

#include "bpf/request/request_thread.h"

static __always_inline void profile_emit(struct thread *th, __u64 id, __u64 now, void *ctx)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct req_stack *s = bpf_ringbuf_reserve(&ring, sizeof(*s), 0);
	long n;

	if (!s) {
		count(STAT_BLOCK_FULL);
		return;
	}
	s->kind = REQ_KIND_STACK;
	s->flags = 0;
	s->id = id;
	s->at_ns = now;
	s->tgid = t->tgid;
	s->tid = t->pid;
	__builtin_memcpy(s->comm, t->comm, REQ_COMM);
	n = bpf_get_stack(ctx, s->frame, sizeof(s->frame), BPF_F_USER_STACK | BPF_F_USER_BUILD_ID);
	s->nframes = n > 0 ? n / sizeof(s->frame[0]) : 0;
	s->unused = 0;
	bpf_ringbuf_submit(s, 0);
}

SEC("perf_event")
int on_clock(struct bpf_perf_event_data *ctx)
{
	struct thread *th = control.on ? thread_get() : NULL;
	__u64 id, now;

	if (!th)
		return 0;
	id = thread_work(th);
	if (!id)
		return 0;
	now = bpf_ktime_get_ns();
	if (now - th->mark_ns > REQ_PROFILE_NS)
		profile_emit(th, id, now, ctx);
	return 0;
}
