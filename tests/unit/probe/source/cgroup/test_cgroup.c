// SPDX-License-Identifier: Apache-2.0
/* source_cgroup on a host made of files: hierarchies of version 1 and 2 below a directory. */
#include <limits.h>
#include <math.h>
#include <sys/stat.h>

#include "lib/base/arena.h"
#include "probe/cgroup/cgroup_others.h"
#include "probe/cgroup/cgroup_tree.h"
#include "probe/core/source.h"
#include "tests/fake/place.h"
#include "tests/lib/test.h"

struct host {
	void *self;
	struct sink sink;
	struct arena *arena;
	struct wire_body tick;
	char why[WHY_LEN];
};

static void put(const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", place(), name);
	f = fopen(path, "we");
	CHECK(f && fputs(text, f) >= 0);
	if (f)
		fclose(f);
}

static void mount_at(const char *lines) /* "cgroup2 v2 rw": type, directory, options */
{
	char text[1024] = "", type[16], dir[16], options[32];
	int n;

	CHECK_EQ(place_run("mkdir -p self v2 cpu mem"), 0);
	while (sscanf(lines, "%15s %15s %31s%n", type, dir, options, &n) == 3) {
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "x %s/%s %s %s 0 0\n",
			 place(), dir, type, options);
		lines += n;
	}
	put("self/mounts", text);
}

static int host_open(struct host *h, const char *mounts)
{
	const struct probe_env env = { .procfs = place(), .sysfs = "/nonexistent", .why = h->why };

	*h = (struct host){ .arena = arena_new(8 << 20), .self = calloc(1, source_cgroup.size) };
	mount_at(mounts);
	return source_cgroup.open(h->self, &env);
}

static void host_close(struct host *h)
{
	source_cgroup.close(h->self);
	free(h->self);
	arena_free(h->arena);
	buf_free(&h->sink.metric);
	place_clean();
}

static void tick(struct host *h)
{
	arena_reset(h->arena);
	buf_reset(&h->sink.metric);
	CHECK_EQ(source_cgroup.read(h->self, &h->sink), 0);
	CHECK_EQ(wire_body_decode(h->arena, h->sink.metric.data, h->sink.metric.len, &h->tick), 0);
}

static const double *sample(const struct host *h, const char *path)
{
	static double none[CGROUP_END];

	for (uint32_t i = 0; i < h->tick.nsamples; i++)
		if (strcmp(h->tick.samples[i].entity, path) == 0)
			return h->tick.samples[i].v;
	for (int i = 0; i < CGROUP_END; i++)
		none[i] = -1;
	return none;
}

#define V(path, id) (sample(&h, path)[CGROUP_##id])

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fabs(b);
}

static void v2_files(const char *dir, unsigned long long usage, unsigned long long bytes)
{
	char path[64], text[512];

	snprintf(path, sizeof(path), "v2%s/cpu.stat", dir);
	snprintf(text, sizeof(text),
		 "usage_usec %llu\nuser_usec %llu\nsystem_usec 7\nnr_periods 5\nnr_throttled 2\n"
		 "throttled_usec 1500000\n",
		 usage, usage / 2);
	put(path, text);
	snprintf(path, sizeof(path), "v2%s/io.stat", dir);
	snprintf(text, sizeof(text),
		 "8:0 rbytes=%llu wbytes=2 rios=3 wios=4 dbytes=0 dios=0\n"
		 "8:16 rbytes=1000 wbytes=20 rios=30 wios=40 dbytes=0 dios=0\n",
		 bytes);
	put(path, text);
}

TEST(version_2_is_read_completely)
{
	struct host h;

	place_run("mkdir -p v2/a");
	v2_files("/a", 4000000, 4096);
	put("v2/a/cpu.max", "50000 100000\n");
	put("v2/a/memory.current", "104857600\n");
	put("v2/a/memory.max", "209715200\n");
	put("v2/a/memory.swap.current", "4096\n");
	put("v2/a/memory.stat", "anon 1000\nfile 2000\nkernel 3000\ninactive_file 4857600\n"
				"pgfault 10\npgmajfault 2\n");
	put("v2/a/memory.events.local", "low 0\nhigh 3\nmax 4\noom 1\noom_kill 1\n");
	put("v2/a/cpu.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=2000000\n"
				 "full avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\n");
	put("v2/a/pids.current", "12\n");
	put("v2/a/pids.max", "max\n");
	CHECK_EQ(host_open(&h, "cgroup2 v2 rw"), 0);
	tick(&h);
	CHECK(isnan(V("/a", CPU_USAGE)) && isnan(V("/a", READ_BYTES)) && isnan(V("/a", OOM_KILLS)));
	CHECK(V("/a", CPU_QUOTA) == 50000 && V("/a", CPU_PERIOD) == 100000);
	CHECK(V("/a", MEM_USAGE) == 104857600 && V("/a", MEM_WORKING_SET) == 100000000);
	CHECK(V("/a", MEM_LIMIT) == 209715200 && V("/a", MEM_SWAP) == 4096);
	CHECK(V("/a", MEM_ANON) == 1000 && V("/a", MEM_FILE) == 2000 &&
	      V("/a", MEM_KERNEL) == 3000);
	CHECK(V("/a", PIDS) == 12 && isnan(V("/a", PIDS_MAX)) && V("/a", CGROUPS) == 1);
	v2_files("/a", 5500000, 8192);
	put("v2/a/memory.events.local", "low 0\nhigh 5\nmax 14\noom 1\noom_kill 4\n");
	put("v2/a/cpu.pressure", "some total=2500000\nfull total=1000000\n");
	put("v2/a/memory.stat", "pgfault 110\npgmajfault 5\n");
	tick(&h);
	CHECK(near(V("/a", CPU_USAGE), 1.5) && near(V("/a", CPU_USER), 0.75));
	CHECK(V("/a", CPU_SYSTEM) == 0 && V("/a", CPU_THROTTLED) == 0);
	CHECK(V("/a", READ_BYTES) == 4096 && V("/a", WRITES) == 0);
	CHECK(V("/a", MEM_HIGH_HITS) == 2 && V("/a", MEM_LIMIT_HITS) == 10);
	CHECK(V("/a", OOM_KILLS) == 3 && V("/a", PGFAULT) == 100 && V("/a", PGMAJFAULT) == 3);
	CHECK(near(V("/a", PSI_CPU_SOME), 0.5) && V("/a", PSI_CPU_FULL) == 0);
	CHECK(isnan(V("/a", PSI_MEM_SOME)));
	host_close(&h);
}

TEST(version_1_is_read_completely_and_its_controllers_count_beside_version_2)
{
	struct host h;

	place_run("mkdir -p v2/a cpu/a mem/a mem/only");
	v2_files("/a", 99, 99);
	put("v2/a/io.pressure", "some total=0\nfull total=0\n");
	put("cpu/a/cpuacct.usage", "1000000000\n");
	put("cpu/a/cpuacct.usage_user", "600000000\n");
	put("cpu/a/cpuacct.usage_sys", "400000000\n");
	put("cpu/a/cpu.stat", "nr_periods 10\nnr_throttled 3\nthrottled_time 2000000000\n");
	put("cpu/a/cpu.cfs_quota_us", "-1\n");
	put("cpu/a/cpu.cfs_period_us", "100000\n");
	put("mem/a/memory.usage_in_bytes", "5000\n");
	put("mem/a/memory.limit_in_bytes", "9223372036854771712\n");
	put("mem/a/memory.kmem.usage_in_bytes", "77\n");
	put("mem/a/memory.stat", "cache 1\nrss 2\ntotal_cache 30\ntotal_rss 40\ntotal_swap 50\n"
				 "total_inactive_file 6000\ntotal_pgfault 7\ntotal_pgmajfault 8\n");
	put("mem/a/memory.failcnt", "5\n");
	put("mem/a/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
	put("mem/only/memory.usage_in_bytes", "9\n");
	put("mem/a/blkio.throttle.io_service_bytes_recursive",
	    "8:0 Read 100\n8:0 Write 200\n8:0 Total 300\n8:16 Read 1000\nTotal 1300\n");
	CHECK_EQ(host_open(&h, "cgroup cpu rw,cpu,cpuacct cgroup mem rw,memory,blkio "
			       "cgroup2 v2 rw cgroup self rw,memory"),
		 0);
	tick(&h);
	CHECK(isnan(V("/a", CPU_QUOTA)) && V("/a", CPU_PERIOD) == 100000);
	CHECK(V("/a", MEM_USAGE) == 5000 && V("/a", MEM_WORKING_SET) == 0);
	CHECK(isnan(V("/a", MEM_LIMIT)) && V("/a", MEM_KERNEL) == 77);
	CHECK(V("/a", MEM_ANON) == 40 && V("/a", MEM_FILE) == 30 && V("/a", MEM_SWAP) == 50);
	CHECK(V("/only", MEM_USAGE) == 9 && isnan(V("/only", CPU_PERIOD)));
	put("cpu/a/cpuacct.usage", "3500000000\n");
	put("cpu/a/cpu.stat", "nr_periods 20\nnr_throttled 7\nthrottled_time 2250000000\n");
	put("mem/a/memory.failcnt", "6\n");
	put("mem/a/memory.oom_control", "oom_kill 4\n");
	put("mem/a/blkio.throttle.io_service_bytes_recursive",
	    "8:0 Read 150\n8:0 Write 200\n8:0 Total 300\n8:16 Read 1007\nTotal 1300\n");
	tick(&h);
	CHECK(V("/a", CPU_USAGE) == 2.5 && V("/a", CPU_PERIODS) == 10);
	CHECK(V("/a", CPU_THROTTLED) == 0.25 && V("/a", CPU_THROTTLED_PERIODS) == 4);
	CHECK(V("/a", MEM_LIMIT_HITS) == 1 && V("/a", OOM_KILLS) == 2);
	CHECK(V("/a", READ_BYTES) == 57 && V("/a", WRITTEN_BYTES) == 0);
	host_close(&h);
}

/* The root has no line for any disk: 0 bytes would be a wrong value. */
TEST(io_that_the_kernel_does_not_count_is_unavailable)
{
	struct host h;

	CHECK_EQ(place_run("mkdir -p mem/a"), 0);
	put("mem/blkio.throttle.io_service_bytes_recursive", "Total 0\n");
	put("mem/a/blkio.throttle.io_service_bytes_recursive", "Total 0\n");
	put("mem/a/memory.usage_in_bytes", "5000\n");
	CHECK_EQ(host_open(&h, "cgroup mem rw,memory,blkio"), 0);
	tick(&h);
	tick(&h);
	CHECK(isnan(V("/a", READ_BYTES)) && isnan(V("/a", WRITES)));
	CHECK(V("/a", MEM_USAGE) == 5000);
	host_close(&h);
	CHECK_EQ(place_run("mkdir -p mem/a"), 0);
	put("mem/blkio.throttle.io_service_bytes_recursive", "8:0 Read 9\nTotal 9\n");
	put("mem/a/blkio.throttle.io_service_bytes_recursive", "Total 0\n");
	CHECK_EQ(host_open(&h, "cgroup mem rw,memory,blkio"), 0);
	tick(&h);
	tick(&h);
	CHECK(V("/a", READ_BYTES) == 0);
	host_close(&h);
}

TEST(a_new_cgroup_and_one_that_comes_back_count_from_0)
{
	struct host h;

	CHECK_EQ(host_open(&h, "cgroup2 v2 rw"), 0);
	tick(&h);
	CHECK_EQ(h.tick.nsamples, 1); /* the root */
	place_run("mkdir v2/new");
	v2_files("/new", 250000, 0);
	tick(&h);
	CHECK(V("/new", CPU_USAGE) == 0.25);
	place_run("rm -r v2/new");
	tick(&h);
	CHECK(V("/new", CPU_USAGE) == -1); /* unavailable */
	place_run("mkdir v2/new");
	v2_files("/new", 125000, 0);
	tick(&h);
	CHECK(V("/new", CPU_USAGE) == 0.125);
	host_close(&h);
}

TEST(an_idle_cgroup_keeps_its_values_for_some_ticks)
{
	struct host h;
	int kept = 0;

	place_run("mkdir -p v2/a");
	v2_files("/a", 1000, 0);
	put("v2/a/memory.current", "100\n");
	put("v2/a/cpu.max", "max 100000\n");
	CHECK_EQ(host_open(&h, "cgroup2 v2 rw"), 0);
	tick(&h);
	CHECK(V("/a", MEM_USAGE) == 100 && isnan(V("/a", CPU_QUOTA)));
	put("v2/a/memory.current", "200\n");
	v2_files("/a", 2000, 0);
	tick(&h);
	CHECK(V("/a", MEM_USAGE) == 200 && near(V("/a", CPU_USAGE), 0.001));
	put("v2/a/memory.current", "300\n");
	put("v2/a/cpu.max", "5000 100000\n");
	for (tick(&h); V("/a", MEM_USAGE) == 200 && kept < 10; tick(&h)) {
		CHECK(V("/a", CPU_USAGE) == 0 && V("/a", CPU_PERIOD) == 100000);
		kept++;
	}
	CHECK(kept >= 1 && kept < 6);
	CHECK(V("/a", MEM_USAGE) == 300 && V("/a", CPU_QUOTA) == 5000);
	host_close(&h);
}

TEST(a_path_that_is_too_long_keeps_its_end_and_stays_unique)
{
	struct host h;
	char name[2][ITEM_MAX_TEXT + 1] = { "", "" };
	int n = 0;

	place_run("d=$(printf 'x%.0s' $(seq 100)); mkdir -p v2/a/$d/$d/$d/end v2/b/$d/$d/$d/end");
	CHECK_EQ(host_open(&h, "cgroup2 v2 rw"), 0);
	tick(&h);
	for (uint32_t i = 0; i < h.tick.nsamples; i++) {
		const char *e = h.tick.samples[i].entity;

		CHECK(strlen(e) < ITEM_MAX_TEXT);
		if (*e == '~' && strcmp(e + strlen(e) - 4, "/end") == 0 && n < 2)
			strcpy(name[n++], e);
	}
	CHECK_EQ(n, 2);
	CHECK(strcmp(name[0], name[1]) != 0);
	host_close(&h);
}

/* The total CPU use that was sent. */
static double sum(const struct host *h, const char *begin)
{
	double total = 0;

	for (uint32_t i = 0; i < h->tick.nsamples; i++) {
		const struct sample_item *s = &h->tick.samples[i];

		if (strncmp(s->entity, begin, strlen(begin)) == 0 &&
		    s->v[CGROUP_CPU_USAGE] >= 0) /* no NaN */
			total += s->v[CGROUP_CPU_USAGE];
	}
	return total;
}

static void use(const char *which, unsigned long long usec)
{
	char text[200];

	snprintf(text, sizeof(text), "for d in v2/%s; do echo usage_usec %llu >$d/cpu.stat; done",
		 which, usec);
	CHECK_EQ(place_run(text), 0);
}

TEST(beyond_512_the_sum_stays_right_when_a_cgroup_ends_or_gets_listed)
{
	struct host h;

	place_run("mkdir -p v2/c$(seq -s ' v2/c' 1000 1599) v2/c1599/below");
	use("c1*", 1000000);
	use("c1599/below", 400000); /* included in that of c1599 */
	CHECK_EQ(host_open(&h, "cgroup2 v2 rw"), 0);
	tick(&h);
	CHECK_EQ(h.tick.nsamples, CGROUP_LISTED + 1);
	CHECK_EQ(V("(others)", CGROUPS), 602 - CGROUP_LISTED);
	use("c1*", 2000000);
	use("c1599/below", 800000);
	tick(&h);
	CHECK(near(sum(&h, "/c") + sum(&h, "(others)"), 600));
	CHECK(V("(others)", CPU_USAGE) == 600 + 1 - CGROUP_LISTED);
	place_run("rm -r v2/c10*"); /* 100 that are listed */
	use("c1*", 3000000);
	tick(&h);
	CHECK(near(sum(&h, "/c"), 500));
	CHECK(V("(others)", CGROUPS) == -1); /* none left */
	CHECK(V("/c1599", CPU_USAGE) == 1);
	place_run("mkdir -p v2/d$(seq -s ' v2/d' 100 199)");
	use("d1*", 500000);
	use("c1*", 4000000);
	tick(&h);
	CHECK(near(sum(&h, "/") + sum(&h, "(others)"), 550));
	host_close(&h);
}

TEST(a_busy_cgroup_replaces_one_that_was_idle_for_long)
{
	struct host h;

	place_run("mkdir -p v2/c$(seq -s ' v2/c' 1000 1599)");
	use("c1*", 1000000);
	CHECK_EQ(host_open(&h, "cgroup2 v2 rw"), 0);
	for (unsigned i = 0; i < CGROUP_IDLE_TICKS + 4; i++) {
		use("c1598", 2000000 + i * 10000);
		tick(&h);
	}
	use("c1598", 3000000);
	tick(&h);
	CHECK(V("/c1598", CPU_USAGE) > 0);
	host_close(&h);
}

TEST(values_included_in_a_parent_are_not_counted_twice)
{
	struct cgroup_others o;
	double v[CGROUP_END];

	for (int i = 0; i < CGROUP_END; i++)
		v[i] = 2;
	v[CGROUP_PGFAULT] = NAN;
	cgroup_others_begin(&o);
	CHECK(isnan(o.v[CGROUP_CPU_USAGE]));
	cgroup_others_add(&o, v, true);
	cgroup_others_add(&o, v, false);
	cgroup_others_add(&o, v, true);
	CHECK(o.v[CGROUP_CPU_USAGE] == 4 && o.v[CGROUP_READ_BYTES] == 4);
	CHECK(o.v[CGROUP_OOM_KILLS] == 6 && o.v[CGROUP_CPU_THROTTLED] == 6);
	CHECK(isnan(o.v[CGROUP_MEM_LIMIT]) && isnan(o.v[CGROUP_PGFAULT]) &&
	      isnan(o.v[CGROUP_PSI_IO_SOME]));
	CHECK_EQ(o.n, 3);
}

TEST(a_host_without_cgroups_explains_what_to_do)
{
	struct host h;

	CHECK_EQ(host_open(&h, "proc self rw"), -ENOENT);
	CHECK(strstr(h.why, "mount cgroup2") != NULL);
	host_close(&h);
}
