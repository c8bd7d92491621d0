// SPDX-License-Identifier: Apache-2.0
/* memory_limit.h - how much of how much memory a cgroup has, whichever hierarchy counts it. */
#pragma once

#include "lib/base/buf.h"

/* path: as /proc/PID/cgroup says. Of the nearest one above that has a limit; NaN: there is none. */
void memory_limit(struct buf *text, const char *procfs, const char *path, double *used_bytes,
		  double *limit_bytes);
