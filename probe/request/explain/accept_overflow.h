// SPDX-License-Identifier: Apache-2.0
/*
 * accept_overflow.h - whether the accept queue overflowed at a given time, from ListenOverflows of
 * a network namespace. The kernel counts all listeners of a namespace together, so the answer gives
 * the time but not the listener. A namespace is polled ten times a second while a request waits in
 * it.
 */
#pragma once

#include "lib/base/base.h"

enum { OVERFLOW_SPACES = 16 };

struct accept_overflow;

struct accept_overflow *accept_overflow_new(const char *procfs);
void accept_overflow_free(struct accept_overflow *o);

/*
 * *full: the count of the namespace (inode netns; 0: that of pid) rose between the two times of
 * CLOCK_MONOTONIC. False: unknown, because polling started later or no readable process runs in the
 * namespace.
 */
bool accept_overflow_known(struct accept_overflow *o, uint64_t netns, uint32_t pid,
			   uint64_t from_ns, uint64_t to_ns, bool *full);

/* A request is served in this namespace: polls it from now on, if there is room. */
void accept_overflow_seen(struct accept_overflow *o, uint64_t netns, uint32_t pid);

void accept_overflow_tick(struct accept_overflow *o,
			  uint64_t now_ns); /* polls the known namespaces */

DEFINE_AUTO(struct accept_overflow *, accept_overflow_free)
