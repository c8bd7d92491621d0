// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * files.bpf.c - file operations that take long, found without a hook on system calls.
 *
 * A thread is looked at when it loses its CPU in the kernel in uninterruptible sleep or by
 * preemption, when one that is in such a call loses or gets a CPU, and by a clock on every CPU:
 * its saved registers say in which call it is. The first look that finds it in a call begins an
 * operation, the first that finds it elsewhere ends it; the time between two looks is what is not
 * known of its begin and end. A switch between two other threads costs two reads of hint[].
 */
#include "files_tell.h"

/* When the clock last looked at this CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} sampled SEC(".maps");

static __always_inline __u32 hint_of(struct task_struct *t)
{
	return (__u32)t->pid % HINTS;
}

static __always_inline __u64 *last_sample(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&sampled, &zero);
}

static __always_inline struct op *op_of(struct task_struct *t)
{
	__u32 tid = (__u32)t->pid;

	return hint[hint_of(t)] ? bpf_map_lookup_elem(&ops, &tid) : NULL;
}

static __always_inline void op_drop(struct task_struct *t)
{
	__u32 tid = (__u32)t->pid;

	if (!bpf_map_delete_elem(&ops, &tid))
		__sync_fetch_and_add(&hint[hint_of(t)], -1);
}

static __always_inline struct op *op_add(struct task_struct *t, const struct op *o)
{
	__u32 tid = (__u32)t->pid;

	if (bpf_map_update_elem(&ops, &tid, o, BPF_NOEXIST)) {
		count(FILE_STAT_OPS);
		return NULL;
	}
	__sync_fetch_and_add(&hint[hint_of(t)], 1);
	return bpf_map_lookup_elem(&ops, &tid);
}

static __always_inline void op_fill(struct op *o, const struct look *l, struct file *f, __u64 out,
				    __u64 now)
{
	o->call = l->call;
	o->arg[0] = l->arg[0];
	o->arg[1] = l->arg[1];
	o->arg[2] = l->arg[2];
	o->counter = l->counter;
	o->bytes = l->bytes;
	o->id = now;
	o->file = (__u64)f;
	o->inode = l->inode;
	o->out_ns = out;
	o->first_ns = o->last_ns = now;
	extent_of(o, l);
}

/* What the thread is in now, if it is an operation on a file. out: when it was not in it yet. */
static __noinline struct op *op_begin(struct task_struct *t, struct op *old, struct look *l,
				      __u64 out, __u64 now)
{
	struct file *f = l->call && !l->done && out && in_scope(t) ? file_of(t, l, old) : NULL;
	struct op o = {};

	if (!f) {
		if (old)
			op_drop(t);
		return NULL;
	}
	if (old && old->last_ns > out)
		out = old->last_ns;
	if (old) {
		__builtin_memset(old, 0, sizeof(*old));
		op_fill(old, l, f, out, now);
		return old;
	}
	op_fill(&o, l, f, out, now);
	return op_add(t, &o);
}

/* The same operation as before. Of a call that nobody counts it is not certain before it slept. */
static __always_inline void op_goes_on(struct op *o, __u64 now)
{
	if (!is_counted(o->call) && !o->switched)
		o->first_ns = now;
	o->last_ns = now;
}

/* now: the thread is looked at, and is about to lose its CPU or was interrupted. */
static __always_inline struct op *op_look(struct task_struct *t, struct op *o, struct look *l,
					  __u64 out, __u64 now)
{
	if (o && l->call && is_same(t, o, l)) {
		op_goes_on(o, now);
		return o;
	}
	if (o)
		tell_end(o, t, now);
	return op_begin(t, o, l, out, now);
}

/* It may become slow before it is looked at again. */
static __always_inline bool is_worth_a_name(const struct op *o)
{
	return !o->named && !o->done && o->last_ns - o->out_ns + period_ns >= slow_ns;
}

/* A thread had the CPU for so long; before, it was elsewhere, or in an operation that is known. */
static __always_inline __u64 ran_since(struct task_struct *t, __u64 now)
{
	__u64 *last = last_sample(), ran = t->se.sum_exec_runtime - t->se.prev_sum_exec_runtime;

	if (!last)
		return 0;
	return ran < now - *last ? now - ran : *last;
}

static __always_inline void leaves(struct task_struct *t, __u64 state, bool preempted)
{
	struct op *o = op_of(t);
	struct look l = {};
	__u64 now;

	if (t->flags & PF_KTHREAD)
		return;
	if (!(state & TASK_DEAD))
		look_at(t, &l);
	if (!o && (!l.call || l.done))
		return;
	now = bpf_ktime_get_ns();
	if (!o && !preempted && !(state & TASK_UNINTERRUPTIBLE))
		return; /* only a hint */
	o = op_look(t, o, &l, ran_since(t, now), now);
	if (!o)
		return;
	if (l.done && !o->named && file_of(t, &l, o) == (struct file *)o->file)
		tell_name(o, t); /* the last chance: what it waits for now may make it slow */
	o->done = l.done;
	o->off_ns = now;
	o->off_runnable = preempted || !state;
}

static __always_inline void returns(struct task_struct *t)
{
	struct op *o = op_of(t);
	__u64 now, ns;

	if (!o || !o->off_ns)
		return;
	now = bpf_ktime_get_ns();
	ns = now - o->off_ns;
	o->last_ns = now;
	if (o->off_runnable)
		o->runq_ns += ns;
	else
		o->blocked_ns += ns;
	if (is_worth_a_name(o))
		tell_name(o, t);
	if (o->named && !o->off_runnable && ns > o->longest_ns) {
		o->longest_ns = ns;
		tell_block(o, t, now);
	}
	o->off_ns = 0;
	o->switched = 1;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u64 state;
	bool sleeps;

	if (switch_args == 4)
		state = (__u32)ctx[3];
	else if (bpf_core_field_exists(prev->__state))
		state = prev->__state;
	else
		state = ((struct task_struct___old *)prev)->state;
	sleeps = (state & (TASK_UNINTERRUPTIBLE | TASK_NOLOAD)) == TASK_UNINTERRUPTIBLE;
	if (sleeps || preempt || hint[hint_of(prev)])
		leaves(prev, state, preempt);
	if (hint[hint_of(next)])
		returns(next);
	return 0;
}

/*
 * Nobody was looked at on this CPU before that but who had it then: the time of the sample before,
 * or when this thread began to run, which the scheduler's own account of it, as old as the last
 * tick, does not say more exactly. 0 with the first.
 */
static __always_inline __u64 unseen_since(struct task_struct *t, __u64 before, __u64 now)
{
	__u64 ran = t->se.sum_exec_runtime - t->se.prev_sum_exec_runtime + period_ns;

	if (!before)
		return 0;
	if (ran >= now - before)
		return before;
	return now - ran;
}

/* irq: FILE_IN_IRQ if the stack has the interrupt's own frames on top. */
static __always_inline void sample(void *ctx, __u32 irq, __u64 before, __u64 now)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct look l = {};
	__u64 out;
	struct op *o;

	if (t->flags & PF_KTHREAD)
		return;
	o = op_of(t);
	look_at(t, &l);
	if (!o && !l.call)
		return;
	out = unseen_since(t, before, now);
	if (out && now - out > 3 * period_ns)
		count(FILE_STAT_GAPS);
	o = op_look(t, o, &l, out, now);
	if (!o)
		return;
	if (is_worth_a_name(o))
		tell_name(o, t);
	if (o->named && !o->sampled) {
		o->sampled = 1;
		tell_running(o, t, ctx, irq, now);
	}
}

static __always_inline void clock(void *ctx, __u32 irq)
{
	__u64 *last = last_sample(), now = bpf_ktime_get_ns(), before;

	if (!last || now - *last < least_ns)
		return;
	before = *last;
	*last = now;
	sample(ctx, irq, before, now);
}

/* Any timer of the kernel's that runs out, above all its tick: that is there anyway. */
SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_tick)
{
	clock(ctx, FILE_IN_IRQ);
	return 0;
}

/* A timer of our own, where the tick is too slow, or does not come. */
SEC("perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
	clock(ctx, 0);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
