// SPDX-License-Identifier: Apache-2.0
/* Messages between collectors: docs/reference/wire.md gives the bytes, this file the values. */
#include "lib/wire/reason.h"
#include "lib/wire/wire.h"
#include "tests/lib/test.h"
#include "tests/lib/vectors.h"

#define EPOCH 0x0123456789abcdefu
#define WALL 1760000000000000000u

static const struct origin_item origin = { .node = 0x1122334455667788,
					   .epoch = EPOCH,
					   .stream = STREAM_EVENT,
					   .seq = 7,
					   .name = "web-1",
					   .hops = 2,
					   .region = { "eu", "emea" } };
static const struct tag_item tag = { 0, "rack", "r7", "command", 1000, 0 };
static const struct seen_node seen = { 0x1122334455667788, 1000 };
static const struct node_item node = { "web-1", "m", "0.2.0", WALL, 1, &tag };

static const struct signal_item sent = {
	0x1122334455667788, "shop", "/buy", "io", R_IO_SLOW, 1760000000000000u,
	1760000020000000u,  7,	    3000000
};
static const struct incident_item incident = { .id = EPOCH,
					       .onset_us = 1760000000000000u,
					       .last_us = 1760000020000000u,
					       .opened_us = 1760000012000000u,
					       .first_host = 0x1122334455667788,
					       .text = "db 1 s",
					       .hops = 2,
					       .region = { "eu", "emea" },
					       .nsignals = 1,
					       .signals = &sent };
static const struct incident_item merged = { .id = 7,
					     .onset_us = 1,
					     .last_us = 2,
					     .opened_us = 3,
					     .closed_us = 4,
					     .into = 8,
					     .text = "",
					     .hops = 1,
					     .region = { "eu" } };

static const char *const all[] = { "origin", "region",	 "region_seen",
				   "node",   "incident", "incident_merged" };

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

TEST(what_a_relay_writes_gives_the_bytes_of_the_reference)
{
	struct buf b = { 0 };

	wire_put_origin(&b, &origin);
	CHECK(is_vector(&b, "origin"));
	wire_put_region(&b, &(struct region_item){ "eu", "http://eu:1", 0, NULL });
	CHECK(is_vector(&b, "region"));
	wire_put_region(&b, &(struct region_item){ "eu", "", 1, &seen });
	CHECK(is_vector(&b, "region_seen"));
	wire_put_node(&b, &node);
	CHECK(is_vector(&b, "node"));
	wire_put_incident(&b, &incident);
	CHECK(is_vector(&b, "incident"));
	wire_put_incident(&b, &merged);
	CHECK(is_vector(&b, "incident_merged"));
	buf_free(&b);
}

TEST(the_bytes_of_the_reference_decode_to_their_values)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct wire_body b;

	CHECK_EQ(decode(a, "origin", &b), 0);
	CHECK_EQ(b.norigins, 1);
	CHECK_EQ(b.origins[0].node, origin.node);
	CHECK_EQ(b.origins[0].seq, 7);
	CHECK_EQ(b.origins[0].hops, 2);
	CHECK_STR(b.origins[0].region[1], "emea");
	CHECK_EQ(decode(a, "region", &b), 0);
	CHECK_STR(b.regions[0].console, "http://eu:1");
	CHECK_EQ(b.regions[0].nseen, 0);
	CHECK_EQ(decode(a, "region_seen", &b), 0);
	CHECK_EQ(b.regions[0].nseen, 1);
	CHECK_EQ(b.regions[0].seen[0].node, seen.node);
	CHECK_EQ(b.regions[0].seen[0].ms, 1000);
	CHECK_EQ(decode(a, "node", &b), 0);
	CHECK_EQ(b.nodes[0].first_ns, WALL);
	CHECK_EQ(b.nodes[0].ntags, 1);
	CHECK_STR(b.nodes[0].tags[0].value, "r7");
	CHECK_EQ(b.nodes[0].tags[0].since_us, 1000);
}

TEST(an_incident_is_sent_with_its_signals_and_without)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	const struct signal_item *s;
	struct wire_body b;

	CHECK_EQ(decode(a, "incident", &b), 0);
	CHECK_EQ(b.nincidents, 1);
	CHECK_EQ(b.incidents[0].id, incident.id);
	CHECK_EQ(b.incidents[0].opened_us, incident.opened_us);
	CHECK_EQ(b.incidents[0].closed_us, 0);
	CHECK_EQ(b.incidents[0].first_host, incident.first_host);
	CHECK_STR(b.incidents[0].text, "db 1 s");
	CHECK_EQ(b.incidents[0].hops, 2);
	CHECK_STR(b.incidents[0].region[0], "eu");
	CHECK_EQ(b.incidents[0].nsignals, 1);
	s = b.incidents[0].signals;
	CHECK_EQ(s->node, sent.node);
	CHECK_STR(s->route, "/buy");
	CHECK_STR(s->class, "io");
	CHECK_EQ(s->reason, R_IO_SLOW);
	CHECK_EQ(s->last_us, sent.last_us);
	CHECK_EQ(s->n, 7);
	CHECK_EQ(s->excess_us, 3000000);
	CHECK_EQ(decode(a, "incident_merged", &b), 0);
	CHECK_EQ(b.incidents[0].closed_us, 4);
	CHECK_EQ(b.incidents[0].into, 8);
	CHECK_EQ(b.incidents[0].nsignals, 0);
}

TEST(a_collector_that_does_not_know_of_incidents_skips_them)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct vector v = vector_of("incident");
	struct wire_body b;

	v.b[1] = 100; /* a kind that this one does not know, as one of before 15 was */
	CHECK_EQ(wire_body_decode(a, v.b, v.len, &b), 0);
	CHECK_EQ(b.nunknown, 1);
	CHECK_EQ(b.nincidents, 0);
}

TEST(an_origin_of_no_region_or_of_too_many_is_refused)
{
	static const uint8_t head[] = { 0x97, 0x0a, 1, 1, 1, 1, 0xa1, 'n' };
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct wire_body b;

	for (unsigned hops = 0; hops <= ITEM_MAX_HOPS + 1; hops++) {
		uint8_t body[64];
		size_t len = sizeof(head);

		memcpy(body, head, sizeof(head));
		body[len++] = (uint8_t)(0x90 + hops);
		for (unsigned i = 0; i < hops; i++, len += 2)
			memcpy(body + len, "\xa1r", 2);
		CHECK_EQ(wire_body_decode(a, body, len, &b),
			 hops && hops <= ITEM_MAX_HOPS ? 0 : -EBADMSG);
	}
}

TEST(whatever_is_cut_short_is_refused)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct wire_body b;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct vector v = vector_of(all[i]);

		for (size_t len = 1; len < v.len; len++)
			CHECK_EQ(wire_body_decode(a, v.b, len, &b), -EBADMSG);
	}
}

TEST(a_hello_says_whose_relay_it_is)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct wire_hello got;
	struct buf b = { 0 };

	wire_hello_encode(&b, &(struct wire_hello){ .node = "relay-eu",
						    .epoch = EPOCH,
						    .machine = "",
						    .version = "0.2.0",
						    .relay = "eu" });
	CHECK_EQ(wire_hello_decode(a, b.data, b.len, &got), 0);
	CHECK_STR(got.relay, "eu");
	CHECK_STR(got.token, "");
	wire_hello_encode(&b, &(struct wire_hello){
				      .node = "n", .epoch = EPOCH, .machine = "", .version = "" });
	CHECK_EQ(wire_hello_decode(a, b.data, b.len, &got), 0);
	CHECK_STR(got.relay, "");
	buf_free(&b);
}
