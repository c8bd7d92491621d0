// SPDX-License-Identifier: Apache-2.0
/* What was appended to a REQUEST last: the ids that it goes by. */
#include "lib/wire/mp.h"
#include "lib/wire/wire.h"
#include "tests/lib/test.h"
#include "tests/lib/vectors.h"

enum { FIELDS_BEFORE = 31, FIELDS = 33 };

static const struct request_item bare = {
	.app = "", .comm = "", .method = "", .path = "", .route = ""
};

static int decode(struct arena *a, const char *name, struct wire_body *b)
{
	struct vector v = vector_of(name);

	return wire_body_decode(a, v.b, v.len, b);
}

TEST(the_ids_of_a_request_decode_to_what_its_client_sent)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct wire_body b = { 0 };

	CHECK_EQ(decode(a, "request_named", &b), 0);
	CHECK_STR(b.requests[0].trace, "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331");
	CHECK_STR(b.requests[0].sent_id, "web-1:17");
}

TEST(a_request_with_one_id_has_no_other)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct request_item with = bare;
	struct wire_body b = { 0 };
	struct buf f = { 0 };

	with.sent_id = "x";
	wire_put_request(&f, &with);
	with.trace = "y";
	with.sent_id = NULL;
	wire_put_request(&f, &with);
	CHECK_EQ(wire_body_decode(a, f.data, f.len, &b), 0);
	CHECK_EQ(b.nrequests, 2);
	CHECK(!b.requests[0].trace && !b.requests[1].sent_id);
	CHECK_STR(b.requests[0].sent_id, "x");
	CHECK_STR(b.requests[1].trace, "y");
	buf_free(&f);
}

TEST(a_request_of_the_form_before_goes_by_none)
{
	static const char *const before[] = { "request", "request_split" };

	for (size_t i = 0; i < ARRAY_SIZE(before); i++) {
		AUTO(arena_free) struct arena *a = arena_new(1 << 20);
		struct wire_body b = { 0 };

		CHECK_EQ(decode(a, before[i], &b), 0);
		CHECK(!b.requests[0].trace && !b.requests[0].sent_id);
	}
}

/* It reads its fields, and skips the others. */
TEST(a_reader_of_the_form_before_comes_to_the_end_of_the_later_one)
{
	struct vector v = vector_of("request_named");
	struct mp m = mp_over(v.b, v.len);

	CHECK_EQ(mp_array(&m), FIELDS);
	CHECK_EQ(mp_uint(&m), ITEM_REQUEST);
	mp_skip_n(&m, FIELDS_BEFORE - 1);
	CHECK(!mp_bad(&m) && m.p < m.end);
	mp_skip_n(&m, FIELDS - FIELDS_BEFORE);
	CHECK(!mp_bad(&m) && m.p == m.end);
}
