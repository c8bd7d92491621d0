// SPDX-License-Identifier: Apache-2.0
/*
 * files_clock.h - selects the clock by which each CPU is checked for slow file operations. The
 * kernel's tick costs nothing extra and lets an idle CPU sleep. A separate timer takes 20 us each
 * time under a hypervisor (tests/bench/RESULTS.md); it is used where the tick is too slow or may
 * stop.
 */
#pragma once

#include "lib/base/base.h"

struct files_clock {
	bool ticks; /* else: a timer */
	uint64_t period_ns; /* between two checks */
	uint64_t least_ns; /* any kernel timer that expires this long after a check triggers one */
};

/*
 * wish: "tick", "timer" or "auto"; tick_ns: the kernel's; sysfs lists CPUs that may stop it. 0, or
 * -errno with a sentence in why (WHY_LEN bytes).
 */
int files_clock_choose(const char *wish, uint64_t tick_ns, const char *sysfs,
		       struct files_clock *out, char *why) MUST_CHECK;

uint64_t files_clock_tick_ns(void); /* 0: the tick cannot be observed */
