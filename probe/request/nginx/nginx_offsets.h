// SPDX-License-Identifier: Apache-2.0
/*
 * nginx_offsets.h - where in ngx_http_request_t is what, found in one such struct as it lay in
 * memory. Without debug information; what is found is believed only after nginx_verify.h. Pure.
 */
#pragma once

#include <linux/types.h>

#include "bpf/request/nginx.h"
#include "lib/base/base.h"

struct nginx_offsets {
	uint16_t states, status, start;
};

/* -ENOENT: it is not there, or in more than one place. wall_s: the time now. */
int nginx_offsets_find(const struct nginx_look *l, uint64_t wall_s,
		      struct nginx_offsets *out) MUST_CHECK;
