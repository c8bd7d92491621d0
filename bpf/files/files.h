/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * files.h - the records between bpf/files/files.bpf.c and probe/source/files/src_files.c. A slow
 * file operation is sent in pieces: its name as soon as it may be slow, a stack for each block
 * longer than the last, and its end. (tid, id) identifies the operation. Times: CLOCK_MONOTONIC ns.
 */
#pragma once

#include "bpf/lib/path.h"

enum file_call { /* each value has a line in probe/source/files/files_calls.c */
		 FILE_NONE,
		 FILE_READ,
		 FILE_WRITE,
		 FILE_PREAD,
		 FILE_PWRITE,
		 FILE_READV,
		 FILE_WRITEV,
		 FILE_PREADV,
		 FILE_PWRITEV,
		 FILE_SENDFILE,
		 FILE_COPY,
		 FILE_FSYNC,
		 FILE_FDATASYNC,
		 FILE_SYNC_RANGE,
		 FILE_FALLOCATE,
		 FILE_TRUNCATE,
		 FILE_MSYNC,
		 FILE_CALLS
};

enum {
	FILE_NRS = 512, /* above every system call number */
	FILE_FRAMES = 24,
	FILE_FRAMES_IRQ = 16, /* frames of an interrupt, on top of FILE_FRAMES */
	FILE_COMM = 16,
	FILE_ID = 32,
};

enum file_record { FILE_IS_NAME = 1, FILE_IS_STACK, FILE_IS_END };

enum file_flag {
	FILE_DELETED = 1,
	FILE_APPENDED = 2, /* offset unknown */
	FILE_DONE_KNOWN = 4, /* in an end: bytes is the amount moved */
	FILE_ON_CPU = 8, /* in a stack: where it ran, perhaps below the frames of an interrupt; else
			    where it was blocked */
	FILE_WAS_FAST = 16, /* in an end: not slow, discard its pieces */
};

struct file_head {
	__u32 record; /* enum file_record */
	__u32 flags; /* enum file_flag */
	__u32 tid, tgid;
	__u64 id;
};

struct file_name {
	struct file_head head;
	__u64 size, ino; /* of the file */
	__u64 dev; /* as the kernel packs it: major << 20 | minor */
	char disk[FILE_ID]; /* as the file system names it */
	char fs[FILE_COMM];
	struct path_parts path;
};

struct file_stack {
	struct file_head head;
	__u64 start_ns, end_ns; /* of the block */
	__u32 n, unused;
	__u64 frame[FILE_FRAMES + FILE_FRAMES_IRQ]; /* kernel addresses, innermost first */
};

struct file_end {
	struct file_head head;
	char comm[FILE_COMM];
	__u32 call; /* enum file_call */
	__u32 named; /* a name was sent before */
	__u64 out_ns, first_ns; /* last seen outside the call; first seen inside */
	__u64 last_ns, end_ns; /* last seen inside; first seen after */
	__u64 blocked_ns, runq_ns; /* between first and last */
	__u64 offset; /* FILE_NOWHERE: none or unknown */
	__u64 bytes; /* requested or moved; FILE_NOWHERE: unknown */
};

#define FILE_NOWHERE (~0ull)

enum file_stat {
	FILE_STAT_SLOW,
	FILE_STAT_RING, /* slow operations whose end found the ring full */
	FILE_STAT_DETAIL, /* names and stacks that found the ring full */
	FILE_STAT_OPS, /* operations not tracked: ops was full */
	FILE_STAT_COMPAT, /* sleeps of 32-bit processes: other call numbers */
	FILE_STAT_GAPS, /* samples more than two periods late */
	FILE_STAT_END
};

_Static_assert(sizeof(struct file_name) == 24 + 24 + 32 + 16 + 264, "file_name");
_Static_assert(sizeof(struct file_stack) == 24 + 24 + 320, "file_stack");
_Static_assert(sizeof(struct file_end) == 24 + 24 + 64, "file_end");
