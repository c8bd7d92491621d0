// SPDX-License-Identifier: Apache-2.0
/*
 * request_kernel.h - the kernel half of the request source: loads and attaches bpf/request.bpf.c,
 * reads its ring, runs its sweep, sums its counters.
 */
#pragma once

#include <linux/types.h>

#include "../bpf/request.h"
#include "../lib/base.h"
#include "scope.h"

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

struct request_kernel;

/* why: WHY_LEN bytes for what is missing and what to do, when it fails. Watches at once. */
int request_kernel_open(struct request_kernel **out, size_t ring_bytes, const struct scope *scope,
			int (*on_record)(void *arg, void *data, size_t len), void *arg, char *why);
void request_kernel_close(struct request_kernel *k); /* NULL is fine */

/* Hands every record to on_record. *jiffy_ns is set once a jiffy has been measured. */
int request_kernel_read(struct request_kernel *k, uint64_t now_ns, uint64_t *jiffy_ns);
int request_kernel_stats(struct request_kernel *k, uint64_t out[static STAT_END]);
