// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * files.bpf.c - finds slow file operations without a hook on system calls.
 *
 * A thread is looked at in three cases: it loses its CPU in the kernel, in uninterruptible sleep or
 * by preemption; it loses or gets a CPU while it is known to be in a file call; a timer on its CPU
 * fires. Its saved registers show the call it is in. The first look that finds it in a call begins
 * an operation, the first one that finds it elsewhere ends it; begin and end are uncertain by the
 * time between two looks. A switch between two other threads costs two reads of slots[].
 */
#include "bpf/files/files_slots.h"
#include "bpf/lib/switch_clock.h"

struct cpu {
	__u64 sampled_ns; /* time of the timer's last look at this CPU */
	struct switch_clock clock;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu);
} cpus SEC(".maps");

/* Other programs at each switch: probe/kernel/switch_chain.h. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} second SEC(".maps");

const volatile bool jumps = false; /* the kernel allows tail calls from programs with functions */

static __always_inline struct cpu *this_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&cpus, &zero);
}

/*
 * The operation goes on. For a call that the kernel does not count this is only certain if it
 * slept.
 */
static __always_inline void op_goes_on(struct op *o, __u64 now)
{
	if (!is_counted(o->call) && !o->switched)
		o->first_ns = now;
	o->last_ns = now;
}

/* A thread that has an operation: the same one, the next one, or none. */
static __always_inline struct op *op_look(struct task_struct *t, struct op *o, struct look *l)
{
	struct file_slot *g = slot_at(t);

	if (l->call && is_same(t, o, l)) {
		op_goes_on(o, l->now_ns);
		return o;
	}
	if (o->last_ns > l->out_ns)
		l->out_ns = o->last_ns;
	emit_end(o, t, l->now_ns);
	if (!slot_begin(t, g, l))
		return op_begin(t, o, l);
	op_drop(t, g);
	return NULL;
}

/*
 * NULL: the thread is in no call, or a slot is enough. The code that most looks need is kept
 * together.
 */
static __always_inline struct op *thread_look(struct task_struct *t, struct file_slot *g,
					      struct op *o, struct look *l)
{
	if (o)
		return op_look(t, o, l);
	if (is_mine(g, t)) {
		if (slot_is_same(t, g, l))
			return slot_goes_on(t, g, l);
		slot_ends(t, g, l);
	}
	return slot_begin(t, g, l) ? NULL : op_begin(t, NULL, l);
}

/* True: it may become slow before the next look. */
static __always_inline bool is_worth_a_name(const struct op *o)
{
	return !o->named && !o->done && may_be_slow(o->last_ns - o->out_ns);
}

/* How long the thread has had the CPU; before that it was elsewhere, or in a known operation. */
static __always_inline __u64 ran_since(struct task_struct *t, const struct cpu *cpu, __u64 now)
{
	__u64 ran = t->se.sum_exec_runtime - t->se.prev_sum_exec_runtime;

	return now - ran > cpu->sampled_ns ? now - ran : cpu->sampled_ns;
}

/* Time of the thread's last look; 0: not known. */
static __always_inline __u64 last_look(struct task_struct *t, const struct file_slot *g,
				       const struct op *o)
{
	if (o)
		return o->off_ns ? o->off_ns : o->last_ns;
	return is_mine(g, t) ? g->at_ns : 0;
}

/* The two times come from clocks that differ a little. */
static __always_inline __u64 not_before(__u64 then, __u64 now)
{
	return now < then ? then : now;
}

static __noinline void op_leaves(struct op *o, struct task_struct *t, struct look *l, bool runnable)
{
	if (l->done && !o->named && file_of(t, l, o) == (struct file *)o->file)
		emit_name(o, t); /* the last chance: its present wait may make it slow */
	o->done = l->done;
	o->off_ns = l->now_ns;
	o->off_runnable = runnable;
}

static __noinline void leaves_seldom(struct task_struct *t, struct file_slot *g, __u64 state,
				     bool preempted)
{
	bool runnable = preempted || !state, known;
	struct cpu *cpu;
	struct op *o = op_of(t, g);
	struct look l = {};

	if (t->flags & PF_KTHREAD)
		return;
	if (!(state & TASK_DEAD))
		look_at(t, &l);
	known = o || is_mine(g, t);
	if (!known && (!l.call || l.done))
		return;
	if (!known && !preempted && !(state & TASK_UNINTERRUPTIBLE))
		return; /* only a hint */
	cpu = this_cpu();
	if (!cpu)
		return;
	l.now_ns = not_before(last_look(t, g, o), switch_clock_ns(&cpu->clock, t));
	l.out_ns = ran_since(t, cpu, l.now_ns);
	o = thread_look(t, g, o, &l);
	if (o)
		op_leaves(o, t, &l, runnable);
	else if (is_mine(g, t))
		g->off = runnable ? OFF_RUNNABLE : OFF_BLOCKED;
}

/*
 * The most frequent case: a thread that has a slot is in its next call, and the one before was not
 * slow. Same result as leaves_seldom(), in a third of the code: code that runs once per call is not
 * in the cache, and loading its lines costs more than running it. False: nothing was done.
 */
static __always_inline bool slot_next(struct task_struct *t, struct file_slot *g, bool runnable)
{
	struct pt_regs *r = (struct pt_regs *)bpf_task_pt_regs(t);
	__u64 counter = t->ioac.syscr + t->ioac.syscw, at = g->at_ns, now, out;
	struct cpu *cpu = this_cpu();
	__s64 nr = REGS_NR(r);
	__u32 call;

	if (!cpu || nr < 0 || nr >= FILE_NRS)
		return false;
	call = call_of[nr];
	if (!call || call > FILE_PWRITE || counter == g->counter || REGS_HAS_RESULT(r) ||
	    IS_COMPAT(t) || scope_id || at - g->first_ns >= slow_ns / 4)
		return false;
	slot_fill(g, call, fold(REGS_ARG1(r), REGS_ARG2(r), REGS_ARG3(r)), counter,
		  t->ioac.rchar + t->ioac.wchar, runnable ? OFF_RUNNABLE : OFF_BLOCKED);
	now = not_before(at, switch_clock_ns(&cpu->clock, t));
	out = ran_since(t, cpu, now);
	g->out_ns = not_before(at, out);
	g->first_ns = g->at_ns = now;
	return true;
}

static __always_inline void leaves(struct task_struct *t, struct file_slot *g, __u64 state,
				   bool preempted)
{
	if (state & TASK_DEAD || !is_only_mine(g, t) || !slot_next(t, g, preempted || !state))
		leaves_seldom(t, g, state, preempted);
}

static __noinline void op_returns(struct op *o, struct task_struct *t, __u64 now)
{
	__u64 ns = now - o->off_ns;

	o->last_ns = now;
	if (o->off_runnable)
		o->runq_ns += ns;
	else
		o->blocked_ns += ns;
	if (is_worth_a_name(o))
		emit_name(o, t);
	if (o->named && !o->off_runnable && ns > o->longest_ns) {
		o->longest_ns = ns;
		emit_block_stack(o, t, now);
	}
	o->off_ns = 0;
	o->switched = 1;
}

static __noinline void returns_seldom(struct task_struct *t, struct file_slot *g)
{
	struct op *o = op_of(t, g);
	struct cpu *cpu;
	__u64 now;

	if (!o && !is_mine(g, t))
		return;
	cpu = this_cpu();
	if (!cpu)
		return;
	now = not_before(last_look(t, g, o), switch_clock_ns(&cpu->clock, t));
	if (!o)
		o = slot_returns(t, g, now);
	if (o && o->off_ns)
		op_returns(o, t, now);
}

/* The same for a thread that gets a CPU again and is not slow yet. */
static __always_inline bool slot_back(struct task_struct *t, struct file_slot *g)
{
	struct cpu *cpu = this_cpu();
	__u64 now;

	if (!cpu || !g->off)
		return false;
	now = not_before(g->at_ns, switch_clock_ns(&cpu->clock, t));
	if (may_promote(g, now))
		return false;
	slot_was_off(g, now);
	return true;
}

static __always_inline void returns(struct task_struct *t, struct file_slot *g)
{
	if (!is_only_mine(g, t) || !slot_back(t, g))
		returns_seldom(t, g);
}

static __always_inline void switched(const __u64 *args, bool preempt, struct task_struct *prev,
				     struct task_struct *next)
{
	__u64 state;
	bool sleeps;

	if (switch_args == 4)
		state = (__u32)args[3];
	else if (bpf_core_field_exists(prev->__state))
		state = prev->__state;
	else
		state = ((struct task_struct___old *)prev)->state;
	sleeps = (state & (TASK_UNINTERRUPTIBLE | TASK_NOLOAD)) == TASK_UNINTERRUPTIBLE;
	if (sleeps || preempt || is_known(prev))
		leaves(prev, slot_at(prev), state, preempt);
	if (is_known(next))
		returns(next, slot_at(next));
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	switched(ctx, preempt, prev, next);
	if (jumps)
		bpf_tail_call(ctx, &second, 0);
	return 0;
}

/*
 * Since when this CPU's thread may have been running unseen: the time of the sample before, or when
 * the thread began to run. The scheduler's own account of the latter is only as fresh as the last
 * tick. 0 at the first sample.
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

static __always_inline void sample(void *ctx, __u64 before, __u64 now)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct file_slot *g = slot_at(t);
	struct look l = {};
	struct op *o;

	if (t->flags & PF_KTHREAD)
		return;
	o = op_of(t, g);
	look_at(t, &l);
	if (!o && !l.call && !is_mine(g, t))
		return;
	l.now_ns = not_before(last_look(t, g, o), now);
	l.out_ns = unseen_since(t, before, l.now_ns);
	if (l.out_ns && l.now_ns - l.out_ns > 3 * period_ns)
		count(FILE_STAT_GAPS);
	o = thread_look(t, g, o, &l);
	if (!o)
		return;
	if (is_worth_a_name(o))
		emit_name(o, t);
	if (o->named && !o->sampled) {
		o->sampled = 1;
		emit_running_stack(o, t, ctx, l.now_ns);
	}
}

static __always_inline void clock(void *ctx)
{
	__u64 now = bpf_ktime_get_ns(), before;
	struct cpu *cpu = this_cpu();

	if (!cpu || now - cpu->sampled_ns < least_ns)
		return;
	before = cpu->sampled_ns;
	cpu->sampled_ns = now;
	sample(ctx, before, now);
}

/* Any expiring hrtimer of the kernel, mainly its tick, which runs anyway. */
SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_tick)
{
	clock(ctx);
	return 0;
}

/* A timer of our own, where the tick is too slow or stopped. It may interrupt another interrupt. */
SEC("perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
	clock(ctx);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
