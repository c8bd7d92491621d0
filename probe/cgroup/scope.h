// SPDX-License-Identifier: Apache-2.0
/*
 * scope.h - the tasks to watch: all, or those in one cgroup and below. The cgroup is resolved once,
 * at the start.
 */
#pragma once

#include "lib/base/base.h"

struct scope {
	uint64_t cgroup_id; /* 0: all */
	uint32_t level; /* depth below the hierarchy's root */
};

/*
 * text: "" or "cgroup=PATH", a directory of cgroup2. Returns 0, or -errno with a sentence in why,
 * of WHY_LEN bytes.
 */
int scope_find(const char *text, const char *procfs, struct scope *out, char *why) MUST_CHECK;

/* The scope's path in the hierarchy, "" for all; 0 or -errno. */
int scope_path(const char *text, const char *procfs, char *out, size_t size) MUST_CHECK;

/* A descriptor of cgroup2's root directory, which the caller closes; or -errno. */
int scope_root(const char *procfs);
