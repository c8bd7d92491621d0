/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * block.h - what bpf/disk/block.bpf.c and probe/source/src_block.c agree on: per disk and CPU, how
 * many requests of which kind took how long, and how big they were. Slots are powers of two; the
 * upper edge belongs to its slot, the last slot has none.
 */
#pragma once

enum block_op { BLOCK_READ, BLOCK_WRITE, BLOCK_FLUSH, BLOCK_OPS };

enum {
	BLOCK_NS_FIRST = 14, /* up to 2^14 ns = 16 us, then twice as long each ... */
	BLOCK_NS_SLOTS = 21, /* ... up to 2^33 ns = 8.6 s; the last: more */
	BLOCK_BYTES_FIRST = 9, /* up to 512 bytes ... */
	BLOCK_BYTES_SLOTS = 15, /* ... up to 4 MiB; the last: more */
	BLOCK_SIZED = BLOCK_WRITE + 1, /* kinds that move bytes */
	BLOCK_DISKS = 128,
	BLOCK_CPUS = 64, /* that have counts of their own; on larger machines some share them */
	BLOCK_NAME = 32,
};

/* Whose the counts are that every CPU has at the same place. */
struct block_disk {
	char name[BLOCK_NAME];
	__u32 key; /* its number as the kernel packs it: major << 20 | minor; 0: no disk's yet */
};

/* Starts are noted; other CPUs write here, too. */
enum block_how { BLOCK_BY_HAND = 1, BLOCK_SHARED = 2 };

/*
 * Of a disk on one CPU, which alone writes there where there are no more than BLOCK_CPUS: so
 * without atomic operations. They go on when another disk takes the place, and turn over: what of
 * 32 bits came in between is right as long as that is less than 2^32.
 */
struct block_counts {
	__u32 key; /* of the disk that this CPU counts here; 0: it is to be looked for */
	__u32 how; /* bits of block_how; most often none */
	__u64 sum_ns[BLOCK_OPS];
	__u64 errors;
	__u64 untimed; /* requests whose start nobody had noted: in no slot of ns */
	__u32 ns[BLOCK_OPS][BLOCK_NS_SLOTS];
	__u32 bytes[BLOCK_SIZED][BLOCK_BYTES_SLOTS];
} __attribute__((aligned(64)));

struct block_cpu {
	struct block_counts of[BLOCK_DISKS]; /* in the order of the disks */
};

/* What could not be counted at all. */
struct block_lost {
	__u64 disks; /* requests of a disk beyond BLOCK_DISKS */
	__u64 starts; /* by hand: no room to note when one was issued */
};

_Static_assert(sizeof(struct block_counts) == 7 * 64, "block_counts");
