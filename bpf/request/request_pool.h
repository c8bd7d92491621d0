/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_pool.h - jobs that a loop gives to helper threads of its process (a thread pool for
 * files, as in libuv), and gets back.
 *
 * A loop that wakes a helper from a futex while it works on a request hands that request over: the
 * helper's time until it wakes the loop again belongs to the request. The loop then records which
 * request's job came back, so that its next piece of work belongs to this request, too. This only
 * assigns time, never calls.
 */
#pragma once

#include "bpf/request/request_hooks.h"
#include "bpf/request/request_wait.h"

/* This thread wakes t, a waiting helper. */
static __always_inline void job_given(struct thread *th, const struct task_struct *t)
{
	struct task_struct *by = bpf_get_current_task_btf();
	struct thread *w;

	th->job = 0;
	if (by->tgid != t->tgid)
		return;
	w = bpf_task_storage_get(&threads, by, 0, 0);
	if (!w || !w->loop)
		return;
	th->job = thread_work(w);
	w->calls = 1; /* the answer has to look for this time */
}

/* Assigns the helper's time up to now to its job. */
static __always_inline void job_account(struct thread *helper, __u64 now)
{
	struct req_calls *cs = calls_make(helper->job);

	helper->job = 0;
	if (!cs || cs->answered)
		return;
	cs->touched_ns = now;
	time_to(helper, &cs->help, now, WAIT_RECV);
}

/* This thread, perhaps a helper of it, wakes th, a waiting loop. */
static __always_inline void job_back(struct thread *th, const struct task_struct *t, __u64 now)
{
	struct task_struct *by = bpf_get_current_task_btf();
	struct thread *w;

	if (by->tgid != t->tgid)
		return;
	w = bpf_task_storage_get(&threads, by, 0, 0);
	if (!w || !w->helper || !w->job)
		return;
	th->next_job = w->job;
	job_account(w, now);
}

/* Creates entries for the threads of processes that have a loop, before they get any job. */
SEC("iter/task")
int adopt(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct thread *th;
	__u32 tgid;

	if (!t)
		return 0;
	tgid = t->tgid;
	if (!bpf_map_lookup_elem(&loopers, &tgid) || bpf_task_storage_get(&threads, t, 0, 0))
		return 0;
	th = bpf_task_storage_get(&threads, t, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!th)
		return 0;
	th->helper = 1;
	if (t->__state & TASK_INTERRUPTIBLE) { /* the state its next switch will find */
		th->wait = WAIT_LOCK;
		th->out_ns = bpf_ktime_get_ns();
	}
	thread_count(th, t);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int on_thread_exit(__u64 *ctx)
{
	struct thread *th = thread_of((struct task_struct *)ctx[0]);
	struct served *s = served_all();

	if (th && th->tid && s)
		served_drop(s, th->tid);
	return 0;
}
