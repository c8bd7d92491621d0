// SPDX-License-Identifier: Apache-2.0
/* ksym_range.h - address ranges of kernel functions, by name. */
#pragma once

#include "lib/base/base.h"

struct ksym_range {
	const char *name; /* set by the caller */
	uint64_t from,
		to; /* up to the next symbol; 0, 0: no such symbol, or its address is hidden */
};

/* One pass over PROCFS/kallsyms: the number of functions found, or -errno. */
int ksym_ranges(const char *procfs, struct ksym_range *r, size_t n) MUST_CHECK;
