/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_thread.h - what is kept of a thread that serves: the request it is working on, and where
 * its time went since the last thing it did for one.
 *
 * Whatever a thread does on a socket of a request, the time since the thing before is given to that
 * request (time_to), with what of it the thread was waiting (request_sched.h). What begins
 * something else - the first read of a request, a read for another one, a loop's wait for work -
 * leaves that time to the request before, if there is one (time_leave). All else is nobody's
 * (time_drop).
 */
#pragma once

#include "bpf/request/request_maps.h"
#include "bpf/lib/tid_filter.h"

/* One kind of wait as it goes on, until it is long enough to report. */
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
	__u64 call_ns; /* by_call: when that call was sent, or begun if it was not */
	__u32 loop; /* an event loop: once it has waited, cur means nothing */
	__u8 calls; /* it has called upstream before */
	__u8 by_call; /* cur was set by what it did for an upstream call: enum by_call */
	__u8 pool; /* it answers what others have read */
	__u8 idle; /* so, and it has answered: its next wait is for work */
	__u8 busy; /* wait_ns is not all zero */
	__u8 dirty; /* it is about to be slowed down by writeback */
	__u8 by; /* enum block_flag, of who woke it */
	__u8 helper; /* of a process with a loop: it may be given pieces of work */
	__u8 by_timer; /* a loop: its last wait was over because nothing came in time */
	__u8 wait; /* enum req_wait, while it is off its CPU */
	__u8 locked; /* a loop: it has waited for a lock since, and may be at another request */
	__u32 tid; /* by which served[] counts it; 0: not yet */
	__u32 who_tgid, who_tid;
	char who[REQ_COMM];
	__u64 mark_ns; /* up to here its time has been given away; 0: it has not begun */
	__u64 out_ns, wake_ns; /* off its CPU, and woken; 0: not yet */
	__u64 throttled_ns; /* of its cgroups, at that moment */
	__u64 woke_ns, in_ns; /* its last wait for bytes: woken, and on a CPU again */
	__u64 stopped_ns; /* of the time between these, its cgroup's quota was used up */
	__u64 held_from_ns, held_to_ns; /* the last time that it was kept from going on for long */
	__u64 held_stopped_ns; /* of that, by the quota */
	__u64 reclaim_ns, reclaim_off_ns; /* it frees memory since then; off its CPU meanwhile */
	__u64 wait_ns[WAIT_END]; /* since mark_ns */
	__u64 job, next_job; /* helper, loop: whose work it was given, or is given back */
	__u64 patience_ns; /* a loop waits no longer than this; 0: until something comes */
	__u64 due_ns; /* that was for a timer of then, but something came sooner; 0: neither */
	struct waiting off, runq; /* blocked, and runnable */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

#define CUR_NOBODY (~0ull) /* cur: a call whose request is not known, or has its answer already */

/*
 * What this thread is working on; 0 when that cannot be said for sure. A loop's request is
 * forgotten when the loop waits: where system calls are hooked that is seen (thread_waited),
 * elsewhere any sleep is taken for it, but one in the midst of work (goes_on_after).
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

/* What this thread did since mark_ns may be given to this request, for which it does something. */
static __always_inline bool was_at(const struct thread *th, __u64 cur, __u64 id)
{
	return cur ? cur == id : !th->locked || !th->cur || th->cur == id;
}

/* So, or the piece of work that it was given (request_pool.h); 0: neither. */
static __always_inline __u64 thread_work(const struct thread *th)
{
	__u64 id = thread_cur(th);

	return id && id != CUR_NOBODY ? id : th->job;
}

/*
 * Of which threads there is an entry in threads. To ask the kernel takes its full way, as taskio
 * keeps something of every thread.
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

/* A thread that executes a program may get the tid of its process for its own. */
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

/* For hooks that see every thread. */
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

/* For a new call; loop is set with it. */
static __always_inline __u64 cur_get(__u32 *loop)
{
	struct thread *th = thread_get();
	__u64 id = th ? thread_cur(th) : 0;

	if (!id || id == CUR_NOBODY)
		return 0;
	*loop = th->loop;
	th->calls = 1;
	return id;
}

/* Processes with a loop: their other threads may be given pieces of its work. */
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
}

/* A new request, while the last one has no answer yet: the thread serves many in turn. */
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

/* The request is over without an answer: its thread works on nothing. */
static __always_inline void cur_end(__u64 id)
{
	struct thread *th = thread_get();

	if (th && th->cur == id)
		th->cur = 0;
}

/* The wait that ends was for the next piece of work: what came before is nobody's. */
static __always_inline bool was_for_work(const struct thread *th)
{
	if (th->wait == WAIT_POLL)
		return th->loop || th->idle;
	return (th->idle || th->helper) && (th->wait == WAIT_LOCK || th->wait == WAIT_RECV);
}

/* What the thread did up to now is nobody's. */
static __always_inline void time_drop(struct thread *th, __u64 now)
{
	th->mark_ns = now;
	if (!th->busy)
		return;
	th->busy = 0;
	th->off.off_ns = th->runq.off_ns = 0;
	__builtin_memset(th->wait_ns, 0, sizeof(th->wait_ns));
}

/* It has a CPU since in_ns, after a wait for the next piece of work, from out_ns on. */
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
 * The thread runs, and nobody told that it had got a CPU: some switches pass no tracepoint (seen:
 * those away from one task of a virtual machine's agent). How long it has run is in the scheduler's
 * own account, exact at a switch and as of the last tick elsewhere; what came before was its wait.
 *
 * Global, as are others here: the verifier reads each once, and not in every state that a caller
 * may be in.
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

/* th is this thread's. */
static __always_inline void time_back(struct thread *th, __u64 now)
{
	if (th->out_ns)
		thread_is_back(th, now);
}

/* What the thread waited for goes to a request. A wait for bytes counts as one for them. */
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

/* bytes: enum req_wait, by whose socket it is. */
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
