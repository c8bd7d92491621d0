// SPDX-License-Identifier: Apache-2.0
/*
 * ongoing_event.h - the reports of an ongoing event: one at its start, updates at the intervals of
 * event_interval.h, and one at its end. The reader of stored events knows the intervals: an event
 * without an update for longer has no observed end.
 */
#pragma once

#include "lib/wire/item.h"

struct ongoing_event { /* zeroed: none is ongoing */
	uint64_t id; /* 0: none is ongoing */
	uint64_t wall_ns, mono_ns; /* its start */
	uint64_t next_ns; /* the next report is due */
	uint32_t reports; /* sent so far */
};

/* key: the subject of the event, unique among the ongoing events of this kind. */
void ongoing_event_begin(struct ongoing_event *l, const char *kind, const char *key,
			 uint64_t mono_ns, uint64_t wall_ns);
bool ongoing_event_due(const struct ongoing_event *l, uint64_t mono_ns); /* a report is due */
/* Makes e a report of the event. going_on false: the last report; nothing is ongoing afterwards. */
void ongoing_event_report(struct ongoing_event *l, uint64_t mono_ns, bool going_on,
			  struct event_item *e);
