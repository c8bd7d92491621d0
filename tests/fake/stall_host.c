// SPDX-License-Identifier: Apache-2.0
#include "tests/fake/stall_host.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tests/lib/test.h"
#include "tests/fake/clock.h"

#define S 1000000000ull

static const char *const pressures[] = { "pressure/cpu", "pressure/io", "pressure/memory" };

PRINTF(3, 4)
static void put(const struct stall_host *h, const char *name, const char *fmt, ...)
{
	char path[128];
	va_list ap;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", h->dir, name);
	f = fopen(path, "we");
	CHECK(f != NULL);
	if (!f)
		return;
	va_start(ap, fmt);
	vfprintf(f, fmt, ap);
	va_end(ap);
	fclose(f);
}

PRINTF(4, 5)
static void put_of(const struct stall_host *h, const struct stall_proc *p, const char *name,
		   const char *fmt, ...)
{
	char path[64], text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(path, sizeof(path), "%u/%s", p->pid, name);
	put(h, path, "%s", text);
}

static void make_dir(const struct stall_host *h, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", h->dir, name);
	CHECK_EQ(mkdir(path, 0700), 0);
}

static void put_proc(const struct stall_host *h, const struct stall_proc *p)
{
	put_of(h, p, "stat",
	       "%u (%s) S 1 1 1 0 -1 0 %ld 0 0 0 %ld 0 0 0 20 %d %d 0 %u 1 %ld 1 0 0 0 0 0 0 0 0 "
	       "0 0 0 0 17 0 0 %d 0 0 0\n",
	       p->pid, p->comm, 0l, (long)(p->cpu_s * 100), p->nice, p->threads, p->pid,
	       (long)(p->rss / (double)sysconf(_SC_PAGESIZE)), p->policy);
	/* of several threads the first waits as little as possible */
	put_of(h, p, "schedstat", "1 %.0f 1\n", p->threads > 1 ? 0 : p->wait_s * 1e9);
	for (int i = 0; i < p->threads && p->threads > 1; i++) {
		char name[64];

		snprintf(name, sizeof(name), "task/%u/schedstat", p->pid + (unsigned)i);
		put_of(h, p, name, "1 %.0f 1\n", i ? p->wait_s * 1e9 / (p->threads - 1) : 0);
	}
	put_of(h, p, "io", "rchar: 1\nread_bytes: %.0f\nwrite_bytes: %.0f\n", p->read_bytes,
	       p->written_bytes);
	put_of(h, p, "cgroup", "4:memory:%s\n2:cpu,cpuacct:%s\n0::%s\n", p->cgroup, p->cgroup,
	       p->cgroup);
}

static void put_host(const struct stall_host *h)
{
	for (size_t i = 0; i < ARRAY_SIZE(pressures); i++)
		put(h, pressures[i],
		    "some avg10=0.00 avg60=0.00 avg300=0.00 total=%.0f\n"
		    "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
		    h->total_us[i]);
	put(h, "diskstats",
	    "   8       0 sda %.0f 0 0 %.0f 0 0 0 0 0 %.0f %.0f\n"
	    "   8       1 sda1 %.0f 0 0 %.0f 0 0 0 0 0 %.0f %.0f\n"
	    "   8      16 sdb 0 0 0 0 0 0 0 0 0 0 0\n",
	    h->ios, h->queue_ms, h->busy_ms, h->queue_ms, h->ios, h->queue_ms, h->busy_ms,
	    h->queue_ms);
	for (int i = 0; i < STALL_PROCS; i++)
		if (h->proc[i].pid)
			put_proc(h, &h->proc[i]);
}

struct stall_proc *stall_host_start(struct stall_host *h, uint32_t pid, const char *comm)
{
	char name[64];

	for (int i = 0; i < STALL_PROCS; i++)
		if (!h->proc[i].pid) {
			h->proc[i] = (struct stall_proc){
				.pid = pid, .comm = comm, .cgroup = "/", .threads = 1
			};
			snprintf(name, sizeof(name), "%u", pid);
			make_dir(h, name);
			snprintf(name, sizeof(name), "%u/task", pid);
			make_dir(h, name);
			for (uint32_t t = 0; t < 3; t++) {
				snprintf(name, sizeof(name), "%u/task/%u", pid, pid + t);
				make_dir(h, name);
			}
			return &h->proc[i];
		}
	abort();
}

void stall_host_end(struct stall_host *h, struct stall_proc *p)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s/%u", h->dir, p->pid);
	CHECK_EQ(system(command), 0);
	p->pid = 0;
}

void stall_host_open(struct stall_host *h)
{
	char why[WHY_LEN] = "";
	struct probe_env env = { .procfs = h->dir, .sysfs = h->sysfs, .why = why };

	*h = (struct stall_host){
		.dir = "/tmp/seismo-stall.XXXXXX",
		.config = { .cpu_stall_pct = 40, .io_stall_pct = 30, .memory_stall_pct = 15 },
		.now_ns = 1000 * S,
	};
	CHECK(mkdtemp(h->dir) != NULL);
	snprintf(h->sysfs, sizeof(h->sysfs), "%s/sys", h->dir);
	make_dir(h, "pressure");
	make_dir(h, "self");
	make_dir(h, "memory");
	make_dir(h, "memory/box");
	make_dir(h, "sys");
	put(h, "self/mounts", "cgroup %s/memory cgroup rw,memory 0 0\n", h->dir);
	put(h, "memory/box/memory.usage_in_bytes", "99000000\n");
	put(h, "memory/box/memory.limit_in_bytes", "100000000\n");
	put_host(h);
	env.config = &h->config;
	h->arena = arena_new(8 << 20);
	h->self = calloc(1, source_stalls.size);
	clock_set_ns(h->now_ns);
	CHECK_EQ(source_stalls.open(h->self, &env), 0);
	CHECK_EQ(source_stalls.read(h->self, &h->sink), 0);
}

void stall_host_close(struct stall_host *h)
{
	char command[128];

	source_stalls.close(h->self);
	free(h->self);
	arena_free(h->arena);
	buf_free(&h->sink.event);
	buf_free(&h->sink.metric);
	snprintf(command, sizeof(command), "rm -r %s", h->dir);
	CHECK_EQ(system(command), 0);
}

/* As the scheduler reads it: again after step_ms while it goes on. */
static void read_on_time(struct stall_host *h)
{
	const uint64_t step_ns = source_stalls.step_ms * 1000000ull;
	int r = source_stalls.read(h->self, &h->sink);

	for (uint64_t ns = step_ns; r == SOURCE_GOES_ON && ns < S / 2; ns += step_ns) {
		clock_set_ns(h->now_ns + ns);
		r = source_stalls.read(h->self, &h->sink);
	}
	CHECK(r == SOURCE_ON_TIME || r == SOURCE_GOES_ON);
}

void stall_tick(struct stall_host *h)
{
	for (int i = 0; i < STALL_PROCS; i++) {
		struct stall_proc *p = &h->proc[i];

		p->cpu_s += p->cpu / 2;
		p->wait_s += p->wait / 2;
		p->read_bytes += p->read / 2;
		p->written_bytes += p->written / 2;
		p->rss += p->grows / 2;
	}
	for (size_t i = 0; i < ARRAY_SIZE(pressures); i++)
		h->total_us[i] += h->share[i] * 5e5;
	h->busy_ms += h->util * 500;
	h->queue_ms += h->queue * 500;
	h->ios += h->util * 50;
	put_host(h);
	h->now_ns += S / 2;
	clock_set_ns(h->now_ns);
	buf_reset(&h->sink.event);
	arena_reset(h->arena);
	read_on_time(h);
	CHECK_EQ(wire_body_decode(h->arena, h->sink.event.data, h->sink.event.len, &h->sent), 0);
	h->events += h->sent.nevents;
}

const struct event_item *stall_until(struct stall_host *h, double seconds)
{
	for (double s = 0; s < seconds; s += 0.5) {
		stall_tick(h);
		if (h->sent.nevents)
			return &h->sent.events[0];
	}
	return NULL;
}
