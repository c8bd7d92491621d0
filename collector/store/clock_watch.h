// SPDX-License-Identifier: Apache-2.0
/*
 * clock_watch.h - compares the clocks of the collector, of PostgreSQL and of the nodes with the
 * newest stored row, for the writer's thread.
 *
 * It decides whether retention may drop (collector/core/clock_check.h), and by which time rows are
 * dated whose own time has no partition. Where PostgreSQL's clock is more than a day off the newest
 * row and no node confirms it, rows go by the nodes: there is a second range of partitions around
 * that time.
 */
#pragma once

#include "collector/core/clock_check.h"
#include "collector/db/pg.h"

struct clock_watch;

struct clock_watch *clock_watch_new(void);
void clock_watch_free(struct clock_watch *w); /* NULL is fine */

void clock_watch_hear(struct clock_watch *w, uint64_t node, uint64_t wall_ns, bool hello);
/* Reads PostgreSQL's clock and the newest row if that is due. Logs a fault once, and its end. */
int clock_watch_read(struct clock_watch *w, struct pg *p, bool now) MUST_CHECK;

bool clock_watch_drops(const struct clock_watch *w);
int64_t clock_watch_earliest_s(const struct clock_watch *w);
uint64_t clock_watch_database_ns(const struct clock_watch *w); /* PostgreSQL's clock, now */
/* The time around which a second range of partitions is needed; 0: none. */
uint64_t clock_watch_other_ns(struct clock_watch *w);

DEFINE_AUTO(struct clock_watch *, clock_watch_free)
