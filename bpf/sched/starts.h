/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* starts.h - what bpf/sched/starts.bpf.c and probe/source/src_starts.c agree on. */
#pragma once

enum starts_field {
	START_EXECUTED, /* programs that were executed */
	START_ENDED, /* processes that ended, */
	START_FAILED, /* of these by themselves, with a code that is not 0 */
	START_KILLED, /* by a signal */
	STARTS_FIELDS
};

enum {
	STARTS_NAME = 16, /* of a program, as the kernel keeps it */
	STARTS_PROGRAMS = 512, /* with those beyond, one for all of them */
};

struct starts_program {
	char name[STARTS_NAME];
};

struct starts {
	__u64 v[STARTS_FIELDS];
};
