// SPDX-License-Identifier: Apache-2.0
/*
 * ksym_kernel.h - the names of kernel addresses as the kernel itself looks them up, by a program of
 * ours that it runs (bpf/symbol/ksym.bpf.c): some microseconds each, and no addresses are shown for it.
 */
#pragma once

#include "lib/base/base.h"

enum { KSYM_NAME = 64 }; /* of a symbol and its module, cut */

struct ksym_place {
	uint64_t from, to; /* from its symbol to the next one; 0, 0: it has none */
	char name[KSYM_NAME]; /* "ext4_sync_file [ext4]" */
};

struct ksym_kernel;

/*
 * One for all of the process, taken while it may still load programs. NULL: this kernel (before
 * 5.14), or who may not load one, cannot.
 */
struct ksym_kernel *ksym_kernel_take(void);
void ksym_kernel_put(struct ksym_kernel *k); /* NULL is fine */

/* 0, or -errno of the kernel, which then does not run it at all. */
int ksym_kernel_find(struct ksym_kernel *k, const uint64_t *addr, size_t n,
		     struct ksym_place *place) MUST_CHECK;

/* Of "ext4_sync_file+0x2c/0x1b0 [ext4]", what the kernel says of an address. */
void ksym_place_of(const char *text, uint64_t addr, struct ksym_place *p);
