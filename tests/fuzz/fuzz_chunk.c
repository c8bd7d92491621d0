// SPDX-License-Identifier: Apache-2.0
/*
 * fuzz_chunk.c - chunks, columns, and values that are not packed yet. The first byte says which.
 *
 * Whatever is read as a chunk with its CRC mended must be one that, packed again, is read as the
 * same; whatever is packed must come back, bit by bit.
 */
#include "tests/fuzz/check.h"

#include <math.h>

#include "collector/codec/chunk.h"
#include "collector/codec/column.h"
#include "collector/codec/row_codec.h"
#include "lib/base/crc32c.h"

enum { LIMIT = 8 << 20, CRC_AT = 2, CRC_FROM = 6, MAX = 4096 };

static void read_chunk(uint8_t *p, size_t len)
{
	AUTO(arena_free) struct arena *a = arena_new(LIMIT);
	struct chunk c, back;
	struct buf b = { 0 };

	if (len > CRC_FROM) {
		uint32_t crc = crc32c(0, p + CRC_FROM, len - CRC_FROM);

		for (int i = 0; i < 4; i++)
			p[CRC_AT + i] = (uint8_t)(crc >> 8 * (3 - i));
	}
	if (chunk_unpack(a, p, len, &c) < 0)
		return;
	chunk_pack(&b, &c);
	must(chunk_unpack(a, b.data, b.len, &back) != -EBADMSG);
	if (chunk_unpack(a, b.data, b.len, &back) == 0)
		must(chunk_equal(&c, &back));
	buf_free(&b);
}

static void same(const double *v, const double *back, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		must(isnan(v[i]) ? isnan(back[i]) : memcmp(&v[i], &back[i], sizeof(*v)) == 0);
}

static void pack_column(const uint8_t *p, size_t len)
{
	uint32_t n = (uint32_t)(len / sizeof(double));
	double v[MAX], back[MAX];
	struct buf b = { 0 };

	n = n < MAX ? n : MAX;
	memcpy(v, p, n * sizeof(*v));
	column_put(&b, v, n);
	must(column_get(b.data, b.len, back, n) == 0);
	same(v, back, n);
	buf_free(&b);
}

static void read_column(const uint8_t *p, size_t len)
{
	double v[MAX];
	uint32_t n;

	if (column_count(p, len, &n) == 0 && n <= MAX && column_get(p, len, v, n) == 0)
		must(column_len(p, len) == len);
}

/* In portions, of which some are too much; what was put must come back. */
static void put_raw(const double *v, uint32_t n)
{
	enum { PORTION = 100, LIMIT_BYTES = 2000 };
	static struct row_codec r;
	double back[MAX];
	struct buf b = { 0 };
	uint32_t taken = 0;

	row_codec_begin(&r);
	while (taken < n) {
		uint32_t m = n - taken < PORTION ? n - taken : PORTION;

		if (!row_codec_add(&r, v + taken, m, LIMIT_BYTES))
			break;
		taken += m;
	}
	row_codec_put(&b, &r);
	must(b.len == row_codec_len(&r) && b.len <= LIMIT_BYTES);
	must(row_codec_get(b.data, b.len, back, taken) == 0);
	same(v, back, taken);
	buf_free(&b);
}

/* As many as it says itself; and again from what was read. */
static void read_raw(const uint8_t *p, size_t len)
{
	double v[MAX];
	uint32_t n = len < 3 ? 0 : (uint32_t)(p[1] << 8 | p[2]);

	if (n <= MAX && row_codec_get(p, len, v, n) == 0)
		put_raw(v, n);
}

static void pack_raw(const uint8_t *p, size_t len)
{
	uint32_t n = (uint32_t)(len / sizeof(double));
	double v[MAX];

	n = n < MAX ? n : MAX;
	memcpy(v, p, n * sizeof(*v));
	put_raw(v, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t *copy;

	if (!len)
		return 0;
	copy = malloc(len);
	must(copy);
	memcpy(copy, data + 1, len - 1);
	switch (*data < 192 ? *data % 3 : 3 + *data % 2) {
	case 0:
		read_chunk(copy, len - 1);
		break;
	case 1:
		pack_column(copy, len - 1);
		break;
	case 2:
		read_column(copy, len - 1);
		break;
	case 3:
		pack_raw(copy, len - 1);
		break;
	default:
		read_raw(copy, len - 1);
	}
	free(copy);
	return 0;
}
