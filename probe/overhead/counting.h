// SPDX-License-Identifier: Apache-2.0
/*
 * counting.h - has the kernel count how long its programs run, while it is asked to.
 *
 * Only CAP_SYS_ADMIN may have it count, which a probe gives up. So a thread does it that begins
 * before that: it keeps this capability and no other, behind a filter of its own that leaves it
 * this one call of bpf() and what a thread waits and ends by: nothing that it could be made to do.
 */
#pragma once

#include "lib/base/base.h"

struct counting;

/* While there are still privileges. It counts when this returns; -errno: it may not. */
int counting_open(struct counting **out) MUST_CHECK;
void counting_close(struct counting *c); /* NULL is fine */

void counting_ask(struct counting *c, bool on); /* done soon after it has returned */
uint64_t counting_ns(struct counting *c); /* for so long in all it has counted */
