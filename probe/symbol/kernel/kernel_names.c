// SPDX-License-Identifier: Apache-2.0
#include "probe/symbol/kernel/kernel_names.h"

#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <asm/unistd.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "probe/cgroup/cgroup_path.h"

enum {
	MINOR_BITS = 20,
	MINOR_MASK = (1 << MINOR_BITS) - 1,
	DEVICES = 16,
	MOUNT = 128,
};

#define DEVICE_AGE_NS (60 * 1000000000ull) /* mounts may change */

static const char *const calls[] = {
#include <call_names.h> /* made from the kernel headers that this is built with */
};

struct named_device {
	uint32_t dev;
	uint64_t looked_ns; /* 0: never */
	bool is_block;
	char name[NAME_DEV], root[MOUNT], mount[MOUNT];
};

struct kernel_names {
	struct named_device device[DEVICES];
	char procfs[PATH_MAX - 64], sysfs[PATH_MAX - 64];
	int dir[NAMES_CONTROLLERS]; /* root of the hierarchy; < 0: not mounted */
};

const char *kernel_names_call(int nr, char text[static NAME_CALL])
{
	if (nr < 0)
		text[0] = 0;
	else if ((size_t)nr < ARRAY_SIZE(calls) && calls[nr])
		snprintf(text, NAME_CALL, "%s", calls[nr]);
	else
		snprintf(text, NAME_CALL, "call %d", nr);
	return text;
}

/* The root of this controller's hierarchy, else of version 2; -1: neither is mounted. */
static int find_hierarchy(const struct kernel_names *n, const char *controller)
{
	char path[PATH_MAX], line[PATH_MAX * 2];
	int own = -1, all = -1;
	struct mntent m;
	FILE *f;

	snprintf(path, sizeof(path), "%s/self/mounts", n->procfs);
	f = setmntent(path, "re");
	if (!f)
		return -1;
	while (getmntent_r(f, &m, line, sizeof(line))) {
		int *fd = strcmp(m.mnt_type, "cgroup2") == 0				   ? &all
			  : strcmp(m.mnt_type, "cgroup") == 0 && hasmntopt(&m, controller) ? &own
											   : NULL;

		if (fd && *fd < 0)
			*fd = open(m.mnt_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	endmntent(f);
	if (own < 0)
		return all;
	if (all >= 0)
		close(all);
	return own;
}

struct kernel_names *kernel_names_new(const char *procfs, const char *sysfs)
{
	struct kernel_names *n = calloc(1, sizeof(*n));

	if (!n)
		die("out of memory");
	snprintf(n->procfs, sizeof(n->procfs), "%s", procfs);
	snprintf(n->sysfs, sizeof(n->sysfs), "%s", sysfs);
	n->dir[NAMES_CPU] = find_hierarchy(n, "cpu");
	n->dir[NAMES_MEMORY] = find_hierarchy(n, "memory");
	return n;
}

void kernel_names_free(struct kernel_names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < NAMES_CONTROLLERS; i++)
		if (n->dir[i] >= 0)
			close(n->dir[i]);
	free(n);
}

/* "vda1", from the target of its link in /sys. */
static bool find_block(const struct kernel_names *n, uint32_t dev, char name[static NAME_DEV])
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *slash;
	ssize_t len;

	snprintf(path, sizeof(path), "%s/dev/block/%u:%u", n->sysfs, dev >> MINOR_BITS,
		 dev & MINOR_MASK);
	len = readlink(path, target, sizeof(target) - 1);
	if (len <= 0)
		return false;
	target[len] = 0;
	slash = strrchr(target, '/');
	snprintf(name, NAME_DEV, "%.63s", slash ? slash + 1 : target);
	return true;
}

/* The mount point of the device; of several the one with the shortest root. */
static void find_mount(const struct kernel_names *n, struct named_device *d)
{
	char path[PATH_MAX], line[PATH_MAX * 2], root[MOUNT], mount[MOUNT], type[32];
	unsigned int maj, min;
	FILE *f;

	snprintf(path, sizeof(path), "%s/self/mountinfo", n->procfs);
	f = fopen(path, "re");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		const char *tail = strstr(line, " - ");

		if (sscanf(line, "%*d %*d %u:%u %127s %127s ", &maj, &min, root, mount) != 4 ||
		    maj != d->dev >> MINOR_BITS || min != (d->dev & MINOR_MASK) || !tail ||
		    sscanf(tail, " - %31s", type) != 1)
			continue;
		if (d->mount[0] && strlen(d->root) <= strlen(root))
			continue;
		memcpy(d->root, root, sizeof(root));
		memcpy(d->mount, mount, sizeof(mount));
		if (!d->is_block)
			snprintf(d->name, sizeof(d->name), "%s", type);
	}
	fclose(f);
}

static const struct named_device *device_of(struct kernel_names *n, uint32_t dev)
{
	struct named_device *d = &n->device[dev % DEVICES];
	uint64_t now = clock_mono_ns();

	if (d->looked_ns && d->dev == dev && now - d->looked_ns < DEVICE_AGE_NS)
		return d;
	*d = (struct named_device){ .dev = dev, .looked_ns = now };
	snprintf(d->name, sizeof(d->name), "%u:%u", dev >> MINOR_BITS, dev & MINOR_MASK);
	d->is_block = find_block(n, dev, d->name);
	find_mount(n, d);
	return d;
}

const char *kernel_names_dev(struct kernel_names *n, uint32_t dev, char text[static NAME_DEV])
{
	snprintf(text, NAME_DEV, "%s", device_of(n, dev)->name);
	return text;
}

/* Reverses the components, into the end of text. */
static char *path_of(const char *names, size_t len, char text[static NAME_FILE])
{
	char *to = text + NAME_FILE - 1;
	bool rooted = false;

	*to = 0;
	for (size_t i = 0, size; i < len && !rooted; i += size + 1) {
		size = strnlen(names + i, len - i);
		rooted = size == 1 && names[i] == '/';
		if (rooted || to - text < (ptrdiff_t)size + 5)
			break;
		to -= size;
		memcpy(to, names + i, size);
		*--to = '/';
	}
	if (!rooted) {
		to -= 3;
		memcpy(to, "...", 3);
	} else if (!*to) {
		*--to = '/';
	}
	return to;
}

const char *kernel_names_file(struct kernel_names *n, uint32_t dev, const char *names, size_t len,
			      char text[static NAME_FILE])
{
	const struct named_device *d = device_of(n, dev);
	char room[NAME_FILE], *path = path_of(names, len, room);
	size_t below = strlen(d->root);
	bool shown = d->mount[0] && path[0] == '/';

	if (shown && below > 1) {
		shown = strncmp(path, d->root, below) == 0 && path[below] == '/';
		path += shown ? below : 0;
	}
	snprintf(text, NAME_FILE, "%s%s", shown && strcmp(d->mount, "/") != 0 ? d->mount : "",
		 path);
	return text;
}

const char *kernel_names_cgroup(const struct kernel_names *n, uint64_t id,
				enum kernel_names_controller c, char text[static NAME_CGROUP])
{
	char path[PATH_MAX];
	size_t len, cut;

	if (!id || n->dir[c] < 0 || !cgroup_find(n->dir[c], id, path, sizeof(path))) {
		snprintf(text, NAME_CGROUP, "cgroup %llu", (unsigned long long)id);
		return text;
	}
	len = strlen(path);
	cut = len < NAME_CGROUP
		      ? 0
		      : len - NAME_CGROUP + 1; /* keep the end, which identifies it best */
	snprintf(text, NAME_CGROUP, "%s", path + cut);
	return text;
}
