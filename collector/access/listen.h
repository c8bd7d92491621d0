// SPDX-License-Identifier: Apache-2.0
/*
 * listen.h - the port that probes connect to.
 *
 * It is bound with whatever privileges there are, and listens only when they are gone: no byte from
 * the network is read before. Errors come with a sentence that says what to do.
 */
#pragma once

#include <netinet/in.h>

#include "lib/base/base.h"

struct endpoint {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
	socklen_t len;
};

/* tcp://host:port; -EINVAL for anything else. */
int listen_parse(const char *bind, struct endpoint *out, char *err, size_t errlen) MUST_CHECK;
int listen_bind(const char *bind, int *out_fd, char *err, size_t errlen) MUST_CHECK;
int listen_begin(int fd) MUST_CHECK;
