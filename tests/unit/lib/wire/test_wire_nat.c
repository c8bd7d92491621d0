// SPDX-License-Identifier: Apache-2.0
/* The item NAT: docs/reference/wire.md gives the bytes, this file the values. */
#include "lib/wire/wire.h"
#include "tests/lib/test.h"
#include "tests/lib/vectors.h"

static bool is_vector(struct buf *b, const char *name)
{
	struct vector v = vector_of(name);
	bool same = b->len == v.len && memcmp(b->data, v.b, v.len) == 0;

	buf_reset(b);
	return same;
}

TEST(ways_of_the_reference_are_written_and_read)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct nat_way ways[] = {
		{ WAY_TO, addr_make("\x0a\x60\0\1", 4, 80), addr_make("\x0a\0\0\2", 4, 8000), 0 },
		{ WAY_FROM, addr_make("\xc0\0\2\1", 4, 0), addr_make("\x0a\0\0\5", 4, 0),
		  0xf0000141 },
	};
	struct vector v = vector_of("nat");
	struct wire_body b = { 0 };
	struct buf body = { 0 };

	wire_put_nat(&body, &(struct nat_item){ 2, ARRAY_SIZE(ways), ways });
	CHECK(is_vector(&body, "nat"));
	wire_put_nat(&body, &(struct nat_item){ 0 });
	CHECK(is_vector(&body, "nat_none"));
	buf_free(&body);

	CHECK_EQ(wire_body_decode(a, v.b, v.len, &b), 0);
	CHECK_EQ(b.nnats, 1);
	CHECK_EQ(b.nats[0].left_out, 2);
	CHECK_EQ(b.nats[0].n, ARRAY_SIZE(ways));
	for (size_t i = 0; i < ARRAY_SIZE(ways) && i < b.nats[0].n; i++) {
		const struct nat_way *w = &b.nats[0].ways[i];

		CHECK_EQ(w->kind, ways[i].kind);
		CHECK(addr_equal(&w->seen, &ways[i].seen));
		CHECK(addr_equal(&w->real, &ways[i].real));
		CHECK_EQ(w->netns, ways[i].netns);
	}
}

TEST(a_way_without_an_address_and_more_than_a_node_may_have_are_refused)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	AUTO_FREE struct nat_way *ways = calloc(ITEM_MAX_WAYS, sizeof(*ways));
	struct vector v = vector_of("nat");
	struct wire_body b = { 0 };
	struct buf body = { 0 };

	memmove(v.b + 8, v.b + 12, v.len - 12); /* seen is none */
	v.b[7] = 0;
	CHECK_EQ(wire_body_decode(a, v.b, v.len - 4, &b), -EBADMSG);
	for (int i = 0; i < ITEM_MAX_WAYS; i++)
		ways[i] = (struct nat_way){ WAY_TO, addr_make("\x0a\0\0\1", 4, (uint16_t)i),
					    addr_make("\x0a\0\0\2", 4, 80), 0 };
	wire_put_nat(&body, &(struct nat_item){ 0, ITEM_MAX_WAYS, ways });
	CHECK_EQ(wire_body_decode(a, body.data, body.len, &b), 0);
	CHECK_EQ(body.data[3], 0xdc); /* an array of 16 bits: one more */
	body.data[5]++;
	buf_put(&body, "\x96\x01\xc4\x04\x0a\0\0\1\x01\xc4\x04\x0a\0\0\2\x01\0", 17);
	CHECK_EQ(wire_body_decode(a, body.data, body.len, &b), -EBADMSG);
	buf_free(&body);
}
