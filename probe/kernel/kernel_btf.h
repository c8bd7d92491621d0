// SPDX-License-Identifier: Apache-2.0
/*
 * kernel_btf.h - the types (BTF) of the running kernel, read once for all sources that are opened
 * together. They take 5 MiB or more, and a tenth of a second to read where memory is slow to get.
 */
#pragma once

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

struct btf;

void kernel_btf_begin(void); /* before sources are opened: malloc keeps memory that they free */
void kernel_btf_end(void); /* after all sources are opened: releases it, and the types */

/* NULL: the kernel has no BTF, or it cannot be read. Valid until kernel_btf_end. */
const struct btf *kernel_btf(void);
