// SPDX-License-Identifier: Apache-2.0
/*
 * pingpong.c - pingpong CPU SWITCHES: two processes on one CPU hand a byte to and fro over two
 * pipes, which is a switch each time. Prints nanoseconds of CPU time per switch: what others take
 * does not count.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		perror("sched_setaffinity");
}

/* The scheduler's own clock: to the nanosecond, not by ticks. */
static double cpu_ns(pid_t pid)
{
	struct timespec t = { 0 };
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) == 0)
		clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int play(int in, int out, long turns, int first)
{
	char byte = 0;

	for (long i = 0; i < turns; i++) {
		if ((i > 0 || !first) && read(in, &byte, 1) != 1)
			return -1;
		if (write(out, &byte, 1) != 1)
			return -1;
	}
	return first && read(in, &byte, 1) != 1 ? -1 : 0;
}

int main(int argc, char *argv[])
{
	int there[2], back[2], status = 0, r;
	long turns = argc == 3 ? atol(argv[2]) / 2 : 0;
	double begin;
	pid_t pid;

	if (turns <= 0 || pipe(there) < 0 || pipe(back) < 0) {
		fprintf(stderr, "usage: pingpong CPU SWITCHES\n");
		return EXIT_FAILURE;
	}
	pin(atoi(argv[1]));
	pid = fork();
	if (pid == 0)
		_exit(play(there[0], back[1], turns, 0) < 0);
	begin = cpu_ns(0) + cpu_ns(pid);
	r = play(back[0], there[1], turns, 1);
	printf("%.1f\n", (cpu_ns(0) + cpu_ns(pid) - begin) / (double)(2 * turns));
	waitpid(pid, &status, 0);
	return r < 0 || status ? EXIT_FAILURE : EXIT_SUCCESS;
}
