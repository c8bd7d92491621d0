// SPDX-License-Identifier: Apache-2.0
/*
 * nginx_elf.h - is this program an nginx, and where is it to be probed? Reads the file of anybody:
 * no more of it than is needed, nothing believed beyond its end.
 */
#pragma once

#include "lib/base/base.h"

enum { BUILD_ID_TEXT = 2 * 20 + 1 };

struct nginx_elf {
	uint64_t probe_at; /* address of the first instruction of ngx_http_free_request */
	uint64_t probe_offset; /* of the same, in the file */
	uint64_t clock_at; /* of ngx_cached_time; 0: not exported */
	bool cheap; /* it is emulated there; others are stepped over, at 10 us each */
	char build_id[BUILD_ID_TEXT]; /* "": it has none */
};

/* -ENOENT: a program, but not an nginx (or one without exported symbols). -errno, -ENOEXEC. */
int nginx_elf_read(int fd, struct nginx_elf *out) MUST_CHECK;
