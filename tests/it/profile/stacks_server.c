// SPDX-License-Identifier: Apache-2.0
/*
 * stacks_server PORT [fork|spin] - answers each GET after 100 ms of CPU in burn_cpu(); in a process
 * of its own for each, if so asked. Or is in there all the time. Built with frame pointers, as the
 * test that uses it does.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long spins;

__attribute__((noinline)) static void burn_cpu(long ms)
{
	struct timespec t;
	long until;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	until = t.tv_sec * 1000 + t.tv_nsec / 1000000 + ms;
	do {
		for (int i = 0; i < 100000; i++)
			spins++;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < until);
}

__attribute__((noinline)) void serve_one(int fd)
{
	static const char answer[] =
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
	char in[4096];

	if (read(fd, in, sizeof(in)) > 0) {
		burn_cpu(100);
		if (write(fd, answer, strlen(answer)) < 0)
			exit(1);
	}
	close(fd);
}

int main(int argc, char *argv[])
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int one = 1, s = socket(AF_INET, SOCK_STREAM, 0), fd;

	a.sin_port = htons(argc > 1 ? (unsigned short)atoi(argv[1]) : 0);
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(s, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(s, 64) < 0)
		return 1;
	signal(SIGCHLD, SIG_IGN);
	while (argc > 2 && strcmp(argv[2], "spin") == 0)
		burn_cpu(1000);
	while ((fd = accept(s, NULL, NULL)) >= 0) {
		if (argc > 2 && fork() == 0) {
			close(s);
			serve_one(fd);
			return 0;
		}
		if (argc > 2)
			close(fd);
		else
			serve_one(fd);
	}
	return 1;
}
