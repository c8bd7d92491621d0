// SPDX-License-Identifier: Apache-2.0
/*
 * bpf_stats_bias.h - measures the error of the kernel's run times of BPF programs: they lack the
 * cost of the hook (the way to the program and back) and include a part of the cost of taking the
 * time.
 */
#pragma once

#include "lib/base/base.h"

/*
 * Runs an empty program on a tracepoint some thousands of times, which takes some milliseconds.
 * Returns the ns to add to the kernel's time for each run; negative where taking the time costs
 * more. 0: cannot be measured here. Before privileges are dropped.
 */
int64_t bpf_stats_bias_ns(void);
