// SPDX-License-Identifier: Apache-2.0
#include "collector/codec/column.h"

#include <assert.h>
#include <math.h>

#include "lib/base/log.h"

enum { WIDTH_FINE = 25 }; /* wider ones take whole bytes; up to 25 bits fit 4 bytes at any offset */

static const double EXACT = 0x1p53;

const double column_scale[COLUMN_MAX_DECIMALS + 1] = { 1e0, 1e1, 1e2, 1e3, 1e4,
						       1e5, 1e6, 1e7, 1e8, 1e9 };

/* A column being encoded: its present values as integers (q), and their differences (r). */
struct encoding {
	uint32_t n; /* present values */
	int64_t *q, *r;
	enum column_kind kind;
	unsigned decimals;
};

/* One way to write it. */
struct plan {
	enum column_change change;
	bool runs;
	unsigned width;
	int64_t base;
	size_t bytes;
};

static void put8(struct buf *b, unsigned v)
{
	const uint8_t byte = (uint8_t)v;

	buf_put(b, &byte, 1);
}

static void put_varint(struct buf *b, uint64_t v)
{
	uint8_t byte[10];
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		byte[n++] = (uint8_t)(v | 0x80);
	byte[n++] = (uint8_t)v;
	buf_put(b, byte, n);
}

static uint64_t zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}

static unsigned bits_of(uint64_t v)
{
	return v ? 64u - (unsigned)__builtin_clzll(v) : 0;
}

static size_t varint_len(uint64_t v)
{
	return v ? (bits_of(v) + 6) / 7 : 1;
}

static bool is_same(double a, double b)
{
	return memcmp(&a, &b, sizeof(a)) == 0;
}

static bool is_whole(double scaled)
{
	return fabs(scaled) <= EXACT;
}

static bool as_decimals(struct encoding *w, const double *v, unsigned d, bool is_short)
{
	const double scale = column_scale[d];

	for (uint32_t i = 0; i < w->n; i++) {
		double scaled = v[i] * scale;
		double back;

		if (!is_whole(scaled))
			return false;
		w->q[i] = (int64_t)nearbyint(scaled);
		back = (double)w->q[i] / scale;
		if (!is_same(is_short ? (double)(float)back : back, v[i]))
			return false;
	}
	w->kind = is_short ? COLUMN_SHORT : COLUMN_DECIMAL;
	w->decimals = d;
	return true;
}

static bool as_floats(struct encoding *w, const double *v)
{
	for (uint32_t i = 0; i < w->n; i++) {
		float f = (float)v[i];
		uint32_t bits;

		if (!is_same((double)f, v[i]))
			return false;
		memcpy(&bits, &f, sizeof(bits));
		w->q[i] = bits;
	}
	w->kind = COLUMN_FLOAT;
	return true;
}

/* The first kind that holds all values: integers, then decimal fractions, then bits. */
static void number(struct encoding *w, const double *v)
{
	if (as_decimals(w, v, 0, false))
		return;
	for (unsigned d = 1; d < COLUMN_MAX_DECIMALS; d++)
		if (as_decimals(w, v, d, true) || as_decimals(w, v, d, false))
			return;
	if (as_floats(w, v))
		return;
	memcpy(w->q, v, w->n * sizeof(*v));
	w->kind = COLUMN_DOUBLE;
}

/* The number of leading values that have no difference and are stored as they are. */
static uint32_t leading(enum column_change change, uint32_t n)
{
	uint32_t first = change == COLUMN_PLAIN ? 0 : change == COLUMN_DELTA2 ? 2 : 1;

	return first < n ? first : n;
}

static void changes(const struct encoding *w, enum column_change change)
{
	const int64_t *q = w->q;

	for (uint32_t i = leading(change, w->n); i < w->n; i++) {
		switch (change) {
		case COLUMN_PLAIN:
			w->r[i] = q[i];
			break;
		case COLUMN_DELTA:
			w->r[i] = q[i] - q[i - 1];
			break;
		case COLUMN_DELTA2:
			w->r[i] = q[i] - 2 * q[i - 1] + q[i - 2];
			break;
		case COLUMN_XOR:
			w->r[i] = q[i] ^ q[i - 1];
			break;
		}
	}
}

static size_t runs_len(const int64_t *r, uint32_t n)
{
	size_t len = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t from = i;

		len += varint_len(zigzag(r[i]));
		if (r[i])
			continue;
		while (i + 1 < n && r[i + 1] == 0)
			i++;
		len += varint_len(i - from);
	}
	return len;
}

/* The bits of doubles may differ by more than an int64 holds, so they are packed without a base. */
static void pack_plan(const int64_t *r, uint32_t n, bool whole, struct plan *p)
{
	int64_t least = n ? r[0] : 0, most = least;

	for (uint32_t i = 1; i < n; i++) {
		least = r[i] < least ? r[i] : least;
		most = r[i] > most ? r[i] : most;
	}
	p->base = whole && least != most ? 0 : least;
	p->width = least == most ? 0 : whole ? 64 : bits_of((uint64_t)(most - least));
	if (p->width > WIDTH_FINE)
		p->width = (p->width + 7) / 8 * 8;
	p->bytes = varint_len(zigzag(p->base)) + 1 + ((size_t)n * p->width + 7) / 8;
}

static void consider(const struct encoding *w, enum column_change change, struct plan *best)
{
	struct plan p = { .change = change };
	uint32_t first = leading(change, w->n);
	size_t head = 0, runs;

	changes(w, change);
	for (uint32_t i = 0; i < first; i++)
		head += varint_len(zigzag(w->q[i]));
	pack_plan(w->r + first, w->n - first, w->kind == COLUMN_DOUBLE, &p);
	runs = runs_len(w->r + first, w->n - first);
	if (runs < p.bytes) {
		p.runs = true;
		p.bytes = runs;
	}
	p.bytes += head;
	if (!best->bytes || p.bytes < best->bytes)
		*best = p;
}

static struct plan choose(const struct encoding *w)
{
	struct plan best = { 0 };

	consider(w, COLUMN_PLAIN, &best);
	if (w->kind <= COLUMN_SHORT) {
		consider(w, COLUMN_DELTA, &best);
		consider(w, COLUMN_DELTA2, &best);
	} else {
		consider(w, COLUMN_XOR, &best);
	}
	changes(w, best.change);
	return best;
}

static void put_runs(struct buf *out, const int64_t *r, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t from = i;

		put_varint(out, zigzag(r[i]));
		if (r[i])
			continue;
		while (i + 1 < n && r[i + 1] == 0)
			i++;
		put_varint(out, i - from);
	}
}

/* The first value in the lowest bits of the first byte. */
static void put_packed(struct buf *out, const struct plan *p, const int64_t *r, uint32_t n)
{
	size_t len = ((size_t)n * p->width + 7) / 8;
	uint8_t *at;

	put_varint(out, zigzag(p->base));
	put8(out, p->width);
	at = buf_add(out, len);
	memset(at, 0, len);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t x = (uint64_t)r[i] - (uint64_t)p->base;
		size_t bit = (size_t)i * p->width;

		for (unsigned done = 0; done < p->width;) {
			unsigned shift = (bit + done) & 7;

			at[(bit + done) >> 3] |= (uint8_t)(x >> done << shift);
			done += 8 - shift;
		}
	}
}

static void put_missing(struct buf *out, const double *v, uint32_t n)
{
	struct buf runs = { 0 };
	uint64_t count = 0;
	bool there = true;

	for (uint32_t i = 0; i < n; there = !there, count++) {
		uint32_t from = i;

		while (i < n && !isnan(v[i]) == there)
			i++;
		put_varint(&runs, i - from);
	}
	put_varint(out, count);
	buf_put(out, runs.data, runs.len);
	buf_free(&runs);
}

static void put_values(struct buf *out, const struct encoding *w, const struct plan *p)
{
	uint32_t first = leading(p->change, w->n);

	for (uint32_t i = 0; i < first; i++)
		put_varint(out, zigzag(w->q[i]));
	if (w->n == first)
		return;
	if (p->runs)
		put_runs(out, w->r + first, w->n - first);
	else
		put_packed(out, p, w->r + first, w->n - first);
}

static void put_body(struct buf *out, const double *v, uint32_t n, struct encoding *w,
		     const double *there)
{
	struct plan p = { 0 };

	if (w->n) {
		number(w, there);
		p = choose(w);
	}
	put8(out, (unsigned)w->kind | (unsigned)p.change << 2 | (p.runs ? COLUMN_RUNS : 0) |
			  (w->n < n ? COLUMN_MISSING : 0));
	if (w->kind <= COLUMN_SHORT)
		put8(out, w->decimals);
	put_varint(out, n);
	if (w->n < n)
		put_missing(out, v, n);
	put_values(out, w, &p);
}

void column_put(struct buf *out, const double *v, uint32_t n)
{
	double *there = malloc((n + 1) * sizeof(*there));
	struct encoding w = { .q = malloc((n + 1) * sizeof(*w.q)),
			      .r = malloc((n + 1) * sizeof(*w.r)) };
	struct buf body = { 0 };

	assert(n <= COLUMN_MAX_VALUES);
	if (!there || !w.q || !w.r)
		die("out of memory");
	for (uint32_t i = 0; i < n; i++)
		if (!isnan(v[i]))
			there[w.n++] = v[i];
	put_body(&body, v, n, &w, there);
	put_varint(out, body.len);
	buf_put(out, body.data, body.len);
	buf_free(&body);
	free(there);
	free(w.q);
	free(w.r);
}
