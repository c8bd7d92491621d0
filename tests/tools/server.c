// SPDX-License-Identifier: Apache-2.0
/*
 * server.c - an HTTP/1.1 server for tests: one thread, one epoll, keep-alive.
 *
 * server PORT [--fail PERCENT] [--max-delay MS] [--log FILE] [--shared]
 *             [--median MS] [--sigma S]
 *
 * A request may ask for its answer: ?s=STATUS, &d=MS (answer so late), &m=MS (so much later than
 * otherwise), &x=1 (close instead).
 * Without that: 200 at once; a share of PERCENT is closed without an answer; delays are random up
 * to MS. The log has a line for each request when it is read: the client's port, microseconds since
 * 1970, its X-Id. --shared: more than one may listen there. --median: delays are lognormal.
 * SIGUSR1: all that is delayed is answered now.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
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

enum { MAX_FD = 65536, MAX_EVENTS = 512, BODY = 512, HEAD = 8192 };

struct conn {
	int fd, port;
	uint32_t born;
	size_t len, skip; /* bytes held; bytes of a body still to come */
	bool waiting;
	int status;
	char buf[HEAD];
};

struct timer {
	double at;
	int fd;
	uint32_t born;
	int status;
};

static struct conn *conns[MAX_FD];
static struct timer heap[1 << 20];
static size_t nheap;
static int epfd, fail_percent, max_delay_ms;
static bool shared;
static FILE *served;
static double median_ms, sigma = 0.5;
static uint32_t births;
static volatile sig_atomic_t hurry;

static void on_hurry(int signal_number)
{
	(void)signal_number;
	hurry = 1;
}

/* Equal times are a heap, too. */
static void hurry_up(void)
{
	hurry = 0;
	for (size_t i = 0; i < nheap; i++)
		heap[i].at = 0;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void heap_push(struct timer x)
{
	size_t i = nheap++;

	for (; i && heap[(i - 1) / 2].at > x.at; i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = x;
}

static struct timer heap_pop(void)
{
	struct timer top = heap[0], x = heap[--nheap];
	size_t i = 0;

	for (;;) {
		size_t l = 2 * i + 1;

		if (l >= nheap)
			break;
		if (l + 1 < nheap && heap[l + 1].at < heap[l].at)
			l++;
		if (heap[l].at >= x.at)
			break;
		heap[i] = heap[l];
		i = l;
	}
	heap[i] = x;
	return top;
}

static void drop(struct conn *c)
{
	conns[c->fd] = NULL;
	close(c->fd);
	free(c);
}

static void answer(struct conn *c, int status)
{
	char out[BODY + 256];
	bool bodiless = status == 204 || status == 304;
	int body = bodiless ? 0 : BODY;
	int n = snprintf(out, sizeof(out), "HTTP/1.1 %d Test\r\nServer: test\r\n", status);

	if (!bodiless)
		n += snprintf(out + n, sizeof(out) - (size_t)n, "Content-Length: %d\r\n", BODY);
	n += snprintf(out + n, sizeof(out) - (size_t)n, "\r\n");
	memset(out + n, 'x', (size_t)body);
	if (write(c->fd, out, (size_t)(n + body)) < 0)
		return; /* the client is gone: its close will be read */
}

static int asked(const char *query, const char *end, const char *key)
{
	for (const char *p = query; p && p + 2 < end; p++)
		if ((p == query || p[-1] == '&') && *p == *key && p[1] == '=')
			return atoi(p + 2);
	return -1;
}

static double uniform(void)
{
	return (rand() + 0.5) / ((double)RAND_MAX + 1);
}

/* Box and Muller's */
static double lognormal_ms(void)
{
	return median_ms * exp(sigma * sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform()));
}

static double delay_ms(const char *query, const char *end)
{
	double ms = asked(query, end, "d"), more = asked(query, end, "m");

	if (ms < 0 && max_delay_ms)
		ms = rand() % max_delay_ms;
	if (ms < 0)
		ms = median_ms > 0 ? lognormal_ms() : 0;
	return more > 0 ? ms + more : ms;
}

/* Answer, wait or close, as the request line asks. False: the connection is gone. */
static bool serve(struct conn *c, const char *line, const char *end)
{
	const char *query = memchr(line, '?', (size_t)(end - line));
	int status;
	double delay;

	query = query ? query + 1 : NULL;
	status = asked(query, end, "s");
	delay = delay_ms(query, end);
	if (asked(query, end, "x") == 1 || (status < 0 && rand() % 100 < fail_percent)) {
		drop(c);
		return false;
	}
	if (status < 0)
		status = 200;
	if (delay <= 0) {
		answer(c, status);
		return true;
	}
	c->waiting = true;
	heap_push((struct timer){ now() + delay * 1e-3, c->fd, c->born, status });
	return true;
}

static size_t number_in(const char *head, const char *end, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = head; p + n < end; p++)
		if (strncasecmp(p, name, n) == 0)
			return strtoul(p + n, NULL, 10);
	return 0;
}

static void note(const struct conn *c, const char *end)
{
	struct timespec t;

	if (!served)
		return;
	clock_gettime(CLOCK_REALTIME, &t);
	fprintf(served, "%d %lld %zu\n", c->port, t.tv_sec * 1000000ll + t.tv_nsec / 1000,
		number_in(c->buf, end, "\nX-Id:"));
}

static void take(struct conn *c)
{
	for (;;) {
		size_t n = c->len < c->skip ? c->len : c->skip;
		char *end, *line_end;

		memmove(c->buf, c->buf + n, c->len - n);
		c->len -= n;
		c->skip -= n;
		if (c->waiting || c->skip)
			return;
		end = memmem(c->buf, c->len, "\r\n\r\n", 4);
		if (!end)
			return;
		line_end = memchr(c->buf, '\r', c->len);
		c->skip = (size_t)(end + 4 - c->buf) + number_in(c->buf, end, "\nContent-Length:");
		note(c, end);
		if (!serve(c, c->buf, line_end))
			return;
	}
}

static void on_readable(struct conn *c)
{
	ssize_t n = read(c->fd, c->buf + c->len, sizeof(c->buf) - c->len);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		drop(c);
		return;
	}
	c->len += (size_t)n;
	take(c);
}

static void on_accept(int lfd)
{
	struct sockaddr_in6 peer = { 0 };
	socklen_t len = sizeof(peer);
	int fd, one = 1;

	while ((fd = accept4(lfd, (struct sockaddr *)&peer, &len, SOCK_NONBLOCK | SOCK_CLOEXEC)) >=
	       0) {
		struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };
		struct conn *c = fd < MAX_FD ? calloc(1, sizeof(*c)) : NULL;

		if (!c) {
			close(fd);
			continue;
		}
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		c->fd = fd;
		c->port = ntohs(peer.sin6_port);
		c->born = ++births;
		conns[fd] = c;
		epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &ev);
	}
}

static void run_timers(void)
{
	while (nheap && heap[0].at <= now()) {
		struct timer t = heap_pop();
		struct conn *c = conns[t.fd];

		if (!c || c->born != t.born || !c->waiting)
			continue;
		c->waiting = false;
		answer(c, t.status);
		take(c);
	}
}

static int listen_on(int port)
{
	struct sockaddr_in6 sa = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port) };
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1, zero = 0;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (shared)
		setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one));
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 || listen(fd, 4096) < 0) {
		fprintf(stderr, "server: port %d: %s\n", port, strerror(errno));
		exit(1);
	}
	return fd;
}

static bool option(const char *name, const char *v)
{
	if (strcmp(name, "--fail") == 0)
		fail_percent = atoi(v);
	else if (strcmp(name, "--max-delay") == 0)
		max_delay_ms = atoi(v);
	else if (strcmp(name, "--median") == 0)
		median_ms = atof(v);
	else if (strcmp(name, "--sigma") == 0)
		sigma = atof(v);
	else if (strcmp(name, "--log") == 0)
		served = fopen(v, "ae");
	else
		return false;
	return true;
}

static bool options(int argc, char *argv[])
{
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "--shared") == 0)
			shared = true;
		else if (i + 1 == argc || !option(argv[i], argv[i + 1]))
			return false;
		else
			i++;
	}
	if (served)
		setvbuf(served, NULL, _IOLBF, 0);
	return argc > 1;
}

int main(int argc, char *argv[])
{
	struct rlimit files = { MAX_FD, MAX_FD };
	struct epoll_event ev = { .events = EPOLLIN }, evs[MAX_EVENTS];
	int lfd;

	if (!options(argc, argv)) {
		fprintf(stderr, "usage: server PORT [OPTION...], see its source\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	signal(SIGUSR1, on_hurry);
	setrlimit(RLIMIT_NOFILE, &files);
	srand((unsigned)atoi(argv[1]));
	epfd = epoll_create1(EPOLL_CLOEXEC);
	ev.data.fd = lfd = listen_on(atoi(argv[1]));
	epoll_ctl(epfd, EPOLL_CTL_ADD, lfd, &ev);
	for (;;) {
		double wait = nheap ? heap[0].at - now() : 3600;
		int n = epoll_wait(epfd, evs, MAX_EVENTS, wait <= 0 ? 0 : (int)(wait * 1e3) + 1);

		for (int i = 0; i < n; i++) {
			if (evs[i].data.fd == lfd)
				on_accept(lfd);
			else if (conns[evs[i].data.fd])
				on_readable(conns[evs[i].data.fd]);
		}
		if (hurry)
			hurry_up();
		run_timers();
	}
}
