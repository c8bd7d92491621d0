// SPDX-License-Identifier: Apache-2.0
/* src_proc.h - the parts of source_proc, one file each. raw: values as read, not yet deltas. */
#pragma once

#include "probe/source/proc/proc_devices.h"
#include "probe/core/source.h"

struct proc {
	char *procfs, *sysfs;
	bool has_sys_block; /* /sys/block distinguishes disks from partitions; else the name must */
	struct buf text; /* the file being read */
	double last[NODE_END];
	uint32_t softnet_lines; /* one for each CPU; 0: not read yet */
	struct devices disks, nets;
};

void proc_soft_read(struct proc *p, double raw[static NODE_END]);
int proc_node_read(struct proc *p, double raw[static NODE_END]);
void proc_disk_read(struct proc *p, struct sink *out);
void proc_net_read(struct proc *p, struct sink *out);
