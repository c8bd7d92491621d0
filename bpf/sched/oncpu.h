/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * oncpu.h - the samples shared by bpf/sched/oncpu.bpf.c and probe/source/profile/src_profile.c. The
 * length of a record depends on its number of user frames.
 */
#pragma once

#include "bpf/request/request.h"

enum {
	ONCPU_COMM = 16,
	ONCPU_KERNEL = 32, /* frames */
	ONCPU_USER = 48,
};

struct oncpu_sample {
	__u32 tgid;
	__u32 nkernel, nuser; /* frames, innermost first */
	__u32 of_kernel; /* a kernel thread */
	__u32 of; /* weight of this sample */
	__u32 unused;
	char comm[ONCPU_COMM]; /* of the main thread */
	__u64 kernel[ONCPU_KERNEL];
	struct req_frame user[ONCPU_USER];
};

_Static_assert(sizeof(struct oncpu_sample) == 40 + 32 * 8 + 48 * 32, "oncpu_sample");
