// SPDX-License-Identifier: Apache-2.0
#include "collector/access/listen.h"

#include <stdio.h>
#include <sys/socket.h>

enum { BACKLOG = 1024 };

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
	int r = endpoint_parse(bind, &e, err, errlen);

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

/* Two sockets may be bound to one port; the second that listens fails here. */
int listen_begin(int fd)
{
	return listen(fd, BACKLOG) < 0 ? -errno : 0;
}
