// SPDX-License-Identifier: Apache-2.0
#include "probe/source/address/netns_pids.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "probe/foreign/foreign.h"

enum {
	DEPTH = 16,
	AT_ONCE = 64
}; /* DEPTH: of nested cgroups; AT_ONCE: files between two looks at
      the clock */
#define STEP_NS 8000000ull /* of CPU time in one call */

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void add_pid(struct netns_pids *p, unsigned long pid)
{
	if (p->n == p->room) {
		uint32_t room = p->room ? p->room * 2 : 256;
		uint32_t *more = realloc(p->pid, room * sizeof(*more));

		if (!more)
			die("out of memory");
		p->pid = more;
		p->room = room;
	}
	p->pid[p->n++] = (uint32_t)pid;
}

static void read_cgroup(struct netns_pids *p, const char *dir, int depth)
{
	char path[PATH_MAX];
	unsigned long pid;
	struct dirent *e;
	FILE *f;
	DIR *d;

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	f = fopen(path, "re");
	while (f && fscanf(f, "%lu", &pid) == 1)
		add_pid(p, pid);
	if (f)
		fclose(f);
	d = depth ? opendir(dir) : NULL;
	while (d && (e = readdir(d))) {
		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) < sizeof(path))
			read_cgroup(p, path, depth - 1);
	}
	if (d)
		closedir(d);
}

int netns_pids_read(struct netns_pids *p, const char *procfs, const char *below)
{
	struct dirent *e;
	DIR *d;

	p->n = 0;
	if (*below) {
		read_cgroup(p, below, DEPTH);
	} else {
		d = opendir(procfs);
		if (!d)
			return -errno;
		while ((e = readdir(d)))
			if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
				add_pid(p, strtoul(e->d_name, NULL, 10));
		closedir(d);
	}
	if (p->n)
		qsort(p->pid, p->n, sizeof(*p->pid), by_number);
	return 0;
}

bool netns_pids_has(const struct netns_pids *p, uint32_t pid)
{
	return p->n && bsearch(&pid, p->pid, p->n, sizeof(pid), by_number);
}

void netns_pids_free(struct netns_pids *p)
{
	free(p->pid);
	*p = (struct netns_pids){ 0 };
}

uint64_t netns_inode(const char *procfs, const char *pid)
{
	bool own = strcmp(pid, "self") == 0;

	return foreign_namespace(procfs, own ? 0 : (uint32_t)strtoul(pid, NULL, 10), "net");
}

static int by_inode(const void *a, const void *b)
{
	const struct socket_owner *x = a, *y = b;

	return (x->inode > y->inode) - (x->inode < y->inode);
}

static uint32_t take_file(DIR *d, const struct dirent *e, uint32_t pid, struct socket_owner *want,
			  uint32_t nwant)
{
	struct socket_owner key = { 0 }, *o;
	char link[64];
	ssize_t n =
		e->d_type == DT_DIR ? -1 : readlinkat(dirfd(d), e->d_name, link, sizeof(link) - 1);

	link[n > 0 ? n : 0] = 0;
	if (sscanf(link, "socket:[%" SCNu64 "]", &key.inode) != 1)
		return 0;
	o = bsearch(&key, want, nwant, sizeof(*want), by_inode);
	if (!o || o->pid)
		return 0;
	o->pid = pid;
	return 1;
}

struct step {
	uint32_t files; /* that may be read still */
	uint64_t until_ns; /* CPU time of this thread */
};

static bool is_over(const struct step *s)
{
	return !s->files || clock_cpu_ns() > s->until_ns;
}

/* Assigns the sockets of the process s->pid; returns the number of wanted ones newly found. */
static uint32_t scan_files(const char *procfs, struct owner_search *s, struct socket_owner *want,
			   uint32_t nwant, struct step *step)
{
	DIR *d = foreign_list(procfs, s->pid, "fd");
	uint32_t found = 0, pid = s->pid;
	struct dirent *e = NULL;

	if (d && s->at)
		seekdir(d, s->at);
	while (d && step->files && found < nwant && (e = readdir(d))) {
		if (--step->files % AT_ONCE == 0 && is_over(step))
			step->files = 0;
		if (++s->files > foreign_limits[FOREIGN_FILES].entries) {
			foreign_refuse(FOREIGN_FILES, -EFBIG, procfs, pid, NULL);
			e = NULL;
			break;
		}
		found += take_file(d, e, pid, want, nwant);
	}
	s->at = e ? telldir(d) : 0;
	if (!e)
		s->pid = s->files = 0;
	if (d)
		closedir(d);
	return found;
}

bool find_socket_owners(const char *procfs, const struct netns_pids *p, struct owner_search *s,
			struct socket_owner *want, uint32_t nwant)
{
	struct step step = { foreign_limits[FOREIGN_FILES].step_entries, clock_cpu_ns() + STEP_NS };
	uint32_t found = 0;

	if (s->pid)
		found += scan_files(procfs, s, want, nwant, &step);
	for (uint32_t i = p->n; i-- > 0 && found < nwant;) {
		if (s->below && p->pid[i] >= s->below)
			continue;
		if (is_over(&step))
			return false;
		s->pid = s->below = p->pid[i];
		s->at = s->files = 0;
		found += scan_files(procfs, s, want, nwant, &step);
	}
	if (s->pid && found < nwant)
		return false;
	*s = (struct owner_search){ 0 };
	return true;
}
