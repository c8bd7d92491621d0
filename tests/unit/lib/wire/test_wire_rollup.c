// SPDX-License-Identifier: Apache-2.0
/* The item ROLLUP: docs/reference/wire.md gives the bytes, this file the values. */
#include "lib/wire/wire.h"
#include "tests/lib/test.h"
#include "tests/lib/vectors.h"

static const struct wire_metric busy[] = { { "busy", "s", METRIC_COUNTER } };
static const struct rolled_entity sda[] = { { 0x1122334455667788, "sda" } };
static const struct rollup_item sent = { .hour_s = 0x690db180,
					 .part = 7,
					 .whole = true,
					 .kind = "disk",
					 .nmetrics = 1,
					 .nentities = 1,
					 .metrics = busy,
					 .entities = sda,
					 .chunk = "\1\2\3",
					 .chunk_len = 3 };

TEST(an_hour_of_the_reference_is_written_and_read)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct vector v = vector_of("rollup");
	struct wire_dict d = { .entity_kind = "disk", .n = 1, .metrics = busy };
	struct wire_body b = { 0 };
	struct buf body = { 0 };

	wire_put_rollup(&body, &sent);
	CHECK(body.len == v.len && memcmp(body.data, v.b, v.len) == 0);
	buf_free(&body);
	CHECK_EQ(wire_body_decode(a, v.b, v.len, &b), 0);
	CHECK_EQ(b.nrollups, 1);
	CHECK_EQ(b.rollups[0].hour_s, sent.hour_s);
	CHECK_EQ(b.rollups[0].part, 7);
	CHECK(b.rollups[0].whole);
	CHECK_STR(b.rollups[0].kind, "disk");
	CHECK_EQ(b.rollups[0].layout, wire_layout_id(&d));
	CHECK_STR(b.rollups[0].metrics[0].name, "busy");
	CHECK_EQ(b.rollups[0].entities[0].id, sda[0].id);
	CHECK_STR(b.rollups[0].entities[0].name, "sda");
	CHECK(b.rollups[0].chunk_len == 3 && memcmp(b.rollups[0].chunk, "\1\2\3", 3) == 0);
}

TEST(each_shorter_one_and_one_without_metrics_is_refused)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct vector v = vector_of("rollup");
	struct wire_body b;

	for (size_t len = 1; len < v.len; len++)
		CHECK_EQ(wire_body_decode(a, v.b, len, &b), -EBADMSG);
	v.b[14] = 0x90;
	CHECK_EQ(wire_body_decode(a, v.b, v.len, &b), -EBADMSG);
}
