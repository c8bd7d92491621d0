/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cgroup_emit.h - writes the path of a cgroup into the record that user space reads
 * (cgroup_record.h).
 */
#pragma once

#include "bpf/lib/cgroup.h"
#include "bpf/lib/cgroup_record.h"

static __noinline void cgroup_emit(struct cgroup_record *c, struct kernfs_node *n)
{
	__u32 len = 0;

	for (int i = 0; i < CGROUP_RECORD_PARTS; i++) {
		struct kernfs_node *up = parent_of(n);
		long got;

		if (!up)
			break;
		if (len > CGROUP_RECORD_PATH - CGROUP_RECORD_PART) {
			c->cut = 1;
			break;
		}
		got = bpf_probe_read_kernel_str(c->path + len, CGROUP_RECORD_PART,
						BPF_CORE_READ(n, name));
		if (got <= 0)
			break;
		len += (__u32)got;
		n = up;
	}
	if (parent_of(n))
		c->cut = 1;
	c->len = len ? len : 1; /* the root's only component is "" */
}
