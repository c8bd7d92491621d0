// SPDX-License-Identifier: Apache-2.0
/*
 * crowded.c - an HTTP/1.1 server for tests: one event loop, and a thread that holds the lock of
 * their address space most of the time. A request needs that lock, then calls UPSTREAM, a port
 * here, and is answered with 500 if the loop slept for the lock, with 200 if it did not.
 *
 * crowded PORT UPSTREAM
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEAD = 8192, HELD = 32 << 20 };

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static struct sockaddr_in here(const char *port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons((uint16_t)atoi(port)),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static void *space(size_t len, int flags)
{
	void *p =
		mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (p == MAP_FAILED)
		fail("crowded: mmap");
	return p;
}

static void *crowds(void *unused)
{
	for (;;)
		munmap(space(HELD, MAP_POPULATE), HELD);
	return unused;
}

static long slept(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nvcsw;
}

static void call(const char *port)
{
	static const char get[] = "GET /called HTTP/1.1\r\nHost: here\r\n\r\n";
	struct sockaddr_in to = here(port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char head[HEAD];

	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) ||
	    send(fd, get, sizeof(get) - 1, 0) < 0 || recv(fd, head, sizeof(head), 0) <= 0)
		fail("crowded: the upstream");
	close(fd);
}

/* False: the connection is over. */
static bool serve(int fd, const char *upstream)
{
	char head[HEAD], answer[64];
	long before;
	int n;

	if (recv(fd, head, sizeof(head), 0) <= 0)
		return false;
	before = slept();
	munmap(space(4096, 0), 4096);
	n = snprintf(answer, sizeof(answer), "HTTP/1.1 %d Test\r\nContent-Length: 0\r\n\r\n",
		     slept() > before ? 500 : 200);
	call(upstream);
	return send(fd, answer, (size_t)n, MSG_NOSIGNAL) == n;
}

static void watch(int loop, int fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	if (fd < 0 || epoll_ctl(loop, EPOLL_CTL_ADD, fd, &e))
		fail("crowded: epoll_ctl");
}

int main(int argc, char **argv)
{
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
	    loop = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event e;
	struct sockaddr_in a;
	pthread_t t;

	if (argc != 3)
		return fprintf(stderr, "usage: crowded PORT UPSTREAM\n"), 2;
	a = here(argv[1]);
	if (listener < 0 || bind(listener, (struct sockaddr *)&a, sizeof(a)) ||
	    listen(listener, 64))
		fail("crowded: listen");
	watch(loop, listener);
	if (pthread_create(&t, NULL, crowds, NULL))
		fail("crowded: pthread_create");
	for (;;) {
		if (epoll_wait(loop, &e, 1, -1) < 1)
			continue;
		if (e.data.fd == listener)
			watch(loop, accept4(listener, NULL, NULL, SOCK_CLOEXEC));
		else if (!serve(e.data.fd, argv[2]))
			close(e.data.fd);
	}
}
