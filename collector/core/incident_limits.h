// SPDX-License-Identifier: Apache-2.0
/* incident_limits.h - options: when abnormal requests become a signal and an incident. */
#pragma once

#include "lib/base/base.h"

struct incident_limits {
	int64_t least_events, least_percent, least_excess_ms; /* below: no signal */
	int64_t window_s; /* over which these are counted */
	int64_t join_s, quiet_s, reopen_s;
};
