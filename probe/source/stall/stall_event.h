// SPDX-License-Identifier: Apache-2.0
/* stall_event.h - an episode of waiting, and who was seen to cause it, as an event. */
#pragma once

#include "lib/wire/item.h"
#include "probe/source/stall/disk_busy.h"
#include "probe/event/episode.h"
#include "probe/source/stall/culprits.h"

enum { STALL_WORST = 3 };

struct stall {
	enum offence what;
	const struct episode *episode;
	bool going_on;
	int64_t wall_minus_mono_ns; /* the same for all tellings of an episode */
	double seconds; /* in which these were seen */
	struct offender worst[STALL_WORST], victim;
	size_t nworst, nvictims;
	char cgroup[ITEM_MAX_TEXT / 2]; /* of the worst, as the kernel says */
	double used_bytes, limit_bytes; /* of OFFENCE_MEMORY, that cgroup's; NaN: none */
	struct disk_busy disk[STALL_WORST]; /* of OFFENCE_IO */
	size_t ndisks;
};

struct stall_text { /* what an event points into */
	char who[STALL_WORST][ITEM_MAX_TEXT / 4], waiter[ITEM_MAX_TEXT / 4];
	char comm[STALL_WORST][4 * OFFENDER_COMM], victim[4 * OFFENDER_COMM];
	char what[STALL_WORST][ITEM_MAX_TEXT];
	char dev[STALL_WORST][4 * DISK_BUSY_NAME], busy[STALL_WORST][ITEM_MAX_TEXT];
	char cgroup[ITEM_MAX_TEXT];
};

void stall_event(const struct stall *s, struct stall_text *text, struct event_item *out);
