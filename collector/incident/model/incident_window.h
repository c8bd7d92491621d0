// SPDX-License-Identifier: Apache-2.0
/*
 * incident_window.h - the recent events of a signal in ten-second buckets, and where in them a
 * fault begins.
 *
 * Times are microseconds by the clock of the signal's node.
 */
#pragma once

#include "collector/incident/model/incident_signal.h"

enum { BUCKET_US = SIGNAL_BUCKET_S * 1000000 };

struct window_events { /* slow or failed requests */
	int64_t begin_us;
	uint32_t n;
	int64_t took_us; /* the slowest; 0: not known */
	double excess_us; /* of all n */
};

struct window {
	uint64_t n;
	double excess_us;
	int64_t first_us; /* INT64_MAX: none */
	uint32_t longest_ms;
};

/* The start of the window: window_s before the last event. */
int64_t signal_window_start(const struct signal *g, const struct incident_limits *l);
/* The start of the bucket in which the fault begins. */
int64_t signal_rise_start(const struct signal *g, const struct incident_limits *l);
/* The begin of the fault: the first event after the rate rose, else the window's first. A single
 * slow request minutes earlier does not belong to it. */
int64_t signal_fault_start(const struct signal *g, const struct incident_limits *l);

void window_put(struct signal *g, const struct window_events *w);
/* The events that began within [since, until), by whole buckets. */
struct window window_of(const struct signal *g, int64_t since_us, int64_t until_us);
struct window window_whole(const struct signal *g, const struct incident_limits *l);
struct window window_of_fault(const struct signal *g, const struct incident_limits *l);
