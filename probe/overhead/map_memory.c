// SPDX-License-Identifier: Apache-2.0
#include "probe/overhead/map_memory.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <fcntl.h>

enum { ELEMENT = 48, BUCKET = 16, POINTER = 8, FEW = 2, MAPS = 256 };

struct maps { /* those already added: a map can have several descriptors */
	uint32_t n, id[MAPS];
};

static uint64_t round_to(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

static uint64_t power_of_two(uint64_t n)
{
	uint64_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

/* A map that is not per-CPU keeps a spare element on each CPU for updates. */
static uint64_t hash_bytes(const struct map_shape *m, uint32_t ncpu)
{
	const bool lru =
		m->type == BPF_MAP_TYPE_LRU_HASH || m->type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
	const bool percpu =
		m->type == BPF_MAP_TYPE_PERCPU_HASH || m->type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
	const uint64_t value = round_to(m->value, 8), head = ELEMENT + round_to(m->key, 8);
	const uint64_t each = percpu ? head + POINTER + value * ncpu : head + value;
	const uint64_t ready = lru || percpu ? 0 : ncpu;

	return (m->entries + ready) * each + power_of_two(m->entries) * BUCKET;
}

/* The size of a ring is proportional to the number of CPUs, rounded up to a power of two. */
static uint64_t ring_bytes(const struct map_shape *m, uint32_t here, uint32_t ncpu)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t bytes = m->entries;

	if (m->ring_max && ncpu > here)
		bytes = power_of_two(round_to(bytes * ncpu, here) / here);
	if (m->ring_max && bytes > m->ring_max)
		bytes = m->ring_max;
	return bytes + bytes / page * 2 * POINTER + 3 * page;
}

static uint32_t entries_of(const struct map_shape *m, uint32_t ncpu)
{
	return m->entries_max && ncpu > m->entries_max ? m->entries_max : ncpu;
}

uint64_t map_memory(const struct map_shape *m, uint32_t here, uint32_t ncpu)
{
	const uint64_t value = round_to(m->value, 8);

	switch (m->type) {
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_LRU_HASH:
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
		return hash_bytes(m, ncpu);
	case BPF_MAP_TYPE_ARRAY:
		return value * (m->each_cpu ? entries_of(m, ncpu) : m->entries);
	case BPF_MAP_TYPE_PERCPU_ARRAY:
		return (value * ncpu + POINTER) * m->entries;
	case BPF_MAP_TYPE_RINGBUF:
		return ring_bytes(m, here, ncpu);
	}
	return 0;
}

static bool is_new(struct maps *seen, uint32_t id)
{
	for (uint32_t i = 0; i < seen->n; i++)
		if (seen->id[i] == id)
			return false;
	if (seen->n < MAPS)
		seen->id[seen->n++] = id;
	return true;
}

static void add_map(struct map_memory *sum, struct maps *seen, int fd, uint32_t ring_max,
		    uint32_t counts_max, uint32_t here)
{
	struct bpf_map_info info = { 0 };
	struct map_shape m;
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len) < 0 || !is_new(seen, info.id))
		return;
	m = (struct map_shape){ .type = info.type,
				.entries = info.max_entries,
				.key = info.key_size,
				.value = info.value_size,
				.entries_max = counts_max,
				.ring_max = ring_max };
	m.each_cpu = strcmp(info.name, "counts") == 0 && m.entries == entries_of(&m, here);
	sum->here += map_memory(&m, here, here);
	sum->few += map_memory(&m, here, FEW);
	sum->many += map_memory(&m, here, MAP_MEMORY_MANY);
}

static bool is_map(int dir, const char *fd)
{
	char what[32];
	ssize_t len = readlinkat(dir, fd, what, sizeof(what) - 1);

	what[len > 0 ? len : 0] = 0;
	return strcmp(what, "anon_inode:bpf-map") == 0;
}

void map_memory_add(struct map_memory *sum, uint32_t ring_max, uint32_t counts_max)
{
	int n = libbpf_num_possible_cpus();
	struct maps seen = { 0 };
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (is_map(dirfd(d), e->d_name))
			add_map(sum, &seen, atoi(e->d_name), ring_max, counts_max,
				n > 0 ? (uint32_t)n : 1);
	if (d)
		closedir(d);
}
