// SPDX-License-Identifier: Apache-2.0
#include "collector/codec/row_codec.h"

#include <assert.h>
#include <endian.h>
#include <math.h>

enum { VERSION = 1, HEAD = 3, NARROW_END = 1 << 16 };

static const uint32_t WHOLE = 1u << 31; /* flag of four bytes: an integer, else a float */

static size_t bits_len(uint32_t bits)
{
	return (bits + 7) / 8;
}

/* Writes backwards and always both bytes; the next value overwrites a surplus one. */
static void add_narrow(struct row_codec *r, uint32_t u)
{
	const uint32_t two = u > UINT8_MAX;
	uint8_t *end = r->narrow_end + RAW_MAX_BYTES - r->at.narrow_bytes;

	end[-1] = (uint8_t)u;
	end[-2] = (uint8_t)(u >> 8);
	r->is_two[r->at.narrow++] = (uint8_t)two;
	r->at.narrow_bytes += 1 + two;
}

static void add_wide(struct row_codec *r, uint64_t bits, uint32_t eight)
{
	bits = htobe64(bits);
	memcpy(r->wide + r->at.wide_bytes, &bits, sizeof(bits));
	r->is_eight[r->at.wide++] = (uint8_t)eight;
	r->at.wide_bytes += 4 + 4 * eight;
}

static void add_float(struct row_codec *r, double v)
{
	const float f = (float)v;
	uint64_t bits;
	uint32_t low;

	memcpy(&bits, &v, sizeof(bits));
	memcpy(&low, &f, sizeof(low));
	if ((double)f == v && low < WHOLE)
		add_wide(r, (uint64_t)low << 32, 0);
	else
		add_wide(r, bits, 1);
}

/* -0 does not count as zero; a missing value is a narrow 0. */
static void add_value(struct row_codec *r, double v)
{
	const bool in_range = v >= 1 && v < (double)WHOLE;
	const uint32_t u = in_range ? (uint32_t)v : 0;
	const bool whole = in_range && (double)u == v;
	uint64_t bits;
	bool narrow;

	memcpy(&bits, &v, sizeof(bits));
	narrow = (whole && u < NARROW_END) || v != v;
	r->is_narrow[r->at.n] = narrow;
	r->is_wide[r->at.n++] = !narrow && bits;
	if (narrow)
		add_narrow(r, u);
	else if (whole)
		add_wide(r, (uint64_t)(u + WHOLE) << 32, 0);
	else if (bits)
		add_float(r, v);
}

size_t row_codec_len(const struct row_codec *r)
{
	return HEAD + 2 * bits_len(r->at.n) + bits_len(r->at.narrow) + bits_len(r->at.wide) +
	       r->at.narrow_bytes + r->at.wide_bytes;
}

bool row_codec_add(struct row_codec *r, const double *v, uint32_t n, size_t limit)
{
	const struct row_codec_at before = r->at;

	if (before.n + n > RAW_MAX_VALUES)
		return false;
	assert(before.wide_bytes + before.narrow_bytes + n * sizeof(*v) <= RAW_MAX_BYTES);
	for (uint32_t i = 0; i < n; i++)
		add_value(r, v[i]);
	if (row_codec_len(r) <= limit)
		return true;
	r->at = before;
	return false;
}

/* Eight at once: the multiplication collects them in the highest byte. */
static uint8_t *put_bits(uint8_t *out, const uint8_t *is, uint32_t n)
{
	uint64_t eight;

	for (; n >= 8; n -= 8, is += 8) {
		memcpy(&eight, is, sizeof(eight));
		*out++ = (uint8_t)(le64toh(eight) * 0x0102040810204080u >> 56);
	}
	if (!n)
		return out;
	*out = 0;
	for (uint32_t i = 0; i < n; i++)
		*out |= (uint8_t)(is[i] << i);
	return out + 1;
}

void row_codec_put(struct buf *out, const struct row_codec *r)
{
	uint8_t *p = buf_add(out, row_codec_len(r));

	*p++ = VERSION;
	*p++ = (uint8_t)(r->at.n >> 8);
	*p++ = (uint8_t)r->at.n;
	p = put_bits(p, r->is_narrow, r->at.n);
	p = put_bits(p, r->is_wide, r->at.n);
	p = put_bits(p, r->is_two, r->at.narrow);
	p = put_bits(p, r->is_eight, r->at.wide);
	memcpy(p, r->wide, r->at.wide_bytes);
	p += r->at.wide_bytes;
	memcpy(p, r->narrow_end + RAW_MAX_BYTES - r->at.narrow_bytes, r->at.narrow_bytes);
}

/* A bit field, and how many of its n bits are set; the rest of the last byte must be 0. */
struct bits {
	const uint8_t *p;
	uint32_t n, set;
};

static bool take_bits(const uint8_t **p, const uint8_t *end, uint32_t n, struct bits *b)
{
	*b = (struct bits){ *p, n, 0 };
	if ((size_t)(end - *p) < bits_len(n))
		return false;
	*p += bits_len(n);
	for (const uint8_t *at = b->p; at < *p; at++)
		b->set += (uint32_t)__builtin_popcount(*at);
	return n % 8 == 0 || !((*p)[-1] >> n % 8);
}

static bool bit(const struct bits *b, uint32_t i)
{
	return b->p[i / 8] >> i % 8 & 1;
}

static double narrow_value(const uint8_t *end, bool two)
{
	if (two)
		return end[-1] | end[-2] << 8;
	return end[-1] ? end[-1] : (double)NAN;
}

static double wide_value(const uint8_t *p, bool eight)
{
	uint64_t bits;
	uint32_t low;
	double v;
	float f;

	if (eight) {
		memcpy(&bits, p, sizeof(bits));
		bits = be64toh(bits);
		memcpy(&v, &bits, sizeof(v));
		return v;
	}
	memcpy(&low, p, sizeof(low));
	low = be32toh(low);
	memcpy(&f, &low, sizeof(f));
	return low >= WHOLE ? (double)(low - WHOLE) : (double)f;
}

int row_codec_get(const uint8_t *p, size_t len, double *v, uint32_t n)
{
	const uint8_t *end = p + len;
	struct bits narrow, wide, two, eight;
	uint32_t narrows = 0, wides = 0;

	if (len < HEAD || p[0] != VERSION || (uint32_t)(p[1] << 8 | p[2]) != n)
		return -EBADMSG;
	p += HEAD;
	if (!take_bits(&p, end, n, &narrow) || !take_bits(&p, end, n, &wide) ||
	    !take_bits(&p, end, narrow.set, &two) || !take_bits(&p, end, wide.set, &eight) ||
	    (size_t)(end - p) != narrow.set + two.set + 4ul * wide.set + 4ul * eight.set)
		return -EBADMSG;
	for (uint32_t i = 0; i < n; i++) {
		v[i] = 0;
		if (bit(&narrow, i) && bit(&wide, i))
			return -EBADMSG;
		if (bit(&narrow, i)) {
			v[i] = narrow_value(end, bit(&two, narrows));
			end -= 1 + bit(&two, narrows++);
		} else if (bit(&wide, i)) {
			v[i] = wide_value(p, bit(&eight, wides));
			p += bit(&eight, wides++) ? 8 : 4;
		}
	}
	return 0;
}
