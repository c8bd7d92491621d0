// SPDX-License-Identifier: Apache-2.0
/* scope.h - which tasks are watched: all, or those in and below one cgroup, as it is at the start.
 */
#pragma once

#include "lib/base/base.h"

struct scope {
	uint64_t cgroup_id; /* 0: all */
	uint32_t level; /* how far below the hierarchy's root */
};

/*
 * text: "" or "cgroup=PATH", a directory of cgroup2. 0, or -errno with what to do in why, of
 * WHY_LEN bytes.
 */
int scope_find(const char *text, const char *procfs, struct scope *out, char *why) MUST_CHECK;

/* Its path in the hierarchy, "" for all; or -errno. */
int scope_path(const char *text, const char *procfs, char *out, size_t size) MUST_CHECK;

int scope_root(const char *procfs); /* cgroup2's root directory, open; the caller closes it */
