// SPDX-License-Identifier: Apache-2.0
/* Times of an ACK, the item CLOCK: docs/reference/wire.md has the bytes, this file the values. */
#include <math.h>

#include "lib/base/hash.h"
#include "lib/wire/wire.h"
#include "tests/lib/test.h"
#include "tests/lib/vectors.h"

#define EPOCH 0x0123456789abcdefu
#define WALL 1760000000000000000u
#define SENT (WALL + 10000000u)

static bool is_vector(const struct buf *b, const char *name)
{
	struct vector v = vector_of(name);

	return b->len == v.len && memcmp(b->data, v.b, v.len) == 0;
}

static struct wire_mark ack(void)
{
	return (struct wire_mark){ .node_id = hash_node_id("web-1"),
				   .epoch = EPOCH,
				   .stream = STREAM_EVENT,
				   .mark = 8,
				   .sent_ns = SENT,
				   .received_ns = SENT + 1000000 - 5000000000,
				   .answered_ns = SENT + 21000000 - 5000000000 };
}

TEST(times_of_the_reference_are_written_and_read)
{
	struct vector v = vector_of("ack_times"), sent = vector_of("batch_sent");
	struct wire_batch_head h = { hash_node_id("web-1"), EPOCH, STREAM_EVENT, 8, 5, WALL, SENT };
	struct wire_mark m = ack(), got;
	struct buf b = { 0 };

	wire_batch_head_encode(&b, &h);
	CHECK(is_vector(&b, "batch_sent"));
	wire_mark_encode(&b, WIRE_ACK, &m);
	CHECK(is_vector(&b, "ack_times"));
	buf_free(&b);
	h.sent_ns = 0;
	CHECK_EQ(wire_batch_head_decode(sent.b, sent.len, &h), 0);
	CHECK_EQ(h.sent_ns, SENT);
	CHECK_EQ(wire_mark_decode(v.b, v.len, &got), 0);
	CHECK_EQ(got.sent_ns, SENT);
	CHECK_EQ(got.received_ns, m.received_ns);
	CHECK_EQ(got.answered_ns, m.answered_ns);
}

TEST(a_batch_without_a_time_gets_none_and_a_nack_has_none)
{
	struct vector batch = vector_of("batch"), old = vector_of("ack");
	struct wire_batch_head h = { .sent_ns = 1 };
	struct wire_mark m = ack(), got = m;
	struct buf b = { 0 };

	CHECK_EQ(wire_batch_head_decode(batch.b, batch.len, &h), 0);
	CHECK_EQ(h.sent_ns, 0);
	CHECK_EQ(wire_mark_decode(old.b, old.len, &got), 0);
	CHECK_EQ(got.sent_ns, 0);
	m.mark = 300;
	m.stream = STREAM_METRIC;
	wire_mark_encode(&b, WIRE_NACK, &m);
	CHECK(is_vector(&b, "nack"));
	m = ack();
	m.mark = 7;
	m.sent_ns = 0;
	wire_mark_encode(&b, WIRE_ACK, &m);
	CHECK(is_vector(&b, "ack"));
	buf_free(&b);
}

TEST(the_clock_of_the_reference_is_written_and_read)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 16);
	const struct clock_item c = { WALL, -5000000, 500 };
	struct vector v = vector_of("clock");
	struct wire_body body;
	struct buf b = { 0 };

	wire_put_clock(&b, &c);
	CHECK(is_vector(&b, "clock"));
	buf_free(&b);
	CHECK_EQ(wire_body_decode(a, v.b, v.len, &body), 0);
	CHECK_EQ(body.nclocks, 1);
	CHECK_EQ(body.clocks[0].since_ns, WALL);
	CHECK(body.clocks[0].offset_us == -5000000);
	CHECK_EQ(body.clocks[0].uncertainty_us, 500);
	for (size_t len = 1; len < v.len; len++)
		CHECK_EQ(wire_body_decode(a, v.b, len, &body), -EBADMSG);
}

TEST(an_offset_comes_back_unchanged_and_no_larger_than_a_century)
{
	static const int64_t offsets[] = {
		0, 1, -1, 1234567891, -1234567891, 4000000000000000, -4000000000000000
	};
	AUTO(arena_free) struct arena *a = arena_new(1 << 16);
	struct wire_body body;
	struct buf b = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		buf_reset(&b);
		wire_put_clock(&b, &(struct clock_item){ 1, offsets[i], 2 });
		CHECK_EQ(wire_body_decode(a, b.data, b.len, &body), 0);
		CHECK(body.clocks[0].offset_us == offsets[i]);
	}
	buf_reset(&b);
	wire_put_clock(&b, &(struct clock_item){ 1, INT64_MIN, 2 });
	CHECK_EQ(wire_body_decode(a, b.data, b.len, &body), 0);
	CHECK(body.clocks[0].offset_us == -4000000000000000);
	buf_free(&b);
}

TEST(an_offset_that_no_clock_can_have_is_refused)
{
	/* nil, infinity, 2^60, and the least number that is too many */
	static const char bad[][9] = { "\xc0", "\xca\x7f\x80\0\0", "\xcf\x10\0\0\0\0\0\0\0",
				       "\xcf\0\x0e\x35\xfa\x93\x1a\0\x01" };
	static const size_t len[] = { 1, 5, 9, 9 };
	AUTO(arena_free) struct arena *a = arena_new(1 << 16);
	struct wire_body body;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		uint8_t f[16] = { 0x94, 0x0d, 1 };

		memcpy(f + 3, bad[i], len[i]);
		f[3 + len[i]] = 2;
		CHECK_EQ(wire_body_decode(a, f, 4 + len[i], &body), -EBADMSG);
	}
}
