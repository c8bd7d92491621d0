// SPDX-License-Identifier: Apache-2.0
#include "probe/source/kernel_log/oom_report.h"

#include <ctype.h>
#include <stdio.h>

enum { COLUMN_PID = 0, COLUMN_RSS = 4, COLUMNS_LEAST = 8 };

/* Copies the text between two markers; false: not found. until "": up to the end. */
static bool text_between(const char *line, const char *from, const char *until, char *out,
			 size_t size)
{
	const char *p = strstr(line, from), *end;

	if (!p)
		return false;
	p += strlen(from);
	end = *until ? strstr(p, until) : p + strlen(p);
	if (!end)
		return false;
	snprintf(out, size, "%.*s", (int)(end - p), p);
	return true;
}

static uint64_t number_behind(const char *line, const char *key)
{
	const char *p = strstr(line, key);
	uint64_t v = p ? strtoull(p + strlen(key), NULL, 10) : 0;

	return v < UINT64_MAX >> 20 ? v : 0;
}

static void insert_top(struct oom_report *r, uint32_t pid, uint64_t rss_bytes, const char *comm)
{
	uint32_t at = r->ntop < OOM_TOP ? r->ntop++ : OOM_TOP - 1;

	if (at == OOM_TOP - 1 && r->top[at].comm[0] && r->top[at].rss_bytes >= rss_bytes)
		return;
	for (; at > 0 && r->top[at - 1].rss_bytes < rss_bytes; at--)
		r->top[at] = r->top[at - 1];
	r->top[at].pid = pid;
	r->top[at].rss_bytes = rss_bytes;
	snprintf(r->top[at].comm, OOM_NAME, "%s", comm);
}

/* The next column, without the brackets around a pid: "[   1234]". */
static const char *column(const char **p, size_t *len)
{
	const char *s = *p;

	s += strspn(s, " []");
	*len = strcspn(s, " []");
	*p = s + *len;
	return s;
}

/* Kernels before 6.8 have fewer columns. The last column, the name, may contain blanks. */
static void read_header(struct oom_report *r, const char *line)
{
	size_t len;

	r->columns = 0;
	for (column(&line, &len); len; column(&line, &len))
		r->columns++;
}

static bool read_row(struct oom_report *r, const char *line, uint64_t page_bytes)
{
	uint64_t v[2] = { 0 };
	size_t len;

	for (uint32_t i = 0; i + 1 < r->columns; i++) {
		const char *s = column(&line, &len);

		if (!len || (!isdigit((unsigned char)*s) && *s != '-'))
			return false;
		if (i == COLUMN_PID || i == COLUMN_RSS)
			v[i == COLUMN_RSS] = strtoull(s, NULL, 10);
	}
	line += strspn(line, " ");
	if (!*line || v[0] > INT32_MAX || v[1] > INT64_MAX / page_bytes)
		return false;
	insert_top(r, (uint32_t)v[0], v[1] * page_bytes, line);
	return true;
}

static void read_kill(struct oom_report *r, const char *line)
{
	static const char *const parts[] = { "anon-rss:", "file-rss:", "shmem-rss:" };

	r->columns = 0;
	r->rss_bytes = 0;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		r->rss_bytes += number_behind(line, parts[i]) << 10;
}

static bool read_killed(struct oom_report *r, const char *line)
{
	static const char killed[] = "Killed process ";
	const char *p = strstr(line, killed), *open, *close;

	if (!p || (p != line && !strstr(line, "ut of memory")))
		return false;
	p += sizeof(killed) - 1;
	r->pid = (uint32_t)strtoul(p, NULL, 10);
	open = strchr(p, '(');
	close = strstr(p, ") total-vm:");
	if (!r->pid || !open || !close || close < open)
		close = open ? strstr(open, "), ") : NULL; /* newer kernels: "(comm), UID ..." */
	if (!r->pid || !close)
		return false;
	snprintf(r->comm, sizeof(r->comm), "%.*s", (int)(close - open - 1), open + 1);
	read_kill(r, line);
	return true;
}

static void read_summary(struct oom_report *r, const char *line)
{
	if (strstr(line, ",global_oom,") || strstr(line, "CONSTRAINT_NONE"))
		snprintf(r->cgroup, sizeof(r->cgroup), "/");
	else
		text_between(line, ",oom_memcg=", ",task_memcg=", r->cgroup, sizeof(r->cgroup));
	text_between(line, ",task_memcg=", ",task=", r->of, sizeof(r->of));
}

int oom_report_line(struct oom_report *r, const char *line, uint64_t page_bytes)
{
	static const char asks[] = " invoked oom-killer: ";

	if (strstr(line, asks)) {
		*r = (struct oom_report){ 0 };
		text_between(line, "", asks, r->by, sizeof(r->by));
		return 0;
	}
	if (read_killed(r, line))
		return 1;
	if (strncmp(line, "oom-kill:constraint=", 20) == 0)
		read_summary(r, line);
	else if (strncmp(line, "memory: usage ", 14) == 0)
		r->limit_bytes = number_behind(line, "limit ") << 10;
	else if (strstr(line, "]   uid  tgid total_vm") || strstr(line, "] uid tgid total_vm"))
		read_header(r, line);
	else if (r->columns < COLUMNS_LEAST || !read_row(r, line, page_bytes))
		return -ENOMSG;
	return 0;
}
