/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* locks.h - the counters shared by bpf/sched/locks.bpf.c and probe/source/src_locks.c. */
#pragma once

/* include/trace/events/lock.h: the same since 5.19 */
enum locks_flag {
	LOCK_SPIN = 1,
	LOCK_READ = 2,
	LOCK_WRITE = 4,
	LOCK_RT = 8,
	LOCK_PERCPU = 16,
	LOCK_MUTEX = 32,
};

enum {
	LOCKS_FIRST = 10, /* up to 2^10 ns = 1 us, then twice as long each ... */
	LOCKS_SLOTS = 20, /* ... up to 2^28 ns = 268 ms; the last: more */
	LOCKS_ENTRIES = 512, /* including one entry shared by all others */
	LOCKS_RANGES = 8, /* ranges of code that waits for locks */
	LOCKS_OTHERS = ~0u, /* not a kind: the shared entry */
};

/* The layout of the counters. */
enum locks_field {
	LOCKS_COUNT,
	LOCKS_NS,
	LOCKS_LATENCY,
	LOCKS_FIELDS = LOCKS_LATENCY + LOCKS_SLOTS
};

struct locks_key {
	__u64 caller; /* address in the function that takes the lock; 0: not known */
	__u32 kind; /* enum locks_flag */
	__u32 unused;
};

struct locks_entry {
	__u64 v[LOCKS_FIELDS];
};

struct locks_range {
	__u64 from, to;
};
