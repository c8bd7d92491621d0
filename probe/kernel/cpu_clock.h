// SPDX-License-Identifier: Apache-2.0
/* cpu_clock.h - a program run by a timer on every CPU that is on line, in whatever it interrupts.
 */
#pragma once

#include "lib/base/base.h"

struct bpf_program;
struct cpu_clock;

/* *out is NULL on failure: -errno, -EPERM where the kernel does not let us. */
int cpu_clock_open(struct cpu_clock **out, struct bpf_program *p, uint32_t hz) MUST_CHECK;
void cpu_clock_explain(int err, char *why); /* WHY_LEN bytes: why it could not be opened */
void cpu_clock_close(struct cpu_clock *c); /* NULL is fine */
