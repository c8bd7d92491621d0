// SPDX-License-Identifier: Apache-2.0
/*
 * perf_map.h - names in code that a runtime has made, from the /tmp/perf-PID.map that it writes:
 * lines of "START SIZE NAME", in hexadecimal. Whoever owns the process can have anything in there.
 */
#pragma once

#include "probe/symbol/symbol.h"

enum { PERF_MAP_PIECE = 16 * 1024 };

struct perf_map {
	int fd; /* the caller's */
	uint64_t taken; /* bytes, all in all */
	size_t len; /* of a line that is not whole yet */
	bool skipping; /* what is left of a line that is too long */
	char piece[PERF_MAP_PIECE];
};

void perf_map_open(struct perf_map *m, int fd);

/* Reads about so many bytes. 1: that was all. Of two that hold an address the last counts. */
int perf_map_step(struct perf_map *m, struct symbol_asked *a, size_t n, size_t bytes);
