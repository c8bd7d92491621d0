/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_thread.h - the state of a serving thread: its current request, and where its time went
 * since its last action for a request.
 *
 * Every action of a thread on a socket of a request assigns the time since the previous action to
 * that request (time_to), with its waits (request_sched.h). An action that starts something else -
 * the first read of a request, a read for another request, a loop's wait for work - assigns that
 * time to the previous request, if there is one (time_leave). All other time is dropped
 * (time_drop).
 */
#pragma once

#include "bpf/request/request_maps.h"
#include "bpf/lib/tid_filter.h"

/* A wait of one kind that accumulates until it is long enough to report. */
struct waiting {
	__u32 wait; /* enum req_wait */
	__s32 nr;
	__u64 arg[3];
	__u64 start_ns, off_ns; /* 0: none */
};

enum by_call { BY_CALL_SENT = 1, BY_CALL_READ };

struct thread {
	__u64 cur; /* the request it is working on */
	__u64 nvcsw; /* the thread's voluntary switches when cur was set */
	__u64 call_ns; /* by_call: when that call was sent, or when it began if it was not sent */
	__u32 loop; /* an event loop: cur is invalid after its next wait */
	__u8 calls; /* it has called upstream before */
	__u8 by_call; /* cur was set by an action for an upstream call: enum by_call */
	__u8 pool; /* it answers requests that other threads read */
	__u8 idle; /* a pool thread that has answered: its next wait is for work */
	__u8 busy; /* wait_ns is not all zero */
	__u8 dirty; /* about to be throttled by writeback */
	__u8 by; /* enum block_flag, of the wakeup */
	__u8 helper; /* in a process with a loop: the loop may give it jobs */
	__u8 by_timer; /* a loop: its last wait timed out */
	__u8 wait; /* enum req_wait, while it is off its CPU */
	__u8 locked; /* a loop: it has waited for a lock since, and may work on another request */
	__u8 unserved; /* it read cur, all of it, and has done nothing for it since */
	__u32 target; /* of cur, as in its struct conn */
	__u32 tid; /* key of its count in served[]; 0: not counted yet */
	__u32 who_tgid, who_tid;
	char who[REQ_COMM];
	__u64 mark_ns; /* its time up to here has been assigned; 0: not started */
	__u64 out_ns, wake_ns; /* when it left its CPU, when it was woken; 0: not yet */
	__u64 throttled_ns; /* throttled time of its cgroups at out_ns */
	__u64 woke_ns, in_ns; /* its last wait for bytes: when it was woken, when it got a CPU */
	__u64 stopped_ns; /* throttled time between woke_ns and in_ns */
	__u64 held_from_ns, held_to_ns; /* the last long delay while it was runnable */
	__u64 held_stopped_ns; /* the throttled part of it */
	__u64 reclaim_ns, reclaim_off_ns; /* since when it frees memory; time off CPU since then */
	__u64 wait_ns[WAIT_END]; /* since mark_ns */
	__u64 job, next_job; /* helper, loop: request of its current job, of the job handed back */
	__u64 patience_ns; /* timeout of a loop's wait; 0: none */
	__u64 due_ns; /* when its timer was due, if an event ended the wait sooner; 0: none */
	struct waiting off, runq; /* off CPU while blocked, and while runnable */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

#define CUR_NOBODY (~0ull) /* cur: a call whose request is not known, or already answered */

/*
 * The current request of this thread; 0 if it is not certain. A loop forgets its request when it
 * waits: syscall hooks see the wait (thread_waited); without them any sleep counts as one, except a
 * sleep in the midst of work (goes_on_after).
 */
static __always_inline __u64 thread_cur_at(const struct thread *th, __u64 nvcsw)
{
#ifndef REQUEST_SYSCALLS
	if (th->loop && th->nvcsw != nvcsw)
		return 0;
#endif
	return th->cur;
}

static __always_inline __u64 thread_cur(const struct thread *th)
{
	return thread_cur_at(th, bpf_get_current_task_btf()->nvcsw);
}

/* True: the time since mark_ns may be assigned to this request, on which the thread now acts. */
static __always_inline bool was_at(const struct thread *th, __u64 cur, __u64 id)
{
	return cur ? cur == id : !th->locked || !th->cur || th->cur == id;
}

/* The current request, or the request of the thread's job (request_pool.h); 0: neither. */
static __always_inline __u64 thread_work(const struct thread *th)
{
	__u64 id = thread_cur(th);

	return id && id != CUR_NOBODY ? id : th->job;
}

/*
 * Counts the entries of threads per thread. A lookup in task storage takes its slow path for a
 * thread without an entry, and taskio has storage for every thread.
 */
struct served {
	struct tid_filter any;
	__u32 n[TID_BITS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct served);
} served SEC(".maps");

static __always_inline struct served *served_all(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&served, &zero);
}

static __always_inline void served_add(struct served *s, __u32 tid)
{
	__sync_fetch_and_add(&s->n[tid % TID_BITS], 1);
	tid_bit_set(&s->any, tid);
}

static __always_inline void served_drop(struct served *s, __u32 tid)
{
	__u32 *n = &s->n[tid % TID_BITS];

	if (__sync_fetch_and_add(n, -1) != 1)
		return;
	tid_bit_clear(&s->any, tid);
	if (*(volatile __u32 *)n)
		tid_bit_set(&s->any, tid);
}

/* A thread that executes a program may take over the tid of its process. */
static __always_inline void thread_count(struct thread *th, struct task_struct *t)
{
	__u32 tid = (__u32)t->pid, old = th->tid;
	struct served *s = served_all();

	if (old == tid || !s || __sync_val_compare_and_swap(&th->tid, old, tid) != old)
		return;
	if (old)
		served_drop(s, old);
	served_add(s, tid);
}

/* The entry of a thread, for hooks that see every thread. */
static __always_inline struct thread *thread_of(struct task_struct *t)
{
	struct served *s = served_all();

	if (!t->pid || !s || !tid_bit(&s->any, (__u32)t->pid))
		return NULL;
	return bpf_task_storage_get(&threads, t, 0, 0);
}

static __always_inline struct thread *thread_get(void)
{
	return bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
}

static __always_inline struct thread *thread_make(void)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct thread *th = bpf_task_storage_get(&threads, t, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (th)
		thread_count(th, t);
	return th;
}

/* The current request for a new call; also sets loop. */
static __always_inline __u64 cur_get(__u32 *loop)
{
	struct thread *th = thread_get();
	__u64 id = th ? thread_cur(th) : 0;

	if (!id || id == CUR_NOBODY)
		return 0;
	*loop = th->loop;
	th->calls = 1;
	th->unserved = 0;
	return id;
}

/* Processes with a loop: the loop may give jobs to their other threads. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} loopers SEC(".maps");

static __always_inline void loop_found(void)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32, one = 1;

	bpf_map_update_elem(&loopers, &tgid, &one, BPF_ANY);
}

static __always_inline void thread_works_on(struct thread *th, __u64 id, __u32 loop)
{
	if (loop && !th->loop)
		loop_found();
	th->job = 0;
	th->by_timer = 0;
	th->cur = id;
	th->nvcsw = bpf_get_current_task_btf()->nvcsw;
	th->loop |= loop;
	th->by_call = 0;
	th->locked = 0;
	th->unserved = 0;
}

/* A new request before the last one was answered: the thread serves several in turn. */
static __always_inline void cur_begin(struct thread *th, __u64 id, __u32 loop)
{
	thread_works_on(th, id, loop | (th->cur != 0 && !th->by_call));
}

static __always_inline void cur_clear(void)
{
	struct thread *th = thread_get();

	if (th)
		th->cur = 0;
}

/* The request ended without an answer: its thread has no current request. */
static __always_inline void cur_end(__u64 id)
{
	struct thread *th = thread_get();

	if (th && th->cur == id)
		th->cur = 0;
}

/*
 * True: the wait that ends was for the next piece of work, so the time before belongs to no
 * request.
 */
static __always_inline bool was_for_work(const struct thread *th)
{
	if (th->wait == WAIT_POLL)
		return th->loop || th->idle;
	return (th->idle || th->helper) && (th->wait == WAIT_LOCK || th->wait == WAIT_RECV);
}

/* Drops the time of the thread up to now. */
static __always_inline void time_drop(struct thread *th, __u64 now)
{
	th->mark_ns = now;
	if (!th->busy)
		return;
	th->busy = 0;
	th->off.off_ns = th->runq.off_ns = 0;
	__builtin_memset(th->wait_ns, 0, sizeof(th->wait_ns));
}

/* The thread got a CPU at in_ns after waiting for work since out_ns. */
static __always_inline void work_begins(struct thread *th, __u64 out_ns, __u64 wake_ns, __u64 in_ns)
{
	time_drop(th, in_ns);
	th->idle = 0;
	th->locked = 0;
	th->by_timer = th->patience_ns && wake_ns - out_ns >= th->patience_ns;
	if (th->by_timer)
		th->due_ns = 0;
	th->job = th->loop ? th->next_job : th->job;
	th->next_job = 0;
}

/*
 * The thread runs although no hook saw it get a CPU: some switches pass no tracepoint (seen: those
 * away from one task of a virtual machine's agent). The scheduler's own account has its time on
 * CPU, exact at a switch and otherwise as of the last tick; the time before that was its wait.
 *
 * Global, like others here, so that the verifier checks it once and not in every state of its
 * callers.
 */
__noinline int thread_is_back(struct thread *th, __u64 now)
{
	struct task_struct *t = bpf_get_current_task_btf();
	__u64 out, wake, in;

	if (!th)
		return 0;
	out = th->out_ns;
	wake = th->wake_ns;
	in = now - (t->se.sum_exec_runtime - t->se.prev_sum_exec_runtime);
	if (in < out || in > now)
		in = out;
	if (wake < out || wake > in)
		wake = in;
	th->out_ns = 0;
	if (th->wait == WAIT_POLL || th->wait == WAIT_RECV) {
		th->woke_ns = wake;
		th->in_ns = in;
		th->stopped_ns = 0;
	}
	if (was_for_work(th)) {
		work_begins(th, out, wake, in);
		return 0;
	}
	th->wait_ns[th->wait < WAIT_END ? th->wait : WAIT_OTHER] += wake - out;
	th->wait_ns[WAIT_RUNQ] += in - wake;
	th->busy = 1;
	return 0;
}

/* th belongs to the current thread. */
static __always_inline void time_back(struct thread *th, __u64 now)
{
	if (th->out_ns)
		thread_is_back(th, now);
}

/* Assigns the thread's waits to a request. Waits for bytes are added as the kind given in bytes. */
__noinline int waits_to(struct thread *th, struct req_split *s, enum req_wait bytes)
{
	if (!th || !s)
		return 0;
	th->busy = 0;
	for (__u32 i = 0; i < WAIT_END; i++) {
		__u32 to = i == WAIT_RECV || i == WAIT_POLL ? bytes : i;

		if (to < WAIT_END)
			s->wait_ns[to] += th->wait_ns[i];
		th->wait_ns[i] = 0;
	}
	return 0;
}

/* bytes: enum req_wait for waits for bytes, by the owner of the socket. */
static __always_inline void time_to(struct thread *th, struct req_split *s, __u64 now,
				    enum req_wait bytes)
{
	time_back(th, now);
	if (th->mark_ns && control.split)
		s->own_ns += now - th->mark_ns;
	th->mark_ns = now;
	if (th->busy)
		waits_to(th, s, bytes);
}
