// SPDX-License-Identifier: Apache-2.0
#include "probe/event/ongoing_event.h"

#include "lib/base/hash.h"
#include "probe/event/event_interval.h"

void ongoing_event_begin(struct ongoing_event *l, const char *kind, const char *key,
			 uint64_t mono_ns, uint64_t wall_ns)
{
	uint64_t h = hash_add_str(hash_add_str(HASH_START, kind), key);

	*l = (struct ongoing_event){ .id = hash_end(hash_add(h, &wall_ns, sizeof(wall_ns))),
				     .wall_ns = wall_ns,
				     .mono_ns = mono_ns,
				     .next_ns = mono_ns };
}

bool ongoing_event_due(const struct ongoing_event *l, uint64_t mono_ns)
{
	return l->id && mono_ns >= l->next_ns;
}

void ongoing_event_report(struct ongoing_event *l, uint64_t mono_ns, bool going_on,
			  struct event_item *e)
{
	e->start_ns = l->wall_ns;
	e->us = (mono_ns - l->mono_ns) / 1000;
	e->id = l->id;
	e->update = ++l->reports;
	e->going_on = going_on;
	if (going_on)
		l->next_ns = mono_ns + event_interval_ns(l->reports);
	else
		*l = (struct ongoing_event){ 0 };
}
