/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * syscall.h - numbers and arguments of the system calls that our programs distinguish, by
 * architecture. A call that an architecture lacks has no number here.
 */
#pragma once

#if defined(__TARGET_ARCH_x86)
#define NR_POLL 7
#define NR_OPEN 2
#define NR_SELECT 23
#define NR_EPOLL_WAIT 232
enum {
	NR_READ = 0,
	NR_WRITE = 1,
	NR_MMAP = 9,
	NR_MPROTECT = 10,
	NR_MUNMAP = 11,
	NR_BRK = 12,
	NR_IOCTL = 16,
	NR_PREAD64 = 17,
	NR_PWRITE64 = 18,
	NR_READV = 19,
	NR_WRITEV = 20,
	NR_MREMAP = 25,
	NR_MSYNC = 26,
	NR_MADVISE = 28,
	NR_NANOSLEEP = 35,
	NR_SENDFILE = 40,
	NR_CONNECT = 42,
	NR_ACCEPT = 43,
	NR_SENDTO = 44,
	NR_RECVFROM = 45,
	NR_SENDMSG = 46,
	NR_RECVMSG = 47,
	NR_SEMOP = 65,
	NR_FCNTL = 72,
	NR_FLOCK = 73,
	NR_FSYNC = 74,
	NR_FDATASYNC = 75,
	NR_FTRUNCATE = 77,
	NR_SYNC = 162,
	NR_FUTEX = 202,
	NR_SEMTIMEDOP = 220,
	NR_CLOCK_NANOSLEEP = 230,
	NR_PSELECT6 = 270,
	NR_PPOLL = 271,
	NR_SPLICE = 275,
	NR_SYNC_FILE_RANGE = 277,
	NR_EPOLL_PWAIT = 281,
	NR_FALLOCATE = 285,
	NR_UNLINKAT = 263,
	NR_ACCEPT4 = 288,
	NR_PREADV = 295,
	NR_PWRITEV = 296,
	NR_RECVMMSG = 299,
	NR_SYNCFS = 306,
	NR_SENDMMSG = 307,
	NR_COPY_FILE_RANGE = 326,
	NR_PREADV2 = 327,
	NR_PWRITEV2 = 328,
};
#define REGS_NR(r) ((r)->orig_ax)
#define REGS_HAS_RESULT(r) ((long)(r)->ax != -38) /* ENOSYS */
#define REGS_ARG1(r) ((r)->di)
#define REGS_ARG2(r) ((r)->si)
#define REGS_ARG3(r) ((r)->dx)
#define REGS_ARG4(r) ((r)->r10)
#define REGS_ARG5(r) ((r)->r8)
#elif defined(__TARGET_ARCH_arm64)
enum {
	NR_EPOLL_PWAIT = 22,
	NR_FCNTL = 25,
	NR_IOCTL = 29,
	NR_FLOCK = 32,
	NR_FTRUNCATE = 46,
	NR_UNLINKAT = 35,
	NR_FALLOCATE = 47,
	NR_READ = 63,
	NR_WRITE = 64,
	NR_READV = 65,
	NR_WRITEV = 66,
	NR_PREAD64 = 67,
	NR_PWRITE64 = 68,
	NR_PREADV = 69,
	NR_PWRITEV = 70,
	NR_SENDFILE = 71,
	NR_PSELECT6 = 72,
	NR_PPOLL = 73,
	NR_SPLICE = 76,
	NR_SYNC = 81,
	NR_FSYNC = 82,
	NR_FDATASYNC = 83,
	NR_SYNC_FILE_RANGE = 84,
	NR_FUTEX = 98,
	NR_NANOSLEEP = 101,
	NR_CLOCK_NANOSLEEP = 115,
	NR_SEMTIMEDOP = 192,
	NR_SEMOP = 193,
	NR_ACCEPT = 202,
	NR_CONNECT = 203,
	NR_SENDTO = 206,
	NR_RECVFROM = 207,
	NR_SENDMSG = 211,
	NR_RECVMSG = 212,
	NR_BRK = 214,
	NR_MUNMAP = 215,
	NR_MREMAP = 216,
	NR_MMAP = 222,
	NR_MPROTECT = 226,
	NR_MSYNC = 227,
	NR_MADVISE = 233,
	NR_ACCEPT4 = 242,
	NR_RECVMMSG = 243,
	NR_SYNCFS = 267,
	NR_SENDMMSG = 269,
	NR_COPY_FILE_RANGE = 285,
	NR_PREADV2 = 286,
	NR_PWRITEV2 = 287,
};
#define REGS_NR(r) ((r)->syscallno)
#define REGS_HAS_RESULT(r) ((r)->regs[0] != (r)->orig_x0)
#define REGS_ARG1(r) ((r)->orig_x0) /* regs[0] already holds the return value */
#define REGS_ARG2(r) ((r)->regs[1])
#define REGS_ARG3(r) ((r)->regs[2])
#define REGS_ARG4(r) ((r)->regs[3])
#define REGS_ARG5(r) ((r)->regs[4])
#endif

enum { /* the same on all architectures since 5.0 */
       NR_IO_URING_ENTER = 426,
       NR_EPOLL_PWAIT2 = 441,
       NR_FUTEX_WAITV = 449,
       NR_FUTEX_WAIT = 455,
};
