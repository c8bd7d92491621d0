// SPDX-License-Identifier: Apache-2.0
/*
 * load.c - HTTP/1.1 load at a constant rate, for tests: one thread, one epoll, no pipelining.
 *
 *	load HOST:PORT --conns N --rate R --seconds S [--prefix /r/] [--query Q] [--close] [--abort
 *PERCENT]
 *
 * Every request has its own path, PREFIX then a number. Requests are due at fixed times whatever
 *the server does; one that finds no idle connection waits for the next. --close: a connection each.
 * --abort: that share closes after 20 ms without waiting. Prints: sent, answered, failed, 5xx,
 *late.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CONNS = 4096, ANSWER = 65536 };

struct conn {
	int fd; /* -1: not connected */
	bool busy, aborting;
	double sent_at;
	long need; /* bytes of the answer still to come; -1: its head is not whole yet */
	size_t len;
	char buf[ANSWER];
};

static struct conn conns[MAX_CONNS];
static struct sockaddr_in to;
static int epfd, nconns = 10, abort_percent;
static double rate = 100, seconds = 5;
static const char *prefix = "/r/", *query = "", *target;
static bool close_each;
static long sent, answered, failed, errors, late;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void hang_up(struct conn *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	c->busy = false;
}

static bool dial(struct conn *c)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };
	int one = 1;

	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(c->fd, (struct sockaddr *)&to, sizeof(to)) < 0) {
		hang_up(c);
		return false;
	}
	epoll_ctl(epfd, EPOLL_CTL_ADD, c->fd, &ev);
	return true;
}

static void ask(struct conn *c)
{
	char out[1024];
	int n = snprintf(out, sizeof(out),
			 "GET %s%ld%s%s HTTP/1.1\r\nHost: %s\r\nUser-Agent: load\r\n%s\r\n", prefix,
			 sent, *query ? "?" : "", query, target,
			 close_each ? "Connection: close\r\n" : "");

	sent++;
	if (c->fd < 0 && !dial(c)) {
		failed++;
		return;
	}
	c->busy = true;
	c->aborting = rand() % 100 < abort_percent;
	c->sent_at = now();
	c->need = -1;
	c->len = 0;
	if (write(c->fd, out, (size_t)n) != n) {
		failed++;
		hang_up(c);
	}
}

/* The head is whole: how much body is still to come. */
static void head_read(struct conn *c)
{
	char *end = memmem(c->buf, c->len, "\r\n\r\n", 4);
	int status;
	long body = 0;

	if (!end || c->len < 12)
		return;
	status = atoi(c->buf + 9);
	errors += status >= 500;
	for (char *p = c->buf; p < end; p++)
		if (strncasecmp(p, "Content-Length:", 15) == 0)
			body = atol(p + 15);
	if (status == 204 || status == 304)
		body = 0;
	c->need = body - (long)(c->len - (size_t)(end + 4 - c->buf));
}

static void on_readable(struct conn *c)
{
	ssize_t n = read(c->fd, c->buf + c->len, sizeof(c->buf) - c->len);

	if (n <= 0) {
		failed += c->busy;
		hang_up(c);
		return;
	}
	if (!c->busy)
		return;
	c->len += (size_t)n;
	if (c->need < 0)
		head_read(c);
	else
		c->need -= n;
	if (c->need == 0) {
		answered++;
		c->busy = false;
		if (close_each)
			hang_up(c);
	}
}

static void give_up(void)
{
	for (int i = 0; abort_percent && i < nconns; i++)
		if (conns[i].busy && conns[i].aborting && now() - conns[i].sent_at > 0.02) {
			failed++;
			hang_up(&conns[i]);
		}
}

static struct conn *idle(void)
{
	static int at;

	for (int i = 0; i < nconns; i++) {
		at = (at + 1) % nconns;
		if (!conns[at].busy)
			return &conns[at];
	}
	return NULL;
}

static void run(void)
{
	struct epoll_event evs[256];
	double start = now();
	long total = (long)(rate * seconds);

	while (sent < total || now() < start + seconds + 2) {
		struct conn *c;
		bool busy = false;
		int n;

		while (sent < total && start + (double)sent / rate <= now()) {
			c = idle();
			if (!c) {
				late++;
				break;
			}
			ask(c);
		}
		n = epoll_wait(epfd, evs, 256, sent < total ? 1 : 50);
		for (int i = 0; i < n; i++)
			if (((struct conn *)evs[i].data.ptr)->fd >= 0)
				on_readable(evs[i].data.ptr);
		give_up();
		for (int i = 0; i < nconns; i++)
			busy |= conns[i].busy;
		if (sent >= total && !busy)
			break;
	}
}

static void options(int argc, char *argv[])
{
	for (int i = 2; i < argc; i++) {
		const char *v = i + 1 < argc ? argv[i + 1] : "";

		if (strcmp(argv[i], "--close") == 0) {
			close_each = true;
			continue;
		}
		i++;
		if (strcmp(argv[i - 1], "--conns") == 0)
			nconns = atoi(v) < MAX_CONNS ? atoi(v) : MAX_CONNS;
		else if (strcmp(argv[i - 1], "--rate") == 0)
			rate = atof(v);
		else if (strcmp(argv[i - 1], "--seconds") == 0)
			seconds = atof(v);
		else if (strcmp(argv[i - 1], "--prefix") == 0)
			prefix = v;
		else if (strcmp(argv[i - 1], "--query") == 0)
			query = v;
		else if (strcmp(argv[i - 1], "--abort") == 0)
			abort_percent = atoi(v);
	}
}

int main(int argc, char *argv[])
{
	struct rlimit files = { MAX_CONNS + 64, MAX_CONNS + 64 };
	char *colon = argc > 1 ? strrchr(argv[1], ':') : NULL;

	if (!colon)
		return 2;
	target = argv[1];
	to = (struct sockaddr_in){ .sin_family = AF_INET,
				   .sin_port = htons((uint16_t)atoi(colon + 1)) };
	*colon = 0;
	inet_pton(AF_INET, argv[1], &to.sin_addr);
	*colon = ':';
	options(argc, argv);
	signal(SIGPIPE, SIG_IGN);
	setrlimit(RLIMIT_NOFILE, &files);
	epfd = epoll_create1(EPOLL_CLOEXEC);
	for (int i = 0; i < nconns; i++)
		conns[i].fd = -1;
	run();
	printf("sent %ld answered %ld failed %ld errors %ld late %ld\n", sent, answered, failed,
	       errors, late);
	return 0;
}
