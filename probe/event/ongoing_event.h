// SPDX-License-Identifier: Apache-2.0
/*
 * ongoing_event.h - the tellings of an event that goes on: when it begins, at the times of event_interval.h, and
 * when it is over. The reader of what is stored knows these times: what is not told again for
 * longer has no end that anybody saw.
 */
#pragma once

#include "lib/wire/item.h"

struct ongoing_event { /* zeroed: nothing goes on */
	uint64_t id; /* 0: nothing does */
	uint64_t wall_ns, mono_ns; /* when it began */
	uint64_t next_ns;
	uint32_t told;
};

/* key: what of this kind it is, the same for one event and no two that go on at a time. */
void ongoing_event_begin(struct ongoing_event *l, const char *kind, const char *key, uint64_t mono_ns,
		   uint64_t wall_ns);
bool ongoing_event_due(const struct ongoing_event *l, uint64_t mono_ns); /* it is to be told again */
/* What makes e a telling of it; not going_on: the last, and nothing goes on then. */
void ongoing_event_tell(struct ongoing_event *l, uint64_t mono_ns, bool going_on, struct event_item *e);
