// SPDX-License-Identifier: Apache-2.0
#include "probe/cgroup/cgroup_mounts.h"

#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>

#define BLKIO_ROOT "blkio.throttle.io_service_bytes_recursive"

static const struct {
	const char *option;
	uint32_t serves;
} controllers[] = {
	{ "cpu", SERVES_CPU },	   { "cpuacct", SERVES_CPUACCT }, { "memory", SERVES_MEMORY },
	{ "blkio", SERVES_BLKIO }, { "pids", SERVES_PIDS },
};

static uint32_t serves_of(const struct mntent *m)
{
	uint32_t bits = 0;

	if (strcmp(m->mnt_type, "cgroup2") == 0)
		return SERVES_ALL;
	if (strcmp(m->mnt_type, "cgroup") != 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(controllers); i++)
		if (hasmntopt(m, controllers[i].option))
			bits |= controllers[i].serves;
	return bits;
}

/*
 * Since 6.10 the kernel counts the I/O of version 1 only while an I/O limit is set. Then the file
 * of the root has a line for each disk; without a limit all these files are empty.
 */
static bool counts_io(int root)
{
	AUTO_CLOSE int fd = openat(root, BLKIO_ROOT, O_RDONLY | O_CLOEXEC);
	char text[4096];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));

	return n < 0 || memmem(text, (size_t)n, " Read ", 6);
}

/* The first mount of each hierarchy counts: a later one is a part of it, made for a container. */
static void add_mount(struct cgroup_mounts *c, const struct mntent *m)
{
	uint32_t bits = serves_of(m);
	int fd;

	for (uint32_t i = 0; i < c->n; i++)
		bits &= ~c->mount[i].serves;
	if (!bits || c->n == CGROUP_MOUNTS)
		return;
	fd = open(m->mnt_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	if ((bits & SERVES_BLKIO) && !counts_io(fd))
		bits &= ~(uint32_t)SERVES_BLKIO;
	c->mount[c->n++] = (struct cgroup_mount){ fd, bits };
}

int cgroup_mounts_open(struct cgroup_mounts *c, const char *procfs)
{
	char path[PATH_MAX], line[PATH_MAX * 2];
	struct mntent m;
	FILE *f;

	c->n = 0;
	snprintf(path, sizeof(path), "%s/self/mounts", procfs);
	f = setmntent(path, "re");
	if (!f)
		return -ENOENT;
	while (getmntent_r(f, &m, line, sizeof(line)))
		add_mount(c, &m);
	endmntent(f);
	return c->n ? 0 : -ENOENT;
}

void cgroup_mounts_close(struct cgroup_mounts *c)
{
	while (c->n)
		close(c->mount[--c->n].fd);
}
