// SPDX-License-Identifier: Apache-2.0
#include "probe/source/stall/culprit_read.h"

#include <dirent.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>

#include "probe/foreign/foreign.h"
#include "probe/procfs/proc_text.h"

enum { NICE = 10, NICENESS = 19 - 3, POLICY = 41 - 3, STAT_FIELDS = POLICY + 1, PATH_OF = 512 };
enum { MINFLT = 10 - 3, UTIME = 14 - 3, STIME = 15 - 3, THREADS = 20 - 3, START = 22 - 3 };
enum { RSS = 24 - 3 };
enum { THREADS_MAX = 256 }; /* read of one process: each takes microseconds */

static int read_of(struct buf *text, const char *procfs, uint32_t pid, const char *name,
		   struct words *file)
{
	char path[64];

	snprintf(path, sizeof(path), "%u/%s", pid, name);
	return proc_read(text, procfs, path, file);
}

static uint64_t whole(double v)
{
	return v >= 0 && v < 1e18 ? (uint64_t)v : 0; /* false of NaN */
}

/* Only nice values can be negative. */
static bool is_nice(struct words w)
{
	return w.p < w.end && *w.p != '-' && whole(proc_number(&w)) >= NICE;
}

static bool take_comm(struct words *line, char comm[static CULPRIT_COMM])
{
	const char *from = memchr(line->p, '(', (size_t)(line->end - line->p));
	const char *to = memrchr(line->p, ')', (size_t)(line->end - line->p));
	size_t len;

	if (!from || !to || to < from)
		return false;
	len = (size_t)(to - from - 1);
	len = len < CULPRIT_COMM ? len : CULPRIT_COMM - 1;
	memset(comm, 0, CULPRIT_COMM);
	memcpy(comm, from + 1, len);
	line->p = to + 1;
	return true;
}

/* "1 (name) S 2 ...": parsed from the state on, field 3 of proc(5). */
static int read_stat(struct buf *text, const char *procfs, struct culprit_counts *out,
		     uint32_t *threads, bool *running)
{
	static const uint64_t tick_ns = 10000000; /* USER_HZ is 100 wherever we run */
	struct words file, line, word;
	double v[STAT_FIELDS];
	int r = read_of(text, procfs, out->pid, "stat", &file);

	if (r < 0)
		return r;
	if (!proc_line(&file, &line) || !take_comm(&line, out->comm) || !proc_word(&line, &word))
		return -EBADMSG;
	*running = proc_is(&word, "R");
	out->waits = proc_is(&word, "D");
	for (int i = 1; i < STAT_FIELDS; i++) {
		struct words at = line;

		v[i] = proc_number(&line);
		if (i == NICENESS && proc_word(&at, &word))
			out->may_wait = is_nice(word);
	}
	if (isnan(v[POLICY]))
		return -EBADMSG;
	out->may_wait |= v[POLICY] == SCHED_IDLE;
	out->start = whole(v[START]);
	out->cpu_ns = (whole(v[UTIME]) + whole(v[STIME])) * tick_ns;
	out->rss_bytes = whole(v[RSS]) * (uint64_t)sysconf(_SC_PAGESIZE);
	out->faulted_bytes = whole(v[MINFLT]) * (uint64_t)sysconf(_SC_PAGESIZE);
	*threads = (uint32_t)whole(v[THREADS]);
	return 0;
}

/* "ran waited slices", in nanoseconds; 0 where the kernel does not count. */
static uint64_t delay_of(struct buf *text, const char *procfs, uint32_t pid, const char *name)
{
	struct words file, line;

	if (read_of(text, procfs, pid, name, &file) < 0 || !proc_line(&file, &line))
		return 0;
	proc_number(&line);
	return whole(proc_number(&line));
}

static uint64_t delay_of_threads(struct buf *text, const char *procfs, uint32_t pid)
{
	DIR *d = foreign_list(procfs, pid, "task");
	char name[64];
	uint64_t sum = 0;
	struct dirent *e;
	int n = 0;

	while (d && n < THREADS_MAX && (e = readdir(d))) {
		if (e->d_name[0] < '1' || e->d_name[0] > '9')
			continue;
		snprintf(name, sizeof(name), "task/%.20s/schedstat", e->d_name);
		sum += delay_of(text, procfs, pid, name);
		n++;
	}
	if (d)
		closedir(d);
	return sum;
}

static void read_io(struct buf *text, const char *procfs, struct culprit_counts *out)
{
	static const struct proc_key keys[] = { { "read_bytes", 0 }, { "write_bytes", 1 } };
	double v[ARRAY_SIZE(keys)] = { 0 };
	struct words file;

	if (read_of(text, procfs, out->pid, "io", &file) < 0)
		return;
	proc_keyed(file, keys, ARRAY_SIZE(keys), 1, v);
	out->read_bytes = whole(v[0]);
	out->written_bytes = whole(v[1]);
}

static bool has_word(const char *list, const char *end, const char *word)
{
	size_t len = strlen(word);

	while (list < end) {
		const char *comma = memchr(list, ',', (size_t)(end - list));
		const char *to = comma ? comma : end;

		if ((size_t)(to - list) == len && memcmp(list, word, len) == 0)
			return true;
		list = to + 1;
	}
	return false;
}

/* Lines read "4:cpu,cpuacct:/path" or "0::/path". */
void culprit_cgroup(struct buf *text, const char *procfs, uint32_t pid, const char *controller,
		    char *out, size_t size)
{
	struct words file, line;

	snprintf(out, size, "?");
	if (read_of(text, procfs, pid, "cgroup", &file) < 0)
		return;
	while (proc_line(&file, &line)) {
		const char *names = memchr(line.p, ':', (size_t)(line.end - line.p));
		const char *end =
			names ? memchr(names + 1, ':', (size_t)(line.end - names - 1)) : NULL;
		bool own = end && *controller && has_word(names + 1, end, controller);

		if (!own && !(end && end == names + 1))
			continue;
		snprintf(out, size, "%.*s", (int)(line.end - end - 1), end + 1);
		if (own)
			return;
	}
}

static bool is_inside(struct buf *text, const char *procfs, const char *below, uint32_t pid)
{
	char path[PATH_OF];
	size_t len = strlen(below);

	if (!len)
		return true;
	culprit_cgroup(text, procfs, pid, "", path, sizeof(path));
	return strncmp(path, below, len) == 0 && (path[len] == '/' || !path[len]);
}

int culprit_read(struct buf *text, const char *procfs, const char *below, enum stall_resource what,
		 const struct culprit_counts *before, struct culprit_counts *out)
{
	uint32_t threads = 1;
	bool running = false;
	int r = read_stat(text, procfs, out, &threads, &running);

	if (r < 0)
		return r;
	if (before && before->start != out->start)
		before = NULL;
	out->inside = before ? before->inside : is_inside(text, procfs, below, out->pid);
	if (what != STALL_CPU) {
		read_io(text, procfs, out);
		return 0;
	}
	out->delay_ns = before ? before->delay_ns : 0;
	if (before && !running && before->cpu_ns == out->cpu_ns)
		return 0; /* a process that did not run hardly waited: skips its threads */
	out->delay_ns = threads > 1 ? delay_of_threads(text, procfs, out->pid)
				    : delay_of(text, procfs, out->pid, "schedstat");
	return 0;
}
