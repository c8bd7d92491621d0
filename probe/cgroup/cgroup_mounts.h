// SPDX-License-Identifier: Apache-2.0
/*
 * cgroup_mounts.h - the mounted cgroup hierarchies: version 2, version 1 with one hierarchy for one
 * or several controllers, or both. Only hierarchies with files to read are kept.
 */
#pragma once

#include "lib/base/base.h"

enum cgroup_serves { /* the controllers that a hierarchy has files of */
		     SERVES_ALL = 1, /* version 2 */
		     SERVES_CPU = 2,
		     SERVES_CPUACCT = 4,
		     SERVES_MEMORY = 8,
		     SERVES_BLKIO = 16,
		     SERVES_PIDS = 32,
};

enum { CGROUP_MOUNTS = 6 };

struct cgroup_mounts {
	struct cgroup_mount {
		int fd; /* its root directory */
		uint32_t serves; /* enum cgroup_serves */
	} mount[CGROUP_MOUNTS];
	uint32_t n;
};

/* 0; -ENOENT: none is mounted. cgroup_mounts_close is needed, and allowed, after any result. */
int cgroup_mounts_open(struct cgroup_mounts *m, const char *procfs) MUST_CHECK;
void cgroup_mounts_close(struct cgroup_mounts *m);
