// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * vfs.bpf.c - calls that read, write, open, unlink and sync files, by cgroup and mount: their
 * number, errors, bytes and duration. It hooks system calls, so it counts what strace does; I/O
 * through io_uring, libaio and mappings is not seen. Every system call of the host passes its two
 * hooks, so this source is on demand only.
 */
#include "bpf/lib/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/lib/bound.h"
#include "bpf/lib/cgroup_emit.h"
#include "bpf/lib/fd.h"
#include "bpf/lib/sample.h"
#include "bpf/lib/slot.h"
#include "bpf/lib/syscall.h"
#include "bpf/disk/vfs.h"

enum { S_IFDIR = 0040000, S_IFBLK = 0060000, FMODE_CREATED = 0x100000, AT_REMOVEDIR = 0x200 };
enum { ERESTART_LAST = 516, MAX_ERRNO = 4095 };

#if defined(__TARGET_ARCH_x86)
#define IS_COMPAT(t) ((t)->thread_info.status & TS_COMPAT)
#else
#define IS_COMPAT(t) false
#endif

const volatile struct vfs_call call_of[VFS_NRS]; /* indexed by system call number */

__u64 missed; /* calls not counted for lack of room */

/*
 * The current call of a task, and the task's cgroup, whose id is the most expensive part to find.
 */
struct task {
	__u64 begin_ns; /* 0: none */
	__u64 nr;
	__u64 of; /* sampling weight */
	const void *set; /* the task's css_set */
	__u64 cgroup; /* cgroup id of that set */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, VFS_ENTRIES + 1);
	__type(key, struct vfs_key);
	__type(value, struct vfs_entry);
} entries SEC(".maps");

/* Initial value of a new entry: too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct vfs_entry);
} nothing SEC(".maps");

/* A finished call, ready to be counted. */
struct done {
	__u32 op;
	long ret;
	__u64 ns;
	__u64 of; /* sampling weight */
	struct file *file; /* NULL: not known */
};

/* NULL: an unnamed mount: kernel-internal (memfd), or unmounted. */
static __always_inline struct mount *mount_of(struct file *f)
{
	struct mount *m = (void *)((__u64)BPF_CORE_READ(f, f_path.mnt) -
				   bpf_core_field_offset(struct mount, mnt));
	__s64 ns = (__s64)BPF_CORE_READ(m, mnt_ns);

	return ns && (ns > 0 || ns < -MAX_ERRNO) ? m : NULL;
}

static __always_inline void mount_path(struct path_parts *p, struct mount *m)
{
	struct walk w = { BPF_CORE_READ(m, mnt.mnt_root), m };

	p->len = 0;
	p->whole = 0;
	for (int i = 0; i < PATH_PARTS; i++)
		if (!path_step(p, &w))
			break;
}

static __noinline struct vfs_entry *entry_add(struct task_struct *t, struct vfs_key *key)
{
	struct vfs_entry *e;
	__u32 zero = 0;
	void *new = bpf_map_lookup_elem(&nothing, &zero);

	if (!new)
		return NULL;
	if (!bpf_map_update_elem(&entries, key, new, BPF_NOEXIST)) {
		e = bpf_map_lookup_elem(&entries, key);
		if (!e)
			return NULL;
		if (key->mount)
			mount_path(&e->mount, (struct mount *)key->mount);
		cgroup_emit(&e->cgroup, BPF_CORE_READ(cgroup_of(t), kn));
		return e;
	}
	e = bpf_map_lookup_elem(&entries, key); /* another CPU has just added it */
	if (e)
		return e;
	key->cgroup = CGROUP_OTHERS;
	key->mount = key->point = 0;
	return bpf_map_lookup_elem(&entries, key);
}

static __always_inline struct vfs_entry *entry_of(struct task_struct *t, struct task *s,
						  struct file *f)
{
	struct mount *m = f ? mount_of(f) : NULL;
	struct vfs_key key = { .mount = (__u64)m };
	struct vfs_entry *e;

	if (m)
		key.point = (__u64)BPF_CORE_READ(m, mnt_mountpoint);
	if (s->set != t->cgroups) {
		s->set = t->cgroups;
		s->cgroup = id_of_cgroup(cgroup_of(t));
	}
	key.cgroup = s->cgroup;
	e = bpf_map_lookup_elem(&entries, &key);
	return e ? e : entry_add(t, &key);
}

static __noinline int add_call(struct task_struct *t, struct task *s, struct done *d)
{
	struct file *f = d->file;
	struct vfs_entry *e = entry_of(t, s, f);
	__u64 op, slot;

	if (!e) {
		__sync_fetch_and_add(&missed, d->of);
		return 0;
	}
	op = at_most(d->op, VFS_OPS - 1);
	__sync_fetch_and_add(&e->v[VFS_CALLS + op], d->of);
	__sync_fetch_and_add(&e->v[VFS_NS + op], d->ns * d->of);
	if (d->ret < 0)
		__sync_fetch_and_add(&e->v[VFS_ERRORS + op], d->of);
	else if (op == VFS_READ)
		__sync_fetch_and_add(&e->v[VFS_BYTES_IN], d->ret * d->of);
	else if (op == VFS_WRITE)
		__sync_fetch_and_add(&e->v[VFS_BYTES_OUT], d->ret * d->of);
	else if (op == VFS_OPEN && f && BPF_CORE_READ(f, f_mode) & FMODE_CREATED)
		__sync_fetch_and_add(&e->v[VFS_CREATED], d->of);
	slot = op * VFS_SLOTS + slot_of(d->ns, VFS_FIRST, VFS_SLOTS);
	slot = at_most(slot, VFS_OPS * VFS_SLOTS - 1);
	__sync_fetch_and_add(&e->v[VFS_LATENCY + slot], d->of);
	return 0;
}

/* Only regular files, directories and block devices: no pipe, socket or character device. */
static __noinline int on_fd(struct task_struct *t, struct task *s, struct done *d, __u64 fd)
{
	struct file *f = file_of_fd(t, fd);
	__u32 type;

	if (!f)
		return 0;
	d->file = f;
	type = BPF_CORE_READ(f, f_inode, i_mode) & S_IFMT;
	if (type == S_IFREG || type == S_IFDIR || type == S_IFBLK)
		add_call(t, s, d);
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_enter, struct pt_regs *regs, long nr)
{
	struct task_struct *t;
	struct task *s;
	__u64 of;

	if (nr < 0 || nr >= VFS_NRS || call_of[nr].way == VFS_NONE)
		return 0;
	of = sampled();
	if (!of)
		return 0;
	t = bpf_get_current_task_btf();
	if (IS_COMPAT(t))
		return 0;
	s = bpf_task_storage_get(&tasks, t, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!s) {
		__sync_fetch_and_add(&missed, of);
		return 0;
	}
	s->nr = nr;
	s->of = of;
	s->begin_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline bool removes_directory(const struct pt_regs *regs, __u64 nr)
{
	return nr == NR_UNLINKAT && REGS_ARG3(regs) & AT_REMOVEDIR;
}

static __always_inline void on_call(struct task_struct *t, struct task *s, struct done *d,
				    const struct pt_regs *regs, __u32 way)
{
	switch (way) {
	case VFS_FD:
		on_fd(t, s, d, REGS_ARG1(regs));
		break;
	case VFS_SECOND:
		on_fd(t, s, d, REGS_ARG2(regs));
		break;
	case VFS_BOTH:
		on_fd(t, s, d, REGS_ARG1(regs));
		d->op = VFS_WRITE;
		on_fd(t, s, d, REGS_ARG3(regs));
		break;
	case VFS_BY_NAME:
		d->file = d->op == VFS_OPEN && d->ret >= 0 ? file_of_fd(t, d->ret) : NULL;
		add_call(t, s, d);
		break;
	}
}

/* The number and the arguments of the call are still in its registers. */
SEC("tp_btf/sys_exit")
int BPF_PROG(on_exit, struct pt_regs *regs, long ret)
{
	struct done d = { .ret = ret };
	struct task_struct *t;
	__u64 nr = REGS_NR(regs);
	struct task *s;

	if (nr >= VFS_NRS || call_of[nr].way == VFS_NONE)
		return 0;
	t = bpf_get_current_task_btf();
	s = bpf_task_storage_get(&tasks, t, 0, 0);
	if (!s || !s->begin_ns || s->nr != nr)
		return 0;
	d.ns = bpf_ktime_get_ns() - s->begin_ns;
	s->begin_ns = 0;
	d.of = s->of;
	if (ret <= -ERESTARTSYS && ret >= -ERESTART_LAST)
		return 0; /* the call will be restarted */
	if (removes_directory(regs, nr))
		return 0;
	d.op = call_of[nr].op;
	on_call(t, s, &d, regs, call_of[nr].way);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
