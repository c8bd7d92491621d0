// SPDX-License-Identifier: Apache-2.0
/*
 * nginx_elf.h - checks whether a program is nginx, and finds where to probe it. The file is not
 * trusted: it is read by probe/symbol/user/elf_file.h, in steps.
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

struct nginx_search; /* of one file */

struct nginx_search *nginx_search_new(int fd); /* fd stays the caller's */
void nginx_search_free(struct nginx_search *s); /* NULL is fine */

/*
 * Reads about this number of bytes, and subtracts them. 1: found; 0: call it again; -ENOENT: a
 * program, but not nginx (or without exported symbols); -ENOEXEC; -ENODATA: a file with holes.
 */
int nginx_search_step(struct nginx_search *s, size_t *bytes, struct nginx_elf *out) MUST_CHECK;
