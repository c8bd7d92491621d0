// SPDX-License-Identifier: Apache-2.0
/* bpf_stats_bias.h - what the kernel's own figures lack of a run of its programs, the way there and
 * back, and have too much: to take the time costs, too. */
#pragma once

#include "lib/base/base.h"

/*
 * Of an empty program on a tracepoint that this thread calls some thousands of times, in some
 * milliseconds: ns to be added for each run to what the kernel says of it; below 0 where taking the
 * time costs more. 0: it cannot be told here. While there are still privileges.
 */
int64_t bpf_stats_bias_ns(void);
