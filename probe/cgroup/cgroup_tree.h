// SPDX-License-Identifier: Apache-2.0
/*
 * cgroup_tree.h - every cgroup of this host, by its path, remembered from walk to walk.
 *
 * One path is one cgroup, in however many hierarchies it lies. There are CGROUP_MAX at most, the
 * nearest to the root; of those CGROUP_LISTED are listed, and the tree chooses which: who is keeps
 * its place while it does something, and one that does not gives it to one that does.
 */
#pragma once

#include "probe/cgroup/cgroup_mounts.h"
#include "probe/core/layout.h"

enum { CGROUP_MAX = 4096, CGROUP_LISTED = 512, CGROUP_IDLE_TICKS = 30 };

/* Beside the metrics what one of them is made of. */
enum { CGROUP_INACTIVE_FILE = CGROUP_END, CGROUP_FIELDS };

struct cgroup {
	char *path; /* "/" is the root */
	uint64_t id[CGROUP_MOUNTS]; /* the kernel's, in each hierarchy */
	uint32_t in, was_in; /* bit of each hierarchy: it is there, it was in the last walk */
	uint32_t absent; /* bit of each file: it was looked for, and is not there */
	uint32_t depth; /* 0: the root */
	uint32_t idle; /* reads in a row in which nothing was counted */
	uint32_t turn; /* not all are read whole in the same tick */
	bool was_read;
	bool listed;
	bool born; /* after the first walk: its counters began with 0 */
	double raw[CGROUP_FIELDS]; /* what its files said last */
	double last[CGROUP_END]; /* what its counters are counted from */
};

struct cgroup_tree {
	struct cgroup **all; /* by path: a parent comes before its children */
	uint32_t n, room, listed;
	uint32_t cut; /* beyond CGROUP_MAX, in the last walk */
	uint32_t made; /* since ever */
	bool walked;
};

void cgroup_tree_walk(struct cgroup_tree *t, const struct cgroup_mounts *m);
void cgroup_tree_free(struct cgroup_tree *t); /* what it holds */

struct cgroup *cgroup_tree_parent(const struct cgroup_tree *t, const struct cgroup *c);
