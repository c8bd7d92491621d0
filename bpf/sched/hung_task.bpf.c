// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hung_task.bpf.c - finds tasks in uninterruptible sleep that make no progress, by iterating over
 * all tasks now and then, without any hook. A task that has not switched between two passes has
 * slept all the time; after limit_ns it is reported with its stack, its system call and that call's
 * file.
 */
#include "bpf/lib/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/lib/fd.h"
#include "bpf/sched/hung_task.h"

/* include/linux/sched.h; the same in every version */
enum {
	TASK_UNINTERRUPTIBLE = 2,
	TASK_WAKEKILL = 0x100,
	TASK_NOLOAD = 0x400,
	PF_KTHREAD = 0x200000
};

struct since {
	__u64 start_ns, switches, first_ns;
	__u32 pass;
	__u32 unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, STUCK_FOLLOWED);
	__type(key, __u32);
	__type(value, struct since);
} asleep SEC(".maps");

const volatile __u8 on_fd[STUCK_NRS]; /* calls whose first argument is a descriptor */
struct hung_task_control control;
struct hung_task_counts counts;
struct hung_task_record record; /* passes do not overlap */

static __always_inline __u64 state_of(struct task_struct *t)
{
	if (bpf_core_field_exists(t->__state))
		return t->__state;
	return ((struct task_struct___old *)t)->state;
}

/* How long the task has been seen asleep; NULL: not before this pass. */
static __always_inline struct since *since_of(struct task_struct *t, __u64 now)
{
	struct since fresh = { .start_ns = t->start_time,
			       .switches = t->nvcsw + t->nivcsw,
			       .first_ns = now,
			       .pass = control.pass };
	__u32 tid = (__u32)t->pid;
	struct since *s = bpf_map_lookup_elem(&asleep, &tid);

	/* A pass may visit a task twice, if its record does not fit into one read. */
	if (s && s->start_ns == fresh.start_ns && s->switches == fresh.switches &&
	    control.pass - s->pass <= 1) {
		s->pass = control.pass;
		return s;
	}
	if (bpf_map_update_elem(&asleep, &tid, &fresh, BPF_ANY))
		counts.full++;
	return NULL;
}

static __always_inline void put_file(struct hung_task_record *r, struct file *f)
{
	struct inode *i = BPF_CORE_READ(f, f_inode);
	struct super_block *sb = BPF_CORE_READ(i, i_sb);

	r->flags |= STUCK_FILE | (BPF_CORE_READ(i, i_nlink) ? 0 : STUCK_DELETED);
	r->dev = BPF_CORE_READ(sb, s_dev);
	bpf_probe_read_kernel_str(r->disk, sizeof(r->disk), sb->s_id);
	bpf_probe_read_kernel_str(r->fs, sizeof(r->fs), BPF_CORE_READ(sb, s_type, name));
	path_of(&r->path, f);
}

/* The registers at the task's kernel entry; those of a kernel thread have no meaning. */
static __always_inline void put_call(struct hung_task_record *r, struct task_struct *t)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(t);
	struct file *f;
	__u64 fd;

	if (!regs)
		return;
#if defined(__TARGET_ARCH_x86)
	r->call = (__s32)BPF_CORE_READ(regs, orig_ax);
	fd = BPF_CORE_READ(regs, di);
#elif defined(__TARGET_ARCH_arm64)
	r->call = BPF_CORE_READ(regs, syscallno);
	fd = BPF_CORE_READ(regs, orig_x0);
#endif
	if (r->call < 0 || r->call >= STUCK_NRS || !on_fd[r->call & (STUCK_NRS - 1)])
		return;
	f = file_of_fd(t, fd);
	if (f)
		put_file(r, f);
}

static __always_inline void fill(struct hung_task_record *r, struct task_struct *t, __u64 state)
{
	long n;

	r->tid = (__u32)t->pid;
	r->tgid = (__u32)t->tgid;
	r->call = -1;
	r->start_ns = t->start_time;
	r->flags = (state & TASK_WAKEKILL ? STUCK_KILLABLE : 0) |
		   (t->flags & PF_KTHREAD ? STUCK_KTHREAD : 0) |
		   (BPF_CORE_READ_BITFIELD_PROBED(t, in_iowait) ? STUCK_IOWAIT : 0);
	r->path.len = 0;
	bpf_probe_read_kernel_str(r->comm, sizeof(r->comm), t->comm);
	if (!(t->flags & PF_KTHREAD))
		put_call(r, t);
	n = bpf_get_task_stack(t, r->frame, sizeof(r->frame), 0);
	r->n = n > 0 ? (__u32)n / sizeof(r->frame[0]) : 0;
}

SEC("iter/task")
int on_task(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct since *s;
	__u64 state, now;

	if (!t)
		return 0;
	state = state_of(t);
	if ((state & (TASK_UNINTERRUPTIBLE | TASK_NOLOAD)) != TASK_UNINTERRUPTIBLE)
		return 0;
	counts.asleep++;
	now = bpf_ktime_get_ns();
	s = since_of(t, now);
	if (!s || now - s->first_ns < control.limit_ns)
		return 0;
	record.first_ns = s->first_ns;
	record.now_ns = now;
	fill(&record, t, state);
	bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
