// SPDX-License-Identifier: Apache-2.0
/* stall_event.h - the event of a stall episode: the waiting, and the processes that caused it. */
#pragma once

#include "lib/wire/item.h"
#include "probe/source/stall/disk_busy.h"
#include "probe/event/episode.h"
#include "probe/source/stall/culprits.h"

enum { STALL_WORST = 3 };

struct stall {
	enum stall_resource what;
	const struct episode *episode;
	bool going_on;
	int64_t wall_minus_mono_ns; /* the same for all updates of an episode */
	double seconds; /* observation time of the following */
	struct culprit worst[STALL_WORST], victim;
	size_t nworst, nvictims;
	char cgroup[ITEM_MAX_TEXT / 2]; /* of worst[0], as the kernel names it */
	double used_bytes, limit_bytes; /* for STALL_MEMORY: of that cgroup; NaN: none */
	struct disk_busy disk[STALL_WORST]; /* for STALL_IO */
	size_t ndisks;
};

struct stall_text { /* storage for the texts of an event */
	char who[STALL_WORST][ITEM_MAX_TEXT / 4], waiter[ITEM_MAX_TEXT / 4];
	char comm[STALL_WORST][4 * CULPRIT_COMM], victim[4 * CULPRIT_COMM];
	char what[STALL_WORST][ITEM_MAX_TEXT];
	char dev[STALL_WORST][4 * DISK_BUSY_NAME], busy[STALL_WORST][ITEM_MAX_TEXT];
	char cgroup[ITEM_MAX_TEXT];
};

void stall_event(const struct stall *s, struct stall_text *text, struct event_item *out);
