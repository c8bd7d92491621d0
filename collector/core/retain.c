// SPDX-License-Identifier: Apache-2.0
#include "collector/core/retain.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

static int64_t days_of(const struct retain *k, int64_t of)
{
	return of ? of : k->requests;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Never longer than the requests and events that it belongs to; they share one table. */
static int64_t evidence_days(const struct retain *k)
{
	int64_t events = days_of(k, k->events);

	return least(days_of(k, k->evidence), events > k->requests ? events : k->requests);
}

int64_t retain_stacks(const struct retain *k)
{
	int64_t profiles = days_of(k, k->profiles), evidence = evidence_days(k);

	return profiles > evidence ? profiles : evidence;
}

int64_t retain_least(const struct retain *k)
{
	return least(least(k->requests, evidence_days(k)),
		     least(least(days_of(k, k->events), days_of(k, k->profiles)),
			   days_of(k, k->samples)));
}

void retain_text(const struct retain *k, char text[static RETAIN_TEXT])
{
	const struct {
		const char *fact;
		int64_t days;
	} of[] = {
		{ "request", k->requests },
		{ "red", k->requests },
		{ "red_10m", k->requests },
		{ "unread", k->requests },
		{ "evidence", evidence_days(k) },
		{ "event", days_of(k, k->events) },
		{ "profile", days_of(k, k->profiles) },
		{ "sample", days_of(k, k->samples) },
		{ "sample_raw", days_of(k, k->samples) },
		{ "sealed", days_of(k, k->samples) },
		{ "sample_1m", days_of(k, k->minutes) },
		{ "sample_10m", days_of(k, k->ten_minutes) },
		{ "sample_1h", days_of(k, k->hours) },
	};
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(of); i++)
		len += (size_t)snprintf(text + len, RETAIN_TEXT - len, "%s\"%s\":%" PRId64,
					i ? "," : "{", of[i].fact, of[i].days);
	len += (size_t)snprintf(text + len, RETAIN_TEXT - len, "}");
	assert(len < RETAIN_TEXT);
}
