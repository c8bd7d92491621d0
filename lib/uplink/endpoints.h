// SPDX-License-Identifier: Apache-2.0
/*
 * endpoints.h - where a probe connects ("tcp://host:port tcp://host:port ...") and where a
 * collector listens ("tcp://address:port").
 */
#pragma once

#include <netinet/in.h>

#include "lib/base/base.h"

enum { ENDPOINTS_MAX = 8, ENDPOINT_TEXT = 256 };

struct endpoints {
	unsigned n;
	char at[ENDPOINTS_MAX][ENDPOINT_TEXT];
};

/* -EINVAL: a word is no endpoint (out->at[out->n] is that word); -E2BIG: over ENDPOINTS_MAX. */
int endpoints_parse(const char *text, struct endpoints *out) MUST_CHECK;

struct endpoint {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
	socklen_t len;
};

/* An address of this machine; -EINVAL with a sentence in err for anything else. */
int endpoint_parse(const char *bind, struct endpoint *out, char *err, size_t errlen) MUST_CHECK;
