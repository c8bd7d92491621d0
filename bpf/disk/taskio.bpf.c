// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * taskio.bpf.c - bytes and calls of I/O by cgroup and by program, from the kernel's own counters of
 * each thread: no hook on any I/O.
 *
 * Every thread is read when user space asks, and once more when it ends; the difference since the
 * last reading is added to the cgroup and the program that the thread has then. What a thread did
 * before the program was loaded is not counted.
 */
#include "bpf/lib/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/lib/cgroup_emit.h"
#include "bpf/disk/taskio.h"

enum { PF_EXITING = 0x4, PF_KTHREAD = 0x200000 };

const volatile __u64 begin_ns = 0; /* threads started earlier have counters from before */
__u64 lost = 0; /* threads not followed for lack of room */
bool not_counted = false; /* without CONFIG_TASK_IO_ACCOUNTING: no counters */

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct taskio);
} seen SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TASKIO_CGROUPS + 1);
	__type(key, __u64);
	__type(value, struct taskio_cgroup);
} cgroups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TASKIO_CGROUPS + 1);
	__type(key, struct taskio_program);
	__type(value, struct taskio);
} programs SEC(".maps");

/* Initial value of a new entry: too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct taskio_cgroup);
} nothing SEC(".maps");

static __always_inline void add(struct taskio *to, const struct taskio *more)
{
	for (int i = 0; i < TASKIO_FIELDS; i++)
		if (more->v[i])
			__sync_fetch_and_add(&to->v[i], more->v[i]);
}

static __always_inline struct taskio_cgroup *cgroup_entry(struct cgroup *g)
{
	struct kernfs_node *n = BPF_CORE_READ(g, kn);
	__u64 id = BPF_CORE_READ(n, id);
	struct taskio_cgroup *c = bpf_map_lookup_elem(&cgroups, &id);
	__u32 zero = 0;
	void *new;

	if (c)
		return c;
	new = bpf_map_lookup_elem(&nothing, &zero);
	if (!new)
		return NULL;
	if (!bpf_map_update_elem(&cgroups, &id, new, BPF_NOEXIST)) {
		c = bpf_map_lookup_elem(&cgroups, &id);
		if (c)
			cgroup_emit(&c->at, n);
		return c;
	}
	c = bpf_map_lookup_elem(&cgroups, &id); /* another CPU has just added it */
	if (c)
		return c;
	id = CGROUP_OTHERS;
	return bpf_map_lookup_elem(&cgroups, &id);
}

static __always_inline struct taskio *program_entry(struct task_struct *t)
{
	static const struct taskio none = {};
	struct taskio_program p = {};
	struct taskio *io;

	if (t->flags & PF_KTHREAD)
		__builtin_memcpy(p.name, "(kernel)", 8);
	else
		BPF_CORE_READ_STR_INTO(&p.name, t, group_leader, comm);
	io = bpf_map_lookup_elem(&programs, &p);
	if (io)
		return io;
	bpf_map_update_elem(&programs, &p, &none, BPF_NOEXIST);
	io = bpf_map_lookup_elem(&programs, &p);
	if (io)
		return io;
	__builtin_memset(&p, 0, sizeof(p));
	__builtin_memcpy(p.name, "(others)", 8);
	return bpf_map_lookup_elem(&programs, &p);
}

/*
 * Bytes returned by read calls, less the bytes read from disks for this thread meanwhile: they came
 * from the page cache, or from no disk. Computed per thread: a thread that reads a disk through a
 * mapping, without a read call, does not reduce the cached bytes of others.
 */
static __always_inline __u64 cached(const struct taskio *io)
{
	__s64 more = (__s64)(io->v[3] - io->v[0]);

	return (__s64)io->v[3] > 0 && more > 0 ? (__u64)more : 0;
}

static __always_inline void add_counts(struct task_struct *t, struct taskio *more)
{
	struct taskio_cgroup *c;
	struct taskio *io;
	__u64 any = 0;

	more->v[TASKIO_CACHED] = cached(more);

	for (int i = 0; i < TASKIO_KERNEL; i++)
		any |= more->v[i];
	if (!any)
		return;
	c = cgroup_entry(cgroup_of(t));
	if (c)
		add(&c->io, more);
	io = program_entry(t);
	if (io)
		add(io, more);
}

static __always_inline void read_io(struct task_struct *t, struct taskio *io)
{
	if (!bpf_core_field_exists(t->ioac.read_bytes)) {
		__builtin_memset(io, 0, sizeof(*io));
		not_counted = true;
		return;
	}
	io->v[0] = t->ioac.read_bytes;
	io->v[1] = t->ioac.write_bytes;
	io->v[2] = t->ioac.cancelled_write_bytes;
	io->v[3] = t->ioac.rchar;
	io->v[4] = t->ioac.wchar;
	io->v[5] = t->ioac.syscr;
	io->v[6] = t->ioac.syscw;
}

/* Atomic exchange: if a thread ends while it is being read, the two readings count it once. */
static __always_inline void io_increase(struct taskio *last, struct taskio *io)
{
	for (int i = 0; i < TASKIO_KERNEL; i++)
		io->v[i] -= __sync_lock_test_and_set(&last->v[i], io->v[i]);
}

SEC("iter/task")
int on_look(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct taskio *last, io;
	bool has_past;

	if (!t || t->flags & PF_EXITING)
		return 0;
	last = bpf_task_storage_get(&seen, t, 0, 0);
	has_past = !last && t->start_time < begin_ns;
	if (!last)
		last = bpf_task_storage_get(&seen, t, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!last) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	read_io(t, &io);
	io_increase(last, &io);
	if (!has_past)
		add_counts(t, &io);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int on_exit(__u64 *ctx)
{
	struct task_struct *t = (void *)ctx[0];
	struct taskio *last, io;

	last = bpf_task_storage_get(&seen, t, 0, 0);
	if (!last && t->start_time < begin_ns)
		return 0;
	read_io(t, &io);
	if (last)
		io_increase(last, &io);
	add_counts(t, &io);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
