// SPDX-License-Identifier: Apache-2.0
/* The meter's report of a source with real kernel objects, compared with the kernel's counts. */
#include <bpf/bpf.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <math.h>

#include "probe/core/layout.h"
#include "probe/overhead/meter.h"
#include "tests/fake/clock.h"
#include "tests/lib/test.h"

#define SECOND 1000000000ull

enum { WINDOW_S = 10 };

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

static struct wire_body report(struct meter *m, uint64_t now, const bool *on, struct arena *a)
{
	struct sink out = { 0 };
	struct wire_body b;

	meter_report(m, now, names, on, "/proc", &out);
	CHECK_EQ(wire_body_decode(a, out.metric.data, out.metric.len, &b), 0);
	buf_free(&out.metric);
	return b;
}

TEST(reads_are_counted_for_their_source_since_the_last_report)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	const bool on[] = { true, false };
	struct meter *m = meter_new(2, NULL);
	const struct sample_item *s;
	struct wire_body b;

	meter_read(m, 0, 1500000, false);
	meter_read(m, 0, 500000, true);
	meter_skipped(m, 0);
	b = report(m, 0, on, a);
	s = sample(&b, &layout_cost, "a");
	CHECK(s != NULL);
	CHECK_EQ(s->v[COST_READS], 2);
	CHECK_EQ(s->v[COST_SKIPPED], 1);
	CHECK_EQ(s->v[COST_FAILED], 1);
	CHECK(fabs(s->v[COST_CPU] - 0.002) < 1e-9);
	CHECK(isnan(s->v[COST_RUNS]));
	CHECK(sample(&b, &layout_cost, "b") == NULL);
	b = report(m, 0, on, a);
	CHECK_EQ(sample(&b, &layout_cost, "a")->v[COST_READS], 0);
	meter_free(m);
	meter_free(NULL);
}

TEST(the_process_is_reported_with_the_values_of_proc)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	const bool on[] = { true, true };
	struct meter *m = meter_new(2, NULL);
	const struct sample_item *s;
	struct wire_body b;
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	CHECK(f && fscanf(f, "%*u %lu", &pages) == 1);
	fclose(f);
	b = report(m, 0, on, a);
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
	struct meter *m = meter_new(2, NULL);
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
	clock_set_ns(SECOND);
	CHECK_EQ(meter_count(m, SECOND, WINDOW_S), 0);
	run(program, 1000);
	clock_set_ns(2 * SECOND);
	b = report(m, 2 * SECOND, on, a);
	s = sample(&b, &layout_cost, "b");
	CHECK_EQ(s->v[COST_PROGRAMS], 1);
	CHECK(s->v[COST_MAP_BYTES] >= 8 * 1024 && s->v[COST_MAP_BYTES] < 64 * 1024);
	CHECK_EQ(s->v[COST_RUNS], 1000);
	CHECK(s->v[COST_RUN_SECONDS] > 0 && s->v[COST_RUN_SECONDS] < 1);
	CHECK_EQ(sample(&b, &layout_cost, "a")->v[COST_PROGRAMS], 0);
	clock_set_ns(3 * SECOND);
	b = report(m, 3 * SECOND, on, a);
	CHECK_EQ(sample(&b, &layout_cost, "b")->v[COST_RUNS], 0);
	close(map);
	close(program);
	meter_free(m);
}

/* It reads where nothing is, which is a fault, at which the kernel would run it again. */
static int faulting(void)
{
	const struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 1, .src_reg = 10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 1, .imm = -8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = 8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3, .imm = 16 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_read_user },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL, "GPL", program,
			     ARRAY_SIZE(program), NULL);
}

TEST(skipped_runs_are_reported_even_while_nothing_is_counted)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	LIBBPF_OPTS(bpf_test_run_opts, o);
	const bool on[] = { true, false };
	struct meter *m = meter_new(1, NULL);
	int program, link;
	double missed;

	if (geteuid() != 0)
		return;
	meter_before_open(m);
	program = faulting();
	CHECK(program >= 0);
	meter_after_open(m, 0);
	link = bpf_raw_tracepoint_open("page_fault_kernel", program);
	if (link >= 0) { /* of x86 */
		for (int i = 0; i < 10; i++)
			CHECK_EQ(bpf_prog_test_run_opts(program, &o), 0);
		clock_set_ns(SECOND);
		missed = sample((struct wire_body[]){ report(m, SECOND, on, a) }, &layout_cost, "a")
				 ->v[COST_RUNS_MISSED];
		CHECK(missed >= 10); /* who else has such a fault counts, too */
		close(link);
		(void)report(m, 2 * SECOND, on, a);
		CHECK_EQ(sample((struct wire_body[]){ report(m, 3 * SECOND, on, a) }, &layout_cost,
				"a")
				 ->v[COST_RUNS_MISSED],
			 0);
	}
	close(program);
	meter_free(m);
}

static bool has_it_count(void)
{
	bool found = false;
	char what[64];

	for (int fd = 0; fd < 64 && !found; fd++) {
		char path[32];
		ssize_t len;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		len = readlink(path, what, sizeof(what) - 1);
		what[len > 0 ? len : 0] = 0;
		found = strstr(what, "bpf-stats") != NULL;
	}
	return found;
}

/* The thread that has the kernel count waits for what it is asked next: it has looked at its clock.
 */
static bool is_at_rest(void)
{
	struct dirent *d;
	DIR *tasks = opendir("/proc/self/task");
	bool rests = false;

	while (tasks && (d = readdir(tasks))) {
		char path[300], comm[16] = "", state = 0;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%s/stat", d->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (fscanf(f, "%*d (%15[^)]) %c", comm, &state) == 2 &&
		    strcmp(comm, "counting") == 0)
			rests = state == 'S';
		fclose(f);
	}
	if (tasks)
		closedir(tasks);
	return rests;
}

/* It does so a little later. Others may have it count, too. */
static void await(bool counts)
{
	for (int i = 0; i < 30000 && (has_it_count() != counts || !is_at_rest()); i++)
		usleep(1000);
	CHECK_EQ(has_it_count(), counts);
}

TEST(runs_counted_in_windows_are_extrapolated_to_the_whole_time)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	const bool on[] = { true };
	const struct sample_item *s;
	struct meter *m = meter_new(1, NULL);
	struct meter_runs runs;
	struct wire_body b;
	int program;

	if (geteuid() != 0)
		return;
	meter_before_open(m);
	program = socket_filter();
	meter_after_open(m, 0);
	clock_set_ns(SECOND);
	CHECK_EQ(meter_count(m, SECOND, WINDOW_S), 0);
	CHECK_EQ(meter_watch_ms(m), WINDOW_S * 1000 / 20);
	clock_set_ns(11 * SECOND - 1);
	CHECK(!meter_watch(m, 11 * SECOND - 1));
	clock_set_ns(11 * SECOND);
	CHECK(meter_watch(m, 11 * SECOND));
	await(false);
	(void)report(m, 11 * SECOND, on, a);
	runs = meter_runs_of(m, 0);
	CHECK_EQ(runs.counted_ns, 10 * SECOND);

	run(program, 500); /* nobody counts these */
	CHECK(!meter_watch(m, 20 * SECOND)); /* in the next ten seconds, but not at their end */
	clock_set_ns(29 * SECOND);
	CHECK(!meter_watch(m, 29 * SECOND));
	await(true);
	run(program, 100);
	clock_set_ns(29 * SECOND + SECOND / 10); /* too early: it goes on */
	CHECK(!meter_watch(m, 29 * SECOND + SECOND / 10));
	clock_set_ns(29 * SECOND + SECOND / 2);
	CHECK(meter_watch(m, 29 * SECOND + SECOND / 2));
	await(false);
	clock_set_ns(31 * SECOND);
	b = report(m, 31 * SECOND, on, a);
	s = sample(&b, &layout_cost, "a");
	CHECK_EQ(s->v[COST_RUNS], 100 * 40); /* half a second of twenty */
	CHECK(s->v[COST_RUN_SECONDS] > 0);
	CHECK_EQ(meter_runs_of(m, 0).runs - runs.runs, 100);
	CHECK_EQ(meter_runs_of(m, 0).counted_ns - runs.counted_ns, SECOND / 2);
	close(program);
	meter_free(m);
}
