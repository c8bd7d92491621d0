// SPDX-License-Identifier: Apache-2.0
/*
 * ksym_kernel.h - looks up the names of kernel addresses with a kernel program
 * (bpf/symbol/ksym.bpf.c): some microseconds each, and independent of kptr_restrict.
 */
#pragma once

#include "lib/base/base.h"

enum { KSYM_NAME = 64 }; /* of a symbol and its module, cut */

struct ksym_place {
	uint64_t from, to; /* from its symbol to the next one; 0, 0: no symbol */
	char name[KSYM_NAME]; /* "ext4_sync_file [ext4]" */
};

struct ksym_kernel;

/*
 * One instance for the process, taken while it may still load programs. NULL: not possible in this
 * kernel (before 5.14), or not permitted.
 */
struct ksym_kernel *ksym_kernel_take(void);
void ksym_kernel_put(struct ksym_kernel *k); /* NULL is fine */

/* 0, or -errno: the kernel refuses to run the program. */
int ksym_kernel_find(struct ksym_kernel *k, const uint64_t *addr, size_t n,
		     struct ksym_place *place) MUST_CHECK;

/* Parses the kernel's text for an address: "ext4_sync_file+0x2c/0x1b0 [ext4]". */
void ksym_place_of(const char *text, uint64_t addr, struct ksym_place *p);
