// SPDX-License-Identifier: Apache-2.0
#include "probe/cgroup/scope.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "probe/core/source.h"

enum { ROOT_INODE = 1 }; /* inode and cgroup id of the hierarchy's root */

static bool is_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return strncmp(path, dir, len) == 0 && (path[len] == '/' || !path[len]);
}

/* The mount point of the cgroup2 hierarchy that contains path: the longest one above path. */
static int find_mount(const char *procfs, const char *path, char root[static PATH_MAX])
{
	char mounts[PATH_MAX], line[PATH_MAX * 2];
	struct mntent m;
	size_t best = 0;
	FILE *f;

	snprintf(mounts, sizeof(mounts), "%s/self/mounts", procfs);
	f = setmntent(mounts, "re");
	if (!f)
		return -errno;
	while (getmntent_r(f, &m, line, sizeof(line))) {
		size_t len = strlen(m.mnt_dir);

		if (strcmp(m.mnt_type, "cgroup2") != 0 || !is_below(path, m.mnt_dir) ||
		    len < best || len >= PATH_MAX)
			continue;
		memcpy(root, m.mnt_dir, len + 1);
		best = len;
	}
	endmntent(f);
	return best ? 0 : -ENOENT;
}

static uint32_t depth_of(const char *below)
{
	uint32_t n = 0;

	for (; *below; below++)
		n += *below == '/';
	return n;
}

static int not_cgroup2(int r, const char *path, char *why)
{
	snprintf(why, WHY_LEN,
		 "scope %.100s is not a cgroup2 directory (%s); name one, as in \"grep cgroup2 "
		 "/proc/mounts\" and /proc/PID/cgroup",
		 path, strerror(-r));
	return r;
}

int scope_find(const char *text, const char *procfs, struct scope *out, char *why)
{
	const char *path = text + strlen("cgroup=");
	char real[PATH_MAX], root[PATH_MAX];
	struct stat at, top;
	struct statfs fs;
	int r;

	*out = (struct scope){ 0 };
	if (!text[0])
		return 0;
	if (!realpath(path, real) || stat(real, &at) < 0 || statfs(real, &fs) < 0)
		return not_cgroup2(-errno, path, why);
	if (fs.f_type != CGROUP2_SUPER_MAGIC || !S_ISDIR(at.st_mode))
		return not_cgroup2(-ENOTDIR, path, why);
	r = find_mount(procfs, real, root);
	if (r < 0 || stat(root, &top) < 0)
		return not_cgroup2(r < 0 ? r : -errno, path, why);
	if (top.st_ino != ROOT_INODE) {
		snprintf(why, WHY_LEN,
			 "%.100s shows only a part of cgroup2, so the level of the scope is not "
			 "known; start the probe in the host's cgroup namespace",
			 root);
		return -EXDEV;
	}
	out->cgroup_id = at.st_ino;
	out->level = depth_of(real + strlen(root));
	return 0;
}

int scope_path(const char *text, const char *procfs, char *out, size_t size)
{
	char real[PATH_MAX], root[PATH_MAX];
	int r;

	out[0] = 0;
	if (!text[0])
		return 0;
	if (!realpath(text + strlen("cgroup="), real))
		return -errno;
	r = find_mount(procfs, real, root);
	if (r == 0 && (size_t)snprintf(out, size, "%s", real + strlen(root)) >= size)
		r = -ENAMETOOLONG;
	return r;
}

int scope_root(const char *procfs)
{
	char mounts[PATH_MAX], line[PATH_MAX * 2];
	struct mntent m;
	struct stat top;
	int fd = -ENOENT;
	FILE *f;

	snprintf(mounts, sizeof(mounts), "%s/self/mounts", procfs);
	f = setmntent(mounts, "re");
	if (!f)
		return -errno;
	while (fd < 0 && getmntent_r(f, &m, line, sizeof(line)))
		if (strcmp(m.mnt_type, "cgroup2") == 0 && stat(m.mnt_dir, &top) == 0 &&
		    top.st_ino == ROOT_INODE)
			fd = open(m.mnt_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	endmntent(f);
	return fd;
}
