/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_block.h - emits a record of a thread that was off its CPU for long: its kernel stack, its
 * file, and the thread that held the lock or the CPU. Runs at the switch to that thread, rarely.
 */
#pragma once

#include "bpf/lib/cgroup.h"
#include "bpf/request/request_wait.h"

enum { SLICES = 16, SLICE_NS = 500000, NAMES = 8, NAME = 48 };

/* Threads that recently had this CPU, for slices long enough to record. */
struct slice {
	__u64 end_ns, ran_ns;
	__u32 tgid, tid;
	char comm[REQ_COMM];
};

struct slices {
	__u64 longest_ns; /* used during the search; the verifier does not track values here */
	__u32 next;
	__u32 unused;
	struct slice slice[SLICES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct slices);
} slices_of SEC(".maps");

static __always_inline void slice_keep(struct task_struct *t, __u64 now, __u64 ran)
{
	__u32 zero = 0;
	struct slices *all = bpf_map_lookup_elem(&slices_of, &zero);
	struct slice *s;

	if (!all)
		return;
	s = &all->slice[all->next++ & (SLICES - 1)];
	s->end_ns = now;
	s->ran_ns = ran;
	s->tgid = t->tgid;
	s->tid = t->pid;
	__builtin_memcpy(s->comm, t->comm, REQ_COMM);
}

/*
 * The other thread that had this CPU for the longest slice since the wait began (the waiting thread
 * itself may have run in between). If no slice was long: the thread that has the CPU now.
 */
static __always_inline void who_ran(struct req_block *b)
{
	struct task_struct *prev = bpf_get_current_task_btf();
	__u32 zero = 0;
	volatile struct slices *all = bpf_map_lookup_elem(&slices_of, &zero);

	b->who_tgid = prev->tgid;
	b->who_tid = prev->pid;
	__builtin_memcpy(b->who, prev->comm, REQ_COMM);
	b->flags |= prev->pid ? BLOCK_HAS_WHO : 0;
	if (!all)
		return;
	all->longest_ns = 0;
	for (__u32 i = 0; i < SLICES; i++) {
		const struct slice *s = (const struct slice *)&all->slice[i];
		__u64 ns = s->end_ns > b->start_ns ? s->end_ns - b->start_ns : 0;

		if (s->ran_ns < ns)
			ns = s->ran_ns;
		if (ns <= all->longest_ns || s->tid == b->tid)
			continue;
		all->longest_ns = ns;
		b->who_tgid = s->tgid;
		b->who_tid = s->tid;
		__builtin_memcpy(b->who, s->comm, REQ_COMM);
		b->flags |= BLOCK_HAS_WHO;
	}
}

static __always_inline struct file *file_of(struct task_struct *t, __u64 fd)
{
	struct fdtable *table = BPF_CORE_READ(t, files, fdt);
	struct file **files = BPF_CORE_READ(table, fd);
	struct file *f = NULL;

	if ((__u32)fd >= BPF_CORE_READ(table, max_fds))
		return NULL;
	bpf_probe_read_kernel(&f, sizeof(f), files + (__u32)fd);
	return f;
}

/*
 * Path components from the file's own name up to the root of its file system, which is called "/".
 */
static __always_inline void block_file(struct req_block *b, struct file *f)
{
	struct dentry *d = BPF_CORE_READ(f, f_path.dentry), *up;
	__u64 len = 0;

	b->dev = BPF_CORE_READ(f, f_inode, i_sb, s_dev);
	b->flags |= BLOCK_HAS_FILE;
	for (int i = 0; i < NAMES && d; i++) {
		long n;

		len = at_most(len, BLOCK_FILE - NAME);
		n = bpf_probe_read_kernel_str(b->file + len, NAME, BPF_CORE_READ(d, d_name.name));
		up = BPF_CORE_READ(d, d_parent);
		if (n > 0)
			len += n;
		if (up == d || len > BLOCK_FILE - NAME)
			break;
		d = up;
	}
	b->file_len = len;
}

/* The nearest of a thread's CPU cgroups that has a quota. */
static __always_inline __u64 cgroup_with_quota(struct task_struct *t)
{
	struct task_group *g;

	if (!bpf_core_field_exists(t->sched_task_group))
		return 0;
	g = BPF_CORE_READ(t, sched_task_group);
	for (int i = 0; i < 8 && g; i++) {
		if (bpf_core_field_exists(g->cfs_bandwidth) &&
		    BPF_CORE_READ(g, cfs_bandwidth.quota) != ~0ull)
			return id_of_cgroup(BPF_CORE_READ(g, css.cgroup));
		g = BPF_CORE_READ(g, parent);
	}
	return 0;
}

static __always_inline __u64 cgroup_of_memory(struct task_struct *t)
{
	struct cgroup *g = memory_cgroup_of(t);

	return g ? id_of_cgroup(g) : 0;
}

/* The thread or cgroup that caused the wait. */
static __always_inline void block_who(struct req_block *b, const struct thread *th,
				      struct task_struct *t)
{
	switch (b->wait) {
	case WAIT_RUNQ:
		who_ran(b);
		break;
	case WAIT_LOCK:
		b->flags |= th->by;
		b->who_tgid = th->who_tgid;
		b->who_tid = th->who_tid;
		__builtin_memcpy(b->who, th->who, REQ_COMM);
		break;
	case WAIT_THROTTLED:
		b->cgroup = cgroup_with_quota(t);
		break;
	case WAIT_RECLAIM:
		b->cgroup = cgroup_of_memory(t);
		break;
	}
}

/*
 * Fills the record except for the stack; passes the address of the thread's struct task_struct in
 * frame[0]. Global, so that the verifier checks its loops once, not on each path to here.
 */
__noinline int block_fill(struct req_block *b, const struct thread *th, const struct waiting *w,
			  __u64 now)
{
	struct task_struct *t;
	struct file *f = NULL;
	int arg;

	if (!b || !th || !w)
		return 0;
	t = (struct task_struct *)b->frame[0];
	__builtin_memset(b, 0, sizeof(*b));
	b->kind = REQ_KIND_BLOCK;
	b->id = th->cur == CUR_NOBODY ? 0 : th->cur ? th->cur : th->job;
	b->start_ns = w->start_ns;
	b->end_ns = now;
	b->off_ns = w->off_ns;
	b->tgid = BPF_CORE_READ(t, tgid);
	b->tid = BPF_CORE_READ(t, pid);
	bpf_probe_read_kernel(b->comm, REQ_COMM, t->comm);
	b->wait = w->wait;
	b->nr = w->nr;
	__builtin_memcpy(b->arg, w->arg, sizeof(b->arg));
	block_who(b, th, t);
	arg = w->wait == WAIT_IO || w->wait == WAIT_DIRTY ? file_arg(w->nr) : -1;
	if (arg >= 0)
		f = file_of(t, arg ? w->arg[1] : w->arg[0]);
	if (f)
		block_file(b, f);
	if (w->nr == NR_SYNC || w->nr == NR_SYNCFS)
		b->flags |= BLOCK_SYNC;
	return 0;
}

/*
 * t: the thread itself, off or on its CPU. For WAIT_RUNQ: the thread that still has this CPU or had
 * it before t.
 */
static __always_inline void block_emit(struct thread *th, struct waiting *w, struct task_struct *t,
				       __u64 now)
{
	struct req_block *b = bpf_ringbuf_reserve(&ring, sizeof(*b), 0);
	long n;

	if (!b) {
		count(STAT_BLOCK_FULL);
		return;
	}
	b->frame[0] = (__u64)t;
	block_fill(b, th, w, now);
	if (w->wait != WAIT_RUNQ && w->wait != WAIT_THROTTLED) {
		n = bpf_get_task_stack(t, b->frame, sizeof(b->frame), 0);
		b->nframes = n > 0 ? n / sizeof(b->frame[0]) : 0;
	}
	bpf_ringbuf_submit(b, 0);
}
