// SPDX-License-Identifier: Apache-2.0
/*
 * web_listen.h - the listening socket of the console: a loopback address or a Unix socket.
 *
 * "127.0.0.1:8080", "[::1]:8080", or "unix:/run/seismo-collector/web.sock". A Unix socket gets the
 * mode and the group before anybody can connect. One that no program listens on any more is
 * replaced.
 */
#pragma once

#include "lib/base/base.h"

enum { WEB_HOST = 64 };

struct web_address {
	char host[WEB_HOST]; /* IPv6 in brackets; "": a Unix socket */
	uint16_t port;
};

/* fd, or -errno after a line in the log. mode and group apply to a Unix socket; group "": as is. */
int web_listen(const char *listen_on, unsigned mode, const char *group);
int web_listen_address(int fd, struct web_address *out) MUST_CHECK;
