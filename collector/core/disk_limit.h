// SPDX-License-Identifier: Apache-2.0
/*
 * disk_limit.h - the limit of the database's disk: when to drop data, when to refuse batches, and
 * when the disk will be full. Pure functions, without a database or a clock.
 *
 * All sizes are bytes. Each threshold has a lower one that ends the state, so that it does not
 * flap.
 */
#pragma once

#include "lib/base/base.h"

/* One of percent (of the file system's size) and bytes; both 0: off. */
struct disk_limit {
	unsigned percent;
	uint64_t bytes;
};

/* "80%", "200GB", "500 MB", a number of bytes, or "off"; KB to TB are powers of 1000. -EINVAL. */
int disk_limit_parse(const char *text, struct disk_limit *out) MUST_CHECK;

struct disk_sizes {
	uint64_t used; /* database, and its WAL where that is visible */
	uint64_t total, avail; /* of the file system; total 0: not visible */
};

struct disk_bounds {
	uint64_t allowed; /* for the database and its WAL; 0: no limit */
	uint64_t reserve; /* of the file system that stays free; 0: it is not visible */
};

/* A limit in percent of a file system that is not visible allows all. The reserve is an eighth of
 * the file system, and at most 512 MiB. */
struct disk_bounds disk_bounds(const struct disk_limit *l, uint64_t total);

struct disk_state {
	bool dropping; /* data must go */
	bool refusing; /* no batch may be stored */
};

struct disk_state disk_judge(const struct disk_bounds *b, const struct disk_sizes *s,
			     struct disk_state was);

/* What may still be used until batches are refused; UINT64_MAX: no bound. */
uint64_t disk_room(const struct disk_bounds *b, const struct disk_sizes *s);

struct disk_point {
	int64_t at_s;
	uint64_t used;
};

enum {
	DISK_POINTS = 64, /* at most, of a forecast */
	DISK_SPAN_S = 1800, /* shorter histories give no forecast */
};

#define DISK_NEVER (10 * 365 * 86400ll)

/*
 * Seconds until `room` is used up, at the growth of these points: the median of the slopes between
 * pairs (Theil-Sen), which single drops and the sawtooth of hourly compaction do not bend.
 * DISK_NEVER: later than that, or no growth. -1: too short a history.
 */
int64_t disk_forecast_s(const struct disk_point *p, size_t n, uint64_t room);
