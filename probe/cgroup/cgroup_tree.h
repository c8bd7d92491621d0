// SPDX-License-Identifier: Apache-2.0
/*
 * cgroup_tree.h - all cgroups of this host by path, updated by each walk of the hierarchies.
 *
 * A path that exists in several hierarchies is one cgroup. The tree holds at most CGROUP_MAX, those
 * nearest to the root. At most CGROUP_LISTED of them are listed, chosen by the tree: a listed
 * cgroup keeps its place while it is active; an idle one loses it to an active one that is not
 * listed.
 */
#pragma once

#include "probe/cgroup/cgroup_mounts.h"
#include "probe/core/layout.h"

enum { CGROUP_MAX = 4096, CGROUP_LISTED = 512, CGROUP_IDLE_TICKS = 30 };

/* One field beyond the metrics: the working set is computed from it. */
enum { CGROUP_INACTIVE_FILE = CGROUP_END, CGROUP_FIELDS };

struct cgroup_node {
	char *path; /* "/" is the root */
	uint64_t id[CGROUP_MOUNTS]; /* the kernel's id in each hierarchy */
	uint32_t in, was_in; /* a bit per hierarchy: present now, present in the last walk */
	uint32_t absent; /* a bit per file: known to be missing */
	uint32_t depth; /* 0: the root */
	uint32_t idle; /* reads in a row without activity */
	uint32_t turn; /* spreads the full reads of the cgroups over the ticks */
	bool was_read;
	bool listed;
	bool born; /* created after the first walk: its counters started at 0 */
	double raw[CGROUP_FIELDS]; /* values of the last read */
	double last[CGROUP_END]; /* counters at the last tick, the base of the deltas */
};

struct cgroup_tree {
	struct cgroup_node **all; /* sorted by path: a parent comes before its children */
	uint32_t n, room, listed;
	uint32_t cut; /* cgroups of the last walk beyond CGROUP_MAX */
	uint32_t made; /* cgroups created since the start */
	bool walked;
};

void cgroup_tree_walk(struct cgroup_tree *t, const struct cgroup_mounts *m);
void cgroup_tree_free(struct cgroup_tree *t); /* its content */

struct cgroup_node *cgroup_tree_parent(const struct cgroup_tree *t, const struct cgroup_node *c);
