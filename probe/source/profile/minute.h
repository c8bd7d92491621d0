// SPDX-License-Identifier: Apache-2.0
/*
 * minute.h - samples of a minute, counted by app and pair of stacks, and told as PROFILE items.
 *
 * Bounded: pairs beyond MINUTE_PAIRS are counted without their stacks, apps beyond MINUTE_APPS as
 * "(others)". The stacks of an entry may still wait for their id: it is told when they have it.
 */
#pragma once

#include "probe/core/sink.h"

enum { MINUTE_PAIRS = 1024, MINUTE_APPS = 128 };

#define MINUTE_WAITS (1ull << 63) /* of an id: another will take its place (minute_named) */

struct minute;

struct minute *minute_new(void);
void minute_free(struct minute *m);

/* So many looks; 0: that one has no stack, or none that is known. */
void minute_add(struct minute *m, const char *app, uint64_t kernel, uint64_t user, uint32_t n);
void minute_named(struct minute *m, uint64_t was, uint64_t is);

/* All whose stacks have ids; or only those of apps that nothing was told of since they came. */
void minute_tell(struct minute *m, uint64_t start_ns, uint32_t period_us, bool all,
		 struct sink *out);

uint64_t minute_over(const struct minute *m); /* samples whose stacks found no room */

DEFINE_AUTO(struct minute *, minute_free)
