/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * files_op.h - the file operation of a thread: the call and its file, whether it is the same
 * operation as at the last look, and its times.
 */
#pragma once

#include "bpf/lib/fd.h"

#include <bpf/bpf_tracing.h>

#include "bpf/files/files.h"
#include "bpf/lib/syscall.h"

#define COUNTS FILE_STAT_END
#include "bpf/lib/counts.h"

enum { OPS = 4096, VECTOR = 16 };

/* include/linux/sched.h; the same in every version */
enum { TASK_UNINTERRUPTIBLE = 2, TASK_DEAD = 0x80, TASK_NOLOAD = 0x400, PF_KTHREAD = 0x200000 };

/* The file operation a thread is in. */
struct op {
	__u32 call; /* enum file_call */
	__u32 flags; /* enum file_flag */
	__u64 arg[3];
	__u64 counter; /* read and write calls the thread has finished */
	__u64 bytes; /* bytes they moved */
	__u64 id;
	__u64 file, inode; /* struct file, struct inode */
	__u64 offset, asked;
	__u64 out_ns, first_ns, last_ns; /* see struct file_end */
	__u64 off_ns; /* not 0: off its CPU since then */
	__u64 blocked_ns, runq_ns, longest_ns;
	__u32 off_runnable; /* off its CPU, but runnable */
	__u32 switched; /* it has been off its CPU in this call */
	__u32 named, sampled; /* pieces already sent */
	__u32 done; /* its file may be gone */
	__u32 unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, OPS);
	__type(key, __u32);
	__type(value, struct op);
} ops SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1024 * 1024);
} ring SEC(".maps");

/* Set before the load. */
const volatile __u8 call_of[FILE_NRS]; /* enum file_call, by the number of the system call */
const volatile __u64 slow_ns = 10000000;
const volatile __u64 period_ns = 5000000,
		     least_ns; /* sampling period, and least time between samples */
const volatile __u32 own_tgid, scope_level, switch_args = 4;
const volatile __u64 scope_id;

/*
 * Looks at threads that were certainly not in user mode since they lost their CPU, and how many of
 * them had each candidate bit (TIF_FPU_*) clear. Most: it is not that bit. One in thousands: it is
 * (the reason for the exceptions is unknown).
 */
__u64 fpu_looks, fpu_lost[2];

#if defined(__TARGET_ARCH_x86)
#define IS_COMPAT(t) ((t)->thread_info.status & TS_COMPAT)
#define TIF_FPU_OLD (1ull << 14) /* TIF_NEED_FPU_LOAD before 6.18 */
#define TIF_FPU_NEW (1ull << 19) /* and since */
#elif defined(__TARGET_ARCH_arm64)
#define IS_COMPAT(t) false
#define TIF_FPU_OLD 0ull
#define TIF_FPU_NEW 0ull
#endif

/* A thread's call, from its registers at kernel entry. A thread interrupted in user mode has none.
 */
struct look {
	__u32 call;
	bool done; /* it has its result and is returning to user mode */
	__u64 arg[5];
	__u64 counter, bytes;
	__u64 inode; /* set by file_of() */
	__u64 now_ns; /* time of the look */
	__u64 out_ns; /* last time it was not in the call; 0: unknown */
};

static __always_inline void look_at(struct task_struct *t, struct look *l)
{
	struct pt_regs *r = (struct pt_regs *)bpf_task_pt_regs(t);
	__s64 nr = REGS_NR(r);

	l->call = nr >= 0 && nr < FILE_NRS ? call_of[nr] : FILE_NONE;
	if (!l->call)
		return;
	if (IS_COMPAT(t)) {
		l->call = FILE_NONE;
		count(FILE_STAT_COMPAT);
		return;
	}
	l->arg[0] = REGS_ARG1(r);
	l->arg[1] = REGS_ARG2(r);
	l->arg[2] = REGS_ARG3(r);
	l->arg[3] = REGS_ARG4(r);
	l->arg[4] = REGS_ARG5(r);
	l->done = REGS_HAS_RESULT(r);
	l->counter = t->ioac.syscr + t->ioac.syscw;
	l->bytes = t->ioac.rchar + t->ioac.wchar;
}

/* The kernel counts the call when it ends. */
static __always_inline bool is_counted(__u32 call)
{
	return call < FILE_FSYNC;
}

/*
 * Has a thread that lost its CPU in a call been in user mode since? On x86 its FPU registers were
 * saved then and are loaded on return to user mode. False where this is unknown.
 */
static __always_inline bool was_in_user(struct task_struct *t, const struct op *o)
{
	__u64 bits = (fpu_lost[0] * 8 <= fpu_looks ? TIF_FPU_OLD : 0) |
		     (fpu_lost[1] * 8 <= fpu_looks ? TIF_FPU_NEW : 0);

	return o->switched && bits && !(t->thread_info.flags & bits);
}

/* The kernel's counter during the call, and after it. */
static __always_inline __u64 counter_in(const struct op *o, const struct look *l)
{
	if (!l->done || !is_counted(o->call))
		return o->counter;
	return o->counter + (o->call == FILE_SENDFILE || o->call == FILE_COPY ? 2 : 1);
}

/* The thread has certainly not been in user mode since it lost its CPU. */
static __always_inline void learn_bits(struct task_struct *t)
{
	__u64 flags = t->thread_info.flags;

	__sync_fetch_and_add(&fpu_looks, 1);
	if (!(flags & TIF_FPU_OLD))
		__sync_fetch_and_add(&fpu_lost[0], 1);
	if (!(flags & TIF_FPU_NEW))
		__sync_fetch_and_add(&fpu_lost[1], 1);
}

/* The kernel's counter decides where there is one, and its answers train the FPU bits. */
static __always_inline bool is_same(struct task_struct *t, const struct op *o, const struct look *l)
{
	if (o->call != l->call || o->arg[0] != l->arg[0] || o->arg[1] != l->arg[1] ||
	    o->arg[2] != l->arg[2] || l->counter != counter_in(o, l))
		return false;
	if (!is_counted(o->call))
		return !was_in_user(t, o);
	if (o->switched)
		learn_bits(t);
	return true;
}

/* False for kernel-internal file systems, whose files are no data: procfs, sysfs, cgroup, ... */
static __always_inline bool is_storage(__u64 magic)
{
	switch (magic) {
	case 0x9fa0: /* proc */
	case 0x62656572: /* sysfs */
	case 0x63677270: /* cgroup2 */
	case 0x27e0eb: /* cgroup */
	case 0x64626720: /* debugfs */
	case 0x74726163: /* tracefs */
	case 0xcafe4a11: /* bpf */
	case 0x73636673: /* securityfs */
	case 0x62656570: /* configfs */
	case 0x09041934: /* anonymous: epoll, iterators of BPF, ... */
	case 0x6e736673: /* nsfs */
	case 0x50494446: /* pidfs */
		return false;
	}
	return true;
}

/* True for data in a regular file. Global, like extent_of, so that the verifier checks it once. */
__noinline int is_data(__u64 inode)
{
	struct inode *i = (struct inode *)inode;

	return (BPF_CORE_READ(i, i_mode) & S_IFMT) == S_IFREG &&
	       is_storage(BPF_CORE_READ(i, i_sb, s_magic));
}

/* o: an operation of this thread, or NULL; the type of its file is not checked again. */
static __always_inline struct file *file_of(struct task_struct *t, struct look *l,
					    const struct op *o)
{
	struct file *f;

	if (l->call == FILE_MSYNC)
		f = file_of_address(t, l->arg[0]);
	else /* copies between two files: the one that is read */
		f = file_of_fd(t, l->call == FILE_SENDFILE ? l->arg[1] : l->arg[0]);
	if (!f)
		return NULL;
	l->inode = (__u64)BPF_CORE_READ(f, f_inode);
	if (o && o->file == (__u64)f && o->inode == l->inode)
		return f;
	return is_data(l->inode) ? f : NULL;
}

/*
 * Total length of a vector in this thread's memory; FILE_NOWHERE: not readable, or too many
 * entries.
 */
static __always_inline __u64 bytes_of_vector(__u64 at, __u64 n)
{
	struct user_iovec v;
	__u64 sum = 0;

	if (n > VECTOR)
		return FILE_NOWHERE;
	for (__u32 i = 0; i < VECTOR && i < n; i++) {
		if (bpf_probe_read_user(&v, sizeof(v), (const void *)(at + i * sizeof(v))))
			return FILE_NOWHERE;
		sum += v.len;
	}
	return sum;
}

/* For calls that move no bytes. */
static __always_inline void extent_of_range(struct op *o, const struct look *l)
{
	switch (l->call) {
	case FILE_SYNC_RANGE:
		o->offset = l->arg[1];
		o->asked = l->arg[2];
		break;
	case FILE_FALLOCATE:
		o->offset = l->arg[2];
		o->asked = l->arg[3];
		break;
	case FILE_TRUNCATE:
		o->offset = l->arg[1];
		break;
	case FILE_MSYNC:
		o->asked = l->arg[1];
		break;
	}
}

/*
 * Offset and length of the operation in its file. For a vector the thread must be the current one.
 */
__noinline int extent_of(struct op *o, const struct look *l)
{
	struct file *f;

	if (!o || !l)
		return 0;
	f = (struct file *)o->file;
	o->offset = o->asked = FILE_NOWHERE;
	if (l->call >= FILE_READV && l->call <= FILE_PWRITEV)
		o->asked = bytes_of_vector(l->arg[1], l->arg[2]);
	switch (l->call) {
	case FILE_READ:
	case FILE_WRITE:
		o->asked = l->arg[2];
		/* fall through */
	case FILE_READV:
	case FILE_WRITEV:
		o->offset = BPF_CORE_READ(f, f_pos);
		if (BPF_CORE_READ(f, f_flags) & O_APPEND)
			o->flags |= FILE_APPENDED;
		break;
	case FILE_PREAD:
	case FILE_PWRITE:
		o->asked = l->arg[2];
		/* fall through */
	case FILE_PREADV:
	case FILE_PWRITEV:
		o->offset = l->arg[3];
		break;
	case FILE_SENDFILE:
		o->asked = l->arg[3];
		if (!l->arg[2])
			o->offset = BPF_CORE_READ(f, f_pos);
		break;
	case FILE_COPY:
		o->asked = l->arg[4];
		if (!l->arg[1])
			o->offset = BPF_CORE_READ(f, f_pos);
		break;
	default:
		extent_of_range(o, l);
	}
	return 0;
}

static __always_inline bool in_scope(struct task_struct *t)
{
	if (t->tgid == (int)own_tgid)
		return false;
	return !scope_id || bpf_get_current_ancestor_cgroup_id(scope_level) == scope_id;
}
