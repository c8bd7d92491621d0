// SPDX-License-Identifier: Apache-2.0
#include "probe/source/files/files_clock.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>

#include "probe/core/source.h"

#define PERIOD_NS 5000000ull

/* nohz_full: CPUs whose tick stops while they run a single thread. */
static bool may_stop(const char *sysfs)
{
	char path[PATH_MAX], first = 0;
	ssize_t n = 0;

	snprintf(path, sizeof(path), "%s/devices/system/cpu/nohz_full", sysfs);
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		n = read(fd, &first, 1);
	return n == 1 && isdigit((unsigned char)first); /* else "(null)" */
}

uint64_t files_clock_tick_ns(void)
{
	struct timespec fine = { 0 }, coarse = { 0 };

	if (clock_getres(CLOCK_MONOTONIC, &fine) < 0 || fine.tv_nsec != 1 ||
	    clock_getres(CLOCK_MONOTONIC_COARSE, &coarse) < 0)
		return 0; /* without high resolution timers the tick is not one of them */
	return (uint64_t)coarse.tv_nsec;
}

int files_clock_choose(const char *wish, uint64_t tick_ns, const char *sysfs,
		       struct files_clock *out, char *why)
{
	bool serves = tick_ns && tick_ns <= PERIOD_NS && !may_stop(sysfs);

	if (strcmp(wish, "timer") != 0 && strcmp(wish, "tick") != 0 && strcmp(wish, "auto") != 0) {
		snprintf(why, WHY_LEN, "slow_file_clock is \"%s\"; give tick, timer or auto", wish);
		return -EINVAL;
	}
	*out = (struct files_clock){ .period_ns = PERIOD_NS };
	if (strcmp(wish, "timer") == 0 || (!serves && strcmp(wish, "auto") == 0))
		return 0;
	if (!tick_ns) {
		snprintf(why, WHY_LEN,
			 "this kernel's tick cannot be observed (no high resolution timers); give "
			 "slow_file_clock = timer");
		return -EOPNOTSUPP;
	}
	out->ticks = true;
	out->period_ns = tick_ns < PERIOD_NS ? PERIOD_NS / tick_ns * tick_ns : tick_ns;
	out->least_ns = out->period_ns - tick_ns / 2;
	return 0;
}
