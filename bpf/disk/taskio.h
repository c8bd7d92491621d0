/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* taskio.h - what bpf/disk/taskio.bpf.c and probe/source/src_taskio.c agree on. */
#pragma once

#include "bpf/lib/cgroup_record.h"

enum {
	TASKIO_KERNEL = 7, /* as the kernel counts them */
	TASKIO_CACHED = TASKIO_KERNEL, /* bytes that were read and came from no disk */
	TASKIO_FIELDS,
	TASKIO_NAME = 16, /* of a program, as the kernel keeps it */
	TASKIO_CGROUPS = 512, /* and programs: with those beyond, one for all of them */
};

/* In the order of the layout. */
struct taskio {
	__u64 v[TASKIO_FIELDS];
};

struct taskio_cgroup {
	struct taskio io;
	struct cgroup_record at;
};

struct taskio_program {
	char name[TASKIO_NAME];
};
