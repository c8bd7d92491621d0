// SPDX-License-Identifier: Apache-2.0
/*
 * kernel_events.h - what the sources of the kernel's own story tell each other, so that a thing that two of
 * them see is one event. Each only looks at what the others put here; whoever opens all sources
 * owns it.
 */
#pragma once

#include "probe/source/kernel_log/oom_report.h"

enum { STORY_HUNG = 8, STORY_REPORTS = 4 };

struct kernel_events {
	bool log_is_read; /* by kmsg */
	bool stuck_is_watched, oom_is_watched;
	uint32_t nhung, nreports;
	uint32_t hung[STORY_HUNG]; /* threads of which the log said that they are */
	struct {
		uint64_t at_ns; /* when it was read */
		struct oom_report of;
	} report[STORY_REPORTS];
};
