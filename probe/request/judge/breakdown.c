// SPDX-License-Identifier: Apache-2.0
#include "probe/request/judge/breakdown.h"

enum {
	RTO_US = 200000, /* the kernel's minimum; doubles with each timeout */
	SYN_US = 1000000, /* likewise */
	FAST_US = 10000, /* beside round trips: time to receive duplicate ACKs */
	DOUBLINGS = 7,
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Takes up to want from *left. */
static uint64_t take_us(uint64_t *left, uint64_t want)
{
	uint64_t n = least(*left, want);

	*left -= n;
	return n;
}

static uint64_t backoff_us(uint32_t n, uint64_t first_us)
{
	return n ? first_us * ((1u << least(n, DOUBLINGS)) - 1) : 0;
}

uint64_t breakdown_loss_us(const struct req_net *n, uint32_t srtt_us)
{
	uint64_t rto = RTO_US + 4ull * srtt_us, trips = FAST_US + 4ull * srtt_us;

	return backoff_us(n->lost[REQ_LOSS_SYN], SYN_US) + backoff_us(n->lost[REQ_LOSS_RTO], rto) +
	       n->lost[REQ_LOSS_TLP] * rto +
	       (n->lost[REQ_LOSS_FAST] + n->lost[REQ_LOSS_SLOW_START]) * trips;
}

/* The time of [from, to) covered by calls; overlaps count once. */
static uint64_t calls_cover(const struct request_item *r, uint64_t from, uint64_t to)
{
	uint64_t at = from, sum = 0, next, end;

	for (uint32_t round = 0; round < r->nups && at < to; round++) {
		next = end = UINT64_MAX;
		for (uint32_t i = 0; i < r->nups; i++) {
			uint64_t a = r->ups[i].start_us, b = a + r->ups[i].response_us;

			if (b > at && a < next) {
				next = a > at ? a : at;
				end = b;
			}
		}
		if (next >= to)
			break;
		sum += less(least(end, to), next);
		at = end;
	}
	return sum;
}

static void breakdown_queue(const struct req_split *k, uint64_t queue_us, struct breakdown *out)
{
	out->us[PART_RUNQ] = take_us(&queue_us, k->runq_ns / 1000);
	out->us[PART_THROTTLED] = take_us(&queue_us, k->throttled_ns / 1000);
	out->us[PART_QUEUE] = queue_us;
}

/* Several threads may have worked on it at once: then waits are scaled to the elapsed time. */
static void waits_of(const struct req_split *k, uint64_t own_us, uint64_t us[static WAIT_END])
{
	double scale = (double)own_us * 1000 < (double)k->own_ns
			       ? (double)own_us * 1000 / (double)k->own_ns
			       : 1;

	for (size_t w = 0; w < WAIT_END; w++)
		us[w] = take_us(&own_us, (uint64_t)((double)(k->wait_ns[w] / 1000) * scale));
}

enum part breakdown_part(uint32_t wait)
{
	static const uint8_t part_of[WAIT_END] = {
		[WAIT_RUNQ] = PART_RUNQ,
		[WAIT_THROTTLED] = PART_THROTTLED,
		[WAIT_IO] = PART_IO,
		[WAIT_DIRTY] = PART_DIRTY,
		[WAIT_FAULT] = PART_FAULT,
		[WAIT_RECLAIM] = PART_RECLAIM,
		[WAIT_LOCK] = PART_LOCK,
		[WAIT_SLEEP] = PART_SLEEP,
		[WAIT_STOPPED] = PART_STOPPED,
		[WAIT_RECV] = PART_NET,
		[WAIT_SEND] = PART_CLIENT,
		[WAIT_POLL] = PART_NET,
		[WAIT_UPSTREAM] = PART_UPSTREAM,
		[WAIT_OTHER] = PART_OTHER,
		[WAIT_LOOP] = PART_LOOP,
	};

	return wait < WAIT_END ? part_of[wait] : PART_OTHER;
}

static void breakdown_own(const uint64_t wait[static WAIT_END], uint64_t own_us,
			  struct breakdown *out)
{
	for (uint32_t w = 0; w < WAIT_END; w++) {
		out->us[breakdown_part(w)] += wait[w];
		own_us -= wait[w];
	}
	out->us[PART_CPU] += own_us;
}

/* The time of [from, to) in which no thread worked on the request and no call was open. */
static uint64_t idle_us(const struct request_item *r, uint64_t from, uint64_t to, uint64_t own)
{
	return less(less(to, from), calls_cover(r, from, to) + own);
}

/* Helper threads worked while its own threads did not: at most for that gap. */
static void breakdown_helpers(const struct req_split *help, uint64_t *gap, struct breakdown *out)
{
	uint64_t us = take_us(gap, help->own_ns / 1000), wait[WAIT_END];

	waits_of(help, us, wait);
	breakdown_own(wait, us, out);
}

/*
 * Attributes the time without a working thread. While a call was open, the event loop waited for
 * it, or was busy while the answer was ready. Before the request was complete, it waited for the
 * client; after the first byte of the answer, also for the client as long as the socket had bytes
 * in flight. The rest is OTHER.
 */
static void breakdown_gap(const struct req_head *h, const struct req_split *help,
			  const struct request_item *r, uint64_t covered, uint64_t gap,
			  struct breakdown *out)
{
	const struct req_split *k = &h->split;
	uint64_t loop = least(k->loop_ns / 1000, covered), body, after;

	out->us[PART_LOOP] += loop;
	out->us[PART_UPSTREAM] += covered - loop;
	gap -= covered;
	if (help)
		breakdown_helpers(help, &gap, out);
	body = less(h->body_ns, h->read_ns) / 1000;
	body = idle_us(r, 0, least(body, r->request_us), k->own_body_ns / 1000);
	out->us[PART_CLIENT] += take_us(&gap, body);
	if (h->first_ns) {
		after = idle_us(r, r->first_us, r->request_us,
				less(k->own_ns, k->own_first_ns) / 1000);
		out->us[PART_CLIENT] += take_us(&gap, least(after, h->net.busy_us));
	}
	out->us[PART_OTHER] += gap;
}

static void breakdown_request(const struct req_head *h, const struct req_split *help,
			      const struct request_item *r, struct breakdown *out)
{
	uint64_t left = r->request_us, wait[WAIT_END];
	uint64_t calls = calls_cover(r, 0, r->request_us), own, polled, covered;

	out->us[PART_POOL] = take_us(&left, h->split.pool_ns / 1000);
	own = take_us(&left, h->split.own_ns / 1000);
	waits_of(&h->split, own, wait);
	calls = less(calls, wait[WAIT_UPSTREAM]);
	covered = take_us(&calls, left);
	polled = least(wait[WAIT_POLL], calls); /* the poll waited for an upstream, among others */
	wait[WAIT_POLL] -= polled;
	wait[WAIT_UPSTREAM] += polled;
	breakdown_own(wait, own, out);
	breakdown_gap(h, help, r, covered, left, out);
}

const struct req_split *breakdown_help(const struct req_event *e, size_t len)
{
	return len >= sizeof(*e) ? &e->help : NULL;
}

static bool has_any(const struct req_split *k)
{
	static const struct req_split none;

	return memcmp(k, &none, sizeof(none)) != 0;
}

void breakdown_of(const struct req_head *h, const struct req_split *help,
		  const struct request_item *r, struct breakdown *out)
{
	uint64_t calls;

	*out = (struct breakdown){ .measured = has_any(&h->split) || (help && has_any(help)) };
	breakdown_queue(&h->split, r->queue_us, out);
	if (out->measured) {
		breakdown_request(h, help, r, out);
		return;
	}
	calls = calls_cover(r, 0, r->request_us);
	out->us[PART_UPSTREAM] = calls;
	out->us[PART_OTHER] = r->request_us - calls;
}

void breakdown_judged(const struct breakdown *s, const struct request_item *r,
		      struct breakdown *out)
{
	static const uint8_t late[] = { PART_CLIENT, PART_UPSTREAM, PART_OTHER, PART_NET,
					PART_SLEEP,  PART_LOOP,	    PART_LOCK };
	uint64_t after = r->flags & REQUEST_BY_FIRST ? less(r->request_us, r->first_us) : 0;

	*out = *s;
	for (size_t i = 0; i < ARRAY_SIZE(late); i++)
		after -= take_us(&out->us[late[i]], after);
	for (size_t p = PART_POOL; p < PART_END && after; p++)
		after -= take_us(&out->us[p], after);
}
