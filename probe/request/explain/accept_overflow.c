// SPDX-License-Identifier: Apache-2.0
#include "probe/request/explain/accept_overflow.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "probe/foreign/foreign.h"

#define FRESH_NS 20000000ull /* a poll this recent is still valid */
#define SOON_NS 100000000ull /* between polls of a namespace in which a request waited lately */
#define LATE_NS (2 * 1000000000ull) /* and of others */
#define LATELY_NS (60 * 1000000000ull)

enum { RISES = 16, NETSTAT = 16 * 1024 };

struct rise { /* the count rose between these two polls */
	uint64_t after_ns, before_ns;
};

struct space {
	uint64_t inode; /* of the namespace; 0: free */
	uint32_t pid; /* a process in it */
	uint64_t count, first_ns, looked_ns, used_ns; /* first_ns: the first poll */
	struct rise rise[RISES];
	uint32_t rises; /* so far; the last RISES are stored */
};

struct accept_overflow {
	char procfs[PATH_MAX - 64];
	uint64_t seen; /* last */
	uint64_t searched_ns; /* the last search for a process */
	struct space space[OVERFLOW_SPACES];
};

struct accept_overflow *accept_overflow_new(const char *procfs)
{
	struct accept_overflow *o = calloc(1, sizeof(*o));
	uint32_t pid;
	bool full;

	if (!o)
		die("out of memory");
	snprintf(o->procfs, sizeof(o->procfs), "%s", procfs);
	pid = (uint32_t)getpid(); /* most servers share its namespace */
	accept_overflow_known(o, 0, pid, 0, 0, &full);
	return o;
}

void accept_overflow_free(struct accept_overflow *o)
{
	free(o);
}

/* The number below the name in a pair of lines "TcpExt: names..." and "TcpExt: numbers...". */
static bool netstat_field(char *names, char *numbers, const char *name, uint64_t *out)
{
	char *a, *b, *in_names = names, *in_numbers = numbers;

	while ((a = strsep(&in_names, " \n")) && (b = strsep(&in_numbers, " \n"))) {
		if (strcmp(a, name) != 0)
			continue;
		*out = strtoull(b, NULL, 10);
		return true;
	}
	return false;
}

static bool read_count(const struct accept_overflow *o, uint32_t pid, uint64_t *out)
{
	char text[NETSTAT], *rest = text, *names, *numbers;
	bool found = false;

	if (foreign_read_text(o->procfs, pid, "net/netstat", text, sizeof(text)) < 0)
		return false;
	while (!found && (names = strsep(&rest, "\n")) && (numbers = strsep(&rest, "\n")))
		found = strncmp(names, "TcpExt:", 7) == 0 &&
			netstat_field(names, numbers, "ListenOverflows", out);
	return found;
}

static uint64_t inode_of(const struct accept_overflow *o, uint32_t pid)
{
	return foreign_namespace(o->procfs, pid, "net");
}

/*
 * Any process in the namespace; 0: none. The process that served a request may have ended. All
 * processes are examined for it, so not more often than each SOON_NS.
 */
static uint32_t process_in(struct accept_overflow *o, uint64_t inode, uint64_t now_ns)
{
	uint32_t found = 0;
	struct dirent *e;
	DIR *d;

	if (now_ns - o->searched_ns < SOON_NS)
		return 0;
	o->searched_ns = now_ns;
	d = opendir(o->procfs);
	while (d && !found && (e = readdir(d))) {
		uint32_t pid = (uint32_t)strtoul(e->d_name, NULL, 10);

		if (pid && inode_of(o, pid) == inode)
			found = pid;
	}
	if (d)
		closedir(d);
	return found;
}

/* The slot of the namespace, or the least recently used slot. */
static struct space *space_of(struct accept_overflow *o, uint64_t inode)
{
	struct space *oldest = &o->space[0];

	for (size_t i = 0; i < OVERFLOW_SPACES; i++) {
		if (o->space[i].inode == inode)
			return &o->space[i];
		if (o->space[i].used_ns < oldest->used_ns)
			oldest = &o->space[i];
	}
	*oldest = (struct space){ .inode = inode };
	return oldest;
}

/* False: no process is left in the namespace. */
static bool poll_space(struct accept_overflow *o, struct space *s, uint64_t now_ns)
{
	uint64_t count;

	if (inode_of(o, s->pid) != s->inode || !read_count(o, s->pid, &count)) {
		s->pid = process_in(o, s->inode, now_ns);
		if (!s->pid || !read_count(o, s->pid, &count))
			return false;
	}
	if (s->looked_ns && count > s->count)
		s->rise[s->rises++ % RISES] = (struct rise){ s->looked_ns, now_ns };
	if (!s->first_ns)
		s->first_ns = now_ns;
	s->count = count;
	s->looked_ns = now_ns;
	return true;
}

bool accept_overflow_known(struct accept_overflow *o, uint64_t netns, uint32_t pid,
			   uint64_t from_ns, uint64_t to_ns, bool *full)
{
	uint64_t inode = netns ? netns : inode_of(o, pid), now = clock_mono_ns();
	struct space *s;

	*full = false;
	if (!inode)
		return false;
	s = space_of(o, inode);
	if (!s->pid)
		s->pid = pid;
	s->used_ns = now;
	if (now - s->looked_ns >= FRESH_NS && !poll_space(o, s, now)) {
		*s = (struct space){ 0 };
		return false;
	}
	for (uint32_t i = 0; i < RISES && i < s->rises; i++)
		*full |= s->rise[i].after_ns < to_ns && s->rise[i].before_ns > from_ns;
	return s->first_ns < to_ns;
}

void accept_overflow_seen(struct accept_overflow *o, uint64_t netns, uint32_t pid)
{
	struct space *free = NULL;

	if (!netns || netns == o->seen)
		return; /* the common case */
	o->seen = netns;
	for (size_t i = 0; i < OVERFLOW_SPACES; i++) {
		if (o->space[i].inode == netns)
			return;
		if (!o->space[i].inode)
			free = &o->space[i];
	}
	if (!free)
		return;
	*free = (struct space){ .inode = netns, .pid = pid };
	if (!poll_space(o, free, clock_mono_ns()))
		*free = (struct space){ 0 };
}

void accept_overflow_tick(struct accept_overflow *o, uint64_t now_ns)
{
	for (size_t i = 0; i < OVERFLOW_SPACES; i++) {
		struct space *s = &o->space[i];
		uint64_t every = now_ns - s->used_ns < LATELY_NS ? SOON_NS : LATE_NS;

		if (s->inode && now_ns - s->looked_ns >= every && !poll_space(o, s, now_ns))
			*s = (struct space){ 0 };
	}
}
