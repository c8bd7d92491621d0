// SPDX-License-Identifier: Apache-2.0
/* endpoints.h - the collectors that a probe may send to: "tcp://host:port tcp://host:port ...". */
#pragma once

#include "lib/base/base.h"

enum { ENDPOINTS_MAX = 8, ENDPOINT_TEXT = 256 };

struct endpoints {
	unsigned n;
	char at[ENDPOINTS_MAX][ENDPOINT_TEXT];
};

/* -EINVAL: a word is none (it is out->at[out->n] then), -E2BIG: more than ENDPOINTS_MAX. */
int endpoints_parse(const char *text, struct endpoints *out) MUST_CHECK;
