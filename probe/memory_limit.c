// SPDX-License-Identifier: Apache-2.0
#include "memory_limit.h"

#include <limits.h>
#include <math.h>
#include <mntent.h>
#include <stdio.h>

#include "proc_text.h"

static const double no_limit = 1e18; /* and more: how the older hierarchy says that there is none */

static const struct {
	const char *used, *limit;
} files[] = { { "memory.usage_in_bytes", "memory.limit_in_bytes" },
	      { "memory.current", "memory.max" } };

static double number_of(struct buf *text, const char *dir, const char *name)
{
	struct words file, line;

	if (proc_read(text, dir, name, &file) < 0 || !proc_line(&file, &line))
		return NAN;
	return proc_number(&line); /* "max": none */
}

/* Which of files it has; the older hierarchy if both are mounted, as then that one counts. */
static int find_mount(const char *procfs, char dir[static PATH_MAX])
{
	char mounts[PATH_MAX], line[PATH_MAX * 2];
	struct mntent m;
	int which = -ENOENT;
	FILE *f;

	snprintf(mounts, sizeof(mounts), "%s/self/mounts", procfs);
	f = setmntent(mounts, "re");
	if (!f)
		return -errno;
	while (which != 0 && getmntent_r(f, &m, line, sizeof(line))) {
		bool old = strcmp(m.mnt_type, "cgroup") == 0 && hasmntopt(&m, "memory");

		if (!old && strcmp(m.mnt_type, "cgroup2") != 0)
			continue;
		snprintf(dir, PATH_MAX, "%s", m.mnt_dir);
		which = old ? 0 : 1;
	}
	endmntent(f);
	return which;
}

void memory_limit(struct buf *text, const char *procfs, const char *path, double *used_bytes,
		  double *limit_bytes)
{
	char dir[PATH_MAX];
	int which = find_mount(procfs, dir);
	size_t root, len;

	*used_bytes = *limit_bytes = NAN;
	if (which < 0 || path[0] != '/')
		return;
	root = strlen(dir);
	len = (size_t)snprintf(dir + root, sizeof(dir) - root, "%s", path);
	if (len >= sizeof(dir) - root)
		return;
	while (strlen(dir) > root) {
		double limit = number_of(text, dir, files[which].limit);

		if (limit < no_limit) {
			*used_bytes = number_of(text, dir, files[which].used);
			*limit_bytes = limit;
			return;
		}
		*strrchr(dir, '/') = 0;
	}
}
