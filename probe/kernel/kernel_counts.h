// SPDX-License-Identifier: Apache-2.0
/*
 * kernel_counts.h - what a program counts for each CPU by bpf/lib/counts.h, added up. They are mapped:
 * to read them is no system call.
 */
#pragma once

#include "lib/base/base.h"

struct bpf_map;

struct kernel_counts {
	const uint64_t *at; /* NULL: not open */
	size_t bytes, of_cpu; /* of_cpu: places from one CPU's to the next one's */
	int ncpu;
};

int kernel_counts_size(struct bpf_map *map) MUST_CHECK; /* before it is loaded */
int kernel_counts_open(struct kernel_counts *c, const struct bpf_map *map) MUST_CHECK; /* after */
/* To change what at points to, too. */
int kernel_counts_share(struct kernel_counts *c, const struct bpf_map *map) MUST_CHECK;
void kernel_counts_close(struct kernel_counts *c); /* one that is all zero is fine */

uint64_t kernel_counts_sum(const struct kernel_counts *c, uint32_t what);
