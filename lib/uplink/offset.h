// SPDX-License-Identifier: Apache-2.0
/*
 * offset.h - how far the peer's clock is ahead of ours, from NTP's four timestamps (RFC 5905).
 *
 * Each exchange bounds it: to half of the time that it was under way, however unlike both ways are.
 * Of the last few that one is believed which is known best now, as clocks drift. An exchange that
 * another contradicts was before one of the clocks was set: it is forgotten. No clock of its own;
 * all times in ns, those of the wall since 1970. Plain data, all 0 is empty.
 */
#pragma once

#include "lib/wire/item.h"

enum { OFFSET_LAST = 8 };

struct exchange {
	uint64_t sent_ns, heard_ns; /* by our wall: the question, and its answer */
	uint64_t received_ns, answered_ns; /* by theirs */
	uint64_t mono_ns; /* ours, when it was heard */
};

struct offset_seen {
	int64_t ns; /* theirs less ours */
	uint64_t half_ns, mono_ns; /* exact to this, at that time */
};

struct offset {
	struct offset_seen last[OFFSET_LAST];
	uint32_t n, next;
	uint64_t since_ns; /* our wall: not before has it been so; 0: what is told is so from then
			      on */
	struct offset_seen reported; /* half_ns with what our wall may have drifted till then */
	bool has_reported;
};

bool offset_add(struct offset *o, const struct exchange *x); /* false: unusable */
/* The offset to report now: at first, when it changed, when it is known much better, and hourly. */
bool offset_news(struct offset *o, const struct exchange *x, struct clock_item *out);
void offset_forget(struct offset *o); /* the receiver lost it: report it again */
