/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cgroup_add.h - what is counted by cgroup, each with its path from when it is first seen. Whoever
 * includes this says of what type its entries are (CGROUP_ENTRY, with a struct cgroup_record at)
 * and how many have a place of their own (CGROUP_ENTRIES); those beyond share one.
 */
#pragma once

#include "bpf/lib/cgroup_emit.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CGROUP_ENTRIES + 1);
	__type(key, __u64);
	__type(value, CGROUP_ENTRY);
} cgroups SEC(".maps");

/* What a new entry begins with: too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, CGROUP_ENTRY);
} nothing SEC(".maps");

static __noinline CGROUP_ENTRY *cgroup_add(struct task_struct *t, __u64 id)
{
	struct kernfs_node *n = BPF_CORE_READ(cgroup_of(t), kn);
	CGROUP_ENTRY *c;
	__u32 zero = 0;
	void *new = bpf_map_lookup_elem(&nothing, &zero);

	if (!new)
		return NULL;
	if (!bpf_map_update_elem(&cgroups, &id, new, BPF_NOEXIST)) {
		c = bpf_map_lookup_elem(&cgroups, &id);
		if (c)
			cgroup_emit(&c->at, n);
		return c;
	}
	c = bpf_map_lookup_elem(&cgroups, &id); /* somebody else's, just now */
	if (c)
		return c;
	id = CGROUP_OTHERS;
	return bpf_map_lookup_elem(&cgroups, &id);
}
