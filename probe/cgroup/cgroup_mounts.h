// SPDX-License-Identifier: Apache-2.0
/*
 * cgroup_mounts.h - where the hierarchies of cgroups are: one of version 2, one of version 1 for
 * each controller or several, or both. Only those that have something to read are kept.
 */
#pragma once

#include "lib/base/base.h"

enum cgroup_serves { /* what a hierarchy has files of */
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

/* 0; -ENOENT: there is none. What is open is closed by the second, also when nothing is. */
int cgroup_mounts_open(struct cgroup_mounts *m, const char *procfs) MUST_CHECK;
void cgroup_mounts_close(struct cgroup_mounts *m);
