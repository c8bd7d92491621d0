/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cgroup_add.h - a map of counters per cgroup; stores the cgroup's path when it is first seen. The
 * including file defines the type of the entries (CGROUP_ENTRY, with a struct cgroup_record at) and
 * how many cgroups have an entry of their own (CGROUP_ENTRIES); all others share one.
 */
#pragma once

#include "bpf/lib/cgroup_emit.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CGROUP_ENTRIES + 1);
	__type(key, __u64);
	__type(value, CGROUP_ENTRY);
} cgroups SEC(".maps");

/* Initial value of a new entry: too large for the stack. */
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
	c = bpf_map_lookup_elem(&cgroups, &id); /* another CPU has just added it */
	if (c)
		return c;
	id = CGROUP_OTHERS;
	return bpf_map_lookup_elem(&cgroups, &id);
}
