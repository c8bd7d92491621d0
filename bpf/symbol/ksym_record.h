/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ksym_record.h - the buffer shared by bpf/symbol/ksym.bpf.c and probe/symbol/kernel/ksym_kernel.c.
 */
#pragma once

enum { KSYM_BATCH = 32, KSYM_BATCH_TEXT = 160 };

struct ksym_batch {
	__u64 addr[KSYM_BATCH];
	__u32 n;
	/* "do_fsync+0x1a/0x40", "ext4_sync_file+0x2c/0x1b0 [ext4]", "0xff.." */
	char text[KSYM_BATCH][KSYM_BATCH_TEXT];
};
