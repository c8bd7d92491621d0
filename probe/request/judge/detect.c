// SPDX-License-Identifier: Apache-2.0
#include "probe/request/judge/detect.h"

#include "lib/base/clock.h"
#include "lib/base/hash.h"
#include "lib/base/log.h"
#include "probe/request/judge/baseline.h"
#include "probe/request/judge/baseline_pack.h"
#include "probe/request/judge/item_time.h"

enum {
	ROUTES = 512,
	SAVED_S = 14 * 24 * 3600,
	PROBES = 16, /* slots in which a route may be stored */
	LATE_BODY_US = 1000000, /* a body that ends this long after its start was waited for */
	PATIENT_US = 5000000, /* only a long poll usually takes this long */
};

#define UNSEEN_NS (24 * 3600 * 1000000000ull)

struct route_stat {
	uint64_t hash; /* 0: free */
	uint64_t seen_ns; /* its last request */
	uint64_t used_s; /* wall clock, as of the last save */
	bool used; /* since the last save */
	uint32_t late; /* answers with a late body, until the route is known */
	struct baseline usual;
	struct part_baseline parts;
};

struct detect {
	double fixed_ms;
	struct route_stat route[ROUTES]; /* the last one is shared by routes without a slot */
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

/* A client that requests ten thousand paths once must not displace known routes. */
static bool may_go(const struct route_stat *s, uint64_t now_ns)
{
	return !s->usual.known || now_ns - s->seen_ns >= UNSEEN_NS;
}

static struct route_stat *slot_of(struct detect *d, uint64_t h, uint64_t now_ns)
{
	struct route_stat *oldest = NULL;

	for (size_t i = 0; i < PROBES; i++) {
		struct route_stat *s = &d->route[(h + i) % (ROUTES - 1)];

		if (!s->hash)
			s->hash = h;
		if (s->hash == h)
			return s;
		if (may_go(s, now_ns) && (!oldest || s->seen_ns < oldest->seen_ns))
			oldest = s;
	}
	if (!oldest)
		return &d->route[ROUTES - 1];
	*oldest = (struct route_stat){ .hash = h };
	return oldest;
}

static struct route_stat *route_of(struct detect *d, const struct request_item *r)
{
	uint64_t h = hash_end(hash_add_str(hash_add_str(HASH_START, r->app), r->route));
	uint64_t now = clock_mono_ns();
	struct route_stat *s = slot_of(d, h, now);

	s->used = true;
	s->seen_ns = now;
	return s;
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

/* A client may abandon a long poll without that being abnormal. */
static bool may_leave(const struct request_item *r)
{
	return r->normal_us >= PATIENT_US && item_judged_us(r) <= r->limit_us;
}

static bool is_abnormal(const struct request_item *r, bool fixed)
{
	uint64_t us = item_judged_us(r);

	if (r->status == 499)
		return fixed || !may_leave(r);
	if (item_failed(r) || try_failed(r))
		return true;
	return fixed ? us >= r->limit_us : us > r->limit_us;
}

/*
 * If most answers continue long after their start, the route is judged by the first byte: a stream
 * that is not declared as one, or a poll that sends its header early. Decided while the route is
 * becoming known.
 */
static void route_by_first(struct route_stat *s, struct request_item *r)
{
	bool late = r->request_us - r->first_us >= LATE_BODY_US;

	if (!s->usual.known) {
		s->late += late;
		s->usual.by_first = s->late * 2 > s->usual.window.count + 1;
	}
	if (s->usual.by_first)
		r->flags |= REQUEST_BY_FIRST;
}

/* Call after judging, which needs the parts as they were before. */
static void learn_request(struct route_stat *s, const struct request_item *r,
			  const struct breakdown *split)
{
	uint64_t us = item_judged_us(r);

	if (us <= baseline_limit_us(&s->usual))
		part_baseline_learn(&s->parts, split, s->seen_ns);
	baseline_learn(&s->usual, us, r->nups ? (int64_t)item_upstream_us(r) : -1, s->seen_ns);
}

bool detect_judge(struct detect *d, struct request_item *r, const struct breakdown *split,
		  struct judged *out)
{
	struct route_stat *s = route_of(d, r);
	bool answered = !item_failed(r) && r->status != 499, abnormal;

	r->normal_us = s->usual.p50_us;
	r->limit_us = limit_of(d, s);
	if (answered)
		route_by_first(s, r);
	breakdown_judged(split, r, &out->split);
	out->up_normal_us = s->usual.up_p50_us;
	abnormal = is_abnormal(r, d->fixed_ms >= 0);
	out->usual = abnormal ? part_baseline_parts(&s->parts) : NULL;
	if (answered)
		learn_request(s, r, &out->split);
	return abnormal;
}

static bool is_saved(const struct route_stat *s, uint64_t now_s)
{
	return s->hash && s->usual.known && s->used_s + SAVED_S > now_s;
}

void detect_save(struct detect *d, struct buf *out, uint64_t wall_ns)
{
	uint64_t now_s = wall_ns / 1000000000u;
	uint32_t n = 0;

	for (size_t i = 0; i < ROUTES - 1; i++) {
		struct route_stat *s = &d->route[i];

		if (s->used) { /* an unused slot is not written: its memory may be untouched */
			s->used_s = now_s;
			s->used = false;
		}
		n += is_saved(s, now_s);
	}
	baseline_put_count(out, n);
	for (size_t i = 0; i < ROUTES - 1; i++) {
		const struct route_stat *s = &d->route[i];

		if (is_saved(s, now_s))
			baseline_put(out, s->hash, s->used_s, &s->usual, &s->parts);
	}
}

/* used_s is capped at now: a clock that was ahead must not prolong the life of an entry. */
static void store_route(struct detect *d, const struct route_stat *from, uint64_t now_s)
{
	uint64_t now_ns = clock_mono_ns();
	struct route_stat *s = slot_of(d, from->hash, now_ns);

	if (s == &d->route[ROUTES - 1])
		return;
	s->seen_ns = now_ns;
	s->used_s = from->used_s < now_s ? from->used_s : now_s;
	s->usual = from->usual;
	s->parts = from->parts;
	baseline_restore(&s->usual, now_ns);
}

/* Called twice for the same bytes: first validates everything, then loads. */
static int read_routes(struct detect *d, const void *data, size_t len, uint64_t now_s, bool take)
{
	struct mp m = mp_over(data, len);
	uint32_t n = mp_array(&m);
	struct route_stat one = { 0 };

	if (n > ROUTES)
		return -EBADMSG;
	for (uint32_t i = 0; i < n && !mp_bad(&m); i++) {
		baseline_take(&m, &one.hash, &one.used_s, &one.usual, &one.parts);
		if (take)
			store_route(d, &one, now_s);
	}
	return mp_bad(&m) || m.p != m.end ? -EBADMSG : 0;
}

int detect_load(struct detect *d, const void *data, size_t len, uint64_t wall_ns)
{
	int r = read_routes(d, data, len, wall_ns / 1000000000u, false);

	return r < 0 ? r : read_routes(d, data, len, wall_ns / 1000000000u, true);
}
