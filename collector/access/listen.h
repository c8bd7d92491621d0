// SPDX-License-Identifier: Apache-2.0
/*
 * listen.h - the port that probes connect to.
 *
 * It is bound before privileges are dropped and listens only after that, so that no byte from the
 * network is read with privileges. Errors come with a sentence that names the remedy.
 */
#pragma once

#include "lib/uplink/endpoints.h"

/* bind: tcp://address:port; -EINVAL for anything else. */
int listen_bind(const char *bind, int *out_fd, char *err, size_t errlen) MUST_CHECK;
int listen_begin(int fd) MUST_CHECK;
