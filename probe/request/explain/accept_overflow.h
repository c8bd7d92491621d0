// SPDX-License-Identifier: Apache-2.0
/*
 * accept_overflow.h - whether connections found the accept queue full at a given time: ListenOverflows of
 * a network namespace. The kernel counts it for all listeners of a namespace together, so it says
 * "at that time", not which. A namespace is looked at ten times a second while someone waits there.
 */
#pragma once

#include "lib/base/base.h"

enum { OVERFLOW_SPACES = 16 };

struct accept_overflow;

struct accept_overflow *accept_overflow_new(const char *procfs);
void accept_overflow_free(struct accept_overflow *o);

/*
 * *full: the count of that namespace (its inode; 0: pid's) has risen between the two times, of
 * CLOCK_MONOTONIC. False: not known, because it had not been seen before then, or nobody who can be
 * read lives there.
 */
bool accept_overflow_known(struct accept_overflow *o, uint64_t netns, uint32_t pid, uint64_t from_ns,
		    uint64_t to_ns, bool *full);

/* Somebody is served there: from here on it is known, if there is room. */
void accept_overflow_seen(struct accept_overflow *o, uint64_t netns, uint32_t pid);

void accept_overflow_tick(struct accept_overflow *o, uint64_t now_ns); /* looks at each namespace it knows */

DEFINE_AUTO(struct accept_overflow *, accept_overflow_free)
