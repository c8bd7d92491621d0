// SPDX-License-Identifier: Apache-2.0
/*
 * incident.h - signals and incidents as the correlating thread has them in memory.
 *
 * Plain data; incident_set.h moves it, incident_engine.h reads and writes it. All times are
 * microseconds since 1970, of the data: what a row says, not when it came. Those of a signal are by
 * the clock of its node, by which its rows are found; those of an incident by the collector's.
 */
#pragma once

#include "collector/core/incident_limits.h"
#include "lib/base/base.h"

#define INCIDENT_SEC INT64_C(1000000)
#define INCIDENT_LATE_S 600 /* so late a count of red may come and open one */

enum signal_kind { SIGNAL_SLOW, SIGNAL_ERROR };

/* One abnormal request. Texts belong to whoever made it. */
struct incident_row {
	int64_t stored_us, begin_us, total_us, normal_us;
	uint64_t node, id;
	const char *app, *route;
	uint16_t reason, status;
	bool old; /* counted before this process began: only what is judged by it is made again */
};

enum { SIGNAL_BUCKET_S = 10, SIGNAL_BUCKETS = 64, SIGNAL_WORST = 3, SIGNAL_CLASS = 16 };

struct signal_bucket {
	int64_t number, first_us; /* number: time / SIGNAL_BUCKET_S */
	uint32_t n, longest_ms; /* longest: that one took */
	double excess_us;
};

struct signal_sample {
	int64_t begin_us;
	uint64_t id;
	double value;
};

struct incident;

struct signal {
	uint64_t id, node;
	char *app, *route;
	char class[SIGNAL_CLASS];
	enum signal_kind kind;
	uint16_t reason; /* of the worst */
	struct incident *of; /* whose it is, or was when that closed; NULL: none */
	bool active; /* of is open, and rows are counted there */
	int64_t first_us, last_us; /* from the begin of the first to the end of the last */
	int64_t ended_us; /* of a fault that ended (signal_end): its last_us */
	int64_t clock_us; /* added to a time of its node, as all here are, it is the collector's */
	uint64_t n;
	double excess_us;
	struct signal_sample worst[SIGNAL_WORST]; /* the worst first; id 0: none */
	struct signal_bucket bucket[SIGNAL_BUCKETS];
	int64_t wait_us, waited_us; /* since when, and up to, its region was waited for to tell */
	int64_t judge_us; /* not before; and for a while not before there are least */
	uint64_t least;
	bool dirty; /* its row is to be written */
};

enum { INCIDENT_TOLD = 8 };

struct incident {
	uint64_t id, region, into; /* into: merged */
	uint64_t told[INCIDENT_TOLD]; /* regions that tell of a part of it */
	unsigned ntold, held; /* held: so many parts are open there */
	int64_t onset_us, last_us, opened_us, closed_us; /* closed 0: open */
	struct signal **signal;
	size_t nsignals;
	uint64_t first_host, headline;
	char shared[SIGNAL_CLASS]; /* what that many hosts have by themselves; "": nothing */
	int shared_hosts;
	double whole_us;
	bool clear, fresh, dirty; /* fresh: has no row yet */
	bool apart; /* a person split it from another one, or another one from it */
	int steps;
	int64_t rank_us, ranked_us; /* when to rank anew, if there is more; when it was done */
	int64_t rank_gap_us;
};
