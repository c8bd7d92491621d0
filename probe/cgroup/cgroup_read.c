// SPDX-License-Identifier: Apache-2.0
#include "probe/cgroup/cgroup_read.h"

#include <fcntl.h>
#include <math.h>

#include "probe/procfs/proc_delta.h"
#include "probe/procfs/proc_text.h"

#define NS 1e-9
#define US 1e-6
#define NO_LIMIT 0x1p62 /* version 1: without a limit the largest whole number of pages */

struct key {
	const char *name;
	uint16_t at;
	double unit;
};

static const struct key cpu_stat[] = {
	{ "usage_usec", CGROUP_CPU_USAGE, US },
	{ "user_usec", CGROUP_CPU_USER, US },
	{ "system_usec", CGROUP_CPU_SYSTEM, US },
	{ "nr_periods", CGROUP_CPU_PERIODS, 1 },
	{ "nr_throttled", CGROUP_CPU_THROTTLED_PERIODS, 1 },
	{ "throttled_usec", CGROUP_CPU_THROTTLED, US },
	{ "throttled_time", CGROUP_CPU_THROTTLED, NS }, /* version 1 */
};

static const struct key memory_stat[] = {
	{ "anon", CGROUP_MEM_ANON, 1 },	    { "file", CGROUP_MEM_FILE, 1 },
	{ "kernel", CGROUP_MEM_KERNEL, 1 }, { "inactive_file", CGROUP_INACTIVE_FILE, 1 },
	{ "pgfault", CGROUP_PGFAULT, 1 },   { "pgmajfault", CGROUP_PGMAJFAULT, 1 },
};

static const struct key memory_stat_v1[] = {
	{ "total_rss", CGROUP_MEM_ANON, 1 },	{ "total_cache", CGROUP_MEM_FILE, 1 },
	{ "total_swap", CGROUP_MEM_SWAP, 1 },	{ "total_inactive_file", CGROUP_INACTIVE_FILE, 1 },
	{ "total_pgfault", CGROUP_PGFAULT, 1 }, { "total_pgmajfault", CGROUP_PGMAJFAULT, 1 },
};

static const struct key memory_events[] = {
	{ "max", CGROUP_MEM_LIMIT_HITS, 1 },
	{ "high", CGROUP_MEM_HIGH_HITS, 1 },
	{ "oom_kill", CGROUP_OOM_KILLS, 1 },
};

static const struct key io_stat[] = {
	{ "rbytes", CGROUP_READ_BYTES, 1 },
	{ "wbytes", CGROUP_WRITTEN_BYTES, 1 },
	{ "rios", CGROUP_READS, 1 },
	{ "wios", CGROUP_WRITES, 1 },
};

static const struct key blkio_bytes[] = {
	{ "Read", CGROUP_READ_BYTES, 1 },
	{ "Write", CGROUP_WRITTEN_BYTES, 1 },
};

static const struct key blkio_calls[] = {
	{ "Read", CGROUP_READS, 1 },
	{ "Write", CGROUP_WRITES, 1 },
};

enum form {
	NUMBERS, /* one line with the numbers of all keys, in order */
	KEYED, /* a line per key: "name 1" */
	DEVICES, /* a line per device, "8:0 name=1 name=2"; the lines are added up */
	PRESSURE, /* keys: some, full */
};

/* When a file is read. */
enum when {
	AT_WORK, /* in ticks in which the cgroup used CPU time */
	ALWAYS, /* in each tick: shows whether CPU time was used */
	NOW_AND_THEN, /* in full reads only: a setting, which rarely changes */
};

#define KEYS(table) table, ARRAY_SIZE(table)
#define ONE(i, unit) &(const struct key){ NULL, (i), (unit) }, 1
#define TWO(a, b) (const struct key[]){ { NULL, (a), 1 }, { NULL, (b), 1 } }, 2

/* If both versions give a value of one cgroup, version 1 is read last and wins: it has the
 * controller. */
static const struct cgroup_file {
	uint32_t serves; /* enum cgroup_serves: the hierarchy with this file */
	const char *name;
	enum form form;
	const struct key *keys;
	size_t nkeys;
	enum when when;
} files[] = {
	{ SERVES_ALL, "cpu.stat", KEYED, KEYS(cpu_stat), ALWAYS },
	{ SERVES_ALL, "cpu.max", NUMBERS, TWO(CGROUP_CPU_QUOTA, CGROUP_CPU_PERIOD), NOW_AND_THEN },
	{ SERVES_ALL, "memory.current", NUMBERS, ONE(CGROUP_MEM_USAGE, 1), AT_WORK },
	{ SERVES_ALL, "memory.max", NUMBERS, ONE(CGROUP_MEM_LIMIT, 1), NOW_AND_THEN },
	{ SERVES_ALL, "memory.swap.current", NUMBERS, ONE(CGROUP_MEM_SWAP, 1), AT_WORK },
	{ SERVES_ALL, "memory.stat", KEYED, KEYS(memory_stat), AT_WORK },
	{ SERVES_ALL, "memory.events.local", KEYED, KEYS(memory_events), AT_WORK },
	{ SERVES_ALL, "cpu.pressure", PRESSURE, TWO(CGROUP_PSI_CPU_SOME, CGROUP_PSI_CPU_FULL),
	  AT_WORK },
	{ SERVES_ALL, "memory.pressure", PRESSURE, TWO(CGROUP_PSI_MEM_SOME, CGROUP_PSI_MEM_FULL),
	  AT_WORK },
	{ SERVES_ALL, "io.pressure", PRESSURE, TWO(CGROUP_PSI_IO_SOME, CGROUP_PSI_IO_FULL),
	  AT_WORK },
	{ SERVES_ALL, "pids.current", NUMBERS, ONE(CGROUP_PIDS, 1), AT_WORK },
	{ SERVES_ALL, "pids.max", NUMBERS, ONE(CGROUP_PIDS_MAX, 1), NOW_AND_THEN },
	{ SERVES_ALL, "io.stat", DEVICES, KEYS(io_stat), AT_WORK },
	{ SERVES_CPU, "cpu.stat", KEYED, KEYS(cpu_stat), AT_WORK },
	{ SERVES_CPU, "cpu.cfs_quota_us", NUMBERS, ONE(CGROUP_CPU_QUOTA, 1), NOW_AND_THEN },
	{ SERVES_CPU, "cpu.cfs_period_us", NUMBERS, ONE(CGROUP_CPU_PERIOD, 1), NOW_AND_THEN },
	{ SERVES_CPUACCT, "cpuacct.usage", NUMBERS, ONE(CGROUP_CPU_USAGE, NS), ALWAYS },
	{ SERVES_CPUACCT, "cpuacct.usage_user", NUMBERS, ONE(CGROUP_CPU_USER, NS), AT_WORK },
	{ SERVES_CPUACCT, "cpuacct.usage_sys", NUMBERS, ONE(CGROUP_CPU_SYSTEM, NS), AT_WORK },
	{ SERVES_MEMORY, "memory.usage_in_bytes", NUMBERS, ONE(CGROUP_MEM_USAGE, 1), AT_WORK },
	{ SERVES_MEMORY, "memory.limit_in_bytes", NUMBERS, ONE(CGROUP_MEM_LIMIT, 1), NOW_AND_THEN },
	{ SERVES_MEMORY, "memory.kmem.usage_in_bytes", NUMBERS, ONE(CGROUP_MEM_KERNEL, 1),
	  AT_WORK },
	{ SERVES_MEMORY, "memory.stat", KEYED, KEYS(memory_stat_v1), AT_WORK },
	{ SERVES_MEMORY, "memory.failcnt", NUMBERS, ONE(CGROUP_MEM_LIMIT_HITS, 1), AT_WORK },
	{ SERVES_MEMORY, "memory.oom_control", KEYED, KEYS(memory_events), AT_WORK },
	{ SERVES_PIDS, "pids.current", NUMBERS, ONE(CGROUP_PIDS, 1), AT_WORK },
	{ SERVES_PIDS, "pids.max", NUMBERS, ONE(CGROUP_PIDS_MAX, 1), NOW_AND_THEN },
	{ SERVES_BLKIO, "blkio.throttle.io_service_bytes_recursive", DEVICES, KEYS(blkio_bytes),
	  AT_WORK },
	{ SERVES_BLKIO, "blkio.throttle.io_serviced_recursive", DEVICES, KEYS(blkio_calls),
	  AT_WORK },
};

_Static_assert(ARRAY_SIZE(files) <= 32, "one bit per file in absent");

static void parse_numbers(struct words file, const struct cgroup_file *f, double *raw)
{
	struct words line;

	if (!proc_line(&file, &line))
		return;
	for (size_t i = 0; i < f->nkeys; i++)
		raw[f->keys[i].at] = proc_number(&line) * f->keys[i].unit;
}

static const struct key *find_key(const struct cgroup_file *f, const struct words *word)
{
	for (size_t i = 0; i < f->nkeys; i++)
		if (proc_is(word, f->keys[i].name))
			return &f->keys[i];
	return NULL;
}

static void parse_keyed(struct words file, const struct cgroup_file *f, double *raw)
{
	struct words line, word;
	const struct key *k;

	while (proc_line(&file, &line)) {
		if (!proc_word(&line, &word))
			continue;
		k = find_key(f, &word);
		if (k)
			raw[k->at] = proc_number(&line) * k->unit;
	}
}

/* No line for a device: no I/O yet, so the sums start at 0. */
static void parse_devices(struct words file, const struct cgroup_file *f, double *raw)
{
	struct words line, word;
	const struct key *k;

	for (size_t i = 0; i < f->nkeys; i++)
		raw[f->keys[i].at] = 0;
	while (proc_line(&file, &line))
		while (proc_word(&line, &word)) {
			k = find_key(f, &word);
			if (k)
				raw[k->at] += proc_number(&line);
		}
}

static void parse_file(struct words file, const struct cgroup_file *f, double *raw)
{
	switch (f->form) {
	case NUMBERS:
		parse_numbers(file, f, raw);
		break;
	case KEYED:
		parse_keyed(file, f, raw);
		break;
	case DEVICES:
		parse_devices(file, f, raw);
		break;
	case PRESSURE:
		proc_pressure(file, f->keys[0].at, f->keys[1].at, raw);
		break;
	}
}

static void read_in(int dir, uint32_t serves, struct cgroup_node *c, uint32_t whens,
		    struct buf *text, double *raw)
{
	struct words file;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		int r;

		if (!(files[i].serves & serves) || (c->absent & 1u << i) ||
		    !(whens & 1u << files[i].when))
			continue;
		r = proc_read_at(text, dir, files[i].name, &file);
		if (r == 0)
			parse_file(file, &files[i], raw);
		else if (r == -ENOENT || r == -EOPNOTSUPP) /* EOPNOTSUPP: PSI is switched off */
			c->absent |= 1u << i;
	}
}

static void derive_metrics(double *raw)
{
	if (raw[CGROUP_MEM_LIMIT] >= NO_LIMIT)
		raw[CGROUP_MEM_LIMIT] = NAN;
	raw[CGROUP_MEM_WORKING_SET] = fmax(raw[CGROUP_MEM_USAGE] - raw[CGROUP_INACTIVE_FILE], 0);
	if (isnan(raw[CGROUP_MEM_USAGE]) || isnan(raw[CGROUP_INACTIVE_FILE]))
		raw[CGROUP_MEM_WORKING_SET] = NAN;
	raw[CGROUP_CGROUPS] = 1;
}

static bool has_any(uint32_t serves, uint32_t whens)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if ((files[i].serves & serves) && (whens & 1u << files[i].when))
			return true;
	return false;
}

static void read_files(const struct cgroup_mounts *m, struct cgroup_node *c, uint32_t whens,
		       struct buf *text, double *raw)
{
	for (int v1 = 0; v1 < 2; v1++)
		for (uint32_t i = 0; i < m->n; i++) {
			AUTO_CLOSE int dir = -1;

			if (!(c->in & 1u << i) || v1 == !!(m->mount[i].serves & SERVES_ALL) ||
			    !has_any(m->mount[i].serves, whens))
				continue;
			dir = openat(m->mount[i].fd, c->depth ? c->path + 1 : ".",
				     O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
			if (dir >= 0)
				read_in(dir, m->mount[i].serves, c, whens, text, raw);
		}
}

void cgroup_read(const struct cgroup_mounts *m, struct cgroup_node *c, bool all, struct buf *text)
{
	double raw[CGROUP_FIELDS];

	all |= !c->was_read || c->in != c->was_in;
	if (all)
		proc_clear(raw, CGROUP_FIELDS);
	else
		memcpy(raw, c->raw, sizeof(raw));
	if (!all) {
		read_files(m, c, 1u << ALWAYS, text, raw);
		if (raw[CGROUP_CPU_USAGE] == c->raw[CGROUP_CPU_USAGE])
			return;
	}
	read_files(m, c, all ? ~0u : 1u << ALWAYS | 1u << AT_WORK, text, raw);
	derive_metrics(raw);
	memcpy(c->raw, raw, sizeof(raw));
	c->was_read = true;
}
