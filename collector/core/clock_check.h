// SPDX-License-Identifier: Apache-2.0
/*
 * clock_check.h - decides whether the clocks can be trusted by which retention drops data.
 *
 * A clock that is ahead makes all data look old. Retention therefore stops while the clocks of the
 * collector, of PostgreSQL, of the nodes and the newest stored row differ by more than an hour. It
 * goes on an hour after they agree. A hold ends after a day in any case, since a node with a wrong
 * clock must not fill the disk; data is then dropped by the earliest of all clocks. No clock is
 * read here. Times are seconds since 1970; 0 is a clock that is not known.
 */
#pragma once

#include "lib/base/base.h"
#include "lib/base/buf.h"

enum clock_fault {
	CLOCK_OK,
	CLOCK_DATABASE, /* PostgreSQL and the collector differ */
	CLOCK_NODES, /* the nodes differ from PostgreSQL */
	CLOCK_AHEAD, /* the newest row is older than the clock: it is ahead, or no node delivers */
	CLOCK_BEHIND, /* rows are newer than the clock, and no node confirms the clock */
	CLOCK_FAULT_END
};

struct clock_times {
	int64_t collector_s, database_s;
	int64_t nodes_s; /* the median of the nodes that were heard lately */
	int64_t past_s; /* the newest stored row that is not in the future of PostgreSQL */
	int64_t newest_s; /* the newest stored row */
};

/* Zeroed: no hold yet. */
struct clock_hold {
	enum clock_fault fault;
	uint64_t since_s, ended_s; /* monotonic; ended_s 0: never held */
	bool held;
};

enum { CLOCK_APART_S = 3600, CLOCK_SETTLE_S = 3600, CLOCK_HOLD_S = 86400, CLOCK_DAY_S = 86400 };

enum clock_fault clock_check(const struct clock_times *t);
int64_t clock_earliest(const struct clock_times *t); /* retention counts its days from here */
uint64_t clock_apart_s(const struct clock_times *t); /* largest difference of two clocks */
/* The time that most likely is right where PostgreSQL's is more than a day off; 0: PostgreSQL's. */
int64_t clock_other(const struct clock_times *t);
/* mono_s is never 0. Returns whether the fault has changed. */
bool clock_hold_step(struct clock_hold *h, enum clock_fault fault, uint64_t mono_s);
bool clock_hold_drops(const struct clock_hold *h, uint64_t mono_s);
const char *clock_fault_name(enum clock_fault fault); /* a word for metrics and the console */
/* Sets the gauges seismo_retention_held; clock_published reads them, in any thread. */
void clock_publish(enum clock_fault fault);
enum clock_fault clock_published(void);
/* Appends ,"retention":{"held":"nodes","apartSeconds":3600}, or nothing without a hold. In any
 * thread. */
void clock_put_hold(struct buf *out);
