// SPDX-License-Identifier: Apache-2.0
/* ksym_range.h - where functions of the kernel lie, by their names. */
#pragma once

#include "lib/base/base.h"

struct ksym_range {
	const char *name; /* asked for */
	uint64_t from,
		to; /* up to the next symbol; 0, 0: there is none, or its address is hidden */
};

/* One pass over PROCFS/kallsyms: how many of them are there, or -errno. */
int ksym_ranges(const char *procfs, struct ksym_range *r, size_t n) MUST_CHECK;
