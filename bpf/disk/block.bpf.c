// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * block.bpf.c - latency and size of every disk request, from the moment the driver got it to its
 * completion. One hook: the kernel itself notes the start where I/O statistics of the queue are on.
 * Where they are off (untimed grows), on_issue is attached too and notes the start.
 */
#include "bpf/lib/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/disk/block.h"
#include "bpf/lib/bound.h"
#include "bpf/lib/slot.h"

#define EACH_CPU struct block_cpu
#define EACH_CPU_MOST BLOCK_CPUS
#include "bpf/lib/percpu_map.h"

enum { STARTS = 4096 };

/* include/linux/blk_types.h; the same in every version */
enum { OP_MASK = 0xff, OP_READ = 0, OP_WRITE = 1, OP_FLUSH = 2, OP_ZONE_APPEND = 7 };

/* Start of each request that a driver has, by its address; empty while on_issue is not attached. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, STARTS);
	__type(key, __u64);
	__type(value, __u64);
} starts SEC(".maps");

const volatile __u32 issue_args = 1; /* of the tracepoint; before 5.11 the queue is the first */
const volatile bool shared; /* there are more CPUs than BLOCK_CPUS */
struct block_lost lost;
__u32 by_hand; /* BLOCK_BY_HAND: on_issue is attached */

/* A disk is stored at or near the hash of its key; user space frees the slots of removed disks. */
struct block_disk disks[BLOCK_DISKS];

/* Claims of slots by the first disk: kernels before 5.12 have no compare-and-swap for programs. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BLOCK_DISKS);
	__type(key, __u32); /* index in disks[] */
	__type(value, __u32); /* key of block_disk */
} taken SEC(".maps");

static __always_inline struct gendisk *disk_of(struct request *rq)
{
	if (bpf_core_field_exists(rq->rq_disk))
		return rq->rq_disk;
	return rq->q->disk;
}

static __always_inline __u32 place_of(__u32 key)
{
	return key * 0x9e3779b1u >> 25;
}

_Static_assert(BLOCK_DISKS == 1 << (32 - 25), "place_of()");

/* False: another disk claimed the slot first. */
static __always_inline bool slot_claim(__u32 place, __u32 key)
{
	__u32 *by;

	bpf_map_update_elem(&taken, &place, &key, BPF_NOEXIST);
	by = bpf_map_lookup_elem(&taken, &place);
	return by && *by == key;
}

/* The disk is not at its hash, or not stored yet. BLOCK_DISKS: no slot is left. */
static __noinline __u32 find(struct gendisk *disk, __u32 key)
{
	__u32 place;

	for (__u32 i = 0; i < BLOCK_DISKS; i++) {
		place = (place_of(key) + i) % BLOCK_DISKS;
		if (disks[place].key == key)
			return place;
	}
	for (__u32 i = 0; i < BLOCK_DISKS; i++) {
		place = (place_of(key) + i) % BLOCK_DISKS;
		if (disks[place].key || !slot_claim(place, key))
			continue;
		bpf_probe_read_kernel_str(disks[place].name, BLOCK_NAME, disk->disk_name);
		disks[place].key = key;
		return place;
	}
	__sync_fetch_and_add(&lost.disks, 1);
	return BLOCK_DISKS;
}

static __always_inline __u32 key_of(struct gendisk *disk)
{
	return (__u32)disk->major << 20 | (__u32)disk->first_minor;
}

/* When the driver got the request; 0: not known. */
static __always_inline __u64 noted_start(struct request *rq)
{
	__u64 key = (__u64)rq, at = rq->io_start_time_ns, *noted;

	noted = bpf_map_lookup_elem(&starts, &key);
	if (!noted)
		return at;
	at = *noted;
	bpf_map_delete_elem(&starts, &key);
	return at;
}

/* BLOCK_OPS: not counted. Of a flush with data only the data part has bytes. */
static __always_inline __u32 kind_of(struct request *rq, __u32 bytes)
{
	__u32 op = rq->cmd_flags & OP_MASK;

	if (op == OP_FLUSH)
		return BLOCK_FLUSH;
	if (!bytes)
		return BLOCK_OPS;
	if (op == OP_READ)
		return BLOCK_READ;
	return op == OP_WRITE || op == OP_ZONE_APPEND ? BLOCK_WRITE : BLOCK_OPS;
}

#define ADD(is_shared, to, n)                                                                      \
	do {                                                                                       \
		if (is_shared)                                                                     \
			__sync_fetch_and_add(&(to), n);                                            \
		else                                                                               \
			(to) += n;                                                                 \
	} while (0)

static __always_inline void count(struct block_counts *c, __u32 kind, __u32 bytes, __u64 start,
				  bool is_shared)
{
	__u64 ns = bpf_ktime_get_ns() - start, slot;

	if (kind < BLOCK_SIZED) {
		slot = slot_of(bytes, BLOCK_BYTES_FIRST, BLOCK_BYTES_SLOTS);
		slot = at_most(slot, BLOCK_BYTES_SLOTS - 1);
		ADD(is_shared, c->bytes[kind][slot], 1);
	}
	if (!start) {
		ADD(is_shared, c->untimed, 1);
		return;
	}
	ADD(is_shared, c->sum_ns[kind], ns);
	slot = slot_of(ns, BLOCK_NS_FIRST, BLOCK_NS_SLOTS);
	slot = at_most(slot, BLOCK_NS_SLOTS - 1);
	ADD(is_shared, c->ns[kind][slot], 1);
}

/* Rare cases: the first request of a disk on this CPU, a failed one, and other exceptions. */
static __noinline int seldom(struct request *rq, int error, __u32 bytes)
{
	__u32 kind = kind_of(rq, bytes), key, place;
	struct block_cpu *cpu = of_this_cpu();
	struct gendisk *disk = disk_of(rq);
	struct block_counts *c;
	bool is_shared = shared;
	__u64 start;

	start = by_hand ? noted_start(rq) : rq->io_start_time_ns;
	if (!cpu || !disk || kind >= BLOCK_OPS)
		return 0;
	key = key_of(disk);
	place = find(disk, key);
	if (place >= BLOCK_DISKS)
		return 0;
	c = &cpu->of[place];
	c->how = by_hand | (is_shared ? BLOCK_SHARED : 0);
	c->key = key;
	if (error)
		ADD(is_shared, c->errors, 1);
	count(c, kind, bytes, start, is_shared);
	return 0;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_complete, struct request *rq, int error, unsigned int bytes)
{
	struct block_cpu *cpu = of_this_cpu();
	struct gendisk *disk = disk_of(rq);
	struct block_counts *c;
	__u32 kind, key;

	if (bytes < rq->__data_len) /* partial completion; the request's end is still to come */
		return 0;
	kind = kind_of(rq, bytes);
	if (!cpu || !disk || kind >= BLOCK_OPS)
		return seldom(rq, error, bytes);
	key = key_of(disk);
	c = &cpu->of[place_of(key) % BLOCK_DISKS];
	if (c->key != key || c->how || error)
		return seldom(rq, error, bytes);
	count(c, kind, bytes, rq->io_start_time_ns, false);
	return 0;
}

/* Attached when a queue without I/O statistics was found. */
SEC("tp_btf/block_rq_issue")
int on_issue(__u64 *ctx)
{
	__u64 key = issue_args == 1 ? ctx[0] : ctx[1], now = bpf_ktime_get_ns();

	if (bpf_map_update_elem(&starts, &key, &now, BPF_ANY))
		__sync_fetch_and_add(&lost.starts, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
