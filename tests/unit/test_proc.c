// SPDX-License-Identifier: Apache-2.0
/* source_proc over a /proc of files: tests/data/proc, changed from tick to tick. */
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <sys/stat.h>

#include "../../probe/layout.h"
#include "../../probe/proc_devices.h"
#include "../../probe/source.h"
#include "../test.h"

#define DATA "tests/data"

static const char *const files[] = {
	"stat",		"loadavg",	   "meminfo",	  "vmstat",
	"diskstats",	"net/dev",	   "net/snmp",	  "net/netstat",
	"pressure/cpu", "pressure/memory", "pressure/io", "sys/fs/file-nr"
};

struct host {
	char dir[64];
	void *self;
	struct sink sink;
	struct arena *arena;
	struct wire_body tick;
};

static void put_bytes(const struct host *h, const char *name, const void *data, size_t len)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", h->dir, name);
	f = fopen(path, "we");
	CHECK(f && fwrite(data, 1, len, f) == len);
	if (f)
		fclose(f);
}

static void put(const struct host *h, const char *name, const char *text)
{
	put_bytes(h, name, text, strlen(text));
}

static size_t get(const char *name, char *text, size_t room)
{
	char path[PATH_MAX];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), DATA "/proc/%s", name);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fread(text, 1, room - 1, f);
	text[n] = 0;
	fclose(f);
	return n;
}

static void take(const struct host *h, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", h->dir, name);
	unlink(path);
}

static void restore(const struct host *h)
{
	char text[8192];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		put_bytes(h, files[i], text, get(files[i], text, sizeof(text)));
}

static void host_open(struct host *h, const char *sysfs)
{
	static const char *const dirs[] = { "net", "pressure", "sys", "sys/fs" };
	char path[PATH_MAX], why[WHY_LEN] = "";
	struct probe_env env = { .procfs = h->dir, .sysfs = sysfs, .why = why };

	*h = (struct host){ .dir = "/tmp/seismo-proc.XXXXXX" };
	CHECK(mkdtemp(h->dir) != NULL);
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		snprintf(path, sizeof(path), "%s/%s", h->dir, dirs[i]);
		CHECK_EQ(mkdir(path, 0700), 0);
	}
	restore(h);
	h->arena = arena_new(8 << 20);
	h->self = calloc(1, source_proc.size);
	CHECK_EQ(source_proc.open(h->self, &env), 0);
}

static void host_close(struct host *h)
{
	static const char *const dirs[] = { "net", "pressure", "sys/fs", "sys", "." };
	char path[PATH_MAX];

	source_proc.close(h->self);
	free(h->self);
	arena_free(h->arena);
	buf_free(&h->sink.metric);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		take(h, files[i]);
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		snprintf(path, sizeof(path), "%s/%s", h->dir, dirs[i]);
		rmdir(i + 1 < ARRAY_SIZE(dirs) ? path : h->dir);
	}
}

static int tick(struct host *h)
{
	int r;

	arena_reset(h->arena);
	buf_reset(&h->sink.metric);
	r = source_proc.read(h->self, &h->sink);
	CHECK_EQ(wire_body_decode(h->arena, h->sink.metric.data, h->sink.metric.len, &h->tick), 0);
	return r;
}

static const double *sample(const struct host *h, const struct wire_dict *d, const char *entity)
{
	for (uint32_t i = 0; i < h->tick.nsamples; i++)
		if (h->tick.samples[i].layout == d->layout &&
		    strcmp(h->tick.samples[i].entity, entity) == 0)
			return h->tick.samples[i].v;
	return NULL;
}

static uint32_t entities(const struct host *h, const struct wire_dict *d)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->tick.nsamples; i++)
		n += h->tick.samples[i].layout == d->layout;
	return n;
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fabs(b);
}

#define NODE(h, id) (sample((h), &layout_node, "")[NODE_##id])
#define DISK(h, name, id) (sample((h), &layout_disk, (name))[DISK_##id])
#define NET(h, name, id) (sample((h), &layout_net, (name))[NET_##id])

TEST(the_first_tick_has_every_gauge_and_no_counter)
{
	const struct wire_dict *const all[] = { &layout_node, &layout_disk, &layout_net };
	const char *const entity[] = { "", "sda", "eth0" };
	struct host h;

	host_open(&h, DATA "/sys");
	CHECK_EQ(tick(&h), 0);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		for (uint32_t m = 0; m < all[i]->n; m++)
			CHECK_EQ(isnan(sample(&h, all[i], entity[i])[m]),
				 all[i]->metrics[m].kind == METRIC_COUNTER);
	host_close(&h);
}

TEST(the_gauges_of_the_node_are_what_its_files_say)
{
	struct host h;

	host_open(&h, DATA "/sys");
	tick(&h);
	CHECK_EQ(NODE(&h, CPUS), 2);
	CHECK_EQ(NODE(&h, BOOT_TIME), 1700000000);
	CHECK_EQ(NODE(&h, PROCS_RUNNING), 3);
	CHECK_EQ(NODE(&h, PROCS_BLOCKED), 2);
	CHECK(NODE(&h, LOAD1) == 0.5 && NODE(&h, LOAD5) == 1.25 && NODE(&h, LOAD15) == 2.75);
	CHECK_EQ(NODE(&h, MEM_TOTAL), 16384000ll * 1024);
	CHECK_EQ(NODE(&h, MEM_CACHED), 4096000ll * 1024);
	CHECK_EQ(NODE(&h, MEM_COMMITTED), 1000000ll * 1024);
	CHECK_EQ(NODE(&h, SWAP_FREE), 2097148ll * 1024);
	CHECK_EQ(NODE(&h, FILES_ALLOCATED), 521);
	CHECK_EQ(NODE(&h, FILES_MAXIMUM), 2466170);
	CHECK_EQ(NODE(&h, TCP_ESTABLISHED), 5);
	CHECK_EQ(NODE(&h, DISKS_CUT), 0);
	host_close(&h);
}

TEST(the_second_tick_has_what_was_counted_since_the_first)
{
	struct host h;

	host_open(&h, DATA "/sys");
	tick(&h);
	put(&h, "stat",
	    "cpu  103 20 301 4150 50 6 7 8 90 10\nctxt 777042\nintr 123457 1\n"
	    "processes 4322\n");
	put(&h, "vmstat", "pgmajfault 64\noom_kill 3\npgscan_direct 71\n");
	put(&h, "pressure/cpu", "some avg10=0.00 total=5277615\nfull avg10=0.00 total=500000\n");
	put(&h, "net/snmp",
	    "Tcp: RetransSegs MaxConn OutSegs\nTcp: 20 -1 600\n"
	    "Udp: InErrors\nUdp: 7\n");
	put(&h, "net/netstat", "TcpExt: ListenDrops ListenOverflows\nTcpExt: 40 31\n");
	CHECK_EQ(tick(&h), 0);
	CHECK(near(NODE(&h, CPU_USER), 0.03) && near(NODE(&h, CPU_SYSTEM), 0.01));
	CHECK(near(NODE(&h, CPU_IDLE), 1.5) && NODE(&h, CPU_STEAL) == 0);
	CHECK_EQ(NODE(&h, CONTEXT_SWITCHES), 42);
	CHECK_EQ(NODE(&h, INTERRUPTS), 1);
	CHECK_EQ(NODE(&h, FORKS), 1);
	CHECK_EQ(NODE(&h, PGMAJFAULT), 4);
	CHECK_EQ(NODE(&h, OOM_KILL), 2);
	CHECK_EQ(NODE(&h, PGSCAN_DIRECT), 1);
	CHECK(near(NODE(&h, PSI_CPU_SOME), 1) && NODE(&h, PSI_CPU_FULL) == 0);
	CHECK_EQ(NODE(&h, TCP_RETRANS), 3);
	CHECK_EQ(NODE(&h, TCP_OUT_SEGS), 46);
	CHECK_EQ(NODE(&h, UDP_IN_ERRORS), 1);
	CHECK_EQ(NODE(&h, LISTEN_DROPS), 8);
	CHECK_EQ(NODE(&h, LISTEN_OVERFLOWS), 0);
	CHECK(isnan(NODE(&h, PGFAULT)) && isnan(NODE(&h, TCP_IN_SEGS))); /* not there any more */
	host_close(&h);
}

TEST(disks_and_interfaces_are_counted_in_bytes_and_seconds)
{
	struct host h;

	host_open(&h, DATA "/sys");
	tick(&h);
	put(&h, "diskstats",
	    "8 0 sda 1001 102 2003 3004 505 56 4007 6008 9 7010 9011 12 2 83 44 10 66\n");
	put(&h, "net/dev", "eth0:48378128 1065 4 6 8 10 12 14 46934 571 18 20 22 24 26 28\n");
	tick(&h);
	CHECK(DISK(&h, "sda", READS) == 1 && DISK(&h, "sda", READS_MERGED) == 2);
	CHECK(DISK(&h, "sda", READ_BYTES) == 3 * 512 && near(DISK(&h, "sda", READ_TIME), 0.004));
	CHECK(DISK(&h, "sda", WRITES) == 5 && DISK(&h, "sda", WRITES_MERGED) == 6);
	CHECK(DISK(&h, "sda", WRITTEN_BYTES) == 7 * 512);
	CHECK(near(DISK(&h, "sda", WRITE_TIME), 0.008) && DISK(&h, "sda", IO_NOW) == 9);
	CHECK(near(DISK(&h, "sda", IO_TIME), 0.01));
	CHECK(near(DISK(&h, "sda", IO_TIME_WEIGHTED), 0.011));
	CHECK(DISK(&h, "sda", DISCARDS) == 2 && DISK(&h, "sda", DISCARDS_MERGED) == 1);
	CHECK(DISK(&h, "sda", DISCARDED_BYTES) == 3 * 512);
	CHECK(near(DISK(&h, "sda", DISCARD_TIME), 0.004) && DISK(&h, "sda", FLUSHES) == 5);
	CHECK(near(DISK(&h, "sda", FLUSH_TIME), 0.006));
	for (int i = 0; i < NET_TX_BYTES; i++)
		CHECK_EQ(sample(&h, &layout_net, "eth0")[i], i < 1 ? 1 : i + 1);
	for (int i = NET_TX_BYTES; i < NET_END; i++)
		CHECK_EQ(sample(&h, &layout_net, "eth0")[i], i + 1);
	host_close(&h);
}

TEST(only_whole_real_disks_are_reported)
{
	static const char *const sysfs[] = { DATA "/sys", "/nonexistent" };

	for (size_t i = 0; i < ARRAY_SIZE(sysfs); i++) {
		struct host h;

		host_open(&h, sysfs[i]);
		tick(&h);
		CHECK_EQ(entities(&h, &layout_disk), 4);
		CHECK(sample(&h, &layout_disk, "sda") && sample(&h, &layout_disk, "nvme0n1"));
		CHECK(sample(&h, &layout_disk, "dm-0") && sample(&h, &layout_disk, "cciss/c0d0"));
		host_close(&h);
	}
}

TEST(an_old_kernel_without_discards_has_them_unavailable)
{
	struct host h;

	host_open(&h, DATA "/sys");
	tick(&h);
	tick(&h);
	CHECK_EQ(DISK(&h, "nvme0n1", READS), 0);
	CHECK_EQ(DISK(&h, "nvme0n1", IO_TIME_WEIGHTED), 0);
	CHECK(isnan(DISK(&h, "nvme0n1", DISCARDS)) && isnan(DISK(&h, "nvme0n1", FLUSH_TIME)));
	host_close(&h);
}

TEST(inner_interfaces_are_reported_only_where_there_is_nothing_else)
{
	struct host h;

	host_open(&h, DATA "/sys");
	tick(&h);
	CHECK_EQ(entities(&h, &layout_net), 2);
	CHECK(sample(&h, &layout_net, "eth0") && sample(&h, &layout_net, "br-0"));
	put(&h, "net/dev",
	    "lo: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n"
	    "veth9: 2 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n");
	tick(&h);
	CHECK_EQ(entities(&h, &layout_net), 2);
	CHECK(sample(&h, &layout_net, "lo") && sample(&h, &layout_net, "veth9"));
	host_close(&h);
}

TEST(a_counter_that_went_back_is_unavailable_for_one_tick)
{
	struct host h;

	host_open(&h, DATA "/sys");
	tick(&h);
	put(&h, "vmstat", "pgmajfault 5\noom_kill 1\n");
	tick(&h);
	CHECK(isnan(NODE(&h, PGMAJFAULT)));
	CHECK_EQ(NODE(&h, OOM_KILL), 0);
	put(&h, "vmstat", "pgmajfault 7\noom_kill 1\n");
	tick(&h);
	CHECK_EQ(NODE(&h, PGMAJFAULT), 2);
	host_close(&h);
}

TEST(a_disk_that_comes_back_is_another_disk)
{
	struct host h;

	host_open(&h, DATA "/sys");
	tick(&h);
	put(&h, "diskstats", "8 0 sda 2000 0 0 0 0 0 0 0 0 0 0\n");
	tick(&h);
	CHECK_EQ(entities(&h, &layout_disk), 1);
	CHECK_EQ(DISK(&h, "sda", READS), 1000);
	put(&h, "diskstats", "");
	tick(&h);
	CHECK_EQ(entities(&h, &layout_disk), 0);
	put(&h, "diskstats", "8 0 sda 3000 0 0 0 0 0 0 0 0 0 0\n");
	tick(&h);
	CHECK(isnan(DISK(&h, "sda", READS)));
	CHECK_EQ(DISK(&h, "sda", IO_NOW), 0);
	host_close(&h);
}

TEST(a_kernel_without_pressure_has_it_unavailable)
{
	struct host h;

	host_open(&h, DATA "/sys");
	for (int i = 0; i < 2; i++) {
		take(&h, "pressure/cpu");
		take(&h, "pressure/memory");
		take(&h, "pressure/io");
		CHECK_EQ(tick(&h), 0);
		for (int m = NODE_PSI_CPU_SOME; m <= NODE_PSI_IO_FULL; m++)
			CHECK(isnan(sample(&h, &layout_node, "")[m]));
	}
	host_close(&h);
}

TEST(a_read_without_stat_is_an_error_and_sends_the_rest)
{
	struct host h;

	host_open(&h, DATA "/sys");
	take(&h, "stat");
	CHECK_EQ(tick(&h), -ENOENT);
	CHECK(NODE(&h, LOAD1) == 0.5);
	CHECK(isnan(NODE(&h, CPUS)));
	CHECK(sample(&h, &layout_disk, "sda") != NULL);
	host_close(&h);
}

TEST(more_devices_than_the_bound_are_counted_and_not_reported)
{
	struct host h;
	struct buf text = { 0 };
	char line[64];

	for (int i = 0; i < MAX_DEVICES + 7; i++) {
		snprintf(line, sizeof(line), "eth%d: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n", i);
		buf_put(&text, line, strlen(line));
	}
	host_open(&h, DATA "/sys");
	put_bytes(&h, "net/dev", text.data, text.len);
	tick(&h);
	CHECK_EQ(entities(&h, &layout_net), MAX_DEVICES);
	CHECK_EQ(NODE(&h, NETS_CUT), 7);
	restore(&h);
	tick(&h); /* the room of those that went is free after it */
	tick(&h);
	CHECK_EQ(NODE(&h, NETS_CUT), 0);
	CHECK_EQ(entities(&h, &layout_net), 2);
	buf_free(&text);
	host_close(&h);
}

TEST(one_name_twice_is_one_device)
{
	struct host h;

	host_open(&h, DATA "/sys");
	put(&h, "diskstats", "8 0 sda 5 0 0 0 0 0 0 0 0 0 0\n8 0 sda 9 0 0 0 0 0 0 0 0 0 0\n");
	tick(&h);
	CHECK_EQ(entities(&h, &layout_disk), 1);
	CHECK_EQ(NODE(&h, DISKS_CUT), 1);
	host_close(&h);
}

TEST(what_is_not_a_number_is_unavailable)
{
	static const char *const bad[] = {
		"-1", "x", "1x", "99999999999999999999", "", ".", "1e3"
	};
	char text[128];
	struct host h;

	host_open(&h, DATA "/sys");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(text, sizeof(text), "%s 1 1 1/2 3\n", bad[i]);
		put(&h, "loadavg", text);
		snprintf(text, sizeof(text), "MemFree: %s\n", bad[i]);
		put(&h, "meminfo", text);
		tick(&h);
		CHECK(isnan(NODE(&h, MEM_FREE)));
		CHECK(isnan(NODE(&h, LOAD1)) || bad[i][0] == 0);
	}
	host_close(&h);
}

/* Nothing happens on this host: a gauge is what it was, a counter has not moved, or there is none.
 */
static void check_still(const struct host *h, const struct wire_dict *d, const char *entity,
			const double *gauge)
{
	const double *v = sample(h, d, entity);

	for (uint32_t i = 0; v && i < d->n; i++) {
		double want = d->metrics[i].kind == METRIC_GAUGE ? gauge[i] : 0;

		CHECK(isnan(v[i]) || v[i] == want);
	}
}

static void cut_and_restore(struct host *h, const char *file, const double *node,
			    const double *disk)
{
	char text[8192];
	size_t len = get(file, text, sizeof(text));

	for (size_t n = 0; n < len && !test_failed; n++) {
		for (int restored = 0; restored < 2; restored++) {
			put_bytes(h, file, text, restored ? len : n);
			tick(h);
			check_still(h, &layout_node, "", node);
			check_still(h, &layout_disk, "sda", disk);
		}
	}
}

TEST(a_file_that_is_cut_anywhere_gives_no_wrong_number)
{
	double node[NODE_END], disk[DISK_END];
	struct host h;

	host_open(&h, DATA "/sys");
	tick(&h);
	memcpy(node, sample(&h, &layout_node, ""), sizeof(node));
	memcpy(disk, sample(&h, &layout_disk, "sda"), sizeof(disk));
	for (size_t f = 0; f < ARRAY_SIZE(files) && !test_failed; f++)
		cut_and_restore(&h, files[f], node, disk);
	host_close(&h);
}

static uint64_t rnd(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void damage(char *text, size_t len, uint64_t *seed)
{
	static const char likely[] = { '\n', ' ', ':', '=', 0, '.', '-', '/', '9', (char)0xff };

	for (uint64_t n = rnd(seed) % 20; n && len; n--)
		text[rnd(seed) % len] =
			rnd(seed) % 2 ? likely[rnd(seed) % sizeof(likely)] : (char)rnd(seed);
}

TEST(whatever_stands_in_proc_names_are_plain_text_and_counters_do_not_go_back)
{
	uint64_t seed = 88172645463325252u;
	char text[8192];
	struct host h;

	host_open(&h, "/nonexistent");
	for (int round = 0; round < 300 && !test_failed; round++) {
		for (size_t f = 0; f < ARRAY_SIZE(files); f++) {
			size_t len = get(files[f], text, sizeof(text));

			damage(text, len, &seed);
			put_bytes(&h, files[f], text, len);
		}
		tick(&h);
		for (uint32_t i = 0; i < h.tick.nsamples; i++) {
			const struct sample_item *s = &h.tick.samples[i];

			CHECK(strlen(s->entity) < DEVICE_NAME);
			for (const char *c = s->entity; *c; c++)
				CHECK('!' <= *c && *c <= '~');
			for (uint32_t m = 0; m < s->n; m++)
				CHECK(isnan(s->v[m]) || s->v[m] >= 0);
		}
	}
	host_close(&h);
}
