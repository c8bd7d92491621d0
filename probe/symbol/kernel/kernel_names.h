// SPDX-License-Identifier: Apache-2.0
/*
 * kernel_names.h - converts the kernel's numbers into names: system calls, devices, cgroups. A
 * number without a name is returned as text.
 */
#pragma once

#include "lib/base/base.h"

enum { NAME_DEV = 64, NAME_FILE = 256, NAME_CGROUP = 256, NAME_CALL = 24 };

/* The hierarchy of a cgroup id: where version 1 is mounted, each controller has its own. */
enum kernel_names_controller { NAMES_CPU, NAMES_MEMORY, NAMES_CONTROLLERS };

struct kernel_names;

struct kernel_names *kernel_names_new(const char *procfs, const char *sysfs);
void kernel_names_free(struct kernel_names *n);

/* "fsync"; "call 999"; "" for -1, which is no call. */
const char *kernel_names_call(int nr, char text[static NAME_CALL]);

/*
 * "vda1"; without a block device the type of the file system, "overlay"; else "0:42". dev: as
 * packed by the kernel, major << 20 | minor.
 */
const char *kernel_names_dev(struct kernel_names *n, uint32_t dev, char text[static NAME_DEV]);

/*
 * "/var/lib/a/b" from "b\0a\0lib\0/\0": components from the file up to the root of its file system
 * on dev. A path that was cut before the root begins with "...".
 */
const char *kernel_names_file(struct kernel_names *n, uint32_t dev, const char *names, size_t len,
			      char text[static NAME_FILE]);

/* "/system.slice/a.service"; else "cgroup 4711". */
const char *kernel_names_cgroup(const struct kernel_names *n, uint64_t id,
				enum kernel_names_controller c, char text[static NAME_CGROUP]);

DEFINE_AUTO(struct kernel_names *, kernel_names_free)
