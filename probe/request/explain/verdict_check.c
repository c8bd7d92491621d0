// SPDX-License-Identifier: Apache-2.0
#include "probe/request/explain/verdict_rules.h"

#define NOT_MEASURED "the waits of its threads were not measured"
#define NOT_WATCHED "the scheduler is not traced: --split is no, or this kernel does not permit it"
#define NO_CALLS "its upstream calls could not be identified"
#define NO_ARRIVAL "the arrival time is not known on a Unix socket"
#define NO_CLOCK "the arrival time is not known until the probe has measured the clock"
#define NO_LISTENER "the listening socket was not watched"
#define ON_UNIX "its client is connected by a Unix socket"
#define BY_NGINX                                                                                   \
	"only nginx reported it: the bytes of its connection could not be parsed as requests"
#define CALLS_BY_NGINX "only nginx reported its upstream calls: their connections are not known"
#define LOSSY "kernel records were lost at that time"

enum { CLEAN = 10 }; /* a cause below a tenth of the excess is ruled out */

typedef const char *unknown(const struct request_item *r, const struct verdict_facts *f);

static const char *by_threads(const struct request_item *r UNUSED, const struct verdict_facts *f)
{
	return f->split.measured ? NULL : f->unwatched ? NOT_WATCHED : NOT_MEASURED;
}

static const char *by_calls(const struct request_item *r, const struct verdict_facts *f UNUSED)
{
	return r->flags & REQUEST_UPSTREAM_UNKNOWN ? NO_CALLS : NULL;
}

static const char *by_threads_and_calls(const struct request_item *r, const struct verdict_facts *f)
{
	const char *why = by_threads(r, f);

	return why ? why : by_calls(r, f);
}

static const char *by_arrival(const struct request_item *r, const struct verdict_facts *f)
{
	return f->alone		    ? BY_NGINX
	       : verdict_is_unix(r) ? NO_ARRIVAL
	       : f->no_clock	    ? NO_CLOCK
				    : NULL;
}

/* A cause that is one part: ruled out if that part is as usual. */
static const struct family {
	enum reason_id reason;
	enum part part;
	unknown *unknown;
} families[] = {
	{ R_QUEUE_APP, PART_QUEUE, by_arrival },
	{ R_QUEUE_POOL, PART_POOL, by_threads },
	{ R_CPU_OWN, PART_CPU, by_threads },
	{ R_CPU_WAIT, PART_RUNQ, by_threads },
	{ R_CPU_THROTTLED, PART_THROTTLED, by_threads },
	{ R_IO_BLOCK, PART_IO, by_threads },
	{ R_IO_DIRTY, PART_DIRTY, by_threads },
	{ R_MEM_FAULT, PART_FAULT, by_threads },
	{ R_MEM_RECLAIM, PART_RECLAIM, by_threads },
	{ R_LOCK, PART_LOCK, by_threads },
	{ R_SLEEP, PART_SLEEP, by_threads },
	{ R_STOPPED, PART_STOPPED, by_threads },
	{ R_NET_WAIT, PART_NET, by_threads },
	{ R_UP_SLOW, PART_UPSTREAM, by_calls },
	{ R_LOOP_BUSY, PART_LOOP, by_threads_and_calls },
	{ R_CLIENT_SLOW, PART_CLIENT, by_threads },
};

static void add_check(struct request_item *r, enum reason_id reason, const char *why)
{
	if (reason == r->reason)
		return;
	assert(r->nchecks < ITEM_MAX_CHECKS);
	r->checks[r->nchecks++] = (struct check_item){ .reason = (uint16_t)reason, .why = why };
}

static void judge_cause(struct request_item *r, enum reason_id reason, const char *why, bool clean)
{
	if (why || clean)
		add_check(r, reason, why);
}

static bool none_lost(const struct req_net *n)
{
	for (size_t i = 0; i < ARRAY_SIZE(n->lost); i++)
		if (n->lost[i])
			return false;
	return true;
}

/* Ruled out if no loss counter of its sockets moved and nothing was missed while counting. */
static void check_loss(struct request_item *r, const struct verdict_facts *f)
{
	bool clean = none_lost(&f->net) && none_lost(&f->up_net) && !r->retrans && !r->rcv_ooo;
	const char *why = f->lossy ? LOSSY : f->alone ? BY_NGINX : by_calls(r, f);

	for (uint32_t i = 0; i < r->nups; i++)
		clean &= !r->ups[i].retrans;
	if (!why && f->unseen)
		why = CALLS_BY_NGINX;
	if (!why && verdict_is_unix(r) && !r->nups)
		why = ON_UNIX;
	judge_cause(r, R_NET_LOSS, why, clean);
}

static void check_client(struct request_item *r, const struct verdict_facts *f, uint64_t tenth)
{
	const char *why = f->alone ? BY_NGINX : verdict_is_unix(r) ? ON_UNIX : NULL;

	judge_cause(r, R_NET_PEER_WINDOW, why, f->net.rwnd_us < tenth);
	judge_cause(r, R_NET_SNDBUF, why, f->net.sndbuf_us < tenth);
	judge_cause(r, R_NET_RTT, why,
		    verdict_trips_us(r, PART_CLIENT) + verdict_trips_us(r, PART_UPSTREAM) < tenth);
}

void verdict_check(struct request_item *r, const struct verdict_facts *f)
{
	struct excess_time e = verdict_excess(r);
	uint64_t tenth = e.us / CLEAN;

	r->nchecks = 0;
	check_loss(r, f);
	if (item_judged_us(r) <= r->limit_us)
		return; /* it failed but was not slow: no time to explain */
	check_client(r, f, tenth);
	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		const struct family *c = &families[i];

		judge_cause(r, c->reason, c->unknown(r, f),
			    verdict_over(f, e, c->part, false) < tenth);
	}
	judge_cause(r, R_QUEUE_ACCEPT, f->accept_known ? by_arrival(r, f) : NO_LISTENER,
		    !f->accept_full || f->split.us[PART_QUEUE] < tenth);
}
