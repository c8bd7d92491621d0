// SPDX-License-Identifier: Apache-2.0
/*
 * kernel_btf.h - the types of the running kernel, which take 5 MiB and more and, where memory is
 * slow to get, a tenth of a second to be read: once for all sources that are opened together.
 */
#pragma once

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

struct btf;

void kernel_btf_begin(void); /* sources are opened from now on: what they free comes in useful */
void kernel_btf_end(void); /* and no more */

/* NULL: it has none, or it cannot be read. Stays as it is until the end. */
const struct btf *kernel_btf(void);
