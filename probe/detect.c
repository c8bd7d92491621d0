// SPDX-License-Identifier: Apache-2.0
#include "detect.h"

#include "../lib/hash.h"
#include "../lib/hist.h"
#include "../lib/log.h"
#include "verdict.h"

enum {
	ROUTES = 512,
	LEARNING = 100, /* requests before a route is judged by itself */
	FIRST_LIMIT_US = 300000,
	EFFECT_US = 20000, /* slower than normal by less than this is nobody's problem */
	REFRESH = 64, /* requests between two looks at the quantiles */
};

struct route_stat {
	uint64_t hash; /* 0: free */
	uint64_t count, p50_us, p99_us, up_p50_us;
	struct hist total, up;
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
	if (d->fixed_ms >= 0)
		return (uint64_t)(d->fixed_ms * 1000.0);
	if (s->count < LEARNING)
		return FIRST_LIMIT_US;
	return s->p99_us > s->p50_us + EFFECT_US ? s->p99_us : s->p50_us + EFFECT_US;
}

static void learn(struct route_stat *s, const struct request_item *r)
{
	hist_add(&s->total, item_total_us(r));
	if (r->nups)
		hist_add(&s->up, item_upstream_us(r));
	s->count++;
	if (s->count % REFRESH && s->count != LEARNING)
		return;
	s->p50_us = hist_quantile(&s->total, 0.50);
	s->p99_us = hist_quantile(&s->total, 0.99);
	s->up_p50_us = hist_quantile(&s->up, 0.50);
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
	struct verdict_base base = { .normal_us = s->p50_us, .up_normal_us = s->up_p50_us };
	bool abnormal;

	r->normal_us = s->p50_us;
	r->limit_us = limit_of(d, s);
	abnormal = is_abnormal(r, d->fixed_ms >= 0);
	if (abnormal)
		verdict_find(r, &base, &d->text);
	learn(s, r);
	return abnormal;
}
