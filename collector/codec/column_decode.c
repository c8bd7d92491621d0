// SPDX-License-Identifier: Apache-2.0
/* column_decode.c - decodes a column. It trusts no byte: any inconsistency is -EBADMSG. */
#include "collector/codec/column.h"

#include <math.h>

enum { VARINT_BITS = 64, WIDTH_FINE = 25, WIDTH_MAX = 64, HEAD_KNOWN = 63 };

static const double EXACT = 0x1p56; /* largest number in a column: no sum overflows */

/* Reads bytes from the front. After the first error every read returns 0. */
struct in {
	const uint8_t *p, *end;
	bool bad;
};

static uint64_t fail(struct in *in)
{
	in->bad = true;
	in->p = in->end;
	return 0;
}

static unsigned get8(struct in *in)
{
	return in->p < in->end ? *in->p++ : (unsigned)fail(in);
}

static uint64_t get_varint(struct in *in)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < VARINT_BITS; shift += 7) {
		unsigned byte = get8(in);

		if (shift == 63 && byte > 1)
			return fail(in);
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return v;
	}
	return fail(in);
}

static int64_t get_signed(struct in *in)
{
	uint64_t v = get_varint(in);

	return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

/* Reads alternating run lengths of present and missing values. Returns the number present. */
static uint32_t get_missing(struct in *in, double *v, uint32_t n)
{
	uint64_t runs = get_varint(in);
	uint32_t at = 0, there = 0;

	for (uint64_t i = 0; i < runs && !in->bad; i++) {
		uint64_t len = get_varint(in);

		if (len > n - at || (!len && i)) {
			fail(in);
			break;
		}
		for (uint32_t end = at + (uint32_t)len; at < end; at++)
			v[at] = i % 2 ? NAN : 0;
		there += i % 2 ? 0 : (uint32_t)len;
	}
	if (at != n)
		fail(in);
	return in->bad ? 0 : there;
}

static void get_runs(struct in *in, int64_t *r, uint32_t n)
{
	for (uint32_t i = 0; i < n && !in->bad; i++) {
		uint64_t more;

		r[i] = get_signed(in);
		if (r[i])
			continue;
		more = get_varint(in);
		if (more >= n - i) {
			fail(in);
			return;
		}
		for (; more; more--)
			r[++i] = 0;
	}
}

static void get_packed(struct in *in, int64_t *r, uint32_t n)
{
	int64_t base = get_signed(in);
	unsigned width = get8(in);
	size_t len = ((size_t)n * width + 7) / 8;

	if (width > WIDTH_MAX || (width > WIDTH_FINE && width % 8) ||
	    (size_t)(in->end - in->p) < len) {
		fail(in);
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		size_t bit = (size_t)i * width;
		uint64_t x = 0;

		for (unsigned done = 0; done < width;) {
			unsigned shift = (bit + done) & 7;

			x |= (uint64_t)(in->p[(bit + done) >> 3] >> shift) << done;
			done += 8 - shift;
		}
		if (width < WIDTH_MAX)
			x &= (1ull << width) - 1;
		r[i] = (int64_t)((uint64_t)base + x);
	}
	in->p += len;
}

static bool is_sane(int64_t q)
{
	return fabs((double)q) <= EXACT;
}

/* Restores the values from their differences. */
static bool add_up(int64_t *q, uint32_t n, enum column_change change, bool bits)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!bits && !is_sane(q[i]))
			return false;
		if (change == COLUMN_DELTA && i > 0)
			q[i] += q[i - 1];
		else if (change == COLUMN_DELTA2 && i > 1)
			q[i] += 2 * q[i - 1] - q[i - 2];
		else if (change == COLUMN_XOR && i > 0)
			q[i] ^= q[i - 1];
		if (!bits && !is_sane(q[i]))
			return false;
	}
	return true;
}

static double value_of(int64_t q, enum column_kind kind, double scale)
{
	const uint32_t low = (uint32_t)q;
	double v;
	float f;

	switch (kind) {
	case COLUMN_DECIMAL:
		return (double)q / scale;
	case COLUMN_SHORT:
		return (double)(float)((double)q / scale);
	case COLUMN_FLOAT:
		memcpy(&f, &low, sizeof(f));
		return (double)f;
	case COLUMN_DOUBLE:
		break;
	}
	memcpy(&v, &q, sizeof(v));
	return v;
}

static void get_numbers(struct in *in, int64_t *q, uint32_t n, unsigned head)
{
	enum column_change change = head >> 2 & 3;
	uint32_t first = change == COLUMN_PLAIN ? 0 : change == COLUMN_DELTA2 ? 2 : 1;

	first = first < n ? first : n;
	for (uint32_t i = 0; i < first; i++)
		q[i] = get_signed(in);
	if (n == first)
		return;
	if (head & COLUMN_RUNS)
		get_runs(in, q + first, n - first);
	else
		get_packed(in, q + first, n - first);
}

/* Reads the present values, which are 0 in v so far; the missing ones are NaN. */
static int get_values(struct in *in, unsigned head, unsigned decimals, uint32_t there, double *v,
		      uint32_t n)
{
	enum column_kind kind = head & 3;
	AUTO_FREE int64_t *q = calloc(there + 1u, sizeof(*q));
	uint32_t at = 0;

	if (!q)
		return -ENOMEM;
	if (there)
		get_numbers(in, q, there, head);
	if (in->bad || in->p != in->end || !add_up(q, there, head >> 2 & 3, kind >= COLUMN_FLOAT))
		return -EBADMSG;
	for (uint32_t i = 0; i < n; i++)
		if (!isnan(v[i]))
			v[i] = value_of(q[at++], kind, column_scale[decimals]);
	return 0;
}

/* Deltas are for numbers, xor is for bits. */
static bool is_head(unsigned head)
{
	enum column_change change = head >> 2 & 3;

	return head <= HEAD_KNOWN &&
	       (change == COLUMN_PLAIN || (change == COLUMN_XOR) == ((head & 3) >= COLUMN_FLOAT));
}

int column_get(const uint8_t *p, size_t len, double *v, uint32_t n)
{
	struct in in = { p, p + len, false };
	unsigned head, decimals = 0;
	uint32_t there = n;

	if (get_varint(&in) != (uint64_t)(in.end - in.p))
		return -EBADMSG;
	head = get8(&in);
	if (!is_head(head))
		return -EBADMSG;
	if ((head & 3) <= COLUMN_SHORT)
		decimals = get8(&in);
	if (decimals > COLUMN_MAX_DECIMALS || n > COLUMN_MAX_VALUES || get_varint(&in) != n)
		return -EBADMSG;
	for (uint32_t i = 0; i < n; i++)
		v[i] = 0;
	if (head & COLUMN_MISSING)
		there = get_missing(&in, v, n);
	return in.bad ? -EBADMSG : get_values(&in, head, decimals, there, v, n);
}

int column_count(const uint8_t *p, size_t len, uint32_t *n)
{
	struct in in = { p, p + len, false };
	uint64_t count;

	(void)get_varint(&in);
	if ((get8(&in) & 3) <= COLUMN_SHORT)
		(void)get8(&in);
	count = get_varint(&in);
	if (in.bad || count > COLUMN_MAX_VALUES)
		return -EBADMSG;
	*n = (uint32_t)count;
	return 0;
}

size_t column_len(const uint8_t *p, size_t room)
{
	struct in in = { p, p + room, false };
	uint64_t len = get_varint(&in);

	return in.bad || len > (uint64_t)(in.end - in.p) ? 0 : (size_t)(in.p - p) + (size_t)len;
}
