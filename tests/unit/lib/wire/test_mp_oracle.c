// SPDX-License-Identifier: Apache-2.0
/* The reader beside msgpack-c on documents that are made here: the same ones in every run. */
#include "tests/fuzz/mp_oracle.h"
#include "tests/lib/test.h"

#include "lib/base/buf.h"

enum { DOCUMENTS = 4000, CUTS = 6, CHANGES = 10, NOISE = 64 };

static uint64_t state;
static struct oracle_tally tally;

static uint32_t below(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32) % n;
}

static int put(void *arg, const char *p, size_t len)
{
	buf_put(arg, p, len);
	return 0;
}

static void make_number(msgpack_packer *pk)
{
	uint64_t v = (uint64_t)below(UINT32_MAX) << 32 | below(UINT32_MAX);

	v >>= below(64);
	switch (below(4)) {
	case 0:
		msgpack_pack_uint64(pk, v);
		break;
	case 1:
		msgpack_pack_int64(pk, -(int64_t)(v >> 1));
		break;
	case 2:
		msgpack_pack_float(pk, (float)v / 3);
		break;
	case 3:
		msgpack_pack_double(pk, (double)v / -7);
		break;
	}
}

/* Numbers in forms wider than they need, which a packer does not choose by itself. */
static void make_wide(msgpack_packer *pk)
{
	static const uint8_t tags[] = {
		0xcc, 0xcd, 0xce, 0xcf, 0xd0, 0xd1, 0xd2, 0xd3, 0xca, 0xcb
	};
	static const uint8_t bytes[] = { 1, 2, 4, 8, 1, 2, 4, 8, 4, 8 };
	uint32_t i = below(sizeof(tags));
	char v[9] = { (char)tags[i] };

	for (int k = 1; k <= bytes[i]; k++)
		v[k] = (char)(below(2) ? below(256) : 0);
	pk->callback(pk->data, v, 1 + (size_t)bytes[i]);
}

static void make_bytes(msgpack_packer *pk)
{
	static const char text[70000];
	uint32_t len = below(20) ? below(40) : below(200) ? below(300) : below(sizeof(text));

	switch (below(3)) {
	case 0:
		msgpack_pack_str_with_body(pk, text, len);
		break;
	case 1:
		msgpack_pack_bin_with_body(pk, text, len);
		break;
	case 2:
		msgpack_pack_ext_with_body(pk, text, len, (int8_t)below(256));
		break;
	}
}

static void make(msgpack_packer *pk, int depth)
{
	uint32_t what = !depth ? 7 + below(2) : below(depth < 20 ? 9 : 7),
		 n = below(20) ? below(5) : below(20);

	if (what == 0)
		msgpack_pack_nil(pk);
	else if (what == 1)
		below(2) ? msgpack_pack_true(pk) : msgpack_pack_false(pk);
	else if (what < 4)
		make_number(pk);
	else if (what == 4)
		make_wide(pk);
	else if (what < 7)
		make_bytes(pk);
	else if (what == 7)
		msgpack_pack_array(pk, n);
	else
		msgpack_pack_map(pk, n);
	for (uint32_t i = 0; what >= 7 && i < (what == 7 ? n : 2 * n); i++)
		make(pk, depth + 1);
}

static void check_same(const uint8_t *data, size_t len)
{
	size_t used;
	const char *why = oracle_agrees(data, len, &used, &tally);

	if (!why)
		return;
	printf("    %s:", why);
	for (size_t i = 0; i < len && i < 100; i++)
		printf(" %02x", data[i]);
	printf("\n");
	CHECK(!why);
}

static void each_document(void (*check)(struct buf *b))
{
	struct buf b = { 0 };
	msgpack_packer pk;

	state = 0x9e3779b97f4a7c15;
	tally = (struct oracle_tally){ 0 };
	msgpack_packer_init(&pk, &b, put);
	for (int i = 0; i < DOCUMENTS && !test_failed; i++) {
		buf_reset(&b);
		make(&pk, 0);
		check(&b);
	}
	buf_free(&b);
}

static void check_whole(struct buf *b)
{
	check_same(b->data, b->len);
}

static void check_cut(struct buf *b)
{
	for (int i = 0; i < CUTS; i++)
		check_same(b->data, below((uint32_t)b->len));
}

static void check_changed(struct buf *b)
{
	for (int i = 0; i < CHANGES; i++) {
		b->data[below((uint32_t)b->len)] = (uint8_t)below(256);
		check_same(b->data, b->len);
	}
}

static void check_noise(struct buf *b)
{
	buf_reset(b);
	for (uint32_t i = 1 + below(NOISE); i; i--)
		buf_put(b, &(uint8_t){ (uint8_t)(below(2) ? 0x80 + below(128) : below(256)) }, 1);
	check_same(b->data, b->len);
}

TEST(what_msgpack_c_packs_is_read_as_msgpack_c_reads_it)
{
	each_document(check_whole);
	CHECK_EQ(tally.whole + tally.deep, DOCUMENTS);
	CHECK(tally.values > 4 * DOCUMENTS);
}

TEST(a_document_that_is_cut_is_refused_by_both)
{
	each_document(check_cut);
	CHECK_EQ(tally.whole, 0);
	CHECK_EQ(tally.refused + tally.unasked, DOCUMENTS * CUTS);
}

TEST(a_document_that_is_changed_is_the_same_to_both)
{
	each_document(check_changed);
	CHECK(tally.whole > DOCUMENTS && tally.refused > DOCUMENTS && tally.unasked > 100);
}

TEST(noise_is_the_same_to_both)
{
	each_document(check_noise);
	CHECK(tally.whole > DOCUMENTS / 10 && tally.refused > DOCUMENTS / 10);
	CHECK(tally.unasked > DOCUMENTS / 100);
}

TEST(every_first_byte_is_the_same_to_both)
{
	uint8_t in[70] = { 0 };

	tally = (struct oracle_tally){ 0 };
	for (int tag = 0; tag < 256; tag++) {
		for (int fill = 0; fill < 256; fill += 5) {
			memset(in, fill, sizeof(in));
			in[0] = (uint8_t)tag;
			for (size_t len = 0; len <= sizeof(in); len++)
				check_same(in, len);
		}
	}
	CHECK(tally.whole > 100000);
}

/* The differences that are wanted, by themselves: each is one, and has not gone away unseen. */

static msgpack_unpack_return oracle_says(const void *data, size_t len, size_t *off)
{
	msgpack_unpacked u;
	msgpack_unpack_return r;

	*off = 0;
	msgpack_unpacked_init(&u);
	r = msgpack_unpack_next(&u, data, len, off);
	msgpack_unpacked_destroy(&u);
	return r;
}

TEST(msgpack_c_takes_32_levels_and_the_reader_16)
{
	uint8_t deep[34];
	size_t off;

	memset(deep, 0x91, sizeof(deep));
	deep[32] = 0xc0;
	CHECK_EQ(oracle_says(deep, 33, &off), MSGPACK_UNPACK_SUCCESS);
	deep[32] = 0x91, deep[33] = 0xc0;
	CHECK(oracle_says(deep, 34, &off) < 0);
	tally = (struct oracle_tally){ 0 };
	for (size_t levels = 1; levels <= 33; levels++)
		check_same(deep + 33 - levels, levels + 1);
	CHECK_EQ(tally.whole, 16);
	CHECK_EQ(tally.deep, 16);
	CHECK_EQ(tally.refused, 1);
}

TEST(a_count_that_no_input_holds_is_refused_and_msgpack_c_is_not_asked)
{
	static const uint8_t huge[] = { 0xdd, 0x10, 0, 0, 0 };

	tally = (struct oracle_tally){ 0 };
	check_same(huge, sizeof(huge));
	CHECK_EQ(tally.unasked, 1);
}

TEST(an_ext_of_4_gigabytes_is_none_to_either)
{
	static const uint8_t ext[] = { 0xc9, 0xff, 0xff, 0xff, 0xff, 0, 0 };

	tally = (struct oracle_tally){ 0 };
	check_same(ext, sizeof(ext));
	CHECK_EQ(tally.refused, 1);
}
