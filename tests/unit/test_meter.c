// SPDX-License-Identifier: Apache-2.0
/* What the meter tells of a source that opened real kernel objects, beside what the kernel says. */
#include <bpf/bpf.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <math.h>

#include "../../probe/layout.h"
#include "../../probe/meter.h"
#include "../test.h"

static const char *const names[] = { "a", "b" };

static int socket_filter(void)
{
	const struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, NULL, "GPL", program, ARRAY_SIZE(program),
			     NULL);
}

static void run(int program, int times)
{
	char packet[64] = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = packet, .data_size_in = sizeof(packet));

	for (int i = 0; i < times; i++)
		CHECK_EQ(bpf_prog_test_run_opts(program, &o), 0);
}

static const struct sample_item *sample(const struct wire_body *b, const struct wire_dict *d,
					const char *entity)
{
	for (uint32_t i = 0; i < b->nsamples; i++)
		if (b->samples[i].layout == d->layout && strcmp(b->samples[i].entity, entity) == 0)
			return &b->samples[i];
	return NULL;
}

static struct wire_body told(struct meter *m, uint64_t now, const bool *on, struct arena *a)
{
	struct sink out = { 0 };
	struct wire_body b;

	meter_tell(m, now, names, on, "/proc", &out);
	CHECK_EQ(wire_body_decode(a, out.metric.data, out.metric.len, &b), 0);
	buf_free(&out.metric);
	return b;
}

TEST(reads_are_counted_for_their_source_since_the_last_telling)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	const bool on[] = { true, false };
	struct meter *m = meter_new(2);
	const struct sample_item *s;
	struct wire_body b;

	meter_read(m, 0, 1500000, false);
	meter_read(m, 0, 500000, true);
	meter_skipped(m, 0);
	b = told(m, 0, on, a);
	s = sample(&b, &layout_cost, "a");
	CHECK(s != NULL);
	CHECK_EQ(s->v[COST_READS], 2);
	CHECK_EQ(s->v[COST_SKIPPED], 1);
	CHECK_EQ(s->v[COST_FAILED], 1);
	CHECK(fabs(s->v[COST_CPU] - 0.002) < 1e-9);
	CHECK(isnan(s->v[COST_RUNS]));
	CHECK(sample(&b, &layout_cost, "b") == NULL);
	b = told(m, 0, on, a);
	CHECK_EQ(sample(&b, &layout_cost, "a")->v[COST_READS], 0);
	meter_free(m);
	meter_free(NULL);
}

TEST(the_process_is_told_as_proc_has_it)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	const bool on[] = { true, true };
	struct meter *m = meter_new(2);
	const struct sample_item *s;
	struct wire_body b;
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	CHECK(f && fscanf(f, "%*u %lu", &pages) == 1);
	fclose(f);
	b = told(m, 0, on, a);
	s = sample(&b, &layout_process, "");
	CHECK(s->v[PROCESS_CPU] > 0);
	CHECK(fabs(s->v[PROCESS_RSS] / (double)(pages * 4096) - 1) < 0.5);
	CHECK(s->v[PROCESS_FDS] >= 3);
	meter_free(m);
}

TEST(programs_and_maps_belong_to_the_source_that_opened_them)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	const bool on[] = { true, true };
	struct meter *m = meter_new(2);
	const struct sample_item *s;
	struct wire_body b;
	int map, program;

	if (geteuid() != 0)
		return;
	meter_before_open(m);
	meter_after_open(m, 0);
	meter_before_open(m);
	map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "m", 4, 8, 1024, NULL);
	program = socket_filter();
	CHECK(map >= 0 && program >= 0);
	meter_after_open(m, 1);
	CHECK_EQ(meter_count(m, 0), 0);
	run(program, 1000);
	b = told(m, 1, on, a);
	s = sample(&b, &layout_cost, "b");
	CHECK_EQ(s->v[COST_PROGRAMS], 1);
	CHECK(s->v[COST_MAP_BYTES] >= 8 * 1024 && s->v[COST_MAP_BYTES] < 64 * 1024);
	CHECK_EQ(s->v[COST_RUNS], 1000);
	CHECK(s->v[COST_RUN_SECONDS] > 0 && s->v[COST_RUN_SECONDS] < 1);
	CHECK_EQ(sample(&b, &layout_cost, "a")->v[COST_PROGRAMS], 0);
	b = told(m, (METER_COUNT_S + 1) * 1000000000ull, on, a);
	CHECK_EQ(sample(&b, &layout_cost, "b")->v[COST_RUNS], 0);
	close(map);
	close(program);
	meter_free(m);
}
