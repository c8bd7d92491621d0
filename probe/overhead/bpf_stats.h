// SPDX-License-Identifier: Apache-2.0
/*
 * bpf_stats.h - switches the kernel's run-time statistics of BPF programs on and off.
 *
 * This needs CAP_SYS_ADMIN, which the probe drops. So a thread that starts before the drop keeps
 * this capability and no other. A seccomp filter of its own allows it only this one command of
 * bpf() and the calls to wait and to end, so that it cannot be misused.
 */
#pragma once

#include "lib/base/base.h"

struct bpf_stats;

/* Before privileges are dropped. The kernel counts when this returns; -errno: not permitted. */
int bpf_stats_open(struct bpf_stats **out) MUST_CHECK;
void bpf_stats_close(struct bpf_stats *c); /* NULL is fine */

void bpf_stats_want(struct bpf_stats *c, bool on); /* takes effect soon after the return */
uint64_t bpf_stats_ns(struct bpf_stats *c); /* total time in which the kernel has counted */
