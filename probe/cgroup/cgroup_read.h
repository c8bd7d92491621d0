// SPDX-License-Identifier: Apache-2.0
/* cgroup_read.h - reads the files of one cgroup; the values are not deltas yet. */
#pragma once

#include "lib/base/buf.h"
#include "probe/cgroup/cgroup_tree.h"

/*
 * Puts the metrics of the layout into c->raw; NaN: no file has the value. Unless all is set, a
 * cgroup that used no CPU since the last read keeps its values, and limits are not read again. A
 * missing file is not tried again before c->absent is cleared. text is a buffer for the content of
 * a file.
 */
void cgroup_read(const struct cgroup_mounts *m, struct cgroup_node *c, bool all, struct buf *text);
