// SPDX-License-Identifier: Apache-2.0
/*
 * bpf_stats.h - has the kernel count how long its programs run, while it is asked to.
 *
 * Only CAP_SYS_ADMIN may have it count, which a probe gives up. So a thread does it that begins
 * before that: it keeps this capability and no other, behind a filter of its own that leaves it
 * this one call of bpf() and what a thread waits and ends by: nothing that it could be made to do.
 */
#pragma once

#include "lib/base/base.h"

struct bpf_stats;

/* While there are still privileges. It counts when this returns; -errno: it may not. */
int bpf_stats_open(struct bpf_stats **out) MUST_CHECK;
void bpf_stats_close(struct bpf_stats *c); /* NULL is fine */

void bpf_stats_ask(struct bpf_stats *c, bool on); /* done soon after it has returned */
uint64_t bpf_stats_ns(struct bpf_stats *c); /* for so long in all it has counted */
