// SPDX-License-Identifier: Apache-2.0
/* kernel_counts.h - what a program counts in an array of its own on each CPU, added up. */
#pragma once

#include "../lib/base.h"

struct kernel_counts {
	int ncpu;
	uint64_t *percpu; /* room for one entry of all CPUs */
};

void kernel_counts_open(struct kernel_counts *c);
void kernel_counts_close(struct kernel_counts *c); /* one that is all zero is fine */

/* *sum stays as it is if the map cannot be read. */
void kernel_counts_read(const struct kernel_counts *c, int map_fd, uint32_t key, uint64_t *sum);
