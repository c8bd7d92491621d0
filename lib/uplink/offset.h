// SPDX-License-Identifier: Apache-2.0
/*
 * offset.h - how far the peer's clock is ahead of ours, from NTP's four timestamps (RFC 5905).
 *
 * Each exchange bounds the offset to half of its round trip time, however asymmetric the two ways
 * are. Of the last few exchanges the one with the smallest error now is used, as clocks drift. An
 * exchange that contradicts a newer one was made before one of the clocks was set and is dropped.
 * Reads no clock itself; all times in ns, wall times since 1970. Plain data, all 0 is empty.
 */
#pragma once

#include "lib/wire/item.h"

enum { OFFSET_LAST = 8 };

struct exchange {
	uint64_t sent_ns, heard_ns; /* by our wall clock: question sent, answer received */
	uint64_t received_ns, answered_ns; /* by the peer's clock */
	uint64_t mono_ns; /* our monotonic clock, at heard_ns */
};

struct offset_seen {
	int64_t ns; /* the peer's clock minus ours */
	uint64_t half_ns, mono_ns; /* maximum error, at that time */
};

struct offset {
	struct offset_seen last[OFFSET_LAST];
	uint32_t n, next;
	uint64_t since_ns; /* our wall clock: the offset is valid from then on; 0: from the report
			      on */
	struct offset_seen reported; /* half_ns with the possible drift of our wall clock */
	bool has_reported;
};

bool offset_add(struct offset *o, const struct exchange *x); /* false: unusable */
/* The offset to report now: at first, when it changed, when it is known much better, and hourly. */
bool offset_news(struct offset *o, const struct exchange *x, struct clock_item *out);
void offset_forget(struct offset *o); /* the receiver lost the offset: report it again */
