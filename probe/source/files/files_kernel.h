// SPDX-License-Identifier: Apache-2.0
/* files_kernel.h - the kernel half of the files source: loads and attaches bpf/files/files.bpf.c.
 */
#pragma once

#include <linux/types.h>

#include "bpf/files/files.h"
#include "lib/base/base.h"
#include "probe/source/files/files_clock.h"
#include "probe/cgroup/scope.h"
#include "probe/kernel/switch_chain.h"

struct files_kernel;

struct files_how {
	uint64_t slow_ns;
	struct files_clock clock;
	struct scope scope;
	struct switch_chain *chain; /* NULL: none */
};

/* why: WHY_LEN bytes; on failure says what is missing and what to do. */
int files_kernel_open(struct files_kernel **out, const struct files_how *how,
		      int (*on_record)(void *arg, void *data, size_t len), void *arg, char *why);
void files_kernel_close(struct files_kernel *k); /* NULL is fine */

int files_kernel_read(
	struct files_kernel *k); /* passes every record to on_record; returns their number */
int files_kernel_ring(const struct files_kernel *k); /* readable when there is a record */
void files_kernel_stats(struct files_kernel *k, uint64_t out[static FILE_STAT_END]);
