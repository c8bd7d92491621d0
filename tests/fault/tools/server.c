// SPDX-License-Identifier: Apache-2.0
/*
 * server.c - the threaded and the forking server of the fault bench, and the upstream of all.
 *
 * server threaded|forking ADDRESS:PORT --log FILE --dir DIR [--upstream ADDRESS:PORT]
 *        [--netns NAME] [--backlog N]
 *
 * One thread or one process per connection, HTTP/1.1 with keep-alive. A request says by its query
 * string what its handler does (act.h); the log has a line of JSON for each: what was done, how
 * long it took, what the kernel's own accounts say of the thread, and the names.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/fault/tools/account.h"
#include "tests/fault/tools/act.h"
#include "tests/fault/tools/address.h"

enum { HEAD = 8192, BODY = 512 };

struct options {
	bool forks;
	struct sockaddr_in on, upstream;
	const char *log, *dir, *netns;
	int backlog;
};

static int log_fd = -1; /* the log */
static struct shared *all;

static void value(const char *query, const char *key, char *out, size_t size)
{
	size_t n = strlen(key);

	*out = 0;
	for (const char *p = query; p && *p; p = strchr(p, '&')) {
		p += *p == '&';
		if (strncmp(p, key, n) == 0 && p[n] == '=') {
			snprintf(out, size, "%.*s", (int)strcspn(p + n + 1, "& "), p + n + 1);
			return;
		}
	}
}

static int number(const char *query, const char *key, int otherwise)
{
	char text[16];

	value(query, key, text, sizeof(text));
	return *text ? atoi(text) : otherwise;
}

/* "f=up&uf=sleep&ms=80": the upstream gets the same query, with its own f. */
static void wishes_read(const char *head, struct act *a)
{
	char line[512], *query, *end;

	*a = (struct act){ .status = 200 };
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(head, "\r"), head);
	query = strchr(line, ' ');
	end = query ? strchr(query + 1, ' ') : NULL;
	if (!end)
		return;
	*end = 0;
	snprintf(a->path, sizeof(a->path), "%.*s", (int)strcspn(query + 1, "?"), query + 1);
	query = strchr(query + 1, '?');
	query = query ? query + 1 : end;
	value(query, "f", a->name, sizeof(a->name));
	a->ms = number(query, "ms", 0);
	a->kb = number(query, "kb", 0);
	a->port = number(query, "port", 0);
	a->answer = number(query, "n", BODY);
	if (strcmp(a->name, "up") == 0) {
		char f[16];

		value(query, "uf", f, sizeof(f));
		snprintf(a->up_query, sizeof(a->up_query), "f=%s&ms=%d&n=%d", f, a->ms,
			 number(query, "un", BODY));
	}
}

static void log_act(const struct act *a, uint64_t read_ns, const struct account *from,
		    const struct account *to, int client_port)
{
	char line[1024];
	int n = snprintf(line, sizeof(line),
			 "{\"path\":\"%s\",\"read\":%llu,\"f\":\"%s\",\"pid\":%d,\"tid\":%d,"
			 "\"client\":%d,\"start\":%llu,\"us\":%.1f,"
			 "\"wall\":%.1f,\"cpu\":%.1f,\"runq\":%.1f,\"blkio\":%.1f,\"reclaim\":%.1f,"
			 "\"runqEver\":%.1f,\"what\":\"%s\",\"who\":\"%s\",\"upPort\":%d}\n",
			 a->path, (unsigned long long)read_ns, a->name, getpid(), gettid(),
			 client_port, (unsigned long long)a->start_ns, (double)a->ns / 1e3,
			 (double)(to->wall - from->wall) / 1e3, (double)(to->cpu - from->cpu) / 1e3,
			 (double)(to->runq - from->runq) / 1e3,
			 (double)(to->blkio - from->blkio) / 1e3,
			 (double)(to->reclaim - from->reclaim) / 1e3, (double)to->runq / 1e3,
			 a->what, a->who, a->up_port);

	if (log_fd >= 0 && write(log_fd, line, (size_t)n) != n)
		perror("log");
}

static bool answer(int fd, const struct act *a)
{
	size_t len = (size_t)a->answer + 256, at = 0;
	char *out = malloc(len);
	ssize_t n;

	if (!out)
		return false;
	memset(out, 'x', len);
	n = snprintf(out, 256, "HTTP/1.1 %d Test\r\nContent-Length: %d\r\n\r\n", a->status,
		     a->answer);
	out[n] = 'x';
	len = (size_t)n + (size_t)a->answer;
	while (at < len) {
		n = send(fd, out + at, len - at, MSG_NOSIGNAL);
		if (n <= 0)
			break;
		at += (size_t)n;
	}
	free(out);
	return at == len;
}

/* The whole head; the body is read to its end. What lies behind it would be pipelined: nobody does.
 */
static bool request_read(int fd, char head[static HEAD + 1])
{
	size_t len = 0, need;
	const char *length;
	char *end = NULL, rest[16384];
	ssize_t n;

	while (!end) {
		n = len < HEAD ? read(fd, head + len, HEAD - len) : 0;
		if (n <= 0)
			return false;
		len += (size_t)n;
		head[len] = 0;
		end = strstr(head, "\r\n\r\n");
	}
	length = strcasestr(head, "\r\nContent-Length:");
	need = (size_t)(end + 4 - head) + (length ? strtoul(length + 17, NULL, 10) : 0);
	while (len < need) {
		n = read(fd, rest, sizeof(rest));
		if (n <= 0)
			return false;
		len += (size_t)n;
	}
	return true;
}

static int port_of(int fd)
{
	struct sockaddr_in a = { 0 };
	socklen_t len = sizeof(a);

	getpeername(fd, (void *)&a, &len);
	return ntohs(a.sin_port);
}

static void serve(int fd)
{
	char head[HEAD + 1];
	int port = port_of(fd);
	struct account from, to;
	uint64_t read_ns;
	struct act a;

	while (request_read(fd, head)) {
		read_ns = account_wall_ns();
		wishes_read(head, &a);
		account_take(&from);
		act_run(&a);
		account_take(&to);
		if (!answer(fd, &a))
			a.status = 0;
		log_act(&a, read_ns, &from, &to, port);
		act_after(&a);
		if (!a.status)
			break;
	}
	close(fd);
}

static void *serve_thread(void *arg)
{
	serve((int)(intptr_t)arg);
	return NULL;
}

static void hold_up(void)
{
	struct timespec t = { 0, 1000000 };

	while (act_mono_ns() < all->hold_until)
		nanosleep(&t, NULL);
}

static void accept_all(int lfd, bool forks)
{
	struct pollfd p = { .fd = lfd, .events = POLLIN };
	pthread_t t;
	int fd;

	for (;;) {
		if (poll(&p, 1, -1) < 1)
			continue;
		hold_up();
		fd = accept4(lfd, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			continue;
		if (!forks) {
			if (pthread_create(&t, NULL, serve_thread, (void *)(intptr_t)fd) == 0)
				pthread_detach(t);
			continue;
		}
		if (fork() == 0) {
			close(lfd);
			serve(fd);
			_exit(0);
		}
		close(fd);
	}
}

static bool options_read(int argc, char *argv[], struct options *o)
{
	*o = (struct options){ .backlog = 512, .dir = "." };
	if (argc < 3 || !address(argv[2], &o->on))
		return false;
	o->forks = strcmp(argv[1], "forking") == 0;
	for (int i = 3; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--log") == 0)
			o->log = argv[i + 1];
		else if (strcmp(argv[i], "--dir") == 0)
			o->dir = argv[i + 1];
		else if (strcmp(argv[i], "--netns") == 0)
			o->netns = argv[i + 1];
		else if (strcmp(argv[i], "--backlog") == 0)
			o->backlog = atoi(argv[i + 1]);
		else if (strcmp(argv[i], "--upstream") != 0 || !address(argv[i + 1], &o->upstream))
			return false;
	}
	return argc % 2;
}

static void netns_enter(const char *name)
{
	char path[128];
	int fd;

	if (!name)
		return;
	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET) < 0) {
		perror(path);
		exit(1);
	}
	close(fd);
}

int main(int argc, char *argv[])
{
	struct options o;
	int fd, one = 1;

	if (!options_read(argc, argv, &o)) {
		fprintf(stderr, "usage: server threaded|forking ADDRESS:PORT [OPTION...], see its "
				"source\n");
		return 2;
	}
	account_open();
	netns_enter(o.netns);
	signal(SIGCHLD, SIG_IGN);
	if (o.log)
		log_fd = open(o.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED)
		return 1;
	act_open(o.dir, &o.upstream, all, o.forks);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (void *)&o.on, sizeof(o.on)) < 0 || listen(fd, o.backlog) < 0) {
		perror(argv[2]);
		return 1;
	}
	accept_all(fd, o.forks);
}
