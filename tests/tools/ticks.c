// SPDX-License-Identifier: Apache-2.0
/*
 * ticks.c - ticks HZ ROUNDS: what one tick of a cpu-clock event costs a processor that is busy, in
 * ns, without what runs at it: a loop at real-time priority, with so many ticks a second and
 * without in turn. Median, least and most of the rounds.
 */
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SLICE_MS = 60, ROUNDS_MAX = 99 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Turns of an empty loop in a second. */
static double speed(void)
{
	double from = now(), to = from;
	long turns = 0;

	while (to - from < SLICE_MS / 1e3) {
		for (volatile int i = 0; i < 1000; i++)
			;
		turns++;
		to = now();
	}
	return turns / (to - from);
}

static int clock_open(unsigned hz)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE,
				     .size = sizeof(a),
				     .config = PERF_COUNT_SW_CPU_CLOCK,
				     .sample_freq = hz,
				     .freq = 1 };

	return (int)syscall(SYS_perf_event_open, &a, -1, sched_getcpu(), -1, PERF_FLAG_FD_CLOEXEC);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char *argv[])
{
	unsigned hz = argc > 2 ? (unsigned)atoi(argv[1]) : 0;
	int rounds = argc > 2 ? atoi(argv[2]) : 0;
	struct sched_param p = { .sched_priority = 50 };
	double cost[ROUNDS_MAX];
	cpu_set_t one;

	if (!hz || rounds < 1 || rounds > ROUNDS_MAX)
		return 2;
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one) < 0 ||
	    sched_setscheduler(0, SCHED_FIFO, &p) < 0)
		return 1;
	for (int i = 0; i < rounds; i++) {
		double without = speed(), with;
		int fd = clock_open(hz);

		if (fd < 0)
			return 1;
		with = speed();
		close(fd);
		cost[i] = (1 - 2 * with / (without + speed())) * 1e9 / hz;
		usleep(2 * SLICE_MS * 1000); /* the others' turn */
	}
	qsort(cost, (size_t)rounds, sizeof(cost[0]), compare);
	printf("%.0f (%.0f..%.0f)\n", cost[rounds / 2], cost[0], cost[rounds - 1]);
	return 0;
}
