/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* taskio.h - the counters shared by bpf/disk/taskio.bpf.c and probe/source/src_taskio.c. */
#pragma once

#include "bpf/lib/cgroup_record.h"

enum {
	TASKIO_KERNEL = 7, /* in the kernel's order */
	TASKIO_CACHED = TASKIO_KERNEL, /* bytes read without a disk */
	TASKIO_FIELDS,
	TASKIO_NAME = 16, /* of a program's name in the kernel */
	TASKIO_CGROUPS = 512, /* same for programs; including one entry shared by all others */
};

/* The layout of the counters. */
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
