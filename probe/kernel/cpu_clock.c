// SPDX-License-Identifier: Apache-2.0
#include "probe/kernel/cpu_clock.h"

#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "lib/base/log.h"
#include "probe/core/source.h"

struct cpu_clock {
	int n;
	struct bpf_link *link[]; /* NULL: that CPU is offline */
};

static int open_one(int cpu, uint32_t hz)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE,
				     .size = sizeof(a),
				     .config = PERF_COUNT_SW_CPU_CLOCK,
				     .sample_freq = hz,
				     .freq = 1 };
	long fd = syscall(SYS_perf_event_open, &a, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

int cpu_clock_open(struct cpu_clock **out, struct bpf_program *p, uint32_t hz)
{
	int n = libbpf_num_possible_cpus(), r = 0;
	struct cpu_clock *c;

	*out = NULL;
	if (n < 0)
		return n;
	c = calloc(1, sizeof(*c) + (size_t)n * sizeof(struct bpf_link *));
	if (!c)
		die("out of memory");
	c->n = n;
	for (int cpu = 0; cpu < n && r == 0; cpu++) {
		int fd = open_one(cpu, hz);

		if (fd == -ENODEV)
			continue;
		if (fd >= 0)
			c->link[cpu] = bpf_program__attach_perf_event(p, fd);
		if (!c->link[cpu])
			r = fd < 0 ? fd : -errno;
		if (fd >= 0 && !c->link[cpu])
			close(fd); /* otherwise the link owns it */
	}
	if (r == 0)
		*out = c;
	else
		cpu_clock_close(c);
	return r;
}

void cpu_clock_explain(int err, char *why)
{
	snprintf(why, WHY_LEN,
		 "cannot open perf event cpu-clock (%s); needs CAP_PERFMON and a kernel with "
		 "CONFIG_PERF_EVENTS=y",
		 strerror(-err));
}

void cpu_clock_close(struct cpu_clock *c)
{
	for (int i = 0; c && i < c->n; i++)
		bpf_link__destroy(c->link[i]);
	free(c);
}
