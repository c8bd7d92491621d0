// SPDX-License-Identifier: Apache-2.0
/*
 * cgroup_tree.h - every cgroup of this host, by its path, remembered from walk to walk.
 *
 * One path is one cgroup, in however many hierarchies it lies. There are CGROUP_MAX at most, the
 * nearest to the root; of those CGROUP_LISTED are listed, and the tree chooses which: who is keeps
 * its place while it does something, and one that does not gives it to one that does.
 */
#pragma once

#include "cgroup_mounts.h"
#include "layout.h"

enum { CGROUP_MAX = 4096, CGROUP_LISTED = 512, CGROUP_IDLE_TICKS = 30 };

struct cgroup {
	char *path; /* "/" is the root */
	uint64_t id[CGROUP_MOUNTS]; /* the kernel's, in each hierarchy */
	uint32_t in, was_in; /* bit of each hierarchy: it is there, it was in the last walk */
	uint32_t absent; /* bit of each file: it was looked for, and is not there */
	uint32_t depth; /* 0: the root */
	uint32_t idle; /* reads in a row in which nothing was counted */
	bool listed;
	bool born; /* after the first walk: its counters began with 0 */
	double last[CGROUP_END];
};

struct cgroup_tree {
	struct cgroup **all; /* by path: a parent comes before its children */
	uint32_t n, room, listed;
	uint32_t cut; /* beyond CGROUP_MAX, in the last walk */
	bool walked;
};

void cgroup_tree_walk(struct cgroup_tree *t, const struct cgroup_mounts *m);
void cgroup_tree_free(struct cgroup_tree *t); /* what it holds */

struct cgroup *cgroup_tree_parent(const struct cgroup_tree *t, const struct cgroup *c);
