// SPDX-License-Identifier: Apache-2.0
/*
 * fn_names.h - the names of functions of the kernel, each looked up once, some of /proc/kallsyms
 * (ksym.h) with each read of a source: it takes some reads until one is known.
 */
#pragma once

#include "lib/base/base.h"

struct fn_names;

struct fn_names *fn_names_new(const char *procfs); /* while the probe may see addresses */
void fn_names_free(struct fn_names *n); /* NULL is fine */

/* "hrtimer_wakeup", "?" if it has no name, NULL: not known yet. */
const char *fn_names_of(struct fn_names *n, uint64_t addr);
void fn_names_step(struct fn_names *n); /* once a read */
