/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* files_emit.h - sends an operation that may be slow to user space, piece by piece. */
#pragma once

#include "bpf/files/files_op.h"

static __always_inline void head_of(struct file_head *h, __u32 record, const struct op *o,
				    struct task_struct *t)
{
	h->record = record;
	h->flags = o->flags;
	h->tid = (__u32)t->pid;
	h->tgid = (__u32)t->tgid;
	h->id = o->id;
}

static __always_inline void name_fill(struct file_name *n, struct file *f)
{
	struct inode *i = BPF_CORE_READ(f, f_inode);
	struct super_block *sb = BPF_CORE_READ(i, i_sb);

	n->size = BPF_CORE_READ(i, i_size);
	n->ino = BPF_CORE_READ(i, i_ino);
	n->dev = BPF_CORE_READ(sb, s_dev);
	bpf_probe_read_kernel_str(n->disk, sizeof(n->disk), sb->s_id);
	bpf_probe_read_kernel_str(n->fs, sizeof(n->fs), BPF_CORE_READ(sb, s_type, name));
	path_of(&n->path, f);
	if (!BPF_CORE_READ(i, i_nlink))
		n->head.flags |= FILE_DELETED;
}

/* Call it only while the thread is certainly in the call: only then does the file exist. */
static __noinline void emit_name(struct op *o, struct task_struct *t)
{
	struct file_name *n = bpf_ringbuf_reserve(&ring, sizeof(*n), 0);

	if (!n) {
		count(FILE_STAT_DETAIL);
		return;
	}
	head_of(&n->head, FILE_IS_NAME, o, t);
	name_fill(n, (struct file *)o->file);
	o->named = 1;
	bpf_ringbuf_submit(n, 0);
}

static __always_inline void stack_end(struct file_stack *s, long bytes)
{
	s->n = bytes > 0 ? (__u32)bytes / sizeof(__u64) : 0;
	bpf_ringbuf_submit(s, 0);
}

/* The stack it was blocked in; it has not run since. */
static __noinline void emit_block_stack(struct op *o, struct task_struct *t, __u64 now)
{
	struct file_stack *s = bpf_ringbuf_reserve(&ring, sizeof(*s), 0);

	if (!s) {
		count(FILE_STAT_DETAIL);
		return;
	}
	head_of(&s->head, FILE_IS_STACK, o, t);
	s->start_ns = o->off_ns;
	s->end_ns = now;
	stack_end(s, bpf_get_task_stack(t, s->frame, FILE_FRAMES * sizeof(__u64), 0));
}

static __always_inline void emit_running_stack(struct op *o, struct task_struct *t, void *ctx,
					       __u64 now)
{
	struct file_stack *s = bpf_ringbuf_reserve(&ring, sizeof(*s), 0);

	if (!s) {
		count(FILE_STAT_DETAIL);
		return;
	}
	head_of(&s->head, FILE_IS_STACK, o, t);
	s->head.flags |= FILE_ON_CPU;
	s->start_ns = s->end_ns = now;
	stack_end(s, bpf_get_stack(ctx, s->frame, sizeof(s->frame), 0));
}

/*
 * Judges the middle of the shortest and longest possible duration; a quarter of slow_ns must be
 * certain. Two samples are never exactly one period apart.
 */
static __always_inline bool was_slow(__u64 out, __u64 first, __u64 last, __u64 now)
{
	__u64 least = last - first, most = now - out;

	return (least + most) / 2 + period_ns / 8 >= slow_ns && least >= slow_ns / 4;
}

/* Also sent for an operation that was named but was not slow in the end. */
static __noinline void emit_end(struct op *o, struct task_struct *t, __u64 now)
{
	bool slow = was_slow(o->out_ns, o->first_ns, o->last_ns, now);
	struct file_end *e;
	__u64 counter = t->ioac.syscr + t->ioac.syscw;

	if (!slow && !o->named)
		return;
	if (slow)
		count(FILE_STAT_SLOW);
	e = bpf_ringbuf_reserve(&ring, sizeof(*e), 0);
	if (!e) {
		if (slow)
			count(FILE_STAT_RING);
		return;
	}
	head_of(&e->head, FILE_IS_END, o, t);
	e->head.flags |= slow ? 0 : FILE_WAS_FAST;
	bpf_probe_read_kernel_str(e->comm, sizeof(e->comm), t->comm);
	e->call = o->call;
	e->named = o->named;
	e->out_ns = o->out_ns;
	e->first_ns = o->first_ns;
	e->last_ns = o->last_ns;
	e->end_ns = now;
	e->blocked_ns = o->blocked_ns;
	e->runq_ns = o->runq_ns;
	e->offset = o->offset;
	e->bytes = o->asked;
	if (is_counted(o->call) && counter == o->counter + 1) { /* no other call since */
		e->bytes = t->ioac.rchar + t->ioac.wchar - o->bytes;
		e->head.flags |= FILE_DONE_KNOWN;
	}
	bpf_ringbuf_submit(e, 0);
}
