// SPDX-License-Identifier: Apache-2.0
/*
 * files_clock.h - by which clock each CPU is looked at for slow file operations. The kernel's tick
 * costs nothing more and leaves an idle CPU asleep; a timer of our own takes 20 us each time under
 * a hypervisor (tests/bench/RESULTS.md), and serves where the tick is too slow or may stay away.
 */
#pragma once

#include "lib/base/base.h"

struct files_clock {
	bool ticks; /* else: a timer */
	uint64_t period_ns; /* between two looks */
	uint64_t least_ns; /* any timer of the kernel's that runs out so long after a look is one */
};

/*
 * wish: "tick", "timer" or "auto"; tick_ns: the kernel's; sysfs tells processors that may be
 * without it. 0, or -errno with the sentence in why, of WHY_LEN bytes.
 */
int files_clock_choose(const char *wish, uint64_t tick_ns, const char *sysfs,
		       struct files_clock *out, char *why) MUST_CHECK;

uint64_t files_clock_tick_ns(void); /* 0: it is no timer that can be seen */
