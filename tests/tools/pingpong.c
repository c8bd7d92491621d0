// SPDX-License-Identifier: Apache-2.0
/*
 * pingpong.c - pingpong CPU SWITCHES [PORT]: two processes on one CPU hand a byte to and fro over
 * two pipes, which is a switch each time. Prints nanoseconds of CPU time per switch: what others
 * take does not count. With PORT, one of them does it for a request that it serves there.
 */
#include <arpa/inet.h>
#include <sched.h>
#include <signal.h>
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

static int ask(const struct sockaddr_in *to)
{
	static const char request[] = "GET /pingpong HTTP/1.1\r\nHost: x\r\n\r\n";
	char answer[64];
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(fd, (const struct sockaddr *)to, sizeof(*to)) < 0 ||
	    write(fd, request, sizeof(request) - 1) < 0)
		return -1;
	return read(fd, answer, sizeof(answer)) > 0 ? 0 : -1;
}

/* A request for this process, which another one waits for: the connection, or -1. */
static int request_take(int port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	char request[256];

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, 1) < 0)
		return -1;
	if (fork() == 0)
		_exit(ask(&at) < 0);
	fd = accept(fd, NULL, NULL);
	return read(fd, request, sizeof(request)) > 0 ? fd : -1;
}

static int request_answer(int fd)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	int status = 0;

	if (write(fd, answer, sizeof(answer) - 1) < 0 || wait(&status) < 0)
		return -1;
	return status ? -1 : 0;
}

int main(int argc, char *argv[])
{
	int there[2], back[2], status = 0, r, fd = -1;
	long turns = argc >= 3 ? atol(argv[2]) / 2 : 0;
	double begin;
	pid_t pid;

	if (turns <= 0 || pipe(there) < 0 || pipe(back) < 0) {
		fprintf(stderr, "usage: pingpong CPU SWITCHES [PORT]\n");
		return EXIT_FAILURE;
	}
	pin(atoi(argv[1]));
	pid = fork();
	if (pid == 0)
		_exit(play(there[0], back[1], turns, 0) < 0);
	if (argc > 3 && (fd = request_take(atoi(argv[3]))) < 0) {
		perror("the request");
		kill(pid, SIGKILL);
		return EXIT_FAILURE;
	}
	begin = cpu_ns(0) + cpu_ns(pid);
	r = play(back[0], there[1], turns, 1);
	printf("%.1f\n", (cpu_ns(0) + cpu_ns(pid) - begin) / (double)(2 * turns));
	waitpid(pid, &status, 0);
	if (fd >= 0 && request_answer(fd) < 0)
		r = -1;
	return r < 0 || status ? EXIT_FAILURE : EXIT_SUCCESS;
}
