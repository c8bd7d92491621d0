// SPDX-License-Identifier: Apache-2.0
#include "detect.h"

#include "../lib/clock.h"
#include "../lib/hash.h"
#include "../lib/log.h"
#include "baseline.h"
#include "verdict.h"

enum { ROUTES = 512 };

struct route_stat {
	uint64_t hash; /* 0: free */
	struct baseline usual;
};

struct detect {
	double fixed_ms;
	struct route_stat route[ROUTES]; /* the last one is for all that do not fit */
	struct verdict_text text;
};

struct detect *detect_new(double fixed_ms)
{
	struct detect *d = calloc(1, sizeof(*d));

	if (!d)
		die("out of memory");
	d->fixed_ms = fixed_ms;
	return d;
}

void detect_free(struct detect *d)
{
	free(d);
}

static struct route_stat *route_of(struct detect *d, const struct request_item *r)
{
	uint64_t h = hash_end(hash_add_str(hash_add_str(HASH_START, r->app), r->route));

	for (size_t i = 0; i < 16; i++) {
		struct route_stat *s = &d->route[(h + i) % (ROUTES - 1)];

		if (!s->hash)
			s->hash = h;
		if (s->hash == h)
			return s;
	}
	return &d->route[ROUTES - 1];
}

static uint64_t limit_of(const struct detect *d, const struct route_stat *s)
{
	return d->fixed_ms >= 0 ? (uint64_t)(d->fixed_ms * 1000.0) : baseline_limit_us(&s->usual);
}

static bool try_failed(const struct request_item *r)
{
	for (uint32_t i = 0; i < r->nups; i++)
		if (r->ups[i].flags & (UP_NO_CONNECT | UP_NO_ANSWER))
			return true;
	return false;
}

static bool is_abnormal(const struct request_item *r, bool fixed)
{
	uint64_t total = item_total_us(r);

	if (item_failed(r) || r->status == 499 || try_failed(r))
		return true;
	return fixed ? total >= r->limit_us : total > r->limit_us;
}

bool detect_judge(struct detect *d, struct request_item *r)
{
	struct route_stat *s = route_of(d, r);
	struct verdict_base base = { .normal_us = s->usual.p50_us,
				     .up_normal_us = s->usual.up_p50_us };
	bool abnormal;

	r->normal_us = s->usual.p50_us;
	r->limit_us = limit_of(d, s);
	abnormal = is_abnormal(r, d->fixed_ms >= 0);
	if (abnormal)
		verdict_find(r, &base, &d->text);
	if (!item_failed(r) && r->status != 499)
		baseline_learn(&s->usual, item_total_us(r),
			       r->nups ? (int64_t)item_upstream_us(r) : -1, clock_mono_ns());
	return abnormal;
}
