/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_wait.h - classifies why a thread leaves its CPU, at the switch, from its state and from
 * its current system call, whose number and arguments are still in its pt_regs. So no syscall entry
 * is hooked.
 */
#pragma once

#include "bpf/request/request_thread.h"
#include "bpf/lib/syscall.h"

/* include/linux/sched.h */
enum { TASK_INTERRUPTIBLE = 1, TASK_UNINTERRUPTIBLE = 2, TASK_STOPPED_OR_TRACED = 4 | 8 };

enum { F_SETLKW = 7, F_OFD_SETLKW = 38 };

static __always_inline bool is_in_io(struct task_struct *t)
{
	return BPF_CORE_READ_BITFIELD_PROBED(t, in_iowait);
}

/* Waits that are the purpose of the call, whatever the thread's state. */
static __always_inline enum req_wait wait_of_purpose(__s32 nr, const struct pt_regs *r)
{
	switch (nr) {
	case NR_FUTEX:
	case NR_FUTEX_WAIT:
	case NR_FUTEX_WAITV:
	case NR_FLOCK:
	case NR_SEMOP:
	case NR_SEMTIMEDOP:
		return WAIT_LOCK;
	case NR_FCNTL:
		return REGS_ARG2(r) == F_SETLKW || REGS_ARG2(r) == F_OFD_SETLKW ? WAIT_LOCK
										: WAIT_OTHER;
	case NR_NANOSLEEP:
	case NR_CLOCK_NANOSLEEP:
		return WAIT_SLEEP;
#ifdef NR_EPOLL_WAIT
	case NR_EPOLL_WAIT:
#endif
	case NR_EPOLL_PWAIT:
	case NR_EPOLL_PWAIT2:
	case NR_IO_URING_ENTER:
		return WAIT_POLL;
#ifdef NR_POLL
	case NR_POLL:
#endif
	case NR_PPOLL:
		return REGS_ARG2(r) ? WAIT_POLL : WAIT_SLEEP;
#ifdef NR_SELECT
	case NR_SELECT:
#endif
	case NR_PSELECT6:
		return REGS_ARG1(r) ? WAIT_POLL : WAIT_SLEEP;
	case NR_CONNECT:
		return WAIT_UPSTREAM;
	case NR_FSYNC:
	case NR_FDATASYNC:
	case NR_MSYNC:
	case NR_SYNC:
	case NR_SYNCFS:
	case NR_SYNC_FILE_RANGE:
		return WAIT_IO;
	default:
		return WAIT_OTHER;
	}
}

/* A thread that signals cannot interrupt waits for a disk, or for a lock inside the kernel. */
static __always_inline enum req_wait wait_deep(__s32 nr, bool io)
{
	if (nr == -1)
		return WAIT_FAULT;
	if (io)
		return WAIT_IO;
	switch (nr) {
	case NR_MMAP:
	case NR_MUNMAP:
	case NR_MREMAP:
	case NR_MPROTECT:
	case NR_MADVISE:
	case NR_BRK:
		return WAIT_LOCK; /* on the lock of its address space */
	default:
		return WAIT_IO; /* of a file system */
	}
}

/* An interruptible wait: the call reads or writes something other than a regular file. */
static __always_inline enum req_wait wait_of_bytes(__s32 nr)
{
	switch (nr) {
	case NR_READ:
	case NR_READV:
	case NR_RECVFROM:
	case NR_RECVMSG:
	case NR_RECVMMSG:
	case NR_ACCEPT:
	case NR_ACCEPT4:
		return WAIT_RECV;
	case NR_WRITE:
	case NR_WRITEV:
	case NR_SENDTO:
	case NR_SENDMSG:
	case NR_SENDMMSG:
	case NR_SENDFILE:
	case NR_SPLICE:
		return WAIT_SEND;
	default:
		return WAIT_OTHER;
	}
}

static __always_inline enum req_wait wait_of(const struct thread *th, struct task_struct *t,
					     unsigned int state, __s32 nr, const struct pt_regs *r)
{
	enum req_wait w;
	bool io;

	if (state & TASK_STOPPED_OR_TRACED)
		return WAIT_STOPPED;
	if (th->reclaim_ns)
		return WAIT_RECLAIM;
	if (th->dirty)
		return WAIT_DIRTY;
	w = wait_of_purpose(nr, r);
	if (w != WAIT_OTHER)
		return w;
	io = is_in_io(t);
	return io || state & TASK_UNINTERRUPTIBLE ? wait_deep(nr, io) : wait_of_bytes(nr);
}

/* Index of the argument that holds the call's file descriptor; -1: none. */
static __always_inline int file_arg(__s32 nr)
{
	switch (nr) {
	case NR_READ:
	case NR_WRITE:
	case NR_READV:
	case NR_WRITEV:
	case NR_PREAD64:
	case NR_PWRITE64:
	case NR_PREADV:
	case NR_PWRITEV:
	case NR_PREADV2:
	case NR_PWRITEV2:
	case NR_FSYNC:
	case NR_FDATASYNC:
	case NR_SYNC_FILE_RANGE:
	case NR_SYNCFS:
	case NR_FTRUNCATE:
	case NR_FALLOCATE:
	case NR_SPLICE:
	case NR_COPY_FILE_RANGE:
	case NR_FLOCK:
	case NR_FCNTL:
		return 0;
	case NR_SENDFILE:
		return 1;
	default:
		return -1;
	}
}
