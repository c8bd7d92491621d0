// SPDX-License-Identifier: Apache-2.0
/*
 * A record of the kernel's ring, whose line, name and numbers others have in their hands: refused,
 * or a row within its bounds that the collector takes as it was meant. The first byte chooses
 * whether query strings leave the node.
 */
#include "../../lib/reason.h"
#include "../../lib/wire.h"
#include "../../probe/detect.h"
#include "../../probe/request_event.h"
#include "check.h"

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

static void judged(struct request_item *r)
{
	struct detect *d = detect_new(0); /* everything is too slow */

	r->app = "app";
	must(detect_judge(d, r) && reason_find(r->reason) && r->nparams <= ITEM_MAX_PARAMS);
	arrives(r);
	detect_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct request_context clock = { .jiffy_ns = 4000000, .query_string = len && *data & 1 };
	struct request_text text;
	struct request_item r;
	struct req_event e = { 0 };

	if (!len)
		return 0;
	len = len - 1 < sizeof(e) ? len - 1 : sizeof(e);
	memcpy(&e, data + 1, len);
	e.head.status %= STATUSES;
	for (int i = 0; i < REQ_CALLS; i++) {
		e.call[i].status %= STATUSES;
		e.call[i].error %= ERRNOS;
	}
	if (request_event_read(&e, len, &clock, &text, &r) < 0)
		return 0;
	check_row(&e, &r, clock.query_string);
	judged(&r);
	return 0;
}
