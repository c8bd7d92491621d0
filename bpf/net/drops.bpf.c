// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * drops.bpf.c - packets dropped by the kernel, by the kernel's own drop reason (since 5.17).
 * Packets freed after normal use do not pass here.
 */
#include "bpf/lib/kernel.h"

#include <bpf/bpf_helpers.h>

#include "bpf/net/drops.h"

#define COUNTS DROPS_REASONS
#include "bpf/lib/counts.h"

SEC("tp_btf/kfree_skb")
int on_drop(__u64 *ctx) /* skb, location, reason, since 6.11 the receiving socket */
{
	__u32 reason = (__u32)ctx[2];

	count(reason < DROPS_REASONS ? reason : DROPS_OTHER);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
