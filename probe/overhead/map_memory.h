// SPDX-License-Identifier: Apache-2.0
/*
 * map_memory.h - the kernel's memory that maps take, by what they are, here and on a machine of
 * other size: what is kept for each processor is most of what differs. Storages of tasks and
 * sockets are not in it: they are as many as are seen.
 */
#pragma once

#include "lib/base/base.h"

enum {
	MAP_MEMORY_MANY = 256, /* processors */
	/* A probe with its defaults takes no more, with 2 processors and with MANY; in bytes. */
	MAP_MEMORY_FEW_MOST = 16 << 20,
	MAP_MEMORY_MANY_MOST = 32 << 20,
};

struct map_shape {
	uint32_t type; /* enum bpf_map_type */
	uint32_t entries, key, value; /* bytes of one */
	bool each_cpu; /* has an entry for each processor, and no other */
	uint32_t entries_most; /* of such: no more; 0: no limit */
	uint32_t ring_max; /* of a ring: it grows with the processors up to so many; 0: it does not
			     */
};

/* With ncpu processors, where there were `here` when its entries were chosen. */
uint64_t map_memory(const struct map_shape *m, uint32_t here, uint32_t ncpu);

struct map_memory {
	uint64_t here, few, many; /* bytes: on this machine, on one of 2, and of MANY */
};

/* Adds all maps that this process has open. */
void map_memory_add(struct map_memory *sum, uint32_t ring_max, uint32_t counts_max);
