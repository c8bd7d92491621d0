// SPDX-License-Identifier: Apache-2.0
#include "probe/request/explain/verdict.h"

#include <stdio.h>

#include "probe/request/explain/verdict_rules.h"

enum { ROUNDED_US = 1000 }; /* nginx's own times are milliseconds */

static bool has_failed(const struct up_item *u)
{
	return (u->flags & (UP_NO_CONNECT | UP_NO_ANSWER)) || u->status >= 500;
}

/* The caller gave up: the connection worked, no answer came, and no reset. */
static bool timed_out(const struct up_item *u)
{
	return (u->flags & UP_NO_ANSWER) && !(u->flags & UP_NO_CONNECT) && u->error == 0;
}

static const char *up_error(const struct up_item *u, struct verdict_text *t)
{
	if (u->flags & UP_NO_CONNECT)
		snprintf(t->error, sizeof(t->error), "%s",
			 u->error ? strerror(u->error) : "gave up connecting");
	else if (timed_out(u))
		snprintf(t->error, sizeof(t->error), "no answer within %.0f ms",
			 verdict_ms(u->response_us));
	else if (u->flags & UP_NO_ANSWER)
		snprintf(t->error, sizeof(t->error), "%s",
			 u->error == EPIPE ? "closed the connection without an answer"
					   : strerror(u->error));
	else
		snprintf(t->error, sizeof(t->error), "answered %u", u->status);
	return t->error;
}

static void put_upstream(struct request_item *r, const struct up_item *u, struct verdict_text *t)
{
	verdict_put(r, "addr", up_addr_text(u, t->addr));
	verdict_put(r, "error", up_error(u, t));
}

/* Given when the client closed its connection before the answer began. */
static bool client_abort(struct request_item *r, const struct verdict_facts *f UNUSED,
			 struct verdict_text *t UNUSED)
{
	if (!(r->flags & REQUEST_CLIENT_CLOSED))
		return false;
	verdict_number(r, "ms", verdict_ms(item_judged_us(r)));
	return true;
}

/* Another try began when this one had ended, or at most slack_us before: times are rounded. */
static bool was_retried(const struct request_item *r, uint32_t i, uint64_t slack_us)
{
	const struct up_item *u = &r->ups[i], *last = &r->ups[r->nups - 1];

	return i + 1 < r->nups && last->start_us + slack_us >= u->start_us + u->response_us;
}

/* Given when a try failed and a later try succeeded. */
static bool up_retry(struct request_item *r, const struct verdict_facts *f UNUSED,
		     struct verdict_text *t)
{
	const struct up_item *first = NULL;
	uint64_t lost_us = 0;

	if (r->nups < 2 || item_failed(r) || has_failed(&r->ups[r->nups - 1]))
		return false;
	for (uint32_t i = 0; i < r->nups; i++) {
		if (!has_failed(&r->ups[i]) || !was_retried(r, i, ROUNDED_US))
			continue;
		first = first ? first : &r->ups[i];
		lost_us += r->ups[i].response_us;
	}
	if (!first)
		return false;
	verdict_number(r, "tries", r->nups);
	verdict_number(r, "ms", verdict_ms(lost_us));
	put_upstream(r, first, t);
	return true;
}

/*
 * The try whose outcome the answer is: the last one with its status; else the last failed one that
 * no other try began after; else the last one. So a mirror beside it is not blamed.
 */
static const struct up_item *own_try(const struct request_item *r)
{
	const struct up_item *u = r->nups ? &r->ups[r->nups - 1] : NULL;

	for (uint32_t i = r->nups; i-- > 0 && r->status >= 500;)
		if (r->ups[i].status == r->status)
			return &r->ups[i];
	for (uint32_t i = r->nups; i-- > 0;)
		if (has_failed(&r->ups[i]) && !was_retried(r, i, 0))
			return &r->ups[i];
	return u;
}

/* Given when the request failed and its last try could not connect. */
static bool up_connect(struct request_item *r, const struct verdict_facts *f UNUSED,
		       struct verdict_text *t)
{
	const struct up_item *u = own_try(r);

	if (!u || !(u->flags & UP_NO_CONNECT) || !item_failed(r))
		return false;
	put_upstream(r, u, t);
	return true;
}

/* Given when the request failed and its last try answered with an error or broke off. */
static bool up_error_rule(struct request_item *r, const struct verdict_facts *f UNUSED,
			  struct verdict_text *t)
{
	const struct up_item *u = own_try(r);

	if (!u || !has_failed(u) || timed_out(u) || !item_failed(r))
		return false;
	put_upstream(r, u, t);
	return true;
}

/* Given when the request failed and its last try was given up without an answer. */
static bool up_timeout(struct request_item *r, const struct verdict_facts *f UNUSED,
		       struct verdict_text *t)
{
	const struct up_item *u = own_try(r);

	if (!u || !timed_out(u) || !item_failed(r))
		return false;
	verdict_put(r, "addr", up_addr_text(u, t->addr));
	verdict_number(r, "ms", verdict_ms(item_try_us(r, u)));
	verdict_number(r, "total_ms", verdict_ms(item_judged_us(r)));
	return true;
}

static void put_failure(struct request_item *r, struct verdict_text *t)
{
	if (r->status)
		snprintf(t->error, sizeof(t->error), "answered %u", r->status);
	else
		snprintf(t->error, sizeof(t->error), "closed the connection without an answer");
	verdict_put(r, "app", r->app);
	verdict_put(r, "error", t->error);
}

/* Given when the request failed, no call of it did, and a peer by another protocol was called. */
static bool app_peer(struct request_item *r, const struct verdict_facts *f, struct verdict_text *t)
{
	if (!item_failed(r) || !f->peer)
		return false;
	put_failure(r, t);
	verdict_peer(r, f, t);
	verdict_put(r, "outcome", verdict_peer_outcome(f->peer_did, t));
	return true;
}

/* Given when the request failed and its calls are not known. */
static bool up_unknown(struct request_item *r, const struct verdict_facts *f UNUSED,
		       struct verdict_text *t)
{
	if (!item_failed(r) || !(r->flags & REQUEST_UPSTREAM_UNKNOWN))
		return false;
	put_failure(r, t);
	return true;
}

/* Given when it called nobody, closed the connection without an answer and went on. */
static bool app_closed(struct request_item *r, const struct verdict_facts *f,
		       struct verdict_text *t UNUSED)
{
	if (!(r->flags & REQUEST_NO_ANSWER) || r->status || !f->dropped || r->nups)
		return false;
	verdict_put(r, "app", r->app);
	return true;
}

/* Given when the request failed and it is known that nothing it called did. */
static bool app_error(struct request_item *r, const struct verdict_facts *f UNUSED,
		      struct verdict_text *t)
{
	if (!item_failed(r))
		return false;
	put_failure(r, t);
	return true;
}

static const struct rule {
	enum reason_id reason;
	bool (*holds)(struct request_item *r, const struct verdict_facts *f,
		      struct verdict_text *t);
} rules[] = {
	{ R_CLIENT_ABORT, client_abort }, { R_UP_RETRY, up_retry },
	{ R_UP_CONNECT, up_connect },	  { R_UP_ERROR, up_error_rule },
	{ R_UP_SLOW, up_timeout },	  { R_APP_PEER, app_peer },
	{ R_UP_UNKNOWN, up_unknown },	  { R_APP_CLOSED, app_closed },
	{ R_APP_ERROR, app_error },
};

void verdict_find(struct request_item *r, const struct verdict_facts *f, struct verdict_text *t)
{
	r->nparams = 0;
	if (r->flags & REQUEST_BY_FIRST)
		verdict_number(r, "first_ms", verdict_ms(r->first_us));
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		if (rules[i].holds(r, f, t)) {
			r->reason = (uint16_t)rules[i].reason;
			return;
		}
	}
	r->reason = (uint16_t)verdict_slow(r, f, verdict_excess(r), t);
}
