// SPDX-License-Identifier: Apache-2.0
/* The items of a body: docs/reference/wire.md gives the bytes, this file the values. */
#include <math.h>

#include "lib/wire/wire.h"
#include "tests/lib/test.h"
#include "tests/lib/vectors.h"

#define WALL 1760000000000000000u
#define LAYOUT 0x4ea04689a932b33cu

static const uint8_t ip4[] = { 10, 0, 0, 1 };
static const uint8_t ip6[] = { 0x20, 1, 0xd, 0xb8, [15] = 2 };
static const double values[] = { 128, NAN, 0.5, 0.1, -3 };
static const uint32_t slots[] = { 2, 0, 1 };

static const struct sample_item sample = { LAYOUT, "sda", 5, values };
static const struct red_item red = { .app = "nginx",
				     .route = "GET /users/:id",
				     .peer = ":80",
				     .role = RED_SERVER,
				     .status_class = 2,
				     .count = 3,
				     .sum_us = 1500,
				     .lo = 9,
				     .nb = 3,
				     .b = slots };
static const struct red_item judged = { .app = "nginx",
					.route = "",
					.peer = "10.0.0.9",
					.role = RED_SERVED,
					.status_class = 2,
					.count = 3,
					.sum_us = 1500,
					.lo = 9,
					.nb = 3,
					.b = slots,
					.excess_us = 1000,
					.judged = 2 };
static const struct source_item source = { "request", SOURCE_OFF,
					   "no tracepoint sock_send_length" };
static const struct unread_item unread = { "nginx", "tls", 12 };

static const struct seen_stack seen[] = { { 0, 0x1122334455667788, 17 },
					  { 0x0123456789abcdee, 0x1122334455667788, 1 } };
static const struct profile_item profile = { WALL, 52631, "nginx", 2, seen };

static struct request_item request(void)
{
	struct addr a4 = addr_make(ip4, 4, 8080), a6 = addr_make(ip6, 16, 8080);
	struct request_item r = {
		.start_ns = WALL,
		.app = "nginx",
		.comm = "nginx",
		.pid = 4242,
		.tid = 4243,
		.remote = addr_make(ip4, 4, 51234),
		.local = addr_make(ip6, 16, 80),
		.method = "GET",
		.path = "/users/42",
		.route = "GET /users/:id",
		.status = 502,
		.request_us = 1250000,
		.queue_us = 1500,
		.bytes_in = 312,
		.bytes_out = 560,
		.normal_us = 2100,
		.limit_us = 22100,
		.retrans = 1,
		.srtt_us = 900,
		.reason = 4,
		.nparams = 3,
		.params = { { "tries", NULL, 2 },
			    { "ms", NULL, 1249.5 },
			    { "error", "Connection refused", 0 } },
		.nups = 2,
	};

	r.ups[0] =
		(struct up_item){ a4, 120, 0, 90, 0, ECONNREFUSED, 0, 0, UP_NO_CONNECT, 0, NULL };
	r.ups[1] = (struct up_item){ a6, 400, 350, 1249000, 502, 0, 3, 42000, 0, 39012, NULL };
	return r;
}

static const struct request_item bare = {
	.app = "",
	.comm = "",
	.method = "",
	.path = "",
	.route = "",
	.start_ns = WALL,
	.flags = INT32_MAX,
	.request_us = INT64_MAX,
};

static bool is_vector(struct buf *b, const char *name)
{
	struct vector v = vector_of(name);
	bool same = b->len == v.len && memcmp(b->data, v.b, v.len) == 0;

	buf_reset(b);
	return same;
}

static int decode(struct arena *a, const char *name, struct wire_body *b)
{
	struct vector v = vector_of(name);

	return wire_body_decode(a, v.b, v.len, b);
}

static const char *const all[] = {
	"sample",  "red",    "red_judged",   "request",	     "request_bare", "request_split",
	"source",  "unread", "stack",	     "event",	     "event_bare",   "event_lasting",
	"profile", "place",  "place_change", "request_named"
};

TEST(encoding_an_item_gives_the_bytes_of_the_reference)
{
	struct request_item r = request();
	struct buf b = { 0 };

	wire_put_sample(&b, &sample);
	CHECK(is_vector(&b, "sample"));
	wire_put_red(&b, &red);
	CHECK(is_vector(&b, "red"));
	wire_put_red(&b, &judged);
	CHECK(is_vector(&b, "red_judged"));
	wire_put_request(&b, &r);
	CHECK(is_vector(&b, "request"));
	wire_put_request(&b, &bare);
	CHECK(is_vector(&b, "request_bare"));
	r = bare;
	r.trace = "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331";
	r.sent_id = "web-1:17";
	wire_put_request(&b, &r);
	CHECK(is_vector(&b, "request_named"));
	wire_put_source(&b, &source);
	CHECK(is_vector(&b, "source"));
	wire_put_unread(&b, &unread);
	CHECK(is_vector(&b, "unread"));
	wire_put_profile(&b, &profile);
	CHECK(is_vector(&b, "profile"));
	buf_free(&b);
}

TEST(a_profile_of_the_reference_decodes_to_its_values)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct wire_body b;

	CHECK_EQ(decode(a, "profile", &b), 0);
	CHECK_EQ(b.nprofiles, 1);
	CHECK_EQ(b.profiles[0].start_ns, WALL);
	CHECK_EQ(b.profiles[0].period_us, 52631);
	CHECK_STR(b.profiles[0].app, "nginx");
	CHECK_EQ(b.profiles[0].n, 2);
	CHECK(memcmp(b.profiles[0].seen, seen, sizeof(seen)) == 0);
}

TEST(more_stacks_in_a_profile_than_there_may_be_are_refused)
{
	static struct seen_stack many[ITEM_MAX_SEEN];
	struct profile_item p = { WALL, 1, "a", ITEM_MAX_SEEN, many };
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct wire_body b;
	struct buf f = { 0 };

	wire_put_profile(&f, &p);
	CHECK_EQ(wire_body_decode(a, f.data, f.len, &b), 0);
	CHECK_EQ(b.profiles[0].n, ITEM_MAX_SEEN);
	f.data[f.len - 4 * ITEM_MAX_SEEN - 1]++; /* the low byte of their count: one more */
	buf_put(&f, "\x93\0\0\0", 4);
	CHECK_EQ(wire_body_decode(a, f.data, f.len, &b), -EBADMSG);
	buf_free(&f);
}

TEST(a_sample_and_a_red_of_the_reference_decode_to_their_values)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct wire_body b = { 0 };

	CHECK_EQ(decode(a, "sample", &b), 0);
	CHECK_EQ(b.nsamples, 1);
	CHECK_EQ(b.samples[0].layout, LAYOUT);
	CHECK_STR(b.samples[0].entity, "sda");
	CHECK_EQ(b.samples[0].n, 5);
	CHECK(isnan(b.samples[0].v[1]));
	for (int i = 0; i < 5; i++)
		CHECK(i == 1 || b.samples[0].v[i] == values[i]);

	CHECK_EQ(decode(a, "red", &b), 0);
	CHECK_EQ(b.nsamples, 0);
	CHECK_EQ(b.nreds, 1);
	CHECK_STR(b.reds[0].app, "nginx");
	CHECK_STR(b.reds[0].route, "GET /users/:id");
	CHECK_STR(b.reds[0].peer, ":80");
	CHECK_EQ(b.reds[0].role, RED_SERVER);
	CHECK_EQ(b.reds[0].status_class, 2);
	CHECK_EQ(b.reds[0].count, 3);
	CHECK_EQ(b.reds[0].sum_us, 1500);
	CHECK_EQ(b.reds[0].lo, 9);
	CHECK_EQ(b.reds[0].nb, 3);
	CHECK(memcmp(b.reds[0].b, slots, sizeof(slots)) == 0);
	CHECK_EQ(b.reds[0].judged, 0);
}

static void check_ups(const struct up_item *u)
{
	char text[ADDR_TEXT];

	CHECK_STR(addr_text(&u[0].addr, text), "10.0.0.1:8080");
	CHECK_EQ(u[0].start_us, 120);
	CHECK_EQ(u[0].response_us, 90);
	CHECK_EQ(u[0].error, ECONNREFUSED);
	CHECK_EQ(u[0].flags, UP_NO_CONNECT);
	CHECK_STR(addr_text(&u[1].addr, text), "[2001:db8::2]:8080");
	CHECK_EQ(u[1].start_us, 400);
	CHECK_EQ(u[1].connect_us, 350);
	CHECK_EQ(u[1].response_us, 1249000);
	CHECK_EQ(u[1].status, 502);
	CHECK_EQ(u[1].retrans, 3);
	CHECK_EQ(u[1].srtt_us, 42000);
	CHECK_EQ(u[1].flags, 0);
	CHECK_EQ(u[1].local_port, 39012);
}

static void check_request(const struct request_item *r)
{
	char text[ADDR_TEXT];

	CHECK_EQ(r->start_ns, WALL);
	CHECK_STR(r->app, "nginx");
	CHECK_STR(r->comm, "nginx");
	CHECK_EQ(r->pid, 4242);
	CHECK_EQ(r->tid, 4243);
	CHECK_STR(addr_text(&r->remote, text), "10.0.0.1:51234");
	CHECK_STR(addr_text(&r->local, text), "[2001:db8::2]:80");
	CHECK_STR(r->method, "GET");
	CHECK_STR(r->path, "/users/42");
	CHECK_STR(r->route, "GET /users/:id");
	CHECK_EQ(r->status, 502);
	CHECK_EQ(r->request_us, 1250000);
	CHECK_EQ(r->queue_us, 1500);
	CHECK_EQ(r->bytes_in, 312);
	CHECK_EQ(r->bytes_out, 560);
	CHECK_EQ(r->normal_us, 2100);
	CHECK_EQ(r->limit_us, 22100);
	CHECK_EQ(r->retrans, 1);
	CHECK_EQ(r->srtt_us, 900);
	CHECK_EQ(r->reason, 4);
}

TEST(a_request_of_the_reference_decodes_to_its_values)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct wire_body b = { 0 };
	const struct request_item *r;

	CHECK_EQ(decode(a, "request", &b), 0);
	CHECK_EQ(b.nrequests, 1);
	r = b.requests;
	check_request(r);
	CHECK_EQ(r->nparams, 3);
	CHECK_STR(r->params[0].key, "tries");
	CHECK(!r->params[0].text && r->params[0].number == 2);
	CHECK(!r->params[1].text && r->params[1].number == 1249.5);
	CHECK_STR(r->params[2].key, "error");
	CHECK_STR(r->params[2].text, "Connection refused");
	CHECK_EQ(r->nups, 2);
	check_ups(r->ups);

	CHECK_EQ(decode(a, "request_bare", &b), 0);
	r = b.requests;
	CHECK_EQ(r->remote.len, 0);
	CHECK_EQ(r->flags, INT32_MAX);
	CHECK_EQ(r->request_us, INT64_MAX);
	CHECK_EQ(r->nparams, 0);
	CHECK_EQ(r->nups, 0);
}

TEST(an_upstream_by_its_path_comes_back_as_it_went)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 16);
	struct request_item r = request();
	struct wire_body b = { 0 };
	struct buf body = { 0 };
	char none[ADDR_TEXT];

	r.ups[0].addr = (struct addr){ 0 };
	r.ups[0].path = "unix:/run/app.sock";
	wire_put_request(&body, &r);
	CHECK_EQ(wire_body_decode(a, body.data, body.len, &b), 0);
	CHECK_STR(up_addr_text(&b.requests[0].ups[0], none), "unix:/run/app.sock");
	CHECK(!b.requests[0].ups[1].path);
	CHECK_EQ(b.requests[0].ups[1].local_port, 39012);
	buf_free(&body);
}

TEST(a_source_and_an_unread_of_the_reference_decode_to_their_values)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct wire_body b = { 0 };

	CHECK_EQ(decode(a, "source", &b), 0);
	CHECK_EQ(b.nsources, 1);
	CHECK_STR(b.sources[0].name, "request");
	CHECK_EQ(b.sources[0].state, SOURCE_OFF);
	CHECK_STR(b.sources[0].why, "no tracepoint sock_send_length");
	CHECK_EQ(decode(a, "unread", &b), 0);
	CHECK_EQ(b.nunreads, 1);
	CHECK_STR(b.unreads[0].app, "nginx");
	CHECK_STR(b.unreads[0].kind, "tls");
	CHECK_EQ(b.unreads[0].count, 12);
}

TEST(an_item_of_an_unknown_kind_is_skipped_and_counted)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct wire_body b = { 0 };

	CHECK_EQ(decode(a, "body", &b), 0);
	CHECK_EQ(b.nunknown, 1);
	CHECK_EQ(b.nsources, 2);
	CHECK_STR(b.sources[0].name, "proc");
	CHECK_EQ(b.sources[0].state, SOURCE_ATTACHED);
	CHECK_STR(b.sources[1].name, "request");
	CHECK_EQ(b.sources[1].state, SOURCE_THROTTLED);
	CHECK_EQ(b.nunreads, 1);
	CHECK_STR(b.unreads[0].kind, "http2");
}

TEST(an_empty_body_is_a_body)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct wire_body b = { .nsources = 9 };

	CHECK_EQ(wire_body_decode(a, NULL, 0, &b), 0);
	CHECK_EQ(b.nsources, 0);
}

TEST(every_shorter_item_is_refused)
{
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct vector v = vector_of(all[i]);

		for (size_t n = 1; n < v.len; n++) {
			AUTO(arena_free) struct arena *a = arena_new(1 << 20);
			AUTO_FREE void *exact = malloc(n);
			struct wire_body b = { .nunknown = 77 };

			memcpy(exact, v.b, n);
			CHECK_EQ(wire_body_decode(a, exact, n, &b), -EBADMSG);
			CHECK_EQ(b.nunknown, 77); /* untouched on failure */
		}
	}
}

/* The count of an item's own array lies in its first byte, or behind it. */
static uint8_t *width_of(struct vector *v)
{
	return v->b[0] == 0xdc ? &v->b[2] : &v->b[0];
}

enum {
	RED_WAS = 0x90 | 10,
	REQUEST_WAS = 27,
	REQUEST_SPLIT = 31,
	EVENT_WAS = 0x90 | 12,
	EVENT_IS = 0x90 | 15
};

TEST(every_item_with_an_appended_tail_decodes_and_with_a_field_less_does_not)
{
	static const uint8_t tail[] = { 0x92, 0xd9, 1, 'x', 0xc3 };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		AUTO(arena_free) struct arena *a = arena_new(1 << 20);
		struct vector v = vector_of(all[i]);
		struct wire_body b;

		if (*width_of(&v) == RED_WAS || *width_of(&v) == REQUEST_WAS ||
		    *width_of(&v) == REQUEST_SPLIT || *width_of(&v) == EVENT_WAS)
			continue; /* what may come next is known */
		if (*width_of(&v) == EVENT_IS) { /* 16 do not fit into its first byte */
			memmove(v.b + 2, v.b, v.len);
			memcpy(v.b, "\xdc\0\xf", 3);
			v.len += 2;
		}
		memcpy(v.b + v.len, tail, sizeof(tail));
		++*width_of(&v);
		CHECK_EQ(wire_body_decode(a, v.b, v.len + sizeof(tail), &b), 0);
		*width_of(&v) -= 2;
		CHECK_EQ(wire_body_decode(a, v.b, v.len, &b), -EBADMSG);
	}
}
