/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rdma.h - the counters shared by bpf/net/rdma.bpf.c and probe/source/src_rdma.c. */
#pragma once

enum {
	RDMA_DEVICES = 16,
	RDMA_NAME = 16, /* of a program's name in the kernel */
	RDMA_ENTRIES = 512, /* including one entry shared by all others */
	RDMA_OTHERS = ~0u, /* not a device: the shared entry */
};

struct rdma_key {
	char program[RDMA_NAME];
	__u32 device; /* index of the device */
	__u32 error; /* errno; 0: none */
};

/* The layout of the counters. */
struct rdma_entry {
	__u64 calls, errors;
};
