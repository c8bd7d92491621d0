// SPDX-License-Identifier: Apache-2.0
/*
 * taskio_table.h - what was told of each key of a kernel map of sums, and its name.
 *
 * A tick: taskio_seen for each that is in the map, then taskio_tell. Several keys may have one name
 * (a cgroup that was made again): they are one sample.
 */
#pragma once

#include <linux/types.h>

#include "../bpf/taskio.h"
#include "sink.h"

enum { TASKIO_KEY = 16, TASKIO_TOLD_TICKS = 6, TASKIO_KEPT_TICKS = 30 };

struct taskio_table {
	struct taskio_one *one;
	uint32_t n, room;
};

void taskio_table_free(struct taskio_table *t);

bool taskio_knows(const struct taskio_table *t, const void *key);
/* name: of a key that is not known yet. False: nothing came for long, it is forgotten. */
bool taskio_seen(struct taskio_table *t, const void *key, const char *name,
		 const struct taskio *sum);
/* Samples of those in which something came in the last ticks. */
void taskio_tell(struct taskio_table *t, const struct wire_dict *layout, struct sink *out);

/* Its path as the name of an entity. */
void taskio_path(const struct taskio_cgroup *c, uint64_t id, char text[static ITEM_MAX_TEXT]);
