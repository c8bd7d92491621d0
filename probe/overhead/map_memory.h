// SPDX-License-Identifier: Apache-2.0
/*
 * map_memory.h - computes the kernel memory of BPF maps from their shape, for this machine and for
 * other numbers of CPUs: most of the difference is per-CPU data. Task and socket storages are not
 * included: their size depends on the number of tasks and sockets.
 */
#pragma once

#include "lib/base/base.h"

enum {
	MAP_MEMORY_MANY = 256, /* CPUs */
	/* Upper bounds for a probe with default options, with 2 CPUs and with MANY; bytes. */
	MAP_MEMORY_FEW_MAX = 16 << 20,
	MAP_MEMORY_MANY_MAX = 32 << 20,
};

struct map_shape {
	uint32_t type; /* enum bpf_map_type */
	uint32_t entries, key, value; /* bytes of one */
	bool each_cpu; /* an array with one entry per CPU */
	uint32_t entries_max; /* with each_cpu: upper bound for its entries; 0: none */
	uint32_t ring_max; /* upper bound (bytes) for a ring that grows with the CPUs; 0: fixed */
};

/* The bytes with ncpu CPUs, for a map whose entries were chosen on a machine with here CPUs. */
uint64_t map_memory(const struct map_shape *m, uint32_t here, uint32_t ncpu);

struct map_memory {
	uint64_t here, few, many; /* bytes: on this machine, with 2 CPUs, with MANY */
};

/* Adds all maps that this process has open to sum. */
void map_memory_add(struct map_memory *sum, uint32_t ring_max, uint32_t counts_max);
