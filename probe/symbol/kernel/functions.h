// SPDX-License-Identifier: Apache-2.0
/*
 * functions.h - which function lies where, as far as it was looked up: an address within it is not
 * looked up again.
 *
 * A space is what addresses count in: a file, the kernel, the memory of a process. Bounded: when
 * there is no room all is forgotten, and looked up anew.
 */
#pragma once

#include "lib/base/base.h"

enum { FUNCTIONS_MAX = 2048 };

struct functions;

struct functions *functions_new(void);
void functions_free(struct functions *f);

/* NULL: not known; "": no code lies there. Valid until the next add. */
const char *functions_find(const struct functions *f, uint64_t space, uint64_t at);

/* From up to before to. passing: what a process has there may be something else soon. */
void functions_add(struct functions *f, uint64_t space, uint64_t from, uint64_t to,
		   const char *text, bool passing);
void functions_forget_passing(struct functions *f);

DEFINE_AUTO(struct functions *, functions_free)
