// SPDX-License-Identifier: Apache-2.0
/* stalls.h - whether source_stalls can be limited to one cgroup. */
#pragma once

#include "probe/core/probe_config.h"

/* True: the scope has its own pressure files (cgroup2); false: no scope, or the host's are used. */
bool stalls_in_scope(const struct probe_config *c);
