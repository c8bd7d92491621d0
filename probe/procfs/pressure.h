// SPDX-License-Identifier: Apache-2.0
/* pressure.h - the share of time in which something waited, from a pressure stall (PSI) file. */
#pragma once

#include "lib/base/base.h"

struct pressure {
	int fd; /* -1: not open */
	double total_s;
	uint64_t read_ns; /* 0: not yet */
};

int pressure_open(struct pressure *p, const char *path) MUST_CHECK; /* 0 or -errno */
void pressure_close(struct pressure *p);
/* Since the last read, 0 to 1; NaN at the first. One system call: the file stays open. */
int pressure_read(struct pressure *p, uint64_t now_ns, double *share) MUST_CHECK;
