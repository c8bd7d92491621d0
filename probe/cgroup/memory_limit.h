// SPDX-License-Identifier: Apache-2.0
/* memory_limit.h - memory usage and limit of a cgroup, from version 1 or version 2. */
#pragma once

#include "lib/base/buf.h"

/*
 * path: as in /proc/PID/cgroup. The values are those of the nearest cgroup with a limit, path
 * itself or an ancestor; NaN: no limit.
 */
void memory_limit(struct buf *text, const char *procfs, const char *path, double *used_bytes,
		  double *limit_bytes);
