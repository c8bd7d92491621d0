// SPDX-License-Identifier: Apache-2.0
#include "probe/overhead/meter.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "probe/overhead/bpf_stats.h"
#include "probe/overhead/bpf_stats_bias.h"
#include "probe/core/layout.h"
#include "probe/kernel/switch_chain.h"

enum { COUNTED_PART = 20 /* the kernel counts in 1/20 of the time */ };

static const uint64_t SECOND = 1000000000u;

struct cost {
	uint64_t reads, skipped, failed, cpu_ns; /* since the last report */
	int *program; /* descriptors, owned by the source */
	size_t nprograms;
	uint64_t map_bytes;
	struct meter_runs kernel; /* the kernel's values at the last read */
	struct meter_runs all, reported; /* in our windows: in total, and up to the last report */
	uint64_t reported_missed;
};

struct meter {
	size_t n;
	struct switch_chain *chain;
	struct bpf_stats *counting; /* NULL: not permitted */
	bool open; /* a window is open */
	uint64_t each_ns; /* interval of the clock with one window */
	uint64_t next_ns; /* the earliest time to open or close the window */
	int64_t hook_ns;
	uint64_t began_ns; /* bpf_stats_ns at the last read */
	uint64_t counted_ns, reported_counted_ns; /* in total, and up to the last report */
	uint64_t reported_ns; /* time of the last report, or of the start */
	uint64_t chance; /* state of random_up_to */
	uint64_t reported_cpu_ns; /* of the process */
	bool *before; /* descriptors that were open before a source was */
	size_t nbefore;
	struct cost cost[];
};

struct meter *meter_new(size_t sources, struct switch_chain *chain)
{
	struct meter *m = calloc(1, sizeof(*m) + sources * sizeof(m->cost[0]));

	if (!m)
		die("out of memory");
	m->n = sources;
	m->chain = chain;
	return m;
}

void meter_free(struct meter *m)
{
	if (!m)
		return;
	bpf_stats_close(m->counting);
	for (size_t i = 0; i < m->n; i++)
		free(m->cost[i].program);
	free(m->before);
	free(m);
}

/* Calls f, unless NULL, for each descriptor of this process; returns their number. */
static size_t each_fd(struct meter *m, void (*f)(struct meter *m, size_t source, int fd),
		      size_t source)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	size_t n = 0;

	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.' || atoi(e->d_name) == dirfd(d))
			continue;
		if (f)
			f(m, source, atoi(e->d_name));
		n++;
	}
	if (d)
		closedir(d);
	return n;
}

static void remember(struct meter *m, size_t source UNUSED, int fd)
{
	size_t n = (size_t)fd + 1;

	if (n > m->nbefore) {
		m->before = realloc(m->before, n * sizeof(*m->before));
		if (!m->before)
			die("out of memory");
		memset(m->before + m->nbefore, 0, (n - m->nbefore) * sizeof(*m->before));
		m->nbefore = n;
	}
	m->before[fd] = true;
}

void meter_before_open(struct meter *m)
{
	free(m->before);
	m->before = NULL;
	m->nbefore = 0;
	each_fd(m, remember, 0);
}

/* The memory that the kernel charges for a map. */
static uint64_t map_bytes(int fd)
{
	unsigned long long bytes;
	uint64_t sum = 0;
	char path[64], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "memlock: %llu", &bytes) == 1)
			sum = bytes;
	if (f)
		fclose(f);
	return sum;
}

static void add_program(struct cost *c, int fd)
{
	c->program = realloc(c->program, (c->nprograms + 1) * sizeof(*c->program));
	if (!c->program)
		die("out of memory");
	c->program[c->nprograms++] = fd;
}

static void add_new(struct meter *m, size_t source, int fd)
{
	char path[64], what[64];
	ssize_t len;

	if ((size_t)fd < m->nbefore && m->before[fd])
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	len = readlink(path, what, sizeof(what) - 1);
	what[len > 0 ? len : 0] = 0;
	if (strstr(what, "bpf-prog"))
		add_program(&m->cost[source], fd);
	else if (strstr(what, "bpf-map"))
		m->cost[source].map_bytes += map_bytes(fd);
}

void meter_after_open(struct meter *m, size_t source)
{
	each_fd(m, add_new, source);
}

/* The kernel's counts of the source's programs. */
static struct meter_runs runs_of(const struct cost *c)
{
	struct meter_runs sum = { 0 };

	for (size_t i = 0; i < c->nprograms; i++) {
		struct bpf_prog_info info = { 0 };
		__u32 len = sizeof(info);

		if (bpf_obj_get_info_by_fd(c->program[i], &info, &len) < 0)
			continue;
		sum.runs += info.run_cnt;
		sum.ns += info.run_time_ns;
		sum.missed += info.recursion_misses;
	}
	return sum;
}

/* Adds the counts since the last read; ours false: outside a window, others may have counted. */
static void read_programs(struct meter *m, bool ours)
{
	uint64_t ns = m->counting ? bpf_stats_ns(m->counting) : 0;

	for (size_t i = 0; i < m->n; i++) {
		struct cost *c = &m->cost[i];
		struct meter_runs now = runs_of(c);

		if (ours) {
			c->all.runs += now.runs - c->kernel.runs;
			c->all.ns += now.ns - c->kernel.ns;
		}
		c->kernel = now;
	}
	m->counted_ns += ours ? ns - m->began_ns : 0;
	m->began_ns = ns;
}

int meter_count(struct meter *m, uint64_t mono_ns, uint32_t each_s)
{
	int r;

	m->hook_ns = bpf_stats_bias_ns();
	r = bpf_stats_open(&m->counting);
	if (r < 0)
		return r;
	m->open = true;
	m->reported_ns = mono_ns;
	m->each_ns = each_s * SECOND;
	m->next_ns = mono_ns + METER_COUNT_S * SECOND;
	m->chance = mono_ns | 1;
	return 0;
}

/* A random number in 1..most: windows at random times are not biased by periodic work. */
static uint64_t random_up_to(struct meter *m, uint64_t most)
{
	m->chance ^= m->chance << 13;
	m->chance ^= m->chance >> 7;
	m->chance ^= m->chance << 17;
	return m->chance % most + 1;
}

static uint64_t window_ns(const struct meter *m)
{
	return m->each_ns / COUNTED_PART;
}

uint32_t meter_watch_ms(const struct meter *m)
{
	return m->counting ? (uint32_t)(window_ns(m) / 1000000) : METER_COUNT_S * 1000;
}

static void open_window(struct meter *m, uint64_t mono_ns)
{
	switch_chain_part(m->chain);
	read_programs(m, false);
	m->open = true;
	bpf_stats_want(m->counting, true);
	m->next_ns = mono_ns + window_ns(m) / 4 * 3; /* the closing call may come a little early */
}

/* Places the next window so that it ends within its interval. */
static void close_window(struct meter *m, uint64_t mono_ns)
{
	read_programs(m, true);
	m->open = false;
	bpf_stats_want(m->counting, false);
	switch_chain_join(m->chain);
	m->next_ns =
		clock_next(mono_ns, m->each_ns) + random_up_to(m, m->each_ns - 3 * window_ns(m));
}

bool meter_watch(struct meter *m, uint64_t mono_ns)
{
	if (!m->counting || mono_ns < m->next_ns)
		return false;
	if (!m->open) {
		open_window(m, mono_ns);
	} else if (bpf_stats_ns(m->counting) - m->began_ns < window_ns(m) / 2) {
		bpf_stats_want(m->counting, true); /* not started yet, or refused */
	} else {
		close_window(m, mono_ns);
		return true;
	}
	return false;
}

/* A program cheaper than taking the time still has a cost: at least a quarter of the count. */
static int64_t corrected(const struct meter_runs *r, int64_t hook_ns)
{
	int64_t ns = (int64_t)r->ns + (int64_t)r->runs * hook_ns, least = (int64_t)r->ns / 4;

	return ns > least ? ns : least;
}

struct meter_runs meter_runs_of(const struct meter *m, size_t source)
{
	struct meter_runs r = m->cost[source].all;

	r.ns = (uint64_t)corrected(&r, m->hook_ns);
	r.counted_ns = m->counted_ns;
	return r;
}

void meter_read(struct meter *m, size_t source, uint64_t cpu_ns, bool failed)
{
	struct cost *c = &m->cost[source];

	c->reads++;
	c->failed += failed;
	c->cpu_ns += cpu_ns;
}

void meter_skipped(struct meter *m, size_t source)
{
	m->cost[source].skipped++;
}

/*
 * Extrapolates the count to the time since the last report. Without permission to count, runs that
 * increase show that others count.
 */
static void put_runs(struct cost *c, double part, bool ours, double *v)
{
	if (!c->nprograms || part <= 0 || (!ours && c->all.runs == c->reported.runs))
		return;
	v[COST_RUNS] = round((double)(c->all.runs - c->reported.runs) / part);
	v[COST_RUN_SECONDS] =
		(double)(float)((double)(c->all.ns - c->reported.ns) / part / (double)SECOND);
	c->reported = c->all;
}

/* The counted part of the time since the last report; 0.95 and more is taken for all of it. */
static double counted_part(struct meter *m, uint64_t mono_ns)
{
	const double counted = (double)(m->counted_ns - m->reported_counted_ns);
	const double since = (double)(mono_ns - m->reported_ns);

	m->reported_counted_ns = m->counted_ns;
	m->reported_ns = mono_ns;
	return counted < 0.95 * since ? counted / since : 1;
}

static void report_source(struct meter *m, size_t i, const char *name, double part,
			  struct sink *out)
{
	struct cost *c = &m->cost[i];
	uint64_t missed = runs_of(c).missed;
	double v[COST_END] = {
		[COST_READS] = (double)c->reads,
		[COST_SKIPPED] = (double)c->skipped,
		[COST_FAILED] = (double)c->failed,
		[COST_CPU] = (double)c->cpu_ns / 1e9,
		[COST_PROGRAMS] = (double)c->nprograms,
		[COST_MAP_BYTES] = (double)c->map_bytes,
		[COST_RUNS] = NAN,
		[COST_RUN_SECONDS] = NAN,
		[COST_RUNS_MISSED] = (double)(missed - c->reported_missed),
	};

	if (missed && !c->reported_missed)
		log_info("the kernel skipped runs of a program of source %s, as the same program "
			 "was already running: their events are missing, see "
			 "source_program_runs_missed_total",
			 name);
	put_runs(c, part, m->counting, v);
	c->reads = c->skipped = c->failed = c->cpu_ns = 0;
	c->reported_missed = missed;
	sink_sample(out, &(struct sample_item){ layout_cost.layout, name, COST_END, v });
}

static double resident(const char *procfs)
{
	unsigned long pages;
	double bytes = NAN;
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/self/statm", procfs);
	f = fopen(path, "re");
	if (f && fscanf(f, "%*u %lu", &pages) == 1)
		bytes = (double)pages * (double)sysconf(_SC_PAGESIZE);
	if (f)
		fclose(f);
	return bytes;
}

static void report_process(struct meter *m, const char *procfs, struct sink *out)
{
	struct rusage u = { 0 };
	uint64_t cpu_ns;
	double v[PROCESS_END];

	getrusage(RUSAGE_SELF, &u);
	cpu_ns = (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000u +
		 (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000u;
	v[PROCESS_CPU] = (double)(cpu_ns - m->reported_cpu_ns) / 1e9;
	v[PROCESS_RSS] = resident(procfs);
	v[PROCESS_FDS] = (double)each_fd(m, NULL, 0);
	m->reported_cpu_ns = cpu_ns;
	sink_sample(out, &(struct sample_item){ layout_process.layout, "", PROCESS_END, v });
}

void meter_report(struct meter *m, uint64_t mono_ns, const char *const *names, const bool *on,
		  const char *procfs, struct sink *out)
{
	double part = 1;

	if (m->open || !m->counting)
		read_programs(m, true);
	if (m->counting)
		part = counted_part(m, mono_ns);
	report_process(m, procfs, out);
	for (size_t i = 0; i < m->n; i++)
		if (on[i])
			report_source(m, i, names[i], part, out);
}
