// SPDX-License-Identifier: Apache-2.0
/* Keys on the wire: docs/reference/wire.md gives the bytes, this file the values. */
#include "lib/base/hash.h"
#include "lib/wire/wire.h"
#include "tests/lib/test.h"
#include "tests/lib/vectors.h"

#define EPOCH 0x0123456789abcdefu
#define WALL 1760000000000000000u
#define COLLECTOR_KEY "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
#define NODE_KEY "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"

static bool is_vector(const struct buf *b, const char *name)
{
	struct vector v = vector_of(name);

	return b->len == v.len && memcmp(b->data, v.b, v.len) == 0;
}

TEST(a_hello_with_a_token_and_a_next_key_gives_the_bytes_of_the_reference)
{
	struct wire_hello h = { .node = "web-1",
				.epoch = EPOCH,
				.machine = "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
				.version = "0.1.0",
				.wall_ns = WALL,
				.token = "let-me-in" };
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct wire_hello got;
	struct buf b = { 0 };

	wire_hello_encode(&b, &h);
	CHECK(is_vector(&b, "hello_token"));
	h.next_key = NODE_KEY;
	wire_hello_encode(&b, &h);
	CHECK(is_vector(&b, "hello_next"));
	CHECK_EQ(wire_hello_decode(a, b.data, b.len, &got), 0);
	CHECK_STR(got.token, "let-me-in");
	CHECK_STR(got.next_key, NODE_KEY);
	h.token = NULL;
	wire_hello_encode(&b, &h);
	CHECK_EQ(wire_hello_decode(a, b.data, b.len, &got), 0);
	CHECK_STR(got.token, "");
	CHECK_STR(got.next_key, NODE_KEY);
	buf_free(&b);
}

TEST(what_is_said_of_keys_decodes_to_the_values_of_the_reference)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct vector refused = vector_of("refused"), keys = vector_of("keys");
	struct wire_refused r = { 0 };
	struct wire_keys k = { 0 };

	CHECK_EQ(wire_refused_decode(a, refused.b, refused.len, &r), 0);
	CHECK(r.node_id == hash_node_id("web-1") && r.epoch == EPOCH && r.why == WHY_NAME_TAKEN);
	CHECK_STR(r.known_as, "web-1");
	CHECK_EQ(wire_keys_decode(a, keys.b, keys.len, &k), 0);
	CHECK(k.node_id == hash_node_id("web-1") && k.epoch == EPOCH && k.rotate);
	CHECK_STR(k.collector, COLLECTOR_KEY);
	CHECK_STR(k.taken, NODE_KEY);
}
