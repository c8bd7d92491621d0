// SPDX-License-Identifier: Apache-2.0
/* remote_scene.h - fixtures for incidents that a region reports: times, limits, rows. Seconds
 * after T. */
#pragma once

#include "collector/incident/model/incident_remote.h"
#include "lib/wire/reason.h"

enum { T = 1000000 };

static const struct incident_limits limits = {
	.least_events = 5,
	.least_percent = 2,
	.least_excess_ms = 20,
	.window_s = 300,
	.join_s = 300,
	.quiet_s = 600,
	.reopen_s = 1800,
};

static inline int64_t us(int s)
{
	return (T + s) * INCIDENT_SEC;
}

/* One request per second, 100 ms too slow; all belong to one signal. */
static inline void add_rows(struct incident_set *s, uint64_t node, int from, int until)
{
	bool full;

	for (int at = from; at < until; at++)
		incident_set_count(s,
				   &(struct incident_row){ .begin_us = us(at),
							   .total_us = 110000,
							   .normal_us = 10000,
							   .node = node,
							   .id = (uint64_t)at + 1,
							   .app = "shop",
							   .route = "/buy",
							   .reason = R_IO_BLOCK,
							   .status = 200 },
				   &full);
}

static inline struct signal *signal_of(struct incident_set *s, uint64_t node)
{
	return incident_set_signal(s, node, "shop", "/buy", "io");
}

static inline struct incident *open_here(struct incident_set *s, uint64_t region, uint64_t node,
					 int at)
{
	return incident_set_open(s, signal_of(s, node),
				 &(struct incident_place){ .region = region,
							   .region_name = "x",
							   .neighbors = &node,
							   .nneighbors = 1,
							   .now_us = us(at) });
}

/* Imports an update of the report, as the engine does. */
static inline struct incident *import_update(struct incident_set *s, struct incident_report *t,
					     int64_t closed_us)
{
	t->was_open = !t->closed_us;
	t->has_row = true;
	t->closed_us = closed_us;
	return incident_set_import(s, t);
}
