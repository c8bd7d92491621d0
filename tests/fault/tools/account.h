// SPDX-License-Identifier: Apache-2.0
/*
 * account.h - what the kernel itself says of a thread's time, by interfaces that the probe does not
 * use: its CPU clock, schedstat, and the delay accounting of taskstats.
 */
#pragma once

#include <stdint.h>

struct account { /* of the calling thread, since it began; nanoseconds */
	uint64_t wall, cpu;
	uint64_t runq; /* run_delay of schedstat */
	uint64_t blkio, reclaim; /* taskstats; 0 where delay accounting is off */
};

/* Before the process leaves the first network namespace: taskstats answers there only. */
void account_open(void);
void account_take(struct account *a);
uint64_t account_wall_ns(void); /* since 1970 */
