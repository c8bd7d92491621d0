// SPDX-License-Identifier: Apache-2.0
#include "kernel_counts.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "../lib/log.h"

void kernel_counts_open(struct kernel_counts *c)
{
	int n = libbpf_num_possible_cpus();

	c->ncpu = n > 0 ? n : 1;
	c->percpu = calloc((size_t)c->ncpu, sizeof(c->percpu[0]));
	if (!c->percpu)
		die("out of memory");
}

void kernel_counts_close(struct kernel_counts *c)
{
	free(c->percpu);
	c->percpu = NULL;
}

void kernel_counts_read(const struct kernel_counts *c, int map_fd, uint32_t key, uint64_t *sum)
{
	if (bpf_map_lookup_elem(map_fd, &key, c->percpu) < 0)
		return;
	*sum = 0;
	for (int cpu = 0; cpu < c->ncpu; cpu++)
		*sum += c->percpu[cpu];
}
