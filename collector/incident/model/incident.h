// SPDX-License-Identifier: Apache-2.0
/*
 * incident.h - signals and incidents as the correlator thread holds them in memory.
 *
 * Plain data: incident_set.h changes it, incident_engine.h reads and writes it. All times are
 * microseconds since 1970 in the time of the data: the time in a row, not of its arrival. Times
 * of a signal are by the clock of its node, which finds its rows; times of an incident are by
 * the collector's clock.
 */
#pragma once

#include "collector/core/incident_limits.h"
#include "lib/base/buf.h"

#define INCIDENT_SEC INT64_C(1000000)
/* A RED count that arrives up to this late may still open an incident. */
#define INCIDENT_LATE_S 600

enum signal_kind { SIGNAL_SLOW, SIGNAL_ERROR };

/* One abnormal request. The caller owns the texts. */
struct incident_row {
	int64_t stored_us, begin_us, total_us, normal_us;
	uint64_t node, id;
	const char *app, *route;
	uint16_t reason, status;
	bool old; /* counted by an earlier process: only rebuilds the state that decisions need */
};

enum { SIGNAL_BUCKET_S = 10, SIGNAL_BUCKETS = 64, SIGNAL_WORST = 3, SIGNAL_CLASS = 16 };

struct signal_bucket {
	int64_t number, first_us; /* number: begin time / SIGNAL_BUCKET_S */
	uint32_t n, longest_ms; /* longest_ms: the slowest request */
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
	uint16_t reason; /* of the worst sample */
	struct incident *of; /* its incident, or the last one, which has closed; NULL: none */
	bool active; /* `of` is open and counts its rows */
	int64_t first_us, last_us; /* from the begin of the first request to the end of the last */
	int64_t ended_us; /* last_us at the time of signal_end */
	int64_t clock_us; /* collector time minus node time */
	uint64_t n;
	double excess_us;
	struct signal_sample worst[SIGNAL_WORST]; /* sorted, worst first; id 0: none */
	struct signal_bucket bucket[SIGNAL_BUCKETS];
	int64_t wait_us, waited_us; /* the interval in which its region's report was awaited */
	int64_t judge_us; /* not judged before; for LEAST_S after it only with `least` rows */
	uint64_t least;
	bool dirty; /* its row must be written */
};

enum { INCIDENT_REPORTERS = 8 };

struct incident {
	uint64_t id, region, into; /* into: merged into this one */
	uint64_t reported_by[INCIDENT_REPORTERS]; /* regions that report it or a part of it */
	unsigned nreported_by,
		held; /* held: number of reports that are still open in their region */
	int64_t onset_us, last_us, opened_us, closed_us; /* closed_us 0: open */
	struct signal **signal;
	size_t nsignals;
	uint64_t first_host, headline;
	char shared[SIGNAL_CLASS]; /* the class that shared_hosts hosts have in common; "": none */
	int shared_hosts;
	double whole_us;
	bool clear, fresh, dirty; /* fresh: not stored yet */
	bool apart; /* an operator split it from another incident, or another from it */
	int steps;
	struct buf step_rows; /* steps that are not written yet, as JSON objects */
	uint64_t retry_ns; /* monotonic; 0: the database has not refused it */
	int64_t rank_us, ranked_us; /* rank_us: next ranking, if there are new rows; ranked_us: the
				       last one */
	int64_t rank_gap_us;
};
