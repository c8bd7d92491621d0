// SPDX-License-Identifier: Apache-2.0
/* incident_limits.h - the settings that decide when an incident opens, takes a signal and closes. */
#pragma once

#include <stdint.h>

struct incident_limits {
	int64_t least_events, least_percent, least_excess_ms; /* below: no signal */
	int64_t window_s; /* of which these are counted */
	int64_t join_s, quiet_s, reopen_s;
};
