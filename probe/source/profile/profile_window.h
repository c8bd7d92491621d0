// SPDX-License-Identifier: Apache-2.0
/*
 * profile_window.h - samples of a minute, counted by app and pair of stacks, and told as PROFILE items.
 *
 * Bounded: pairs beyond MINUTE_PAIRS are counted without their stacks, apps beyond MINUTE_APPS as
 * "(others)". The stacks of an entry may still wait for their id: it is told when they have it.
 */
#pragma once

#include "probe/core/sink.h"

enum { MINUTE_PAIRS = 1024, MINUTE_APPS = 128 };

#define MINUTE_WAITS (1ull << 63) /* of an id: another will take its place (profile_window_named) */

struct profile_window;

struct profile_window *profile_window_new(void);
void profile_window_free(struct profile_window *m);

/* So many looks; 0: that one has no stack, or none that is known. */
void profile_window_add(struct profile_window *m, const char *app, uint64_t kernel, uint64_t user, uint32_t n);
void profile_window_named(struct profile_window *m, uint64_t was, uint64_t is);

/* All whose stacks have ids; or only those of apps that nothing was told of since they came. */
void profile_window_tell(struct profile_window *m, uint64_t start_ns, uint32_t period_us, bool all,
		 struct sink *out);

uint64_t profile_window_over(const struct profile_window *m); /* samples whose stacks found no room */

DEFINE_AUTO(struct profile_window *, profile_window_free)
