/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* exec.h - what bpf/sched/exec.bpf.c and probe/source/src_exec.c agree on. */
#pragma once

enum exec_field {
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

struct exec_program {
	char name[STARTS_NAME];
};

struct exec {
	__u64 v[STARTS_FIELDS];
};
