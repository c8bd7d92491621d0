// SPDX-License-Identifier: Apache-2.0
/* cpu_clock.h - runs a kernel program on every online CPU from a timer, in the interrupted context.
 */
#pragma once

#include "lib/base/base.h"

struct bpf_program;
struct cpu_clock;

/* *out is NULL on failure: -errno; -EPERM: the kernel does not permit it. */
int cpu_clock_open(struct cpu_clock **out, struct bpf_program *p, uint32_t hz) MUST_CHECK;
void cpu_clock_explain(int err, char *why); /* why, of WHY_LEN bytes: the reason of the failure */
void cpu_clock_close(struct cpu_clock *c); /* NULL is fine */
