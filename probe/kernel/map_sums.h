// SPDX-License-Identifier: Apache-2.0
/*
 * map_sums.h - reads a kernel map whose values begin with sums (__u64 each) into sums.h, under the
 * name of each key.
 */
#pragma once

#include "lib/wire/item.h"
#include "probe/kernel/sums.h"

struct bpf_map;

struct map_sums {
	struct bpf_map *map;
	struct sums *sums;
	const void *others; /* a key that is never deleted; NULL: none */
	/* The name of a new key; false: not known yet, the next read tries it again. */
	bool (*name)(void *arg, const void *key, const void *value, char name[ITEM_MAX_TEXT]);
	void *arg;
};

void map_sums_read(const struct map_sums *m);
