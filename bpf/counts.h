/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counts.h - counters that user space reads without a system call: an entry for each CPU, which it
 * maps (probe/kernel_counts.h) and which nobody shares. Define COUNTS, how many, before it.
 */
#pragma once

struct cpu_counts {
	__u64 n[COUNTS];
} __attribute__((aligned(64)));

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* as many as there are CPUs, set before it is loaded */
	__type(key, __u32);
	__type(value, struct cpu_counts);
} counts SEC(".maps");

static __always_inline void count(__u32 what)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_counts *c = bpf_map_lookup_elem(&counts, &cpu);

	if (c && what < COUNTS)
		c->n[what]++;
}
