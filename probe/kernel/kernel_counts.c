// SPDX-License-Identifier: Apache-2.0
#include "probe/kernel/kernel_counts.h"

#include <bpf/libbpf.h>
#include <sys/mman.h>

int kernel_counts_size(struct bpf_map *map)
{
	int n = libbpf_num_possible_cpus();

	return n < 0 ? n : bpf_map__set_max_entries(map, (uint32_t)n);
}

static int map_counts(struct kernel_counts *c, const struct bpf_map *map, int prot)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t all = (size_t)bpf_map__max_entries(map) * bpf_map__value_size(map);
	const size_t bytes = (all + page - 1) & ~(page - 1);
	void *p = mmap(NULL, bytes, prot, MAP_SHARED, bpf_map__fd(map), 0);

	if (p == MAP_FAILED)
		return -errno;
	*c = (struct kernel_counts){ .at = p,
				     .bytes = bytes,
				     .of_cpu = bpf_map__value_size(map) / sizeof(uint64_t),
				     .ncpu = (int)bpf_map__max_entries(map) };
	return 0;
}

int kernel_counts_open(struct kernel_counts *c, const struct bpf_map *map)
{
	return map_counts(c, map, PROT_READ);
}

int kernel_counts_share(struct kernel_counts *c, const struct bpf_map *map)
{
	return map_counts(c, map, PROT_READ | PROT_WRITE);
}

void kernel_counts_close(struct kernel_counts *c)
{
	if (c->at)
		munmap((void *)(uintptr_t)c->at, c->bytes);
	c->at = NULL;
}

uint64_t kernel_counts_sum(const struct kernel_counts *c, uint32_t what)
{
	uint64_t sum = 0;

	for (int cpu = 0; cpu < c->ncpu; cpu++)
		sum += __atomic_load_n(&c->at[(size_t)cpu * c->of_cpu + what], __ATOMIC_RELAXED);
	return sum;
}
