// SPDX-License-Identifier: Apache-2.0
/*
 * sums.h - what was told of each key of a kernel map of sums, and its name.
 *
 * A tick: sums_seen for each that is in the map, then sums_tell. Several keys may have one name (a
 * cgroup that was made again): they are one.
 */
#pragma once

#include <linux/types.h>

#include "lib/base/base.h"

enum { SUMS_KEY = 24, SUMS_FIELDS = 128, SUMS_TOLD_TICKS = 6, SUMS_KEPT_TICKS = 30 };

struct sums { /* zeroed but for what is written here */
	uint32_t nkey, nfields; /* bytes of a key, numbers of each */
	struct sums_one *one;
	uint32_t n, room;
};

void sums_free(struct sums *t);

bool sums_knows(const struct sums *t, const void *key);
/*
 * name: of a key that is not known yet. False: nothing came for long, and it is not held; it is
 * forgotten.
 */
bool sums_seen(struct sums *t, const void *key, const char *name, const __u64 *sum, bool held);
/* Those in which something came in the last ticks: since the last one, and in all. */
void sums_tell(struct sums *t,
	       void (*tell)(void *arg, const char *name, const double *since, const double *all),
	       void *arg);
