// SPDX-License-Identifier: Apache-2.0
#include "collector/access/listen.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>

enum { BACKLOG = 1024 };

/* "127.0.0.1:7470" or "[::1]:7470"; names are not looked up, but for one. */
static int parse_address(const char *text, struct endpoint *e)
{
	const char *colon = strrchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : 0;
	char host[64], *end = NULL;
	unsigned long port = colon ? strtoul(colon + 1, &end, 10) : 0;

	if (!len || len >= sizeof(host) || !end || *end || port < 1 || port > UINT16_MAX)
		return -EINVAL;
	memset(e, 0, sizeof(*e));
	if (text[0] == '[' && colon[-1] == ']') {
		snprintf(host, sizeof(host), "%.*s", (int)len - 2, text + 1);
		e->len = sizeof(e->v6);
		e->v6.sin6_family = AF_INET6;
		e->v6.sin6_port = htons((uint16_t)port);
		return inet_pton(AF_INET6, host, &e->v6.sin6_addr) == 1 ? 0 : -EINVAL;
	}
	snprintf(host, sizeof(host), "%.*s", (int)len, text);
	e->len = sizeof(e->v4);
	e->v4.sin_family = AF_INET;
	e->v4.sin_port = htons((uint16_t)port);
	return inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host,
			 &e->v4.sin_addr) == 1
		       ? 0
		       : -EINVAL;
}

int listen_parse(const char *bind, struct endpoint *out, char *err, size_t errlen)
{
	struct endpoint e;

	if (strncmp(bind, "tcp://", 6) != 0 || parse_address(bind + 6, &e) < 0) {
		snprintf(err, errlen,
			 "bind = \"%s\" is not tcp://address:port, for example "
			 "tcp://127.0.0.1:7470",
			 bind);
		return -EINVAL;
	}
	*out = e;
	return 0;
}

static int open_and_bind(const struct endpoint *e)
{
	AUTO_CLOSE int fd = socket(e->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, &e->any, e->len) < 0)
		return -errno;
	on = fd;
	fd = -1;
	return on;
}

int listen_bind(const char *bind, int *out_fd, char *err, size_t errlen)
{
	struct endpoint e;
	int r = listen_parse(bind, &e, err, errlen);

	if (r < 0)
		return r;
	r = open_and_bind(&e);
	if (r < 0) {
		snprintf(err, errlen, "cannot listen on %s: %s; %s", bind, strerror(-r),
			 r == -EADDRINUSE ? "stop what listens there, or choose another port with "
					    "--bind"
					  : "choose another address with --bind");
		return r;
	}
	*out_fd = r;
	return 0;
}

/* Two sockets may be bound to one port; that one of them listens already shows here. */
int listen_begin(int fd)
{
	return listen(fd, BACKLOG) < 0 ? -errno : 0;
}
