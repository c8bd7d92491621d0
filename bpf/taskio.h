/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* taskio.h - what bpf/taskio.bpf.c and probe/src_taskio.c agree on. */
#pragma once

enum {
	TASKIO_FIELDS = 7,
	TASKIO_NAME = 16, /* of a program, as the kernel keeps it */
	TASKIO_CGROUPS = 512, /* and programs: with those beyond, one for all of them */
	TASKIO_PARTS = 24,
	TASKIO_PART = 256,
	TASKIO_PATH = 768,
	TASKIO_OTHERS = 0, /* no cgroup's id */
};

/* In the order of the layout. */
struct taskio {
	__u64 v[TASKIO_FIELDS];
};

struct taskio_cgroup {
	struct taskio io;
	__u32 len; /* 0: not yet known */
	__u32 cut; /* there is more towards the root */
	/* names, the innermost first, each ended by a NUL; none at all: the root */
	char path[TASKIO_PATH];
};

struct taskio_program {
	char name[TASKIO_NAME];
};
