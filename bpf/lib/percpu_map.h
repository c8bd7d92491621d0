/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * percpu_map.h - an entry for each CPU, which alone writes there and which user space maps
 * (probe/kernel/kernel_counts.h). Define EACH_CPU, its type, before it; and EACH_CPU_MOST where so
 * many are enough, and those beyond share them.
 */
#pragma once

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* as many as there are CPUs, set before it is loaded */
	__type(key, __u32);
	__type(value, EACH_CPU);
} counts SEC(".maps");

static __always_inline EACH_CPU *of_this_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

#ifdef EACH_CPU_MOST
	cpu %= EACH_CPU_MOST;
#endif
	return bpf_map_lookup_elem(&counts, &cpu);
}
