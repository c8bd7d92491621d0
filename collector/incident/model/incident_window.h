// SPDX-License-Identifier: Apache-2.0
/*
 * incident_window.h - what a signal counted of late, by buckets of ten seconds, and where in it a
 * fault begins.
 *
 * Times are microseconds by the clock of the signal's node.
 */
#pragma once

#include "collector/incident/model/incident_signal.h"

enum { BUCKET_US = SIGNAL_BUCKET_S * 1000000 };

struct slow { /* or failed */
	int64_t begin_us;
	uint32_t n;
	int64_t took_us; /* the longest; 0: not known */
	double excess_us; /* of all n */
};

struct window {
	uint64_t n;
	double excess_us;
	int64_t first_us; /* INT64_MAX: there is none */
	uint32_t longest_ms;
};

/* Where the window begins: as long before the last that was counted as is judged at once. */
int64_t signal_since(const struct signal *g, const struct incident_limits *l);
/* The bucket of that which signal_begins says, from its begin on. */
int64_t signal_rises(const struct signal *g, const struct incident_limits *l);
/* The window's first, or the first of where its rate rises: one minutes before is no part of it. */
int64_t signal_begins(const struct signal *g, const struct incident_limits *l);

void window_put(struct signal *g, const struct slow *w);
/* What began within [since, until), by whole buckets. */
struct window window_of(const struct signal *g, int64_t since_us, int64_t until_us);
struct window window_whole(const struct signal *g, const struct incident_limits *l);
struct window window_of_fault(const struct signal *g, const struct incident_limits *l);
