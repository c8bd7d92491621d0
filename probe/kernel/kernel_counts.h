// SPDX-License-Identifier: Apache-2.0
/*
 * kernel_counts.h - sums of the per-CPU counters that a kernel program keeps with bpf/lib/counts.h.
 * They are mapped into memory, so that reading needs no system call.
 */
#pragma once

#include "lib/base/base.h"

struct bpf_map;

struct kernel_counts {
	const uint64_t *at; /* NULL: not open */
	size_t bytes,
		of_cpu; /* of_cpu: distance from one CPU's counters to the next, in counters */
	int ncpu;
};

int kernel_counts_size(struct bpf_map *map) MUST_CHECK; /* before the map is loaded */
int kernel_counts_open(struct kernel_counts *c, const struct bpf_map *map) MUST_CHECK; /* after */
/* Likewise, and the mapping is writable. */
int kernel_counts_share(struct kernel_counts *c, const struct bpf_map *map) MUST_CHECK;
void kernel_counts_close(struct kernel_counts *c); /* a zeroed one is fine */

uint64_t kernel_counts_sum(const struct kernel_counts *c, uint32_t what);
