// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * reclaim.bpf.c - duration of direct reclaim and compaction, from the tracepoints around them. They
 * fire when memory is short, and rarely in relation to their cost.
 */
#include "bpf/lib/kernel.h"

#include <bpf/bpf_helpers.h>

#include "bpf/memory/reclaim.h"
#include "bpf/lib/slot.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RECLAIM_TASKS);
	__type(key, __u64); /* thread << 8 | kind */
	__type(value, __u64);
} began SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct reclaim_counts);
} counts SEC(".maps");

__u64 full; /* not counted: no room in began */

static __always_inline __u64 key_of(__u32 kind)
{
	return (__u64)(__u32)bpf_get_current_pid_tgid() << 8 | kind;
}

static __always_inline int begins(__u32 kind)
{
	__u64 key = key_of(kind), now = bpf_ktime_get_ns();

	if (bpf_map_update_elem(&began, &key, &now, BPF_ANY))
		__sync_fetch_and_add(&full, 1);
	return 0;
}

static __always_inline int ends(__u32 kind)
{
	__u64 key = key_of(kind), ns, *at = bpf_map_lookup_elem(&began, &key);
	struct reclaim_counts *c;
	__u32 zero = 0, slot;

	if (!at)
		return 0;
	ns = bpf_ktime_get_ns() - *at;
	bpf_map_delete_elem(&began, &key);
	c = bpf_map_lookup_elem(&counts, &zero);
	slot = slot_of(ns, RECLAIM_FIRST, RECLAIM_SLOTS);
	if (!c || slot >= RECLAIM_SLOTS)
		return 0;
	c->ns[kind][slot]++;
	c->sum_ns[kind] += ns;
	return 0;
}

SEC("tp_btf/mm_vmscan_direct_reclaim_begin")
int node_begins(void *ctx)
{
	return begins(RECLAIM_NODE);
}

SEC("tp_btf/mm_vmscan_direct_reclaim_end")
int node_ends(void *ctx)
{
	return ends(RECLAIM_NODE);
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_begin")
int cgroup_begins(void *ctx)
{
	return begins(RECLAIM_CGROUP);
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_end")
int cgroup_ends(void *ctx)
{
	return ends(RECLAIM_CGROUP);
}

SEC("tp_btf/mm_compaction_begin")
int compaction_begins(void *ctx)
{
	return begins(RECLAIM_COMPACT);
}

SEC("tp_btf/mm_compaction_end")
int compaction_ends(void *ctx)
{
	return ends(RECLAIM_COMPACT);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
