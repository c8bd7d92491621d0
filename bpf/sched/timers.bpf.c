// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * timers.bpf.c - expired timers, by the function called. An idle CPU has about ten per second, a
 * busy one a tick of 250 to 1,000.
 */
#include "bpf/lib/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/sched/timers.h"

#define COUNTS TIMER_KINDS
#include "bpf/lib/counts.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TIMERS_FUNCTIONS);
	__type(key, __u64);
	__type(value, struct timers_function);
} functions SEC(".maps");

static __always_inline void fired(__u32 kind, __u64 function)
{
	static const struct timers_function first = { 1 };
	struct timers_function *f = bpf_map_lookup_elem(&functions, &function);

	count(kind);
	if (!f && !bpf_map_update_elem(&functions, &function, &first, BPF_NOEXIST))
		return;
	f = f ? f : bpf_map_lookup_elem(&functions, &function);
	if (f)
		__sync_fetch_and_add(&f->expirations, 1);
}

SEC("tp_btf/timer_expire_entry")
int BPF_PROG(on_timer, struct timer_list *t)
{
	fired(TIMER_WHEEL, (__u64)t->function);
	return 0;
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_hrtimer, struct hrtimer *t)
{
	fired(TIMER_FINE, (__u64)t->function);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
