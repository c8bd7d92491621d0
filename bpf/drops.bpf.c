// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * drops.bpf.c - packets that the kernel threw away, by the reason that it gives itself
 * (since 5.17). What is freed because it has been used up does not come here.
 */
#include "kernel.h"

#include <bpf/bpf_helpers.h>

#include "drops.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, DROPS_REASONS);
	__type(key, __u32);
	__type(value, __u64);
} drops SEC(".maps");

SEC("tp_btf/kfree_skb")
int on_drop(__u64 *ctx) /* skb, location, reason, since 6.11 the receiving socket */
{
	__u32 reason = (__u32)ctx[2];
	__u64 *n;

	if (reason >= DROPS_REASONS)
		reason = DROPS_OTHER;
	n = bpf_map_lookup_elem(&drops, &reason);
	if (n)
		(*n)++;
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
