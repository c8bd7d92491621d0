// SPDX-License-Identifier: Apache-2.0
#include "lib/uplink/offset.h"

#define MS 1000000ull

static const uint64_t REPORT_NS = 3600 * 1000 * MS;
static const uint64_t FINE_NS = 1 * MS; /* no more precision is needed */
enum { DRIFT_PPM = 30 }; /* of two clocks together; RFC 5905 has 15 ppm for one */

static uint64_t half_now(const struct offset_seen *s, uint64_t mono_ns)
{
	return s->half_ns + (mono_ns - s->mono_ns) / 1000000 * DRIFT_PPM;
}

static uint64_t apart(int64_t a, int64_t b)
{
	return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

static bool contradict(const struct offset_seen *a, const struct offset_seen *b, uint64_t mono_ns)
{
	return apart(a->ns, b->ns) > half_now(a, mono_ns) + half_now(b, mono_ns);
}

/*
 * If a clock was set during the exchange, one of these is negative or the result is very imprecise.
 */
static bool read_exchange(const struct exchange *x, struct offset_seen *out)
{
	uint64_t away = x->heard_ns - x->sent_ns, there = x->answered_ns - x->received_ns;

	if (x->heard_ns < x->sent_ns || x->answered_ns < x->received_ns || there > away)
		return false;
	out->ns = (int64_t)(x->received_ns - x->sent_ns) / 2 +
		  (int64_t)(x->answered_ns - x->heard_ns) / 2;
	out->half_ns = (away - there) / 2 + 1;
	out->mono_ns = x->mono_ns;
	return true;
}

/* The newest exchange is right: older ones that contradict it are dropped. */
static bool forget_others(struct offset *o, const struct offset_seen *now)
{
	uint32_t kept = 0, was = o->n;

	for (uint32_t i = 0; i < was; i++)
		if (!contradict(&o->last[i], now, now->mono_ns))
			o->last[kept++] = o->last[i];
	if (kept == was)
		return false;
	o->n = o->next = kept;
	return true;
}

static uint64_t newest(const struct offset *o)
{
	uint64_t mono_ns = 0;

	for (uint32_t i = 0; i < o->n; i++)
		if (o->last[i].mono_ns > mono_ns)
			mono_ns = o->last[i].mono_ns;
	return mono_ns;
}

/*
 * When a clock was set is only known to be after the previous exchange. That time is expressed in
 * the present wall clock, so that times written by the old clock do not get the new offset.
 */
bool offset_add(struct offset *o, const struct exchange *x)
{
	struct offset_seen now;
	uint64_t before = newest(o);

	if (!read_exchange(x, &now))
		return false;
	if (o->n && forget_others(o, &now))
		o->since_ns = x->heard_ns - (x->mono_ns - before);
	o->last[o->next] = now;
	o->next = (o->next + 1) % OFFSET_LAST;
	if (o->n < OFFSET_LAST)
		o->n++;
	return true;
}

static struct offset_seen best(const struct offset *o, uint64_t mono_ns)
{
	const struct offset_seen *b = &o->last[0];
	struct offset_seen now;

	for (uint32_t i = 1; i < o->n; i++)
		if (half_now(&o->last[i], mono_ns) < half_now(b, mono_ns))
			b = &o->last[i];
	now = *b;
	now.half_ns = half_now(b, mono_ns);
	now.mono_ns = mono_ns;
	return now;
}

static bool is_news(const struct offset *o, const struct offset_seen *now)
{
	if (!o->has_reported || now->mono_ns - o->reported.mono_ns >= REPORT_NS)
		return true;
	if (apart(now->ns, o->reported.ns) > now->half_ns + o->reported.half_ns)
		return true;
	return o->reported.half_ns > FINE_NS && now->half_ns < o->reported.half_ns / 2;
}

bool offset_news(struct offset *o, const struct exchange *x, struct clock_item *out)
{
	uint64_t since = o->since_ns; /* in the future if our clock was set back */
	struct offset_seen now;

	if (!o->n)
		return false;
	now = best(o, x->mono_ns);
	if (!is_news(o, &now))
		return false;
	*out = (struct clock_item){ .since_ns = since && since < x->heard_ns ? since : x->heard_ns,
				    .offset_us = now.ns / 1000,
				    .uncertainty_us = now.half_ns / 1000 + 1 };
	o->since_ns = 0;
	o->reported = now;
	o->has_reported = true;
	return true;
}

void offset_forget(struct offset *o)
{
	o->has_reported = false;
}
