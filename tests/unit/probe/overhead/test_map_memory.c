// SPDX-License-Identifier: Apache-2.0
/* The memory of maps: the formula beside what the kernel charges, and the probe's with its
 * defaults. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <math.h>

#include "probe/core/on_demand.h"
#include "probe/source/sources.h"
#include "tests/lib/test.h"
#include "tests/tools/source_config.h"

static double charged(int fd)
{
	unsigned long long bytes = 0;
	char path[64], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "memlock: %llu", &bytes) == 1)
			break;
	if (f)
		fclose(f);
	return (double)bytes;
}

TEST(the_computed_memory_is_what_the_kernel_charges)
{
	static const struct map_shape shapes[] = {
		{ .type = BPF_MAP_TYPE_HASH, .entries = 5000, .key = 8, .value = 700 },
		{ .type = BPF_MAP_TYPE_LRU_HASH, .entries = 1024, .key = 4, .value = 60 },
		{ .type = BPF_MAP_TYPE_PERCPU_HASH, .entries = 2000, .key = 16, .value = 40 },
		{ .type = BPF_MAP_TYPE_ARRAY, .entries = 1000, .key = 4, .value = 100 },
		{ .type = BPF_MAP_TYPE_PERCPU_ARRAY, .entries = 100, .key = 4, .value = 4000 },
		{ .type = BPF_MAP_TYPE_RINGBUF, .entries = 1 << 20 },
	};
	const uint32_t ncpu = (uint32_t)libbpf_num_possible_cpus();

	if (geteuid() != 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		const struct map_shape *m = &shapes[i];
		int fd = bpf_map_create(m->type, "m", m->key, m->value, m->entries, NULL);
		double computed = (double)map_memory(m, ncpu, ncpu);

		CHECK(fd >= 0);
		if (fabs(computed - charged(fd)) > 0.1 * charged(fd))
			printf("    type %u: %.0f, not %.0f\n", m->type, computed, charged(fd));
		CHECK(fabs(computed - charged(fd)) <= 0.1 * charged(fd));
		close(fd);
	}
}

TEST(per_cpu_memory_grows_with_the_number_of_cpus)
{
	const struct map_shape own = {
		.type = BPF_MAP_TYPE_ARRAY, .entries = 4, .key = 4, .value = 128, .each_cpu = true
	};
	const struct map_shape few = { .type = BPF_MAP_TYPE_ARRAY,
				       .entries = 4,
				       .key = 4,
				       .value = 128,
				       .each_cpu = true,
				       .entries_max = 64 };
	const struct map_shape percpu = {
		.type = BPF_MAP_TYPE_PERCPU_ARRAY, .entries = 1, .key = 4, .value = 1024
	};
	struct map_shape ring = { .type = BPF_MAP_TYPE_RINGBUF, .entries = 128 << 10 };

	CHECK_EQ(map_memory(&own, 4, 256), 256 * 128);
	CHECK_EQ(map_memory(&few, 4, 256), 64 * 128);
	CHECK_EQ(map_memory(&few, 4, 8), 8 * 128);
	CHECK_EQ(map_memory(&percpu, 4, 256) - map_memory(&percpu, 4, 255), 1024);
	CHECK_EQ(map_memory(&ring, 2, 256), map_memory(&ring, 2, 2));
	ring.ring_max = 4 << 20;
	CHECK(map_memory(&ring, 2, 8) >= 512 << 10 && map_memory(&ring, 2, 8) < 600 << 10);
	CHECK(map_memory(&ring, 2, 256) >= 4 << 20 && map_memory(&ring, 2, 256) < 5 << 20);
}

/* A source whose maps grow beyond that is to be made smaller, or the cap, with its figures. */
TEST(the_maps_of_a_probe_with_its_defaults_are_within_their_cap)
{
	char why[WHY_LEN] = "";
	const struct probe_env env = {
		.procfs = "/proc", .sysfs = "/sys", .config = &source_config, .why = why
	};
	struct map_memory sum = { 0 };

	source_config.ring_mb = 4;
	source_config.conns = 65536;
	snprintf(source_config.nginx, sizeof(source_config.nginx), "auto");
	for (size_t i = 0; i < sources_count() && geteuid() == 0; i++)
		if (!on_demand_is(sources_at(i)->name))
			CHECK(sources_try(i, &env, &sum) == 0 || sources_at(i)->needs_hardware);
	printf("    MiB: %.2f here, %.2f with 2 processors, %.2f with 256\n",
	       (double)sum.here / (1 << 20), (double)sum.few / (1 << 20),
	       (double)sum.many / (1 << 20));
	CHECK(geteuid() != 0 || sum.few > 4 << 20);
	CHECK(sum.few <= MAP_MEMORY_FEW_MAX);
	CHECK(sum.many <= MAP_MEMORY_MANY_MAX);
}
