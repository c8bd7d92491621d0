// SPDX-License-Identifier: Apache-2.0
/* hook_cost.h - what the kernel's own figures lack of a run of its programs, the way there and
 * back, and have too much: to take the time costs, too. */
#pragma once

#include "lib/base/base.h"

/*
 * Of an empty program on a tracepoint that this thread calls some thousands of times, in some
 * milliseconds: ns to be added for each run to what the kernel says of it; below 0 where taking the
 * time costs more. 0: it cannot be told here. While there are still privileges.
 */
int64_t hook_cost_ns(void);
