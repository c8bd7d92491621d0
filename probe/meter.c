// SPDX-License-Identifier: Apache-2.0
#include "meter.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "../lib/log.h"
#include "layout.h"

struct cost {
	uint64_t reads, skipped, failed, cpu_ns; /* since the last telling */
	int *program; /* descriptors, the source's own */
	size_t nprograms;
	uint64_t map_bytes;
	uint64_t runs, run_ns; /* as the kernel last told */
};

struct meter {
	size_t n;
	int counting; /* the descriptor that makes the kernel count, or -1 */
	uint64_t until_ns;
	uint64_t told_cpu_ns; /* of the process */
	size_t fds; /* open now */
	bool *before; /* descriptors that were open before a source was */
	size_t nbefore;
	struct cost cost[];
};

struct meter *meter_new(size_t sources)
{
	struct meter *m = calloc(1, sizeof(*m) + sources * sizeof(m->cost[0]));

	if (!m)
		die("out of memory");
	m->n = sources;
	m->counting = -1;
	return m;
}

void meter_free(struct meter *m)
{
	if (!m)
		return;
	if (m->counting >= 0)
		close(m->counting);
	for (size_t i = 0; i < m->n; i++)
		free(m->cost[i].program);
	free(m->before);
	free(m);
}

/* Calls f with each descriptor that this process has. */
static void each_fd(struct meter *m, void (*f)(struct meter *m, size_t source, int fd),
		    size_t source)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.' && atoi(e->d_name) != dirfd(d))
			f(m, source, atoi(e->d_name));
	if (d)
		closedir(d);
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

/* What the kernel charges for a map. */
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

int meter_count(struct meter *m, uint64_t mono_ns)
{
	m->counting = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (m->counting < 0)
		return -errno;
	m->until_ns = mono_ns + METER_COUNT_S * 1000000000ull;
	return 0;
}

uint64_t meter_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
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

/* Counted as long as somebody has the kernel count. */
static void put_runs(struct cost *c, bool counting, double *v)
{
	uint64_t runs = 0, ns = 0;

	for (size_t i = 0; i < c->nprograms; i++) {
		struct bpf_prog_info info = { 0 };
		__u32 len = sizeof(info);

		if (bpf_obj_get_info_by_fd(c->program[i], &info, &len) < 0)
			continue;
		runs += info.run_cnt;
		ns += info.run_time_ns;
	}
	if (c->nprograms && (counting || runs > c->runs)) {
		v[COST_RUNS] = (double)(runs - c->runs);
		v[COST_RUN_SECONDS] = (double)(float)((double)(ns - c->run_ns) / 1e9);
	}
	c->runs = runs;
	c->run_ns = ns;
}

static void tell_source(struct meter *m, size_t i, const char *name, bool counting,
			struct sink *out)
{
	struct cost *c = &m->cost[i];
	double v[COST_END] = {
		[COST_READS] = (double)c->reads,
		[COST_SKIPPED] = (double)c->skipped,
		[COST_FAILED] = (double)c->failed,
		[COST_CPU] = (double)c->cpu_ns / 1e9,
		[COST_PROGRAMS] = (double)c->nprograms,
		[COST_MAP_BYTES] = (double)c->map_bytes,
		[COST_RUNS] = NAN,
		[COST_RUN_SECONDS] = NAN,
	};

	put_runs(c, counting, v);
	c->reads = c->skipped = c->failed = c->cpu_ns = 0;
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

static void count_fd(struct meter *m, size_t source UNUSED, int fd UNUSED)
{
	m->fds++;
}

static void tell_process(struct meter *m, const char *procfs, struct sink *out)
{
	struct rusage u = { 0 };
	uint64_t cpu_ns;
	double v[PROCESS_END];

	getrusage(RUSAGE_SELF, &u);
	cpu_ns = (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000u +
		 (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000u;
	m->fds = 0;
	each_fd(m, count_fd, 0);
	v[PROCESS_CPU] = (double)(cpu_ns - m->told_cpu_ns) / 1e9;
	v[PROCESS_RSS] = resident(procfs);
	v[PROCESS_FDS] = (double)m->fds;
	m->told_cpu_ns = cpu_ns;
	sink_sample(out, &(struct sample_item){ layout_process.layout, "", PROCESS_END, v });
}

void meter_tell(struct meter *m, uint64_t mono_ns, const char *const *names, const bool *on,
		const char *procfs, struct sink *out)
{
	const bool counting = m->counting >= 0;

	tell_process(m, procfs, out);
	for (size_t i = 0; i < m->n; i++)
		if (on[i])
			tell_source(m, i, names[i], counting, out);
	if (counting && mono_ns >= m->until_ns) {
		close(m->counting);
		m->counting = -1;
	}
}
