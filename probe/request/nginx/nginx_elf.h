// SPDX-License-Identifier: Apache-2.0
/*
 * nginx_elf.h - checks whether a program is nginx, and finds where to probe it. The file is not
 * trusted: only the needed parts are read, and nothing beyond its end.
 */
#pragma once

#include "lib/base/base.h"

enum { BUILD_ID_TEXT = 2 * 20 + 1 };

struct nginx_elf {
	uint64_t probe_at; /* address of the first instruction of ngx_http_free_request */
	uint64_t probe_offset; /* of the same, in the file */
	uint64_t clock_at; /* of ngx_cached_time; 0: not exported */
	bool cheap; /* the probed instruction is emulated; others are single-stepped, at 10 us each
		     */
	char build_id[BUILD_ID_TEXT]; /* "": none */
};

/* -ENOENT: a program, but not nginx (or without exported symbols). -ENOEXEC, -errno. */
int nginx_elf_read(int fd, struct nginx_elf *out) MUST_CHECK;
