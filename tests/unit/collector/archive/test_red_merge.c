// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include <endian.h>

#include "collector/archive/red_merge.h"

enum { FIELDS = 7, SECOND = 1000000000 };

static const uint64_t slot_ns = 1790000400ull * SECOND;

struct row {
	uint64_t node, key, n, us;
	uint16_t status_class, lo;
	uint32_t nb;
	int32_t b[8];
};

/* An int4[] in PostgreSQL's binary format. */
static size_t array_of(const struct row *r, unsigned char out[static 128])
{
	uint32_t word[5 + 16] = { htobe32(r->nb ? 1 : 0), 0, htobe32(23), htobe32(r->nb),
				  htobe32(1) };

	for (uint32_t i = 0; i < r->nb; i++) {
		word[5 + 2 * i] = htobe32(4);
		word[6 + 2 * i] = htobe32((uint32_t)r->b[i]);
	}
	memcpy(out, word, sizeof(word));
	return r->nb ? 20 + 8 * (size_t)r->nb : 12;
}

static PGresult *result_of(const struct row *r, int cut)
{
	PGresult *res = PQmakeEmptyPGresult(NULL, PGRES_SINGLE_TUPLE);
	PGresAttDesc column[FIELDS] = { 0 };
	char name[] = "c";
	uint64_t eight[] = { htobe64(r->node), htobe64(r->key), 0, htobe64(r->n), htobe64(r->us) };
	uint16_t class = htobe16(r->status_class), lo = htobe16(r->lo);
	unsigned char b[128];
	int len = (int)array_of(r, b) - cut;

	for (int i = 0; i < FIELDS; i++)
		column[i].name = name;
	PQsetResultAttrs(res, FIELDS, column);
	for (int i = 0; i < 5; i++)
		PQsetvalue(res, 0, i, i == 2 ? (char *)&class : (char *)&eight[i], i == 2 ? 2 : 8);
	PQsetvalue(res, 0, 5, (char *)&lo, 2);
	PQsetvalue(res, 0, 6, (char *)b, len);
	return res;
}

static int take(struct red_merge *m, const struct row *r, int cut)
{
	AUTO(PQclear) PGresult *res = result_of(r, cut);

	return red_merge_row(m, res);
}

static void expect(struct buf *b, uint64_t node, uint64_t key, int16_t status_class, int64_t n,
		   int64_t us, const int16_t *slots, const uint64_t *counts, uint32_t nslots)
{
	copy_row(b, 8);
	copy_time(b, slot_ns);
	copy_int8(b, (int64_t)node);
	copy_int8(b, (int64_t)key);
	copy_int2(b, status_class);
	copy_int8(b, n);
	copy_int8(b, us);
	copy_int2s(b, slots, nslots);
	copy_int8s(b, counts, nslots);
}

static void same(const struct buf *a, const struct buf *b)
{
	CHECK_EQ(a->len, b->len);
	CHECK(a->len == b->len && memcmp(a->data, b->data, a->len) == 0);
}

TEST(rows_of_one_key_and_class_are_added_up_slot_by_slot)
{
	static const struct row rows[] = {
		{ 1, 5, 3, 30, 2, 4, 3, { 1, 0, 2 } }, { 1, 5, 4, 40, 2, 6, 2, { 3, 1 } },
		{ 1, 5, 1, 10, 5, 0, 1, { 1 } },       { 1, 6, 9, 90, 2, 0, 0, { 0 } },
		{ 2, 6, 2, 20, 2, 3, 1, { 2 } },
	};
	struct red_merge m = { 0 };
	struct buf want = { 0 };

	red_merge_begin(&m, slot_ns);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_EQ(take(&m, &rows[i], 0), 0);
	CHECK_EQ(m.nread, 5);
	CHECK_EQ(m.nrows, 3);
	red_merge_end(&m);
	red_merge_end(&m);
	CHECK_EQ(m.nrows, 4);
	copy_begin(&want);
	expect(&want, 1, 5, 2, 7, 70, (int16_t[]){ 4, 6, 7 }, (uint64_t[]){ 1, 5, 1 }, 3);
	expect(&want, 1, 5, 5, 1, 10, (int16_t[]){ 0 }, (uint64_t[]){ 1 }, 1);
	expect(&want, 1, 6, 2, 9, 90, NULL, NULL, 0);
	expect(&want, 2, 6, 2, 2, 20, (int16_t[]){ 3 }, (uint64_t[]){ 2 }, 1);
	same(&m.rows, &want);
	red_merge_free(&m);
	buf_free(&want);
}

TEST(a_key_continues_after_finished_rows_were_taken)
{
	static const struct row row = { 1, 5, 3, 30, 2, 4, 1, { 3 } };
	struct red_merge m = { 0 };
	struct buf want = { 0 };

	red_merge_begin(&m, slot_ns);
	CHECK_EQ(take(&m, &row, 0), 0);
	red_merge_taken(&m);
	CHECK_EQ(m.nread, 0);
	CHECK_EQ(take(&m, &row, 0), 0);
	red_merge_end(&m);
	copy_begin(&want);
	expect(&want, 1, 5, 2, 6, 60, (int16_t[]){ 4 }, (uint64_t[]){ 6 }, 1);
	same(&m.rows, &want);
	red_merge_free(&m);
	buf_free(&want);
}

TEST(slots_out_of_range_are_ignored_and_sums_saturate)
{
	static const struct row rows[] = {
		{ 1, 5, INT64_MAX, INT64_MAX, 2, 61, 4, { 1, 2, 3, 4 } },
		{ 1, 5, 7, 7, 2, 0, 2, { -5, 2 } },
	};
	struct red_merge m = { 0 };
	struct buf want = { 0 };

	red_merge_begin(&m, slot_ns);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_EQ(take(&m, &rows[i], 0), 0);
	red_merge_end(&m);
	copy_begin(&want);
	expect(&want, 1, 5, 2, INT64_MAX, INT64_MAX, (int16_t[]){ 1, 61, 62 },
	       (uint64_t[]){ 2, 1, 2 }, 3);
	same(&m.rows, &want);
	red_merge_free(&m);
	buf_free(&want);
}

TEST(durations_that_are_truncated_are_left_out_and_counted)
{
	static const struct row row = { 1, 5, 3, 30, 2, 4, 3, { 1, 0, 2 } };
	struct red_merge m = { 0 };

	red_merge_begin(&m, slot_ns);
	for (int cut = 1; cut <= 44; cut++)
		CHECK_EQ(take(&m, &row, cut), 0);
	CHECK_EQ(m.nbad, 44);
	CHECK_EQ(m.bad_node, 1);
	CHECK_EQ(m.bad_key, 5);
	CHECK_EQ(m.n, 44 * 3);
	red_merge_begin(&m, slot_ns);
	CHECK_EQ(m.nbad, 0);
	red_merge_free(&m);
}
