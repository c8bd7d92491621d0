/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* exec.h - the counters shared by bpf/sched/exec.bpf.c and probe/source/src_exec.c. */
#pragma once

enum exec_field {
	START_EXECUTED, /* executed programs */
	START_ENDED, /* ended processes */
	START_FAILED, /* those that exited with a code other than 0 */
	START_KILLED, /* those killed by a signal */
	STARTS_FIELDS
};

enum {
	STARTS_NAME = 16, /* of a program's name in the kernel */
	STARTS_PROGRAMS = 512, /* including one entry shared by all others */
};

struct exec_program {
	char name[STARTS_NAME];
};

struct exec {
	__u64 v[STARTS_FIELDS];
};
