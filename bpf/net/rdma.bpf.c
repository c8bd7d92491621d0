// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rdma.bpf.c - ioctl calls on RDMA devices (uverbs), by program, device and error: what a job asks
 * of the kernel, and what the kernel refuses. Every system call of the host passes its hook, so
 * this source is on demand only.
 */
#include "bpf/lib/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/lib/fd.h"
#include "bpf/net/rdma.h"
#include "bpf/lib/syscall.h"

enum { S_IFCHR = 0020000, MAX_ERRNO = 4095 };

const volatile __u32 devices[RDMA_DEVICES]; /* major << 20 | minor; 0: end of the list */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RDMA_ENTRIES + 1);
	__type(key, struct rdma_key);
	__type(value, struct rdma_entry);
} entries SEC(".maps");

static __always_inline int device_of(struct task_struct *t, __u64 fd)
{
	struct file *f = file_of_fd(t, fd);
	__u32 dev;

	if (!f || (BPF_CORE_READ(f, f_inode, i_mode) & S_IFMT) != S_IFCHR)
		return -1;
	dev = BPF_CORE_READ(f, f_inode, i_rdev);
	for (int i = 0; i < RDMA_DEVICES; i++)
		if (dev && devices[i] == dev)
			return i;
	return -1;
}

static __noinline struct rdma_entry *entry_of(struct rdma_key *key)
{
	static const struct rdma_entry none = {};
	struct rdma_entry *e = bpf_map_lookup_elem(&entries, key);

	if (e)
		return e;
	bpf_map_update_elem(&entries, key, &none, BPF_NOEXIST);
	e = bpf_map_lookup_elem(&entries, key);
	if (e)
		return e;
	__builtin_memset(key, 0, sizeof(*key));
	key->device = RDMA_OTHERS;
	return bpf_map_lookup_elem(&entries, key);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_exit, struct pt_regs *regs, long ret)
{
	struct rdma_key key = {};
	struct task_struct *t;
	struct rdma_entry *e;
	int device;

	if (REGS_NR(regs) != NR_IOCTL)
		return 0;
	t = bpf_get_current_task_btf();
	device = device_of(t, REGS_ARG1(regs));
	if (device < 0)
		return 0;
	BPF_CORE_READ_STR_INTO(&key.program, t, group_leader, comm);
	key.device = device;
	key.error = ret < 0 && ret >= -MAX_ERRNO ? -ret : 0;
	e = entry_of(&key);
	if (!e)
		return 0;
	__sync_fetch_and_add(&e->calls, 1);
	if (ret < 0 && ret >= -MAX_ERRNO)
		__sync_fetch_and_add(&e->errors, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
