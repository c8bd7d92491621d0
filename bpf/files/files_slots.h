/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * files_slots.h - first stage of slow-operation tracking: one cache line per thread.
 *
 * Each slot records a thread's current call and the time it was seen, but not the file. A slot is
 * promoted to a struct op when the operation may become slow before the next look. Only calls that
 * the kernel counts use slots (the counter shows whether the call is still the same one), and only
 * if their offset and length can be found without reading the thread's memory.
 */
#pragma once

#include "bpf/files/files_emit.h"
#include "bpf/lib/tid_filter.h"

#define SLOT_MAX_NS 1000000000 /* maximum age of a slot: its sums have 32 bits */

enum { SLOTS = 4096 };

enum off { OFF_NOT, OFF_BLOCKED, OFF_RUNNABLE };

/*
 * Threads whose tids collide share one slot. Only one owns it; all of them may have entries in the
 * `ops` map.
 */
struct file_slot {
	__u32 tid; /* 0: free. The thread that sets it owns the other fields, except ops. */
	__u32 ops; /* entries in `ops` of all threads that share the slot */
	__u32 args; /* of the call, hashed */
	__u8 call; /* enum file_call */
	__u8 off; /* enum off: since at_ns */
	__u8 switched, unused; /* as in struct op */
	__u64 counter, bytes; /* as in struct op */
	__u64 out_ns, first_ns;
	__u64 at_ns; /* time of the last look */
	__u32 blocked_ns, runq_ns;
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct file_slot) == 64, "one cache line");

static struct file_slot slots[SLOTS];
static struct tid_filter any; /* threads with a slot or an op */

static __always_inline struct file_slot *slot_at(struct task_struct *t)
{
	return &slots[(__u32)t->pid % SLOTS];
}

static __always_inline bool is_used(const struct file_slot *g)
{
	return g->tid || g->ops;
}

/* Cheap test for hooks that see every thread, mostly the idle one. */
static __always_inline bool is_known(struct task_struct *t)
{
	return t->pid && tid_bit(&any, (__u32)t->pid) && is_used(slot_at(t));
}

static __always_inline bool is_mine(const struct file_slot *g, struct task_struct *t)
{
	return g->tid && g->tid == (__u32)t->pid;
}

/* The thread has a slot and no op. */
static __always_inline bool is_only_mine(const struct file_slot *g, struct task_struct *t)
{
	return is_mine(g, t) && !g->ops;
}

static __always_inline struct op *op_of(struct task_struct *t, struct file_slot *g)
{
	__u32 tid = (__u32)t->pid;

	return g->ops ? bpf_map_lookup_elem(&ops, &tid) : NULL;
}

/* Clears the bit if nothing uses this place. All threads with this bit share the place. */
static __always_inline void dropped(const struct file_slot *g, __u32 tid)
{
	if (is_used(g))
		return;
	tid_bit_clear(&any, tid);
	barrier();
	if (is_used(g))
		tid_bit_set(&any, tid);
}

static __always_inline void slot_drop(struct file_slot *g, __u32 tid)
{
	__sync_lock_test_and_set(&g->tid, 0);
	dropped(g, tid);
}

static __always_inline void op_drop(struct task_struct *t, struct file_slot *g)
{
	__u32 tid = (__u32)t->pid;

	if (!bpf_map_delete_elem(&ops, &tid))
		__sync_fetch_and_add(&g->ops, -1);
	dropped(g, tid);
}

static __always_inline struct op *op_add(struct task_struct *t, struct file_slot *g,
					 const struct op *o)
{
	__u32 tid = (__u32)t->pid;

	if (bpf_map_update_elem(&ops, &tid, o, BPF_NOEXIST)) {
		count(FILE_STAT_OPS);
		return NULL;
	}
	__sync_fetch_and_add(&g->ops, 1);
	tid_bit_set(&any, tid);
	return bpf_map_lookup_elem(&ops, &tid);
}

static __always_inline void op_fill(struct op *o, const struct look *l, struct file *f, __u64 out,
				    __u64 first)
{
	o->call = l->call;
	o->arg[0] = l->arg[0];
	o->arg[1] = l->arg[1];
	o->arg[2] = l->arg[2];
	o->counter = l->counter;
	o->bytes = l->bytes;
	o->id = first;
	o->file = (__u64)f;
	o->inode = l->inode;
	o->out_ns = out;
	o->first_ns = o->last_ns = first;
	extent_of(o, l);
}

/* Starts an op for the call the thread is in, if it is on a file; replaces old. */
static __noinline struct op *op_begin(struct task_struct *t, struct op *old, struct look *l)
{
	struct file *f =
		l->call && !l->done && l->out_ns && in_scope(t) ? file_of(t, l, old) : NULL;
	struct file_slot *g = slot_at(t);
	struct op o = {};

	if (!f) {
		if (old)
			op_drop(t, g);
		return NULL;
	}
	if (old) {
		__builtin_memset(old, 0, sizeof(*old));
		op_fill(old, l, f, l->out_ns, l->now_ns);
		return old;
	}
	op_fill(&o, l, f, l->out_ns, l->now_ns);
	return op_add(t, g, &o);
}

static __always_inline __u32 fold(__u64 first, __u64 second, __u64 third)
{
	__u64 a = first ^ second * 0x9e3779b97f4a7c15 ^ third * 0xc2b2ae3d27d4eb4f;

	return (__u32)(a >> 32) ^ (__u32)a;
}

static __always_inline __u32 fold_args(const struct look *l)
{
	return fold(l->arg[0], l->arg[1], l->arg[2]);
}

/* Starts a call in the slot. The caller sets the times. */
static __always_inline void slot_fill(struct file_slot *g, __u32 call, __u32 args, __u64 counter,
				      __u64 bytes, enum off off)
{
	g->args = args;
	g->call = call;
	g->off = off;
	g->switched = 0;
	g->counter = counter;
	g->bytes = bytes;
	g->blocked_ns = g->runq_ns = 0;
}

/* False: not in a call of this kind, or another thread owns the place. */
static __always_inline bool slot_begin(struct task_struct *t, struct file_slot *g,
				       const struct look *l)
{
	__u32 tid = (__u32)t->pid;
	bool mine = g->tid == tid;

	if (!l->call || l->call > FILE_PWRITE || l->done || !l->out_ns || !in_scope(t)) {
		if (mine)
			slot_drop(g, tid);
		return false;
	}
	if (!mine) {
		if (__sync_val_compare_and_swap(&g->tid, 0, tid))
			return false;
		tid_bit_set(&any, tid);
	}
	slot_fill(g, l->call, fold_args(l), l->counter, l->bytes, OFF_NOT);
	g->out_ns = l->out_ns;
	g->first_ns = g->at_ns = l->now_ns;
	return true;
}

/* Like is_same(), for a slot. */
static __always_inline bool slot_is_same(struct task_struct *t, const struct file_slot *g,
					 const struct look *l)
{
	if (g->call != l->call || g->counter + l->done != l->counter || g->args != fold_args(l))
		return false;
	if (g->switched)
		learn_bits(t);
	return true;
}

static __always_inline void op_from_slot(struct op *o, const struct file_slot *g)
{
	o->counter = g->counter;
	o->bytes = g->bytes;
	o->last_ns = g->at_ns;
	o->blocked_ns = g->blocked_ns;
	o->runq_ns = g->runq_ns;
	o->switched = g->switched;
	if (g->off) {
		o->off_ns = g->at_ns;
		o->off_runnable = g->off == OFF_RUNNABLE;
	}
}

/* Promotes the slot. The thread is still in the call, so its file exists. NULL: not a data file. */
static __noinline struct op *slot_promote(struct task_struct *t, struct file_slot *g,
					  struct look *l)
{
	struct file *f = file_of(t, l, NULL);
	struct op o = {};

	if (f) {
		op_fill(&o, l, f, g->out_ns, g->first_ns);
		op_from_slot(&o, g);
	}
	slot_drop(g, (__u32)t->pid);
	return f ? op_add(t, g, &o) : NULL;
}

/* ns: longest it may have run. True: it may be slow before the next look. */
static __always_inline bool may_be_slow(__u64 ns)
{
	return ns + period_ns >= slow_ns;
}

static __always_inline bool may_promote(const struct file_slot *g, __u64 now)
{
	return may_be_slow(now - g->out_ns) || now - g->out_ns >= SLOT_MAX_NS;
}

/* A call that has its result is promoted now: there is no later look. */
static __always_inline struct op *slot_goes_on(struct task_struct *t, struct file_slot *g,
					       struct look *l)
{
	g->at_ns = l->now_ns;
	return l->done || may_promote(g, l->now_ns) ? slot_promote(t, g, l) : NULL;
}

static __always_inline void slot_was_off(struct file_slot *g, __u64 now)
{
	if (g->off == OFF_BLOCKED)
		g->blocked_ns += now - g->at_ns;
	else
		g->runq_ns += now - g->at_ns;
	g->at_ns = now;
	g->off = OFF_NOT;
	g->switched = 1;
}

/* The thread gets a CPU again. */
static __always_inline struct op *slot_returns(struct task_struct *t, struct file_slot *g,
					       __u64 now)
{
	struct look l = {};

	if (!g->off)
		return NULL;
	if (may_promote(g, now)) {
		look_at(t, &l);
		return slot_promote(t, g, &l);
	}
	slot_was_off(g, now);
	return NULL;
}

/* Reports a slow operation that was never promoted, so its file is unknown. */
static __noinline void slot_emit_end(struct task_struct *t, const struct file_slot *g, __u64 now)
{
	struct op o = {};

	o.call = g->call;
	o.id = o.first_ns = g->first_ns;
	o.out_ns = g->out_ns;
	o.offset = o.asked = FILE_NOWHERE;
	op_from_slot(&o, g);
	emit_end(&o, t, now);
}

static __always_inline void slot_ends(struct task_struct *t, const struct file_slot *g,
				      struct look *l)
{
	if (was_slow(g->out_ns, g->first_ns, g->at_ns, l->now_ns))
		slot_emit_end(t, g, l->now_ns);
	if (g->at_ns > l->out_ns)
		l->out_ns = g->at_ns;
}
