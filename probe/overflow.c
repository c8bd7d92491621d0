// SPDX-License-Identifier: Apache-2.0
#include "overflow.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "../lib/clock.h"
#include "../lib/log.h"

#define FRESH_NS 100000000ull /* no need to look again */

struct space {
	uint64_t inode; /* of the namespace; 0: free */
	uint32_t pid; /* who lives there */
	uint64_t count, looked_ns, rose_ns, used_ns;
};

struct overflow {
	char procfs[PATH_MAX - 64];
	uint64_t next_ns;
	struct space space[OVERFLOW_SPACES];
};

struct overflow *overflow_new(const char *procfs)
{
	struct overflow *o = calloc(1, sizeof(*o));

	if (!o)
		die("out of memory");
	snprintf(o->procfs, sizeof(o->procfs), "%s", procfs);
	overflow_known(o, (uint32_t)getpid(), &(bool){ false }); /* where most of them live */
	return o;
}

void overflow_free(struct overflow *o)
{
	free(o);
}

/* The number under the name in a table of two lines, "TcpExt: names..." and "TcpExt: numbers...".
 */
static bool field(char *names, char *numbers, const char *name, uint64_t *out)
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

static bool read_count(const struct overflow *o, uint32_t pid, uint64_t *out)
{
	char path[PATH_MAX], names[4096], numbers[4096];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%u/net/netstat", o->procfs, pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (!found && fgets(names, sizeof(names), f) && fgets(numbers, sizeof(numbers), f))
		found = strncmp(names, "TcpExt:", 7) == 0 &&
			field(names, numbers, "ListenOverflows", out);
	fclose(f);
	return found;
}

static uint64_t inode_of(const struct overflow *o, uint32_t pid)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%u/ns/net", o->procfs, pid);
	return stat(path, &st) < 0 ? 0 : st.st_ino;
}

/* Its own, or the one that was used the longest ago. */
static struct space *space_of(struct overflow *o, uint64_t inode)
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

static bool look(const struct overflow *o, struct space *s, uint64_t now_ns)
{
	bool first = !s->looked_ns;
	uint64_t count;

	if (!read_count(o, s->pid, &count))
		return false;
	if (!first && count > s->count)
		s->rose_ns = now_ns;
	s->count = count;
	s->looked_ns = now_ns;
	return !first;
}

bool overflow_known(struct overflow *o, uint32_t pid, bool *full)
{
	uint64_t inode = inode_of(o, pid), now = clock_mono_ns();
	struct space *s;
	bool known;

	*full = false;
	if (!inode)
		return false;
	s = space_of(o, inode);
	s->pid = pid;
	s->used_ns = now;
	known = s->looked_ns && now - s->looked_ns < FRESH_NS ? true : look(o, s, now);
	*full = known && s->rose_ns && now - s->rose_ns < OVERFLOW_RECENT_NS;
	return known;
}

void overflow_tick(struct overflow *o, uint64_t now_ns)
{
	if (now_ns < o->next_ns)
		return;
	o->next_ns = now_ns + OVERFLOW_TICK_NS;
	for (size_t i = 0; i < OVERFLOW_SPACES; i++)
		if (o->space[i].inode && !look(o, &o->space[i], now_ns))
			o->space[i].inode = 0; /* whoever lived there is gone */
}
