// SPDX-License-Identifier: Apache-2.0
/*
 * names.h - what an operator calls what the kernel gives as a number: system calls, devices,
 * cgroups. What cannot be found keeps its number.
 */
#pragma once

#include "lib/base/base.h"

enum { NAME_DEV = 64, NAME_FILE = 256, NAME_CGROUP = 256, NAME_CALL = 24 };

/* Which hierarchy an id is of: where version 1 is mounted, each controller has its own. */
enum names_controller { NAMES_CPU, NAMES_MEMORY, NAMES_CONTROLLERS };

struct names;

struct names *names_new(const char *procfs, const char *sysfs);
void names_free(struct names *n);

/* "fsync"; "call 999"; "" for -1, which is none. */
const char *names_call(int nr, char text[static NAME_CALL]);

/* "vda1"; where there is no block device the file system, "overlay"; else "0:42". dev: as the
 * kernel packs it, major << 20 | minor. */
const char *names_dev(struct names *n, uint32_t dev, char text[static NAME_DEV]);

/*
 * "/var/lib/a/b" from "b\0a\0lib\0/\0": its own name first, up to the root of its file system on
 * dev. One that was cut before that begins with "...".
 */
const char *names_file(struct names *n, uint32_t dev, const char *names, size_t len,
		       char text[static NAME_FILE]);

/* "/system.slice/a.service"; else "cgroup 4711". */
const char *names_cgroup(const struct names *n, uint64_t id, enum names_controller c,
			 char text[static NAME_CGROUP]);

DEFINE_AUTO(struct names *, names_free)
