// SPDX-License-Identifier: Apache-2.0
/*
 * sums.h - the deltas of a kernel map of sums: for each key its name and its last values.
 *
 * One tick is a call of sums_seen for each key in the map, then sums_report. Keys of the same name
 * (a cgroup that was deleted and created again) are reported as one.
 */
#pragma once

#include <linux/types.h>

#include "lib/base/base.h"

enum { SUMS_KEY = 24, SUMS_FIELDS = 128, SUMS_REPORTED_TICKS = 6, SUMS_KEPT_TICKS = 30 };

struct sums { /* zeroed except nkey and nfields */
	uint32_t nkey, nfields; /* bytes of a key, number of sums per key */
	struct sums_one *one;
	uint32_t n, room;
};

void sums_free(struct sums *t);

bool sums_knows(const struct sums *t, const void *key);
/*
 * Takes the sums of a key. name: needed for a new key only. False: the key was idle for
 * SUMS_KEPT_TICKS and is not held, so it has been removed.
 */
bool sums_seen(struct sums *t, const void *key, const char *name, const __u64 *sum, bool held);
/* Reports the names that changed within SUMS_REPORTED_TICKS: since the last tick, and in total. */
void sums_report(struct sums *t,
		 void (*report)(void *arg, const char *name, const double *since,
				const double *all),
		 void *arg);
