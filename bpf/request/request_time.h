/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_time.h - assigns a thread's time where the socket at hand does not decide: when the
 * thread leaves a request, before a request's read, and before its answer.
 */
#pragma once

#include "bpf/request/request_peek.h"

static __always_inline struct req_calls *calls_make(__u64 id)
{
	struct req_calls *cs = bpf_map_lookup_elem(&calls_of, &id);
	struct req_calls *none;
	__u32 zero = 0;

	if (cs)
		return cs;
	none = bpf_map_lookup_elem(&empty_calls, &zero);
	if (!none)
		return NULL;
	if (bpf_map_update_elem(&calls_of, &id, none, BPF_NOEXIST)) {
		count(STAT_CALLS_FULL);
		return NULL;
	}
	return bpf_map_lookup_elem(&calls_of, &id);
}

#define TIME_WORTH_NS 1000000 /* less time is not worth a map entry */
#define TIME_LITTLE_NS 50000 /* less time is not worth a lookup either */

/* The thread turns to something else: assigns its time to request id, or drops it. */
__noinline int time_leave(struct thread *th, __u64 id, __u64 now)
{
	struct req_calls *cs;
	__u64 ns;

	if (!th)
		return 0;
	time_back(th, now);
	ns = now - th->mark_ns;
	if (!id || id == CUR_NOBODY || !control.split ||
	    ns < (th->calls ? TIME_LITTLE_NS : TIME_WORTH_NS)) {
		time_drop(th, now);
		return 0;
	}
	cs = ns < TIME_WORTH_NS ? bpf_map_lookup_elem(&calls_of, &id) : calls_make(id);
	if (!cs || cs->answered) {
		time_drop(th, now);
		return 0;
	}
	cs->touched_ns = now;
	th->calls = 1;
	time_to(th, &cs->split, now, WAIT_RECV);
	return 0;
}

#define QUEUE_FRESH_NS 1000000 /* after getting a CPU: the thread was woken for this read */

/* The part of the queue time in which the thread was at work but runnable without a CPU. */
static __always_inline void queue_held(struct req_head *h, const struct thread *th, __u64 now)
{
	__u64 from = now - h->queue_jiffies * control.jiffy_ns, ns;

	if (from < th->held_from_ns)
		from = th->held_from_ns;
	if (th->held_to_ns <= from)
		return;
	ns = th->held_to_ns - from;
	if (th->held_stopped_ns * 2 > th->held_to_ns - th->held_from_ns)
		h->split.throttled_ns += ns;
	else
		h->split.runq_ns += ns;
}

/* The part of the queue time in which the thread was woken and waited for a CPU. */
static __always_inline void queue_time(struct req_head *h, const struct thread *th, __u64 now)
{
	bool just_now = now - th->in_ns < QUEUE_FRESH_NS;

	if (h->queue_jiffies > 1 && h->queue_jiffies < 1u << 24)
		queue_held(h, th, now);
	if (!th->in_ns || (!just_now && h->queue_jiffies <= 1))
		return;
	h->split.throttled_ns += th->stopped_ns;
	h->split.runq_ns += th->in_ns - th->woke_ns - th->stopped_ns;
}

/*
 * Another thread read the request. This one took it after its last wait for work, or finished it.
 */
static __always_inline void answer_hopped(struct conn *c, struct thread *th)
{
	if (!th)
		return;
	th->pool = 1;
	if (th->mark_ns > c->head.read_ns)
		c->head.split.pool_ns = th->mark_ns - c->head.read_ns;
}

/* A timer expired while the loop worked on something else, not on request id. */
static __always_inline bool was_due(const struct thread *th, __u64 id, __u64 now)
{
	return th->due_ns && th->due_ns <= now && th->cur != id;
}

/*
 * The loop's last wait timed out and it then worked on this request; or an event ended the wait,
 * and a timer expired before this action. Either way the request waited for that timer since the
 * last action for it.
 */
static __always_inline void answer_timed(struct conn *c, const struct req_calls *cs,
					 const struct thread *th)
{
	__u64 since = c->head.body_ns, due = th->by_timer ? th->woke_ns : th->due_ns;

	if (cs && cs->touched_ns > since)
		since = cs->touched_ns;
	if (due <= since || !control.split)
		return;
	c->head.split.wait_ns[WAIT_SLEEP] += due - since;
	c->head.split.own_ns += due - since;
}
