// SPDX-License-Identifier: Apache-2.0
#include "probe/cgroup/memory_limit.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "probe/cgroup/cgroup_mounts.h"
#include "probe/procfs/proc_text.h"

static const double no_limit = 1e18; /* version 1 gives a value above this for no limit */

static const struct {
	const char *used, *limit;
} files[] = { { "memory.usage_in_bytes", "memory.limit_in_bytes" },
	      { "memory.current", "memory.max" } };

static double number_of(struct buf *text, const char *dir, const char *name)
{
	struct words file, line;

	if (proc_read(text, dir, name, &file) < 0 || !proc_line(&file, &line))
		return NAN;
	return proc_number(&line); /* NaN for "max" */
}

/*
 * The index in files for the hierarchy of the memory controller, and the root of the hierarchy.
 * Version 1 if both are mounted, because then it has the controller.
 */
static int find_root(const struct cgroup_mounts *m, int *fd)
{
	static const uint32_t serves[] = { SERVES_MEMORY, SERVES_ALL };

	for (size_t which = 0; which < ARRAY_SIZE(serves); which++)
		for (uint32_t i = 0; i < m->n; i++)
			if (m->mount[i].serves & serves[which]) {
				*fd = m->mount[i].fd;
				return (int)which;
			}
	return -ENOENT;
}

static void find_nearest(struct buf *text, const struct cgroup_mounts *m, const char *path,
			 double *used_bytes, double *limit_bytes)
{
	char dir[PATH_MAX];
	int fd, which = find_root(m, &fd);
	size_t root, len;

	if (which < 0 || path[0] != '/')
		return;
	root = (size_t)snprintf(dir, sizeof(dir), "/proc/self/fd/%d", fd);
	len = (size_t)snprintf(dir + root, sizeof(dir) - root, "%s", path);
	if (len >= sizeof(dir) - root)
		return;
	for (; strlen(dir) > root; *strrchr(dir, '/') = 0) {
		double limit = number_of(text, dir, files[which].limit);

		if (limit < no_limit) {
			*used_bytes = number_of(text, dir, files[which].used);
			*limit_bytes = limit;
			return;
		}
	}
}

void memory_limit(struct buf *text, const char *procfs, const char *path, double *used_bytes,
		  double *limit_bytes)
{
	struct cgroup_mounts m;

	*used_bytes = *limit_bytes = NAN;
	if (cgroup_mounts_open(&m, procfs) == 0)
		find_nearest(text, &m, path, used_bytes, limit_bytes);
	cgroup_mounts_close(&m);
}
