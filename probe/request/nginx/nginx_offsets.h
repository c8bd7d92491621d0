// SPDX-License-Identifier: Apache-2.0
/*
 * nginx_offsets.h - finds the offsets of fields in ngx_http_request_t from a memory copy, without
 * debug information. The offsets are used only after nginx_verify.h has confirmed them. Pure.
 */
#pragma once

#include <linux/types.h>

#include "bpf/request/nginx_uprobe.h"
#include "lib/base/base.h"

struct nginx_offsets {
	uint16_t states, status, start;
};

/* -ENOENT: not found, or ambiguous. wall_s: the time now. */
int nginx_offsets_find(const struct nginx_look *l, uint64_t wall_s,
		       struct nginx_offsets *out) MUST_CHECK;
