/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cgroup.h - finds the cgroup of a task: that of the memory controller (version 1 or version 2),
 * and that of version 2.
 */
#pragma once

#include "bpf/lib/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

static __always_inline __u64 id_of_cgroup(struct cgroup *g)
{
	return BPF_CORE_READ(g, kn, id);
}

/* NULL: this kernel has no memory controller. */
static __always_inline struct cgroup *memory_cgroup_of(struct task_struct *t)
{
	struct cgroup_subsys_state *css = NULL;
	struct css_set *set = BPF_CORE_READ(t, cgroups);
	int at;

	if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, memory_cgrp_id))
		return NULL;
	at = bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id);
	bpf_probe_read_kernel(&css, sizeof(css), &set->subsys[0] + at);
	return css ? BPF_CORE_READ(css, cgroup) : NULL;
}

static __always_inline struct kernfs_node *parent_of(struct kernfs_node *n)
{
	struct kernfs_node___later *later = (void *)n;

	return bpf_core_field_exists(later->__parent) ? BPF_CORE_READ(later, __parent)
						      : BPF_CORE_READ(n, parent);
}

/*
 * The task's version 2 cgroup. If that is the root, which holds all tasks without another one: the
 * cgroup of version 1's memory controller (on version 2 that is the root again).
 */
static __always_inline struct cgroup *cgroup_of(struct task_struct *t)
{
	struct cgroup *g = BPF_CORE_READ(t, cgroups, dfl_cgrp), *of_memory;

	if (parent_of(BPF_CORE_READ(g, kn)))
		return g;
	of_memory = memory_cgroup_of(t);
	return of_memory ? of_memory : g;
}
