// SPDX-License-Identifier: Apache-2.0
/*
 * fakenginx.c - a server that is no nginx and has its symbol: fakenginx PORT nonsense|liar. After
 * each answer it calls its own ngx_http_free_request: with pointers to nowhere, or with a struct
 * that looks like nginx's to the last word and logs another line, another status and an upstream
 * there never was.
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 192, POOL = 11, STATUS = 81, START = 120 };

void ngx_http_free_request(void *r, long rc);

#ifdef __x86_64__
#define CODE "push %rbp\n\tpop %rbp\n\tret\n" /* begins as nginx's does, else it is let be */
#else
#define CODE "ret\n"
#endif
__asm__(".text\n.globl ngx_http_free_request\n.type ngx_http_free_request, %function\n"
	"ngx_http_free_request:\n\t" CODE ".size ngx_http_free_request, .-ngx_http_free_request\n");

static struct { /* a request lies at the beginning of its pool */
	uint64_t pool[10];
	uint64_t request[WORDS];
} block;
static uint64_t connection[10];
static struct {
	uint64_t status, times[3], more[4];
	const void *peer;
} try = { .status = 200 };
static struct {
	const void *elts;
	uint64_t nelts, size, nalloc;
	const void *pool;
} states = { &try, 1, sizeof(try), 1, &block };
static struct {
	uint64_t len;
	const char *text;
} peer = { 12, "10.9.8.7:666" };
static const char line[] = "GET /never HTTP/1.1";

static void lie(int fd)
{
	struct timespec now;
	uint64_t *r = block.request;

	clock_gettime(CLOCK_REALTIME, &now);
	memcpy(r, "HTTP", 4);
	r[1] = (uint64_t)connection;
	connection[0] = (uint64_t)r;
	connection[3] = (uint64_t)fd;
	connection[9] = 2;
	try.peer = &peer;
	r[POOL - 1] = (uint64_t)&states;
	r[POOL] = r[POOL + 20] = r[STATUS - 1] = (uint64_t)&block;
	r[STATUS] = 418;
	r[START] = (uint64_t)now.tv_sec;
	r[START + 2] = 2;
	r[START + 3] = 1001;
	r[START + 4] = sizeof(line) - 1;
	r[START + 5] = (uint64_t)line;
	ngx_http_free_request(r, 0);
}

static void rave(unsigned n)
{
	static const uint64_t nowhere[] = { 0, 1, 0xdeadbeef, ~0ull, 0xffff800000000000ull };

	ngx_http_free_request((void *)nowhere[n % 5], (long)n);
}

int main(int argc, char *argv[])
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons((uint16_t)atoi(argc > 1 ? argv[1] : "0")),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1, fd;
	char buf[4096];

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (argc < 3 || bind(listener, (struct sockaddr *)&a, sizeof(a)) < 0 ||
	    listen(listener, 64) < 0)
		return 1;
	for (unsigned n = 0; (fd = accept(listener, NULL, NULL)) >= 0; n++) {
		while (read(fd, buf, sizeof(buf)) > 0) {
			static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

			if (write(fd, ok, sizeof(ok) - 1) < 0)
				break;
			if (strcmp(argv[2], "liar") == 0)
				lie(fd);
			else
				rave(n);
		}
		close(fd);
	}
	return 0;
}
