// SPDX-License-Identifier: Apache-2.0
/*
 * load.c - HTTP/1.1 load at a constant rate, for tests: one thread, one epoll.
 *
 * load HOST:PORT [--conns N] [--rate R] [--seconds S] [--prefix /r/] [--query Q] [--close] [--same]
 *      [--ids] [--post BYTES] [--pipeline N] [--every N,QUERY[,ABORT_MS]]...
 *
 * Every request has its own path, PREFIX then a number, which is also its X-Id; with --same all
 * have PREFIX for a path. --ids: PREFIX and number are its X-Request-Id, too. Requests are due at
 * fixed times whatever the server does; one that finds no idle connection waits for the next.
 * --close: a connection each. --pipeline: so many in one write. --every: each N-th has that query,
 * and closes after ABORT_MS without its answer; the first rule that fits counts. Prints: sent,
 * answered, failed (no answer), errors (5xx), late.
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

enum { MAX_CONNS = 4096, ANSWER = 8192, MAX_RULES = 16, OUT = 1 << 20 };

struct rule {
	long every;
	const char *query;
	int abort_ms; /* 0: waits for its answer */
};

struct conn {
	int fd; /* -1: not connected */
	int wanted; /* answers still to come */
	double abort_at; /* 0: never */
	long need; /* bytes of this answer still to come; -1: its head is not whole yet */
	size_t len;
	char buf[ANSWER];
};

static struct conn conns[MAX_CONNS];
static struct rule rules[MAX_RULES];
static struct sockaddr_in to;
static int epfd, nconns = 10, nrules, pipeline = 1, aborting;
static size_t post;
static double rate = 100, seconds = 5;
static const char *prefix = "/r/", *query = "", *target;
static bool close_each, same, ids;
static long sent, answered, failed, errors, late;
static char out[OUT];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void hang_up(struct conn *c)
{
	close(c->fd);
	c->fd = -1;
	failed += c->wanted;
	c->wanted = 0;
	aborting -= c->abort_at > 0;
	c->abort_at = 0;
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

static const struct rule *rule_of(long n)
{
	for (int i = 0; i < nrules; i++)
		if (n % rules[i].every == rules[i].every - 1)
			return &rules[i];
	return NULL;
}

/* The next request, at p; returns its length. */
static size_t request(char *p, const struct rule *r)
{
	const char *q = r ? r->query : query;
	char id[32];
	int n;

	snprintf(id, sizeof(id), "%ld", sent);
	n = sprintf(p, "%s %s%s%s%s HTTP/1.1\r\nHost: %s\r\nX-Id: %s\r\n%s", post ? "POST" : "GET",
		    prefix, same ? "" : id, *q ? "?" : "", q, target, id,
		    close_each ? "Connection: close\r\n" : "");
	if (ids)
		n += sprintf(p + n, "X-Request-Id: %s%s\r\n", prefix, id);
	if (post)
		n += sprintf(p + n, "Content-Length: %zu\r\n", post);
	n += sprintf(p + n, "\r\n");
	memset(p + n, 'b', post);
	sent++;
	return (size_t)n + post;
}

static void ask(struct conn *c)
{
	const struct rule *r = rule_of(sent);
	size_t n = 0;

	for (int i = 0; i < pipeline; i++)
		n += request(out + n, r);
	c->wanted = pipeline;
	c->need = -1;
	c->len = 0;
	if (c->fd < 0 && !dial(c))
		return;
	if (r && r->abort_ms) {
		c->abort_at = now() + r->abort_ms * 1e-3;
		aborting++;
	}
	if (write(c->fd, out, n) != (ssize_t)n)
		hang_up(c);
}

/* The head is whole: how much body is still to come. */
static void head_read(struct conn *c)
{
	char *end = memmem(c->buf, c->len, "\r\n\r\n", 4);
	size_t head;
	int status;

	if (!end)
		return;
	status = atoi(c->buf + 9);
	errors += status >= 500;
	c->need = 0;
	for (char *p = c->buf; p < end; p++)
		if (strncasecmp(p, "Content-Length:", 15) == 0)
			c->need = atol(p + 15);
	if (status == 204 || status == 304)
		c->need = 0;
	head = (size_t)(end + 4 - c->buf);
	c->len -= head;
	memmove(c->buf, c->buf + head, c->len);
}

static void answer_ended(struct conn *c)
{
	answered++;
	c->wanted--;
	c->need = -1;
	aborting -= c->abort_at > 0;
	c->abort_at = 0;
	if (close_each)
		hang_up(c);
}

static void answers_read(struct conn *c)
{
	while (c->wanted && c->len) {
		size_t n;

		if (c->need < 0)
			head_read(c);
		if (c->need < 0)
			return;
		n = c->len < (size_t)c->need ? c->len : (size_t)c->need;
		c->need -= (long)n;
		c->len -= n;
		memmove(c->buf, c->buf + n, c->len);
		if (c->need)
			return;
		answer_ended(c);
	}
}

static void on_readable(struct conn *c)
{
	ssize_t n = read(c->fd, c->buf + c->len, sizeof(c->buf) - c->len);

	if (n <= 0) { /* also when an answer's head does not fit */
		hang_up(c);
		return;
	}
	c->len += (size_t)n;
	answers_read(c);
}

static void give_up(void)
{
	double t = now();

	for (int i = 0; aborting && i < nconns; i++)
		if (conns[i].abort_at > 0 && conns[i].abort_at < t)
			hang_up(&conns[i]);
}

static struct conn *idle(void)
{
	static int at;

	for (int i = 0; i < nconns; i++) {
		at = (at + 1) % nconns;
		if (!conns[at].wanted)
			return &conns[at];
	}
	return NULL;
}

static bool is_busy(void)
{
	for (int i = 0; i < nconns; i++)
		if (conns[i].wanted)
			return true;
	return false;
}

static void run(void)
{
	struct epoll_event evs[256];
	double start = now(), last = start; /* on a busy machine the last answers come late */
	long total = (long)(rate * seconds);

	while (sent < total || (is_busy() && now() < last + 20)) {
		int n;

		while (sent < total && start + (double)sent / rate <= now()) {
			struct conn *c = idle();

			if (!c) {
				late++;
				break;
			}
			ask(c);
			last = now();
		}
		n = epoll_wait(epfd, evs, 256, sent < total || aborting ? 1 : 50);
		for (int i = 0; i < n; i++)
			if (((struct conn *)evs[i].data.ptr)->fd >= 0)
				on_readable(evs[i].data.ptr);
		give_up();
	}
}

static void rule_add(char *text)
{
	char *q = strchr(text, ','), *ms = q ? strchr(q + 1, ',') : NULL;

	if (!q || nrules == MAX_RULES || atol(text) < 1)
		exit(2);
	*q = 0;
	if (ms)
		*ms = 0;
	rules[nrules++] = (struct rule){ atol(text), q + 1, ms ? atoi(ms + 1) : 0 };
}

static bool option(const char *name, char *v)
{
	if (strcmp(name, "--conns") == 0)
		nconns = atoi(v) < MAX_CONNS ? atoi(v) : MAX_CONNS;
	else if (strcmp(name, "--rate") == 0)
		rate = atof(v);
	else if (strcmp(name, "--seconds") == 0)
		seconds = atof(v);
	else if (strcmp(name, "--prefix") == 0)
		prefix = v;
	else if (strcmp(name, "--query") == 0)
		query = v;
	else if (strcmp(name, "--post") == 0)
		post = strtoul(v, NULL, 10);
	else if (strcmp(name, "--pipeline") == 0)
		pipeline = atoi(v);
	else if (strcmp(name, "--every") == 0)
		rule_add(v);
	else
		return false;
	return true;
}

static bool options(int argc, char *argv[])
{
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "--close") == 0)
			close_each = true;
		else if (strcmp(argv[i], "--same") == 0)
			same = true;
		else if (strcmp(argv[i], "--ids") == 0)
			ids = true;
		else if (i + 1 == argc || !option(argv[i], argv[i + 1]))
			return false;
		else
			i++;
	}
	return (size_t)pipeline * (post + 1024) <= OUT;
}

int main(int argc, char *argv[])
{
	struct rlimit files = { MAX_CONNS + 64, MAX_CONNS + 64 };
	char *colon = argc > 1 ? strrchr(argv[1], ':') : NULL;

	if (!colon || !options(argc, argv)) {
		fprintf(stderr, "usage: load HOST:PORT [OPTION...], see its source\n");
		return 2;
	}
	target = argv[1];
	to = (struct sockaddr_in){ .sin_family = AF_INET,
				   .sin_port = htons((uint16_t)atoi(colon + 1)) };
	*colon = 0;
	inet_pton(AF_INET, argv[1], &to.sin_addr);
	*colon = ':';
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
