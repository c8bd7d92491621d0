// SPDX-License-Identifier: Apache-2.0
/* The limits of what a body may hold, on both sides. */
#include <math.h>

#include "lib/wire/wire.h"
#include "tests/lib/test.h"
#include "tests/lib/vectors.h"

static const struct request_item bare = {
	.app = "", .comm = "", .method = "", .path = "", .route = ""
};

/* An item whose bytes are spelt here; NULs are welcome. */
#define BODY(a, bytes, b) wire_body_decode(a, bytes, sizeof(bytes) - 1, b)

TEST(hostile_counts_in_a_body_are_refused)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct wire_body b;

	CHECK_EQ(BODY(a, "\xdd\x10\0\0\0", &b), -EBADMSG);
	CHECK_EQ(BODY(a, "\x94\x01\x07\xa0\xdd\xff\xff\xff\xff", &b), -EBADMSG);
	CHECK_EQ(BODY(a, "\x94\x04\xdb\xff\xff\xff\xff\x01\xa0", &b), -EBADMSG);
	CHECK_EQ(BODY(a, "\x90", &b), -EBADMSG);
	CHECK_EQ(BODY(a, "\x91\xa1x", &b), -EBADMSG);
	CHECK_EQ(BODY(a, "\xc0", &b), -EBADMSG);
}

TEST(an_array_over_its_limit_is_refused_and_one_at_it_is_not)
{
	static const double v[ITEM_MAX_VALUES] = { 1 };
	static const uint32_t n[ITEM_MAX_SLOTS] = { 1 };
	struct sample_item s = { 1, "", ITEM_MAX_VALUES, v };
	struct red_item r = { .app = "",
			      .route = "",
			      .peer = "",
			      .count = 1,
			      .sum_us = 1,
			      .nb = ITEM_MAX_SLOTS,
			      .b = n };
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct wire_body b;
	struct buf f = { 0 };

	wire_put_sample(&f, &s);
	CHECK_EQ(wire_body_decode(a, f.data, f.len, &b), 0);
	f.data[f.len - ITEM_MAX_VALUES - 1]++;
	buf_put(&f, "\x01", 1);
	CHECK_EQ(wire_body_decode(a, f.data, f.len, &b), -EBADMSG);
	buf_reset(&f);
	wire_put_red(&f, &r);
	CHECK_EQ(wire_body_decode(a, f.data, f.len, &b), 0);
	f.data[f.len - ITEM_MAX_SLOTS - 4]++; /* lo */
	CHECK_EQ(wire_body_decode(a, f.data, f.len, &b), -EBADMSG);
	buf_free(&f);
}

TEST(a_value_over_its_limit_is_refused)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct wire_body b;

	CHECK_EQ(BODY(a, "\x94\x05\xa0\xa1t\xcf\x7f\xff\xff\xff\xff\xff\xff\xff", &b), 0);
	CHECK_EQ(BODY(a, "\x94\x05\xa0\xa1t\xcf\x80\0\0\0\0\0\0\0", &b), -EBADMSG);
	CHECK_EQ(BODY(a, "\x94\x05\xa0\xa1t\xff", &b), -EBADMSG);
	CHECK_EQ(BODY(a, "\x94\x05\xa0\xa0\x01", &b), -EBADMSG);
	CHECK_EQ(BODY(a, "\x94\x05\xa0\xa2t\0\x01", &b), -EBADMSG);
	CHECK_EQ(BODY(a, "\x9a\x02\xa0\xa0\xa0\x01\x05\x01\x01\x00\x90", &b), 0);
	CHECK_EQ(BODY(a, "\x9a\x02\xa0\xa0\xa0\x01\x06\x01\x01\x00\x90", &b), -EBADMSG);
}

TEST(a_number_of_a_reason_is_never_infinite)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct request_item r = bare;
	struct vector v = vector_of("request");
	struct wire_body b;
	struct buf f = { 0 };
	uint8_t *ms = memmem(v.b, v.len, "\xa2ms\xca", 4);

	memcpy(ms + 4, "\x7f\x80\0\0", 4);
	CHECK_EQ(wire_body_decode(a, v.b, v.len, &b), -EBADMSG);
	r.nparams = 1;
	r.params[0] = (struct param){ "x", NULL, INFINITY };
	wire_put_request(&f, &r);
	CHECK_EQ(wire_body_decode(a, f.data, f.len, &b), 0);
	CHECK(isnan(b.requests[0].params[0].number));
	buf_free(&f);
}

TEST(what_was_measured_is_held_to_the_limits_when_it_is_written)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct request_item r = bare;
	struct wire_body b;
	struct buf f = { 0 };
	char longer[400];

	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = 0;
	r.app = r.path = longer;
	r.queue_us = UINT64_MAX;
	r.retrans = UINT32_MAX;
	r.status = UINT16_MAX;
	r.reason = UINT16_MAX;
	wire_put_request(&f, &r);
	CHECK_EQ(wire_body_decode(a, f.data, f.len, &b), 0);
	CHECK_EQ(strlen(b.requests[0].app), ITEM_MAX_NAME);
	CHECK_EQ(strlen(b.requests[0].path), ITEM_MAX_PATH);
	CHECK_EQ(b.requests[0].queue_us, INT64_MAX);
	CHECK_EQ(b.requests[0].retrans, INT32_MAX);
	CHECK_EQ(b.requests[0].status, WIRE_MAX_STATUS);
	CHECK_EQ(b.requests[0].reason, INT16_MAX);
	buf_free(&f);
}

TEST(a_body_of_many_items_needs_no_more_than_its_arena_allows)
{
	AUTO(arena_free) struct arena *small = arena_new(4096), *big = arena_new(1 << 20);
	struct buf f = { 0 };
	struct wire_body b;

	for (int i = 0; i < 200; i++)
		wire_put_request(&f, &bare);
	CHECK_EQ(wire_body_decode(small, f.data, f.len, &b), -ENOMEM);
	CHECK_EQ(wire_body_decode(big, f.data, f.len, &b), 0);
	CHECK_EQ(b.nrequests, 200);
	buf_free(&f);
}

TEST(numbers_travel_in_the_shortest_form_that_is_exact)
{
	static const struct {
		double v;
		size_t bytes;
	} form[] = { { 0, 1 },	    { 127, 1 },	 { 128, 2 },	   { 65536, 5 },     { 0x1p40, 9 },
		     { 0x1p63, 5 }, { -0.0, 5 }, { 0.25, 5 },	   { 0.1, 9 },	     { 1e300, 9 },
		     { -1, 5 },	    { NAN, 1 },	 { -INFINITY, 5 }, { 16777217.5, 9 } };
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct buf f = { 0 };
	struct wire_body b;

	for (size_t i = 0; i < ARRAY_SIZE(form); i++) {
		buf_reset(&f);
		wire_put_sample(&f, &(struct sample_item){ 1, "", 1, &form[i].v });
		CHECK_EQ(f.len, 5 + form[i].bytes);
		CHECK_EQ(wire_body_decode(a, f.data, f.len, &b), 0);
		CHECK(isnan(form[i].v) ? isnan(b.samples[0].v[0])
				       : memcmp(b.samples[0].v, &form[i].v, sizeof(double)) == 0);
	}
	buf_free(&f);
}

TEST(what_a_later_version_appended_inside_an_item_is_ignored)
{
	static const char param[] = "\x93\xa5"
				    "error\xb2"
				    "Connection refused\x01";
	static const char try[] = "\x9c\xc4\x04\x0a\0\0\x01\x07\0\0\0\0\0\0\0\0\0\xc3";
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct request_item r = bare;
	struct buf f = { 0 };
	struct wire_body b;

	wire_put_request(&f, &r);
	f.len -= 2; /* the counts of params and tries */
	buf_put(&f, "\x91", 1);
	buf_put(&f, param, sizeof(param) - 1);
	buf_put(&f, "\x91", 1);
	buf_put(&f, try, sizeof(try) - 1);
	CHECK_EQ(wire_body_decode(a, f.data, f.len, &b), 0);
	CHECK_STR(b.requests[0].params[0].text, "Connection refused");
	CHECK_EQ(b.requests[0].ups[0].addr.port, 7);
	buf_free(&f);
}

TEST(what_a_later_version_appended_inside_a_message_is_ignored)
{
	static const char welcome[] = "\x96\x01\x02\x05\x06\x93\x07\x08\x09\x0a";
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct wire_metric m = { "m", "s", METRIC_GAUGE };
	struct wire_dict got, d = { .entity_kind = "x", .n = 1, .metrics = &m };
	struct buf f = { 0 };
	struct wire_welcome w;

	CHECK_EQ(wire_welcome_decode(welcome, sizeof(welcome) - 1, &w), 0);
	CHECK_EQ(w.mark[STREAM_METRIC], 8);
	CHECK_EQ(w.wall_ns, 10);
	d.layout = wire_layout_id(&d);
	wire_dict_encode(&f, &d);
	f.data[f.len - 6]++; /* [name, unit, kind] becomes one longer */
	buf_put(&f, "\xa1+", 2);
	CHECK_EQ(wire_dict_decode(a, f.data, f.len, &got), 0);
	CHECK_STR(got.metrics[0].unit, "s");
	buf_free(&f);
}

TEST(the_path_of_a_cgroup_fits_into_a_sample_and_a_longer_one_is_cut)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct buf f = { 0 };
	struct wire_body b;
	char path[400];

	for (size_t len = ITEM_MAX_NAME; len < sizeof(path); len += 16) {
		memset(path, 'p', len);
		path[len] = 0;
		buf_reset(&f);
		wire_put_sample(&f, &(struct sample_item){ .layout = 1, .entity = path });
		CHECK_EQ(wire_body_decode(a, f.data, f.len, &b), 0);
		CHECK_EQ(strlen(b.samples[0].entity), len < ITEM_MAX_TEXT ? len : ITEM_MAX_TEXT);
	}
	buf_free(&f);
}

TEST(what_is_over_the_usual_is_known_of_no_more_requests_than_there_are)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct vector v = vector_of("red_judged");
	struct wire_body b;

	CHECK_EQ(wire_body_decode(a, v.b, v.len, &b), 0);
	CHECK_EQ(b.reds[0].role, RED_SERVED);
	CHECK_STR(b.reds[0].peer, "10.0.0.9");
	CHECK_EQ(b.reds[0].excess_us, 1000);
	CHECK_EQ(b.reds[0].judged, 2);
	v.b[v.len - 1] = 4;
	CHECK_EQ(wire_body_decode(a, v.b, v.len, &b), 0);
	CHECK_EQ(b.reds[0].judged, 3);
	v.b[0] = 0x9b; /* 11 fields: of how many it would be is not said */
	CHECK_EQ(wire_body_decode(a, v.b, v.len - 1, &b), 0);
	CHECK_EQ(b.reds[0].judged, 0);
	CHECK_EQ(b.reds[0].excess_us, 0);
}
