// SPDX-License-Identifier: Apache-2.0
/* The item PLACE: docs/reference/wire.md gives the bytes, this file the values. */
#include "lib/wire/wire.h"
#include "tests/lib/test.h"
#include "tests/lib/vectors.h"

static const uint8_t ip4[] = { 10, 0, 0, 1 };
static const uint8_t ip6[] = { 0x20, 1, 0xd, 0xb8, [15] = 2 };

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

static const uint8_t all4[4];
static const struct {
	uint8_t kind;
	const uint8_t *ip;
	size_t len;
	uint16_t port;
	const char *app;
	uint64_t netns;
} sent[] = { { PLACE_ADDRESS, ip4, 4, 0, "", 0 },
	     { PLACE_LISTENER, all4, 4, 80, "nginx", 0 },
	     { PLACE_CONTAINER, ip6, 16, 0, "", 0xf0000141 },
	     { PLACE_FORWARD, all4, 4, 8080, "app", 0 } };

TEST(places_of_the_reference_are_written_and_read)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct place places[ARRAY_SIZE(sent)];
	struct wire_body b = { 0 };
	struct buf body = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(sent); i++)
		places[i] = (struct place){ sent[i].kind,
					    addr_make(sent[i].ip, sent[i].len, sent[i].port),
					    sent[i].app, sent[i].netns, false };
	wire_put_place(&body, &(struct place_item){ true, 2, ARRAY_SIZE(places), places });
	CHECK(is_vector(&body, "place"));
	places[1].gone = true;
	wire_put_place(&body, &(struct place_item){ false, 0, 1, &places[1] });
	CHECK(is_vector(&body, "place_change"));
	buf_free(&body);

	CHECK_EQ(decode(a, "place", &b), 0);
	CHECK_EQ(b.nplaces, 1);
	CHECK(b.places[0].whole);
	CHECK_EQ(b.places[0].left_out, 2);
	CHECK_EQ(b.places[0].n, ARRAY_SIZE(sent));
	for (size_t i = 0; i < ARRAY_SIZE(sent); i++) {
		const struct place *p = &b.places[0].places[i];

		CHECK_EQ(p->kind, sent[i].kind);
		CHECK(addr_equal(&p->addr, &places[i].addr));
		CHECK_STR(p->app, sent[i].app);
		CHECK_EQ(p->netns, sent[i].netns);
		CHECK(!p->gone);
	}
	CHECK_EQ(decode(a, "place_change", &b), 0);
	CHECK(!b.places[0].whole && b.places[0].places[0].gone);
}

TEST(more_places_than_a_node_may_have_and_one_without_an_address_are_refused)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct vector v = vector_of("place");
	struct wire_body b;

	v.b[7] = 0x90; /* the first place, which is no array of six any more */
	CHECK_EQ(wire_body_decode(a, v.b, v.len, &b), -EBADMSG);
	v = vector_of("place_change");
	memmove(v.b + 9, v.b + 13, v.len - 13); /* 0.0.0.0 */
	v.b[8] = 0;
	CHECK_EQ(wire_body_decode(a, v.b, v.len - 4, &b), -EBADMSG);
}
