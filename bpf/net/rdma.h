/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rdma.h - what bpf/net/rdma.bpf.c and probe/source/src_rdma.c agree on. */
#pragma once

enum {
	RDMA_DEVICES = 16,
	RDMA_NAME = 16, /* of a program, as the kernel keeps it */
	RDMA_ENTRIES = 512, /* with those beyond, one for all of them */
	RDMA_OTHERS = ~0u, /* no device */
};

struct rdma_key {
	char program[RDMA_NAME];
	__u32 device; /* which of them */
	__u32 error; /* errno; 0: none */
};

/* In the order of the layout. */
struct rdma_entry {
	__u64 calls, errors;
};
