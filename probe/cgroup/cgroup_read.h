// SPDX-License-Identifier: Apache-2.0
/* cgroup_read.h - what the files of one cgroup say now, not yet as a delta. */
#pragma once

#include "lib/base/buf.h"
#include "probe/cgroup/cgroup_tree.h"

/*
 * Leaves in c->raw the metrics of the layout; NaN for what no file says. One that used no CPU since
 * the last time keeps what it had, and limits are as they were, unless all is asked for. A file
 * that was not there is not looked for again before c->absent is cleared. text is room for a file.
 */
void cgroup_read(const struct cgroup_mounts *m, struct cgroup *c, bool all, struct buf *text);
