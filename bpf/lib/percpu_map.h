/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * percpu_map.h - a map with one entry per CPU, written by that CPU alone and mapped by user space
 * (probe/kernel/kernel_counts.h). Define EACH_CPU, the entry type, before including it, and
 * EACH_CPU_MOST to limit the number of entries; the CPUs beyond the limit share them.
 */
#pragma once

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* the number of CPUs, set before loading */
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
