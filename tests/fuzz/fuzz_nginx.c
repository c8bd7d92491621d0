// SPDX-License-Identifier: Apache-2.0
/*
 * The memory of a process that calls itself nginx, as its kernel program sent it: a struct in which
 * offsets are searched, and records of requests beside those of the sockets. The first byte
 * chooses. Whatever it holds, the collector takes the row that is made of it.
 */
#include "lib/wire/wire.h"
#include "probe/request/nginx/nginx_join.h"
#include "probe/request/nginx/nginx_offsets.h"
#include "probe/request/nginx/nginx_record.h"
#include "probe/request/nginx/nginx_verify.h"
#include "tests/fuzz/check.h"

enum { RECORDS = 6, STATUSES = 1000, ERRNOS = 134 };

static const struct request_context context = { .jiffy_ns = 4000000 };

static void arrives(const struct request_item *r)
{
	static struct arena *arena;
	struct buf b = { 0 };
	struct wire_body body;

	if (!arena)
		arena = arena_new(1 << 20);
	must(r->nups <= ITEM_MAX_UPS);
	wire_put_request(&b, r);
	must(wire_body_decode(arena, b.data, b.len, &body) == 0 && body.nrequests == 1);
	buf_free(&b);
	arena_reset(arena);
}

static void on_done(void *arg UNUSED, const struct req_event *e, size_t len,
		    const struct nginx_event *w)
{
	struct req_event alone = { 0 };
	struct request_text text;
	struct nginx_text peers;
	struct request_item r;

	must(e || w);
	if (!e) {
		len = nginx_make_request(w, 0, &alone);
		e = &alone;
	}
	if (request_event_read(e, len, &context, &text, &r) < 0)
		return;
	if (w)
		nginx_apply(w, e->head.read_ns, &peers, &r);
	r.app = "app";
	arrives(&r);
}

static void look(const uint8_t *data, size_t len, bool likely)
{
	struct nginx_look l = { 0 };
	struct nginx_offsets o;

	memcpy(&l, data, len < sizeof(l) ? len : sizeof(l));
	if (likely) {
		memcpy(l.request, "HTTP", 4);
		l.connection.data = l.at;
	}
	if (nginx_offsets_find(&l, 1790000000, &o) < 0)
		return;
	must(o.states + 16u <= NGINX_REQUEST && o.status + 8u <= NGINX_REQUEST &&
	     o.start + 48u <= NGINX_REQUEST);
}

static void take_event(struct nginx_join *j, struct nginx_verify *v, struct input in, bool valid,
		       uint64_t now)
{
	struct nginx_event w = { 0 };
	size_t len = in.len < sizeof(w) ? in.len : sizeof(w);

	memcpy(&w, in.p, len);
	if (valid) {
		w.head.ntries %= NGINX_TRIES + 1;
		w.head.line_len %= REQ_LINE + 1;
		len = w.head.ntries ? offsetof(struct nginx_event, tries[w.head.ntries])
				    : sizeof(w);
	}
	if (!nginx_event_complete(&w, len))
		return;
	nginx_verify_event(v, &w);
	nginx_join_event(j, &w, 0, now);
}

static void take_request(struct nginx_join *j, struct nginx_verify *v, struct input in,
			 uint64_t now)
{
	struct req_event e = { 0 };
	struct request_text text;
	struct request_item r;

	memcpy(&e, in.p, in.len < sizeof(e) ? in.len : sizeof(e));
	e.head.status %= STATUSES;
	for (int i = 0; i < REQ_CALLS; i++) {
		e.call[i].status %= STATUSES;
		e.call[i].error %= ERRNOS;
	}
	if (request_event_read(&e, sizeof(e), &context, &text, &r) < 0)
		return;
	nginx_verify_request(v, &e, &context);
	nginx_join_request(j, &e, sizeof(e), now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = { data, len };
	uint8_t how = take8(&in);
	uint64_t now = 1000;
	struct nginx_join *j;
	struct nginx_verify *v;

	if (how % 4 == 0) {
		look(in.p, in.len, how & 4);
		return 0;
	}
	j = nginx_join_new(on_done, NULL);
	v = nginx_verify_new();
	for (int i = 0; i < RECORDS && in.len; i++) {
		uint8_t kind = take8(&in);
		struct input record = take_bytes(&in);

		if (kind & 1)
			take_event(j, v, record, kind & 2, now);
		else
			take_request(j, v, record, now);
		now += (uint64_t)(kind >> 3) * 100000000;
		nginx_join_tick(j, now);
		(void)nginx_verify_requests(v);
		(void)nginx_verify_tries(v);
	}
	nginx_join_free(j);
	nginx_verify_free(v);
	return 0;
}
