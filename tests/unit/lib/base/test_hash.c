// SPDX-License-Identifier: Apache-2.0
/* The values below lie in databases: a test that fails here is never to be adapted. */
#include "lib/base/hash.h"
#include "lib/wire/wire.h"
#include "tests/lib/test.h"

TEST(the_first_half_is_fnv_1a)
{
	CHECK(hash_add(HASH_START, "", 0) == 0xcbf29ce484222325);
	CHECK(hash_add(HASH_START, "a", 1) == 0xaf63dc4c8601ec8c);
	CHECK(hash_add(HASH_START, "foobar", 6) == 0x85944171f73967e8);
}

TEST(the_values_of_hashes_never_change)
{
	CHECK_EQ(hash_end(hash_add(HASH_START, "foobar", 6)), 0x2c22194922d1672b);
	CHECK_EQ(hash_end(hash_add_str(HASH_START, "")), 0x39034ad37056f5fb);
	CHECK_EQ(hash_end(hash_add_str(hash_add_str(HASH_START, "a"), "b")), 0x1ee055ea1a8ec313);
	CHECK_EQ(hash_node_id("web-1"), 0x25bc09821b123a7f);
}

TEST(where_one_string_ends_matters)
{
	uint64_t a_b = hash_add_str(hash_add_str(HASH_START, "a"), "b");

	CHECK(a_b != hash_add_str(HASH_START, "ab"));
	CHECK(a_b != hash_add_str(hash_add_str(HASH_START, "ab"), ""));
}

TEST(a_hash_fits_a_signed_column_and_is_never_0)
{
	uint64_t h = HASH_START;

	CHECK_EQ(hash_end(0), 1);
	for (int i = 0; i < 100000; i++) {
		h = hash_add(h, &i, 1);
		CHECK(hash_end(h) >= 1 && hash_end(h) <= INT64_MAX);
	}
}

TEST(every_part_of_a_layout_is_part_of_its_id)
{
	struct wire_metric m[] = { { "a", "s", METRIC_GAUGE }, { "b", "s", METRIC_GAUGE } };
	struct wire_dict d = { .entity_kind = "disk", .n = 2, .metrics = m };
	uint64_t was = wire_layout_id(&d);

	d.entity_kind = "net";
	CHECK(wire_layout_id(&d) != was);
	d.entity_kind = "disk";
	m[0].kind = METRIC_COUNTER;
	CHECK(wire_layout_id(&d) != was);
	m[0].kind = METRIC_GAUGE;
	m[1].unit = "ms";
	CHECK(wire_layout_id(&d) != was);
	m[1] = m[0];
	m[0].name = "b";
	CHECK(wire_layout_id(&d) != was);
	d.n = 1;
	CHECK(wire_layout_id(&d) != was);
}
