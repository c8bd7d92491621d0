/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * block.h - the counters shared by bpf/disk/block.bpf.c and probe/source/src_block.c: per disk and
 * CPU, the number, latency and size of requests by kind. Slots are powers of two; the upper edge
 * belongs to its slot, the last slot has none.
 */
#pragma once

enum block_op { BLOCK_READ, BLOCK_WRITE, BLOCK_FLUSH, BLOCK_OPS };

enum {
	BLOCK_NS_FIRST = 14, /* up to 2^14 ns = 16 us, then twice as long each ... */
	BLOCK_NS_SLOTS = 21, /* ... up to 2^33 ns = 8.6 s; the last: more */
	BLOCK_BYTES_FIRST = 9, /* up to 512 bytes ... */
	BLOCK_BYTES_SLOTS = 15, /* ... up to 4 MiB; the last: more */
	BLOCK_SIZED = BLOCK_WRITE + 1, /* kinds with a size */
	BLOCK_DISKS = 128,
	BLOCK_CPUS = 64, /* CPUs with counters of their own; on larger machines some share them */
	BLOCK_NAME = 32,
};

/* The disk whose counters every CPU has at the same index. */
struct block_disk {
	char name[BLOCK_NAME];
	__u32 key; /* device number as the kernel packs it: major << 20 | minor; 0: free */
};

/* on_issue notes the starts; other CPUs write to this entry, too. */
enum block_how { BLOCK_BY_HAND = 1, BLOCK_SHARED = 2 };

/*
 * Counters of a disk on one CPU. With at most BLOCK_CPUS CPUs only that CPU writes them, without
 * atomic operations. They continue when another disk takes the slot, and wrap: a difference of
 * 32-bit counters is right while it is less than 2^32.
 */
struct block_counts {
	__u32 key; /* disk that this CPU counts here; 0: must be looked up */
	__u32 how; /* bits of block_how; usually none */
	__u64 sum_ns[BLOCK_OPS];
	__u64 errors;
	__u64 untimed; /* requests with an unknown start: in no slot of ns */
	__u32 ns[BLOCK_OPS][BLOCK_NS_SLOTS];
	__u32 bytes[BLOCK_SIZED][BLOCK_BYTES_SLOTS];
} __attribute__((aligned(64)));

struct block_cpu {
	struct block_counts of[BLOCK_DISKS]; /* in the order of disks[] */
};

/* Requests that were not counted. */
struct block_lost {
	__u64 disks; /* of disks beyond BLOCK_DISKS */
	__u64 starts; /* on_issue: no room to note the start */
};

_Static_assert(sizeof(struct block_counts) == 7 * 64, "block_counts");
