// SPDX-License-Identifier: Apache-2.0
/* The messages: docs/reference/wire.md gives the bytes, this file the values. */
#include "lib/base/hash.h"
#include "lib/wire/wire.h"
#include "tests/lib/test.h"
#include "tests/lib/vectors.h"

#define EPOCH 0x0123456789abcdefu
#define WALL 1760000000000000000u
#define COLLECTOR_KEY "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
#define NODE_KEY "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"

static const struct wire_metric metrics[] = {
	{ "disk_reads_completed_total", "reads", METRIC_COUNTER },
	{ "disk_io_now", "requests", METRIC_GAUGE },
	{ "disk_io_time_seconds_total", "s", METRIC_COUNTER },
	{ "disk_util_ratio", "ratio", METRIC_GAUGE },
	{ "disk_temp_celsius", "C", METRIC_GAUGE },
};

static struct wire_dict dict(void)
{
	struct wire_dict d = { .entity_kind = "disk", .n = 5, .metrics = metrics };

	d.layout = wire_layout_id(&d);
	return d;
}

static bool is_vector(const struct buf *b, const char *name)
{
	struct vector v = vector_of(name);

	return b->len == v.len && memcmp(b->data, v.b, v.len) == 0;
}

/* Every decoder of a message, on these bytes: 0 if one of them takes it. */
static int decode_any(const void *f, size_t len)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct wire_hello hello;
	struct wire_welcome welcome;
	struct wire_dict d;
	struct wire_need_dict need;
	struct wire_mark mark;
	struct wire_batch_head head;
	struct wire_refused refused;
	struct wire_keys keys;

	if (wire_refused_decode(a, f, len, &refused) == 0 ||
	    wire_keys_decode(a, f, len, &keys) == 0)
		return 0;
	if (wire_hello_decode(a, f, len, &hello) == 0 || wire_welcome_decode(f, len, &welcome) == 0)
		return 0;
	if (wire_dict_decode(a, f, len, &d) == 0 || wire_need_dict_decode(f, len, &need) == 0)
		return 0;
	if (wire_mark_decode(f, len, &mark) == 0 || wire_batch_head_decode(f, len, &head) == 0)
		return 0;
	return -EBADMSG;
}

static const char *const all[] = { "hello", "welcome", "dict",	  "need_dict", "batch",
				   "ack",   "nack",    "refused", "keys" };

TEST(encoding_gives_the_bytes_of_the_reference)
{
	struct buf b = { 0 };
	struct wire_dict d = dict();
	uint64_t id = hash_node_id("web-1");

	wire_hello_encode(&b, &(struct wire_hello){ .node = "web-1",
						    .epoch = EPOCH,
						    .machine = "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
						    .version = "0.1.0",
						    .wall_ns = WALL });
	CHECK(is_vector(&b, "hello"));
	wire_welcome_encode(&b, &(struct wire_welcome){ id, EPOCH, { 0, 7, 4 }, WALL });
	CHECK(is_vector(&b, "welcome"));
	wire_dict_encode(&b, &d);
	CHECK(is_vector(&b, "dict"));
	wire_need_dict_encode(&b, &(struct wire_need_dict){ d.layout });
	CHECK(is_vector(&b, "need_dict"));
	wire_batch_head_encode(&b,
			       &(struct wire_batch_head){ id, EPOCH, STREAM_EVENT, 8, 5, WALL, 0 });
	CHECK(is_vector(&b, "batch"));
	wire_mark_encode(&b, WIRE_ACK, &(struct wire_mark){ id, EPOCH, STREAM_EVENT, 7, 0, 0, 0 });
	CHECK(is_vector(&b, "ack"));
	wire_mark_encode(&b, WIRE_NACK,
			 &(struct wire_mark){ id, EPOCH, STREAM_METRIC, 300, 0, 0, 0 });
	CHECK(is_vector(&b, "nack"));
	wire_refused_encode(&b, &(struct wire_refused){ id, EPOCH, WHY_NAME_TAKEN, "web-1" });
	CHECK(is_vector(&b, "refused"));
	wire_keys_encode(&b, &(struct wire_keys){ id, EPOCH, COLLECTOR_KEY, true, NODE_KEY });
	CHECK(is_vector(&b, "keys"));
	buf_free(&b);
}

static void check_hello(const char *name)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct vector v = vector_of(name);
	struct wire_hello h = { 0 };

	CHECK_EQ(wire_hello_decode(a, v.b, v.len, &h), 0);
	CHECK_STR(h.node, "web-1");
	CHECK_EQ(h.epoch, EPOCH);
	CHECK_STR(h.machine, "0f1e2d3c4b5a69788796a5b4c3d2e1f0");
	CHECK_STR(h.version, "0.1.0");
	CHECK_EQ(h.wall_ns, WALL);
	CHECK_STR(h.token, "");
	CHECK_STR(h.next_key, "");
}

TEST(a_hello_of_the_reference_decodes_to_its_values)
{
	check_hello("hello");
}

TEST(what_a_later_version_appended_to_a_message_is_ignored)
{
	check_hello("hello_later");
}

TEST(a_welcome_of_the_reference_decodes_to_its_values)
{
	struct vector v = vector_of("welcome");
	struct wire_welcome w = { 0 };

	CHECK_EQ(wire_welcome_decode(v.b, v.len, &w), 0);
	CHECK_EQ(w.node_id, 0x25bc09821b123a7f);
	CHECK_EQ(w.epoch, EPOCH);
	CHECK_EQ(w.mark[STREAM_EVENT], 7);
	CHECK_EQ(w.mark[STREAM_METRIC], 4);
	CHECK_EQ(w.wall_ns, WALL);
}

TEST(a_dict_of_the_reference_decodes_to_its_values)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct vector v = vector_of("dict");
	struct wire_dict d = { 0 };
	struct vector n = vector_of("need_dict");
	struct wire_need_dict need = { 0 };

	CHECK_EQ(wire_dict_decode(a, v.b, v.len, &d), 0);
	CHECK_EQ(d.layout, 0x4ea04689a932b33c);
	CHECK_STR(d.entity_kind, "disk");
	CHECK_EQ(d.n, 5);
	for (uint32_t i = 0; i < d.n; i++) {
		CHECK_STR(d.metrics[i].name, metrics[i].name);
		CHECK_STR(d.metrics[i].unit, metrics[i].unit);
		CHECK_EQ(d.metrics[i].kind, metrics[i].kind);
	}
	CHECK_EQ(wire_need_dict_decode(n.b, n.len, &need), 0);
	CHECK_EQ(need.layout, d.layout);
}

TEST(a_batch_head_of_the_reference_decodes_to_its_values)
{
	struct vector v = vector_of("batch");
	struct wire_batch_head h = { 0 };

	CHECK_EQ(wire_batch_head_decode(v.b, v.len, &h), 0);
	CHECK_EQ(h.node_id, hash_node_id("web-1"));
	CHECK_EQ(h.epoch, EPOCH);
	CHECK_EQ(h.stream, STREAM_EVENT);
	CHECK_EQ(h.seq, 8);
	CHECK_EQ(h.base_seq, 5);
	CHECK_EQ(h.wall_ns, WALL);
}

TEST(an_ack_and_a_nack_of_the_reference_decode_to_their_values)
{
	struct vector ack = vector_of("ack"), nack = vector_of("nack");
	struct wire_mark m = { 0 };

	CHECK_EQ(wire_mark_decode(ack.b, ack.len, &m), 0);
	CHECK_EQ(m.node_id, hash_node_id("web-1"));
	CHECK_EQ(m.epoch, EPOCH);
	CHECK_EQ(m.stream, STREAM_EVENT);
	CHECK_EQ(m.mark, 7);
	CHECK_EQ(wire_mark_decode(nack.b, nack.len, &m), 0);
	CHECK_EQ(m.stream, STREAM_METRIC);
	CHECK_EQ(m.mark, 300);
}

TEST(the_type_of_every_message_is_known_from_its_frame)
{
	static const enum wire_type types[] = { WIRE_HELLO,	WIRE_WELCOME, WIRE_DICT,
						WIRE_NEED_DICT, WIRE_BATCH,   WIRE_ACK,
						WIRE_NACK,	WIRE_REFUSED, WIRE_KEYS };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct vector v = vector_of(all[i]);
		enum wire_type type = WIRE_OTHER;

		CHECK_EQ(wire_type_of(v.b, v.len, &type), 0);
		CHECK_EQ(type, types[i]);
	}
}

TEST(a_message_of_an_unknown_type_differs_from_a_damaged_one)
{
	struct vector v = vector_of("unknown");
	enum wire_type type = WIRE_HELLO;

	CHECK_EQ(wire_type_of(v.b, v.len, &type), 0);
	CHECK_EQ(type, WIRE_OTHER);
	CHECK_EQ(decode_any(v.b, v.len), -EBADMSG);
}

TEST(a_decoder_takes_its_own_messages_only)
{
	struct vector v = vector_of("nack");
	struct wire_batch_head h;
	struct wire_need_dict n;
	struct wire_mark m;

	CHECK_EQ(wire_batch_head_decode(v.b, v.len, &h), -EBADMSG);
	CHECK_EQ(wire_need_dict_decode(v.b, v.len, &n), -EBADMSG);
	v = vector_of("batch");
	CHECK_EQ(wire_mark_decode(v.b, v.len, &m), -EBADMSG);
}

TEST(every_shorter_frame_is_refused)
{
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct vector v = vector_of(all[i]);

		CHECK_EQ(decode_any(v.b, v.len), 0);
		for (size_t n = 0; n < v.len; n++) {
			AUTO_FREE void *exact = malloc(n ? n : 1); /* a read past it is found */

			memcpy(exact, v.b, n);
			CHECK_EQ(decode_any(exact, n), -EBADMSG);
		}
	}
}

TEST(every_message_with_a_field_less_is_refused)
{
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct vector v = vector_of(all[i]);
		enum wire_type type;

		v.b[0]--;
		CHECK_EQ(wire_type_of(v.b, v.len, &type), -EBADMSG);
		CHECK_EQ(decode_any(v.b, v.len), -EBADMSG);
	}
}

TEST(every_message_with_an_appended_tail_decodes)
{
	static const uint8_t tail[] = { 0x81, 0xa1, 'k', 0x92, 0xc0, 0xcb, 1, 2, 3, 4, 5, 6, 7, 8 };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct vector v = vector_of(all[i]);

		memcpy(v.b + v.len, tail, sizeof(tail));
		CHECK_EQ(decode_any(v.b, v.len + sizeof(tail)), -EBADMSG); /* not in the array */
		v.b[0]++;
		CHECK_EQ(decode_any(v.b, v.len + sizeof(tail)), 0);
		CHECK_EQ(decode_any(v.b, v.len + sizeof(tail) - 1), -EBADMSG);
	}
}

TEST(another_version_is_refused_as_such)
{
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct vector v = vector_of(all[i]);
		struct wire_welcome w;
		enum wire_type type;

		v.b[1] = WIRE_VERSION + 1;
		CHECK_EQ(wire_type_of(v.b, v.len, &type), -EPROTONOSUPPORT);
		CHECK_EQ(wire_welcome_decode(v.b, v.len, &w), -EPROTONOSUPPORT);
	}
}

TEST(a_dict_whose_id_is_not_of_its_content_is_refused)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct vector v = vector_of("dict");
	struct wire_dict d;

	v.b[11] ^= 1; /* in the id */
	CHECK_EQ(wire_dict_decode(a, v.b, v.len, &d), -EBADMSG);
	v.b[11] ^= 1;
	v.b[v.len - 1] ^= 1; /* in the last metric's kind */
	CHECK_EQ(wire_dict_decode(a, v.b, v.len, &d), -EBADMSG);
}

TEST(a_dict_of_no_metrics_or_of_too_many_is_refused)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	static struct wire_metric many[ITEM_MAX_VALUES];
	struct wire_dict got, d = { .entity_kind = "x", .n = ITEM_MAX_VALUES, .metrics = many };
	struct buf b = { 0 };
	uint8_t *count;

	for (int i = 0; i < ITEM_MAX_VALUES; i++)
		many[i] = (struct wire_metric){ "m", "", METRIC_GAUGE };
	d.layout = wire_layout_id(&d);
	wire_dict_encode(&b, &d);
	CHECK_EQ(wire_dict_decode(a, b.data, b.len, &got), 0);
	CHECK_EQ(got.n, ITEM_MAX_VALUES);
	count = memmem(b.data, b.len, "\xdc\x00\x80", 3);
	CHECK(count != NULL);
	count[2]++;
	buf_put(&b, "\x93\xa1m\xa0\x00", 5);
	CHECK_EQ(wire_dict_decode(a, b.data, b.len, &got), -EBADMSG);
	CHECK_EQ(wire_dict_decode(a, "\x95\x01\x03\x01\xa1x\x90", 7, &got), -EBADMSG);
	buf_free(&b);
}

TEST(a_hostile_count_in_a_message_takes_no_memory)
{
	static const uint8_t dict32[] = { 0x95, 1, 3, 1, 0xa1, 'x', 0xdd, 0x10, 0, 0, 0 };
	static const uint8_t str32[] = { 0x97, 1, 1, 0xdb, 0xff, 0xff, 0xff, 0xff, 'x' };
	static const uint8_t array32[] = { 0xdd, 0xff, 0xff, 0xff, 0xff, 1, 1 };

	CHECK_EQ(decode_any(dict32, sizeof(dict32)), -EBADMSG);
	CHECK_EQ(decode_any(str32, sizeof(str32)), -EBADMSG);
	CHECK_EQ(decode_any(array32, sizeof(array32)), -EBADMSG);
}

TEST(a_stream_that_there_is_not_is_refused)
{
	for (int stream = 0; stream < 8; stream++) {
		struct wire_mark got, m = { 1, 2, (uint8_t)stream, 3, 0, 0, 0 };
		bool exists = stream == STREAM_EVENT || stream == STREAM_METRIC;
		struct buf b = { 0 };

		wire_mark_encode(&b, WIRE_ACK, &m);
		CHECK_EQ(wire_mark_decode(b.data, b.len, &got), exists ? 0 : -EBADMSG);
		buf_free(&b);
	}
}

TEST(a_batch_of_seq_0_or_below_its_own_base_is_refused)
{
	static const uint64_t bad[][2] = { { 0, 0 }, { 0, 1 }, { 1, 0 }, { 4, 5 } };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct wire_batch_head got, h = { 1, 2, STREAM_EVENT, bad[i][0], bad[i][1], 9, 0 };
		struct buf b = { 0 };

		wire_batch_head_encode(&b, &h);
		CHECK_EQ(wire_batch_head_decode(b.data, b.len, &got), -EBADMSG);
		buf_free(&b);
	}
}

TEST(a_hello_without_a_name_or_with_a_zero_byte_in_it_is_refused)
{
	AUTO(arena_free) struct arena *a = arena_new(1 << 20);
	struct wire_hello h;

	CHECK_EQ(wire_hello_decode(a, "\x97\x01\x01\xa1n\x01\xa0\xa0\x01", 9, &h), 0);
	CHECK_EQ(wire_hello_decode(a, "\x97\x01\x01\xa0\x01\xa0\xa0\x01", 8, &h), -EBADMSG);
	CHECK_EQ(wire_hello_decode(a, "\x97\x01\x01\xa2n\0\x01\xa0\xa0\x01", 10, &h), -EBADMSG);
}

TEST(a_dict_too_big_for_its_arena_is_out_of_memory)
{
	AUTO(arena_free) struct arena *a = arena_new(64);
	struct vector v = vector_of("dict");
	struct wire_dict d;

	CHECK_EQ(wire_dict_decode(a, v.b, v.len, &d), -ENOMEM);
}

TEST(a_frame_over_the_limit_is_refused)
{
	AUTO_FREE uint8_t *f = malloc(WIRE_MAX_FRAME + 1);
	struct vector v = vector_of("need_dict");
	uint32_t fill = WIRE_MAX_FRAME - (uint32_t)v.len - 5;
	struct wire_need_dict n;

	memcpy(f, v.b, v.len);
	f[0]++;
	f[v.len] = 0xc6; /* bin 32: an appended field that fills the frame */
	for (int over = 0; over <= 1; over++, fill++) {
		for (int i = 0; i < 4; i++)
			f[v.len + 1 + i] = (uint8_t)(fill >> (24 - 8 * i));
		CHECK_EQ(wire_need_dict_decode(f, WIRE_MAX_FRAME + over, &n), over ? -EBADMSG : 0);
	}
}
