// SPDX-License-Identifier: Apache-2.0
/*
 * A record of the kernel's ring, whose line, name and numbers others have in their hands: refused,
 * or a row within its bounds that the collector takes as it was meant, whose parts add up. The
 * first byte chooses whether query strings leave the node; what is left of the input are waits.
 */
#include "lib/wire/reason.h"
#include "lib/wire/wire.h"
#include "probe/request/explain/explain.h"
#include "probe/request/record/request_event.h"
#include "probe/request/explain/verdict.h"
#include "tests/fuzz/check.h"

enum { ERRNOS = 134, STATUSES = 1000 }; /* the kernel reads three digits, and its own errno */

static bool same(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

static void arrives(const struct request_item *r)
{
	static struct arena *arena;
	struct buf once = { 0 }, twice = { 0 };
	struct wire_body b;

	if (!arena)
		arena = arena_new(1 << 20);
	wire_put_request(&once, r);
	must(wire_body_decode(arena, once.data, once.len, &b) == 0 && b.nrequests == 1);
	must(same(b.requests->path, r->path) && same(b.requests->route, r->route) &&
	     same(b.requests->method, r->method) && same(b.requests->comm, r->comm));
	must(b.requests->nups == r->nups && b.requests->nparams == r->nparams);
	must(b.requests->nshares == r->nshares && b.requests->nchecks == r->nchecks);
	must(b.requests->nevidence == r->nevidence);
	wire_put_request(&twice, b.requests);
	must(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
	buf_free(&once);
	buf_free(&twice);
	arena_reset(arena);
}

static void check_row(const struct req_event *e, const struct request_item *r, bool query)
{
	uint64_t wall_us = (e->head.last_ns > e->head.read_ns)
				   ? (e->head.last_ns - e->head.read_ns) / 1000
				   : 0;

	must(strlen(r->path) <= ITEM_MAX_PATH && strlen(r->route) < ITEM_MAX_NAME);
	must(query || !memchr(r->path, '?', strlen(r->path)));
	must(r->nups <= ITEM_MAX_UPS);
	must(e->head.flags & REQ_STREAM || r->request_us == wall_us);
}

static void adds_up(const struct request_item *r)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < r->nshares; i++) {
		must(r->shares[i].us > 0 && r->shares[i].part < PART_END);
		must(i == 0 || r->shares[i].part > r->shares[i - 1].part);
		sum += r->shares[i].us;
	}
	must(sum == r->queue_us + r->request_us);
	must(r->nevidence <= ITEM_MAX_EVIDENCE && r->nlosses <= ITEM_MAX_LOSSES);
}

/* So many waits, from what is left of the input: of the request, if they say so. */
static void waits(struct explain *x, const struct req_head *h, const uint8_t *p, size_t len)
{
	struct req_block b;

	for (; len; p += sizeof(b), len -= sizeof(b)) {
		memset(&b, 0, sizeof(b));
		memcpy(&b, p, len < sizeof(b) ? len : sizeof(b));
		b.kind = REQ_KIND_BLOCK;
		b.id = b.flags & 1 << 16 ? h->id : b.id;
		b.tid = b.flags & 1 << 17 ? h->tid : b.tid;
		explain_block(x, &b);
		if (len < sizeof(b))
			break;
	}
}

static void judged(const struct req_event *e, struct request_item *r, const uint8_t *p, size_t len)
{
	struct explain_context c = { .lossy = r->flags & 1, .no_clock = r->flags & 2 };
	struct explain *x = explain_new("/none", "/none");
	struct detect *d = detect_new(0); /* everything is too slow */
	struct sink out = { 0 };
	struct judged j;
	struct breakdown s;

	r->app = "app";
	waits(x, &e->head, p, len);
	breakdown_of(&e->head, breakdown_help(e, sizeof(*e)), r, &s);
	must(detect_judge(d, r, &s, &j));
	explain_request(x, &e->head, &s, &j, &c, r);
	must(reason_find(r->reason) && r->nparams <= ITEM_MAX_PARAMS);
	adds_up(r);
	arrives(r);
	explain_step(x, &out);
	buf_free(&out.event);
	explain_free(x);
	detect_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct request_context clock = { .jiffy_ns = 4000000, .query_string = len && *data & 1 };
	struct request_text text;
	struct request_item r;
	struct req_event e = { 0 };
	size_t more;

	if (!len)
		return 0;
	more = len - 1 > sizeof(e) ? len - 1 - sizeof(e) : 0;
	len = len - 1 - more;
	memcpy(&e, data + 1, len);
	e.head.status %= STATUSES;
	for (int i = 0; i < REQ_CALLS; i++) {
		e.call[i].status %= STATUSES;
		e.call[i].error %= ERRNOS;
	}
	if (request_event_read(&e, len, &clock, &text, &r) < 0)
		return 0;
	check_row(&e, &r, clock.query_string);
	judged(&e, &r, data + 1 + len, more);
	return 0;
}
