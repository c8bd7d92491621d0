// SPDX-License-Identifier: Apache-2.0
#include "probe/source/pmu.h"

#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "lib/base/log.h"
#include "probe/core/source.h"

enum { ENABLED = 1, RUNNING = 2, VALUES = 3 };

struct one {
	int fd[PMU_COUNTERS]; /* -1: none; the first is the group leader */
	struct pmu_cpu cpu;
};

struct pmu {
	int n;
	bool has[PMU_COUNTERS];
	struct one one[];
};

static int open_one(int cpu, enum pmu_counter counter, int leader)
{
	static const uint64_t config[PMU_COUNTERS] = {
		[PMU_CYCLES] = PERF_COUNT_HW_CPU_CYCLES,
		[PMU_INSTRUCTIONS] = PERF_COUNT_HW_INSTRUCTIONS,
		[PMU_MISSES] = PERF_COUNT_HW_CACHE_MISSES,
	};
	struct perf_event_attr a = { .type = PERF_TYPE_HARDWARE,
				     .size = sizeof(a),
				     .config = config[counter],
				     .read_format = PERF_FORMAT_GROUP |
						    PERF_FORMAT_TOTAL_TIME_ENABLED |
						    PERF_FORMAT_TOTAL_TIME_RUNNING };
	long fd = syscall(SYS_perf_event_open, &a, -1, cpu, leader, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int explain_error(int err, char *why)
{
	if (err == -EACCES || err == -EPERM)
		snprintf(why, WHY_LEN,
			 "the kernel does not permit counting (%s); start as root, or with "
			 "CAP_PERFMON",
			 strerror(-err));
	else
		snprintf(why, WHY_LEN,
			 "this machine has no hardware counters (%s), as most virtual ones: "
			 "instructions per cycle and cache misses are unavailable",
			 strerror(-err));
	return err;
}

/* An offline CPU has nothing open. A counter is used on all CPUs or on none. */
static int open_cpu(struct pmu *p, int cpu)
{
	struct one *o = &p->one[cpu];

	o->fd[PMU_CYCLES] = open_one(cpu, PMU_CYCLES, -1);
	if (o->fd[PMU_CYCLES] == -ENODEV && cpu)
		return 0;
	if (o->fd[PMU_CYCLES] < 0)
		return o->fd[PMU_CYCLES];
	for (int i = PMU_INSTRUCTIONS; i < PMU_COUNTERS; i++) {
		if (!p->has[i])
			continue;
		o->fd[i] = open_one(cpu, (enum pmu_counter)i, o->fd[PMU_CYCLES]);
		if (o->fd[i] < 0)
			p->has[i] = false;
	}
	return 0;
}

int pmu_open(struct pmu **out, char *why)
{
	int n = libbpf_num_possible_cpus(), r = 0;
	struct pmu *p;

	*out = NULL;
	if (n < 0)
		return n;
	p = calloc(1, sizeof(*p) + (size_t)n * sizeof(p->one[0]));
	if (!p)
		die("out of memory");
	p->n = n;
	for (int i = 0; i < PMU_COUNTERS; i++)
		p->has[i] = true;
	for (int cpu = 0; cpu < n; cpu++)
		for (int i = 0; i < PMU_COUNTERS; i++)
			p->one[cpu].fd[i] = -1;
	for (int cpu = 0; cpu < n && r == 0; cpu++)
		r = open_cpu(p, cpu);
	if (r < 0) {
		pmu_close(p);
		return explain_error(r, why);
	}
	*out = p;
	return 0;
}

void pmu_close(struct pmu *p)
{
	for (int cpu = 0; p && cpu < p->n; cpu++)
		for (int i = PMU_COUNTERS; i-- > 0;)
			if (p->one[cpu].fd[i] >= 0)
				close(p->one[cpu].fd[i]);
	free(p);
}

bool pmu_add(struct pmu_cpu *c, const uint64_t word[static PMU_WORDS],
	     double sum[static PMU_COUNTERS])
{
	uint64_t running = word[RUNNING] - c->last[RUNNING];
	double scale = running ? (double)(word[ENABLED] - c->last[ENABLED]) / (double)running : 0;
	bool counted = c->seen && running;

	for (int i = 0; counted && i < PMU_COUNTERS; i++)
		sum[i] += (double)(word[VALUES + i] - c->last[VALUES + i]) * scale;
	memcpy(c->last, word, sizeof(c->last));
	c->seen = true;
	return counted;
}

/* read() returns only the values of open counters, without gaps. */
static int read_cpu(const struct one *o, uint64_t word[static PMU_WORDS])
{
	uint64_t raw[PMU_WORDS] = { 0 };
	int at = VALUES;

	if (read(o->fd[PMU_CYCLES], raw, sizeof(raw)) < 0)
		return -errno;
	memset(word, 0, PMU_WORDS * sizeof(*word));
	memcpy(word, raw, VALUES * sizeof(*word));
	for (int i = 0; i < PMU_COUNTERS; i++)
		if (o->fd[i] >= 0)
			word[VALUES + i] = raw[at++];
	return 0;
}

int pmu_read(struct pmu *p, double out[static PMU_COUNTERS])
{
	double sum[PMU_COUNTERS] = { 0 };
	bool counted = false;

	for (int cpu = 0; cpu < p->n; cpu++) {
		uint64_t word[PMU_WORDS];
		int r = p->one[cpu].fd[PMU_CYCLES] < 0 ? 0 : read_cpu(&p->one[cpu], word);

		if (r < 0)
			return r;
		if (p->one[cpu].fd[PMU_CYCLES] >= 0)
			counted |= pmu_add(&p->one[cpu].cpu, word, sum);
	}
	for (int i = 0; i < PMU_COUNTERS; i++)
		out[i] = counted && p->has[i] ? sum[i] : (double)NAN;
	return 0;
}
