// SPDX-License-Identifier: Apache-2.0
/*
 * map_sums.h - a kernel map whose values begin with sums (__u64 each), read into sums.h by the name
 * of each key.
 */
#pragma once

#include "lib/wire/item.h"
#include "probe/kernel/sums.h"

struct bpf_map;

struct map_sums {
	struct bpf_map *map;
	struct sums *sums;
	const void *others; /* a key that is never deleted; NULL: there is none */
	/* Of one that is new; false: its name is not known yet, and it is read the next time. */
	bool (*name)(void *arg, const void *key, const void *value, char name[ITEM_MAX_TEXT]);
	void *arg;
};

void map_sums_read(const struct map_sums *m);
