// SPDX-License-Identifier: Apache-2.0
/*
 * app.c - an application of the fleet bench: app ADDRESS:PORT [--db CONNINFO] [--journal FILE]
 *         [--next ADDRESS:PORT]
 *
 * One thread for each connection, HTTP/1.1 with keep-alive. A request asks PostgreSQL once, on a
 * connection of its thread's own, writes to a journal and waits until that is on its disk, and asks
 * the next application for the same path: each of these as far as it was given. Then it computes a
 * little, and answers; 500 if anything failed. SIGUSR1: from now on it also sleeps for 150 ms;
 * SIGUSR2: no more.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <libpq-fe.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/fault/tools/address.h"

enum { HEAD = 4096, LATE_MS = 150, WORK_US = 1000, ROOM = 16, PATIENCE_S = 10 };

struct hop { /* what a thread has of its own */
	int fd, next;
	PGconn *db;
};

static struct sockaddr_in on, next_at;
static const char *conninfo;
static int journal = -1;
static volatile sig_atomic_t late;

static void on_signal(int number)
{
	late = number == SIGUSR1;
}

static bool ask_database(struct hop *h)
{
	PGresult *r;
	bool well;

	if (!conninfo)
		return true;
	if (h->db && PQstatus(h->db) != CONNECTION_OK)
		PQreset(h->db);
	if (!h->db)
		h->db = PQconnectdb(conninfo);
	r = PQexec(h->db, "select price(7)");
	well = PQresultStatus(r) == PGRES_TUPLES_OK;
	PQclear(r);
	return well;
}

static bool write_journal(void)
{
	char line[64] = "sold";

	if (journal < 0)
		return true;
	return pwrite(journal, line, sizeof(line), rand() % ROOM * 4096) == sizeof(line) &&
	       fdatasync(journal) == 0;
}

static bool dial_next(struct hop *h)
{
	struct timeval patience = { .tv_sec = PATIENCE_S };
	int one = 1;

	if (h->next >= 0)
		return true;
	h->next = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(h->next, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(h->next, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return connect(h->next, (void *)&next_at, sizeof(next_at)) == 0;
}

/* Answers have no body but what came with their head. */
static bool ask_next(struct hop *h, const char *path)
{
	char text[HEAD + 1];
	size_t len = 0;
	ssize_t n;

	if (!next_at.sin_port)
		return true;
	n = snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: next\r\n\r\n", path);
	if (dial_next(h) && send(h->next, text, (size_t)n, MSG_NOSIGNAL) == n)
		while (len < HEAD && (n = recv(h->next, text + len, HEAD - len, 0)) > 0) {
			text[len += (size_t)n] = 0;
			if (strstr(text, "\r\n\r\n"))
				return strncmp(text, "HTTP/1.1 200", 12) == 0;
		}
	close(h->next);
	h->next = -1;
	return false;
}

static void compute(void)
{
	struct timespec t;
	long end, now = 0;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	end = t.tv_sec * 1000000 + t.tv_nsec / 1000 + WORK_US;
	while (now < end) {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now = t.tv_sec * 1000000 + t.tv_nsec / 1000;
	}
}

static void be_late(void)
{
	struct timespec t = { 0, LATE_MS * 1000000l };

	while (late && nanosleep(&t, &t) < 0)
		;
}

static bool request_read(int fd, char head[static HEAD + 1], size_t *len)
{
	ssize_t n;

	while (!strstr(head, "\r\n\r\n")) {
		n = *len < HEAD ? read(fd, head + *len, HEAD - *len) : 0;
		if (n <= 0)
			return false;
		head[ *len += (size_t)n] = 0;
	}
	return true;
}

static void *serve(void *arg)
{
	struct hop h = { .fd = (int)(intptr_t)arg, .next = -1 };
	char head[HEAD + 1] = "", path[256], out[128];
	size_t len = 0;

	while (request_read(h.fd, head, &len) && sscanf(head, "%*s %255s", path) == 1) {
		bool db = ask_database(&h), disk = write_journal(), next = ask_next(&h, path);
		int n;

		compute();
		be_late();
		n = snprintf(out, sizeof(out), "HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n",
			     db && disk && next ? "200 OK" : "500 Failed");
		if (send(h.fd, out, (size_t)n, MSG_NOSIGNAL) != n)
			break;
		*head = 0;
		len = 0;
	}
	close(h.fd);
	if (h.next >= 0)
		close(h.next);
	PQfinish(h.db);
	return NULL;
}

static bool options(int argc, char *argv[])
{
	if (argc < 2 || argc % 2 || !address(argv[1], &on))
		return false;
	for (int i = 2; i < argc; i += 2) {
		if (strcmp(argv[i], "--db") == 0)
			conninfo = argv[i + 1];
		else if (strcmp(argv[i], "--journal") == 0)
			journal = open(argv[i + 1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		else if (strcmp(argv[i], "--next") != 0 || !address(argv[i + 1], &next_at))
			return false;
	}
	return true;
}

/* All blocks are there, so that a write brings nothing but itself to the disk. */
static void fill_journal(void)
{
	char block[4096] = { 0 };

	for (int i = 0; i < ROOM && journal >= 0; i++)
		if (pwrite(journal, block, sizeof(block), i * 4096) < 0)
			perror("app: journal");
	if (journal >= 0)
		fsync(journal);
}

int main(int argc, char *argv[])
{
	struct sigaction a = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	int lfd, fd, one = 1;
	pthread_t t;

	if (!options(argc, argv)) {
		fprintf(stderr, "usage: app ADDRESS:PORT [OPTION VALUE]..., see its source\n");
		return 2;
	}
	fill_journal();
	sigaction(SIGUSR1, &a, NULL);
	sigaction(SIGUSR2, &a, NULL);
	lfd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(lfd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(lfd, (void *)&on, sizeof(on)) < 0 || listen(lfd, 512) < 0) {
		perror(argv[1]);
		return 1;
	}
	while ((fd = accept4(lfd, NULL, NULL, SOCK_CLOEXEC)) >= 0 || errno == EINTR) {
		if (fd < 0)
			continue;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		if (pthread_create(&t, NULL, serve, (void *)(intptr_t)fd) == 0)
			pthread_detach(t);
		else
			close(fd);
	}
	return 1;
}
