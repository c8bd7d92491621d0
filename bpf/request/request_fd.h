/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_fd.h - finds the socket behind the file descriptor of a system call, for the syscall
 * hooks. Takes four reads of kernel memory for a socket, two for any other file.
 */
#pragma once

#include "bpf/request/request_hooks.h"

#define LOCAL_STALE_NS (3600 * 1000000000ull)

/* Processes that use io_uring; each is reported once. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} uring_users SEC(".maps");

/* A 32-bit system call has different numbers. */
static __always_inline bool is_compat(void)
{
#if defined(__TARGET_ARCH_x86)
	return bpf_get_current_task_btf()->thread_info.status & TS_COMPAT;
#else
	return false;
#endif
}

/* Sockets are recognized by their file operations, which are learnt from the first socket seen. */
static __always_inline bool is_socket(struct file *f)
{
	const void *fops = BPF_CORE_READ(f, f_op);

	if (control.socket_fops)
		return (__u64)fops == control.socket_fops;
	if ((BPF_CORE_READ(f, f_inode, i_mode) & S_IFMT) != S_IFSOCK)
		return false;
	control.socket_fops = (__u64)fops;
	return true;
}

static __always_inline struct sock *sock_of_fd(__u64 fd)
{
	struct fdtable *table = bpf_get_current_task_btf()->files->fdt;
	struct file *f = NULL;
	struct socket *s;

	if ((__u32)fd >= table->max_fds)
		return NULL;
	if (bpf_probe_read_kernel(&f, sizeof(f), table->fd + (__u32)fd) || !f || !is_socket(f))
		return NULL;
	s = BPF_CORE_READ(f, private_data);
	return s ? BPF_CORE_READ(s, sk) : NULL;
}

/* The end of an AF_UNIX socket is not visible. */
static __always_inline bool conn_is_stale(const struct conn *c, __u64 now)
{
	__u64 last = c->role == ROLE_CLIENT ? c->call.last_ns : c->head.last_ns;
	__u64 first = c->role == ROLE_CLIENT ? c->call.start_ns : c->head.read_ns;

	return now - (last > first ? last : first) > LOCAL_STALE_NS;
}
