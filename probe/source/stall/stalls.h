// SPDX-License-Identifier: Apache-2.0
/* stalls.h - what source_stalls watches where only one cgroup is to be watched. */
#pragma once

#include "probe/core/probe_config.h"

/* Its own pressure, as cgroup2 has it; false: that of the whole host, as there is none or no scope.
 */
bool stalls_in_scope(const struct probe_config *c);
