// SPDX-License-Identifier: Apache-2.0
/* bpf_helpers.h - what the message reader takes from libbpf, natively: maps are zeroed memory. */
#pragma once

#include <string.h>

#define NULL ((void *)0)
#define __uint(name, value) int(*name)[value]
#define __type(name, value) typeof(value) *name
#define SEC(name)
#define __always_inline inline __attribute__((always_inline))
#define __noinline __attribute__((noinline))
#define __ksym

enum { SHIM_MAPS = 32, SHIM_ENTRIES = 8 };

static void *shim_entry(void *map, unsigned key, unsigned long size)
{
	static struct {
		void *map;
		char *entries;
	} maps[SHIM_MAPS];
	int i = 0;

	while (maps[i].map && maps[i].map != map)
		i++;
	if (!maps[i].map) {
		maps[i].map = map;
		maps[i].entries = __builtin_calloc(SHIM_ENTRIES, size);
	}
	return key < SHIM_ENTRIES ? maps[i].entries + key * size : NULL;
}

extern struct pt_regs shim_regs;

#define bpf_map_lookup_elem(map, key)                                                              \
	shim_entry((void *)(map), *(const unsigned *)(key), sizeof(*(map)->value))
#define bpf_map_update_elem(...) 0
#define bpf_map_delete_elem(...) 0
#define bpf_probe_read_user(to, n, from) (memcpy(to, from, n), 0)
#define bpf_probe_read_kernel(to, n, from) (memcpy(to, from, n), 0)
#define bpf_probe_read_kernel_str(...) 0
#define bpf_get_current_task_btf() ((struct task_struct *)NULL)
#define bpf_task_pt_regs(task) (&shim_regs)
#define bpf_ktime_get_ns() 0ull
#define bpf_jiffies64() 0ull
#define bpf_get_smp_processor_id() 0
#define bpf_get_current_pid_tgid() 0ull
#define bpf_ringbuf_output(...) 0
#define bpf_ringbuf_reserve(...) NULL
#define bpf_ringbuf_submit(...)
#define bpf_ringbuf_discard(...)
#define bpf_task_storage_get(...) NULL
#define BPF_LOCAL_STORAGE_GET_F_CREATE 1
