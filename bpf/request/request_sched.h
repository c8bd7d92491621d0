/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_sched.h - the scheduler hooks: how long a serving thread was off its CPU, and why. For
 * any other thread a switch costs two reads and no clock. And the timer that samples the user stack
 * of a thread which has worked on one request for long without touching a socket; a tick in an idle
 * or an unwatched thread ends after one lookup.
 */
#pragma once

#include "bpf/request/request_block.h"
#include "bpf/request/request_pool.h"

#define WAIT_KNOWN_NS 1000000 /* for shorter waits the throttled time is not read */
#define LOOP_CLOCK_NS 1000000

enum { FUTEX_PRIVATE = 128 }; /* the futex is private to its process */

/* Total time that quotas have throttled the thread's cgroups. */
static __always_inline __u64 throttled_of(struct task_struct *t)
{
	struct task_group *g;
	__u64 ns = 0;

	if (!bpf_core_field_exists(t->sched_task_group) ||
	    !bpf_core_field_exists(((struct task_group *)0)->cfs_bandwidth))
		return 0;
	g = t->sched_task_group;
	for (int i = 0; i < 4 && g; i++) {
		ns += g->cfs_bandwidth.throttled_time;
		g = g->parent;
	}
	return ns;
}

/* The timeout of a wait for one of many; 0: none, or not known. */
static __always_inline __u64 patience_of(__s32 nr, const struct pt_regs *r)
{
	int ms = -1;

	switch (nr) {
#ifdef NR_EPOLL_WAIT
	case NR_EPOLL_WAIT:
#endif
	case NR_EPOLL_PWAIT:
		ms = (int)REGS_ARG4(r);
		break;
#ifdef NR_POLL
	case NR_POLL:
		ms = (int)REGS_ARG3(r);
		break;
#endif
	}
	return ms > 0 ? ms * 1000000ull : 0;
}

/*
 * True for a sleep in the midst of work. Not for a lock, since runtimes park their loops on one,
 * unless it is a lock inside the kernel (that of the address space, say), which no signal
 * interrupts.
 */
static __always_inline bool goes_on_after(__u32 wait, unsigned int state)
{
	switch (wait) {
	case WAIT_IO:
	case WAIT_DIRTY:
	case WAIT_FAULT:
	case WAIT_RECLAIM:
		return true;
	case WAIT_POLL:
		return false;
	default:
		return state & TASK_UNINTERRUPTIBLE;
	}
}

/* After the lock the loop may work on another request; the time before belongs to this one. */
static __always_inline void loop_locks(struct thread *th, __u64 id, __u64 now)
{
#ifndef REQUEST_SYSCALLS
	if (!id)
		return;
	if (now - th->mark_ns >= TIME_WORTH_NS)
		time_leave(th, id, now);
	th->locked = 1;
#endif
}

/* The thread was runnable but got no CPU. */
static __always_inline void thread_kept(struct thread *th, struct task_struct *t, __u64 now)
{
	th->out_ns = now;
	th->wait = WAIT_RUNQ;
	th->wake_ns = now;
	th->throttled_ns = throttled_of(t);
}

/*
 * This thread leaves its CPU; nvcsw already counts the switch. Assigns its work up to now. Global,
 * as is thread_enters.
 */
__noinline int thread_leaves(struct thread *th, bool preempt, unsigned int state, __u64 now)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct pt_regs *r;
	bool goes_on;
	__s32 nr;

	if (!th)
		return 0;
	time_back(th, now);
	if (preempt || !state) {
		thread_kept(th, t, now);
		return 0;
	}
	th->wake_ns = 0;
	r = (struct pt_regs *)bpf_task_pt_regs(t);
	nr = REGS_NR(r);
	th->wait = wait_of(th, t, state, nr, r);
	goes_on = goes_on_after(th->wait, state);
	if (th->wait == WAIT_POLL && th->loop) {
		th->patience_ns = patience_of(nr, r);
		/* By the loop's clock: whole milliseconds, read when it got its CPU. */
		th->due_ns = th->patience_ns && th->in_ns
				     ? th->in_ns + th->patience_ns - LOOP_CLOCK_NS
				     : 0;
		time_leave(th, thread_cur_at(th, t->nvcsw - 1), now);
	} else if (th->wait == WAIT_LOCK && th->loop) {
		if (!goes_on)
			loop_locks(th, thread_cur_at(th, t->nvcsw - 1), now);
	} else if (th->wait == WAIT_LOCK && th->job && th->helper) {
		job_account(th, now);
	}
	if (th->loop && goes_on && th->nvcsw + 1 == t->nvcsw)
		th->nvcsw++; /* it still works on this request */
	th->out_ns = now; /* only now: up to here it has its CPU */
	if (th->off.wait == th->wait && th->off.nr == nr && th->off.arg[0] == REGS_ARG1(r) &&
	    th->off.off_ns)
		return 0;
	th->off.wait = th->wait;
	th->off.nr = nr;
	th->off.arg[0] = REGS_ARG1(r);
	th->off.arg[1] = REGS_ARG2(r);
	th->off.arg[2] = REGS_ARG3(r);
	th->off.start_ns = now;
	th->off.off_ns = 0;
	return 0;
}

/* A wait for bytes or for the next piece of work has no cause in this thread. */
static __always_inline bool is_reported(__u32 wait)
{
	return wait != WAIT_RECV && wait != WAIT_POLL && wait != WAIT_UPSTREAM && wait != WAIT_SEND;
}

/* True: long enough to be reported and then reset. */
static __always_inline bool wait_add(struct waiting *w, __u64 ns, __u64 now)
{
	w->off_ns += ns;
	if (w->off_ns < control.block_ns)
		return false;
	if (is_reported(w->wait))
		return true;
	w->off_ns = 0;
	w->start_ns = now;
	return false;
}

/*
 * The thread was runnable for ns, `stopped` of them throttled; the throttled part is counted
 * separately.
 */
static __always_inline bool wait_add_runnable(struct thread *th, __u64 ns, __u64 stopped, __u64 now)
{
	__u32 wait = stopped * 2 > ns ? WAIT_THROTTLED : WAIT_RUNQ;

	if (th->runq.wait != wait || !th->runq.off_ns) {
		th->runq.wait = wait;
		th->runq.nr = -1;
		th->runq.off_ns = 0;
		th->runq.start_ns = now - ns;
	}
	return wait_add(&th->runq, ns, now);
}

enum { REPORT_OFF = 1, REPORT_RUNQ = 2 };

/*
 * The thread gets a CPU after a wakeup at `wake`; stopped: throttled time since. Returns which
 * waits are long enough to report: th->off, th->runq.
 */
__noinline int thread_enters(struct thread *th, __u64 wake, __u64 stopped, __u64 now)
{
	__u64 out, runnable = now - wake;
	bool for_work;
	int report = 0;

	if (!th)
		return 0;
	for_work = was_for_work(th);
	out = th->out_ns;
	th->out_ns = 0;
	if (stopped > runnable)
		stopped = runnable;
	if (th->wait == WAIT_POLL || th->wait == WAIT_RECV || for_work) {
		th->woke_ns = wake;
		th->in_ns = now;
		th->stopped_ns = stopped;
	}
	th->dirty = 0;
	if (for_work) {
		work_begins(th, out, wake, now);
		return 0;
	}
	if (th->wait == WAIT_RUNQ && runnable > WAIT_KNOWN_NS) {
		th->held_from_ns = out;
		th->held_to_ns = now;
		th->held_stopped_ns = stopped;
	}
	th->busy = 1;
	th->wait_ns[th->wait < WAIT_END ? th->wait : WAIT_OTHER] += wake - out;
	th->wait_ns[WAIT_RUNQ] += runnable - stopped;
	th->wait_ns[WAIT_THROTTLED] += stopped;
	if (th->reclaim_ns)
		th->reclaim_off_ns += now - out;
	if (th->wait != WAIT_RUNQ && wait_add(&th->off, wake - out, now))
		report |= REPORT_OFF;
	if (runnable && wait_add_runnable(th, runnable, stopped, now))
		report |= REPORT_RUNQ;
	return report;
}

static __always_inline void wait_emit(struct thread *th, struct waiting *w, struct task_struct *t,
				      __u64 now)
{
	block_emit(th, w, t, now);
	w->off_ns = 0;
	w->start_ns = now;
}

static __always_inline void task_enters(struct thread *th, struct task_struct *t, __u64 now)
{
	__u64 out = th->out_ns, wake = th->wake_ns, stopped = 0;
	int report;

	if (!out)
		return; /* it had its CPU when it was first seen */
	if (wake < out)
		wake = now; /* its wakeup was not seen */
	if (now - wake > WAIT_KNOWN_NS)
		stopped = throttled_of(t) - th->throttled_ns;
	report = thread_enters(th, wake, stopped, now);
	if (report & REPORT_OFF)
		wait_emit(th, &th->off, t, now);
	if (report & REPORT_RUNQ)
		wait_emit(th, &th->runq, t, now);
}

/*
 * Kernel 5.18 and later pass the state in which the thread leaves. The thread's own field may have
 * changed by now, as another CPU may already be waking it.
 */
typedef void (*btf_trace_sched_switch___with_state)(void *, bool, struct task_struct *,
						    struct task_struct *, unsigned int);

static __always_inline unsigned int state_at_switch(const __u64 *args, struct task_struct *prev)
{
	return bpf_core_type_exists(btf_trace_sched_switch___with_state) ? args[3] : prev->__state;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u64 ran = prev->se.sum_exec_runtime - prev->se.prev_sum_exec_runtime, now;
	struct thread *leaves = thread_of(prev), *enters = thread_of(next);

	if (!leaves && ran < SLICE_NS) {
		barrier(); /* keep the compiler from testing two pointers as one number */
		if (!enters)
			return 0;
	}
	if (!control.on)
		return 0;
	now = bpf_ktime_get_ns();
	if (ran >= SLICE_NS && prev->pid)
		slice_keep(prev, now, ran);
	if (leaves)
		thread_leaves(leaves, preempt, state_at_switch(ctx, prev), now);
	if (enters)
		task_enters(enters, next, now);
	return 0;
}

/* Released by this thread, unless it cannot be: then a timer interrupted it. */
static __always_inline void lock_released(struct thread *th, const struct task_struct *t)
{
	struct task_struct *by = bpf_get_current_task_btf();
	bool own = th->off.nr == NR_FUTEX && th->off.arg[1] & FUTEX_PRIVATE;

	th->by = own && by->tgid != t->tgid ? BLOCK_BY_TIMER : BLOCK_HAS_WHO;
	th->who_tgid = by->tgid;
	th->who_tid = by->pid;
	__builtin_memcpy(th->who, by->comm, REQ_COMM);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *t)
{
	struct thread *th = thread_of(t);

	if (!th || !control.on || !th->out_ns || th->wake_ns)
		return 0;
	th->wake_ns = bpf_ktime_get_ns();
	th->throttled_ns = throttled_of(t);
	if (th->wait == WAIT_LOCK)
		lock_released(th, t);
	if (th->wait == WAIT_LOCK && th->helper)
		job_given(th, t);
	else if (th->wait == WAIT_POLL && th->loop)
		job_back(th, t, th->wake_ns);
	return 0;
}

static __always_inline void reclaim_begins(void)
{
	struct thread *th = thread_get();

	if (!th || th->reclaim_ns)
		return;
	th->reclaim_ns = bpf_ktime_get_ns();
	th->reclaim_off_ns = 0;
}

/* Its time off CPU is already counted; reclaim includes its time on CPU, too. */
static __always_inline void reclaim_ends(void)
{
	struct thread *th = thread_get();
	__u64 now, ns;

	if (!th || !th->reclaim_ns)
		return;
	now = bpf_ktime_get_ns();
	ns = now - th->reclaim_ns;
	th->reclaim_ns = 0;
	th->wait_ns[WAIT_RECLAIM] += ns > th->reclaim_off_ns ? ns - th->reclaim_off_ns : 0;
	th->busy = 1;
	if (ns >= control.block_ns) {
		struct task_struct *t = bpf_get_current_task_btf();
		struct waiting w = {
			.wait = WAIT_RECLAIM, .nr = -1, .start_ns = now - ns, .off_ns = ns
		};

		block_emit(th, &w, t, now);
	}
}

SEC("tp_btf/mm_vmscan_direct_reclaim_begin")
int BPF_PROG(on_reclaim_begin)
{
	if (control.on)
		reclaim_begins();
	return 0;
}

SEC("tp_btf/mm_vmscan_direct_reclaim_end")
int BPF_PROG(on_reclaim_end)
{
	if (control.on)
		reclaim_ends();
	return 0;
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_begin")
int BPF_PROG(on_memcg_reclaim_begin)
{
	if (control.on)
		reclaim_begins();
	return 0;
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_end")
int BPF_PROG(on_memcg_reclaim_end)
{
	if (control.on)
		reclaim_ends();
	return 0;
}

SEC("tp_btf/balance_dirty_pages")
int BPF_PROG(on_dirty)
{
	struct thread *th = control.on ? thread_get() : NULL;

	if (th)
		th->dirty = 1;
	return 0;
}

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
