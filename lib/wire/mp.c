// SPDX-License-Identifier: Apache-2.0
#include "lib/wire/mp.h"

#include <endian.h>
#include <math.h>

enum { MAX_DEPTH = 16 };

static uint64_t fail(struct mp *m)
{
	m->bad = true;
	m->p = m->end;
	return 0;
}

/* With a constant size this compiles to a load and a byte swap. */
static inline uint64_t load(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	memcpy((uint8_t *)&v + sizeof(v) - n, p, n);
	return be64toh(v);
}

static inline uint64_t be(struct mp *m, size_t n)
{
	const uint8_t *p = m->p;

	if ((size_t)(m->end - p) < n)
		return fail(m);
	m->p += n;
	switch (n) {
	case 1:
		return *p;
	case 2:
		return load(p, 2);
	case 4:
		return load(p, 4);
	}
	return load(p, 8);
}

static uint32_t count(struct mp *m, uint64_t n)
{
	return n <= (size_t)(m->end - m->p) ? (uint32_t)n : (uint32_t)fail(m);
}

uint32_t mp_array(struct mp *m)
{
	uint64_t t = be(m, 1);

	if (t >> 4 == 0x9)
		return count(m, t & 0xf);
	if (t == 0xdc)
		return count(m, be(m, 2));
	if (t == 0xdd)
		return count(m, be(m, 4));
	return (uint32_t)fail(m);
}

uint64_t mp_uint(struct mp *m)
{
	uint64_t t = be(m, 1);

	if (t < 0x80)
		return t;
	if (t >= 0xcc && t <= 0xcf)
		return be(m, 1u << (t - 0xcc));
	return fail(m);
}

uint64_t mp_uint_max(struct mp *m, uint64_t max)
{
	uint64_t v = mp_uint(m);

	return v <= max ? v : fail(m);
}

static double real(struct mp *m, size_t n)
{
	uint64_t bits = be(m, n);
	uint32_t low = (uint32_t)bits;
	float f;
	double d;

	if (n == 4) {
		memcpy(&f, &low, sizeof(f));
		return (double)f;
	}
	memcpy(&d, &bits, sizeof(d));
	return d;
}

/* A two's complement number of n bytes. */
static double negative(struct mp *m, size_t n)
{
	unsigned shift = 64 - 8 * (unsigned)n;

	return (double)((int64_t)(be(m, n) << shift) >> shift);
}

static inline double number(struct mp *m)
{
	uint8_t t = m->p < m->end ? *m->p : 0xc1;

	m->p += m->p < m->end;
	if (t < 0x80)
		return t;
	if (t >= 0xcc && t <= 0xcf)
		return (double)be(m, 1u << (t - 0xcc));
	if (t >= 0xe0)
		return (double)(int8_t)t;
	if (t == 0xc0)
		return NAN;
	if (t == 0xca || t == 0xcb)
		return real(m, t == 0xca ? 4 : 8);
	if (t >= 0xd0 && t <= 0xd3)
		return negative(m, 1u << (t - 0xd0));
	return (double)fail(m);
}

double mp_double(struct mp *m)
{
	return number(m);
}

/*
 * Unsigned numbers of all widths take the same path, as the next width cannot be predicted: a load
 * from after the type byte (or of the type byte, if that is the number) and a shift.
 */
void mp_doubles(struct mp *m, double *v, uint32_t n)
{
	static const uint8_t shift[4] = { 56, 48, 32, 0 };

	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *p = m->p;
		uint8_t t = p < m->end ? *p : 0xc1, wide = (uint8_t)(t - 0xcc);

		if ((t < 0x80 || wide < 4) && m->end - p > 8) {
			p += t >= 0x80;
			v[i] = (double)(load(p, 8) >> shift[t < 0x80 ? 0 : wide]);
			m->p = p + (t < 0x80 ? 1 : 1u << wide);
		} else {
			v[i] = number(m);
		}
	}
}

const char *mp_str(struct mp *m, uint32_t *len)
{
	uint64_t t = be(m, 1);
	const char *s;

	if (t >> 5 == 5)
		*len = count(m, t & 0x1f);
	else if (t >= 0xd9 && t <= 0xdb)
		*len = count(m, be(m, 1u << (t - 0xd9)));
	else
		*len = (uint32_t)fail(m);
	s = (const char *)m->p;
	m->p += *len;
	return s;
}

const uint8_t *mp_bin(struct mp *m, uint32_t *len)
{
	uint64_t t = be(m, 1);
	const uint8_t *s;

	*len = t >= 0xc4 && t <= 0xc6 ? count(m, be(m, 1u << (t - 0xc4))) : (uint32_t)fail(m);
	s = m->p;
	m->p += *len;
	return s;
}

static void drop(struct mp *m, uint64_t n)
{
	m->p += count(m, n);
}

static void skip_n(struct mp *m, uint64_t n, int depth);

static void skip(struct mp *m, int depth)
{
	static const uint8_t fixed[32] = {
		/* c0 */ 0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 4, 8, 1, 2, 4, 8,
		/* d0 */ 1, 2, 4, 8, 2, 3, 5, 9, 17, 0, 0, 0, 0, 0, 0, 0,
	};
	uint64_t t = be(m, 1), n = 0;

	if (m->bad || t < 0x80 || t >= 0xe0)
		return;
	if (t < 0x90)
		n = 2 * (t & 0xf);
	else if (t < 0xa0)
		n = t & 0xf;
	else if (t < 0xc0)
		return drop(m, t & 0x1f);
	else if (t >= 0xc4 && t <= 0xc6)
		return drop(m, be(m, 1u << (t - 0xc4)));
	else if (t >= 0xc7 && t <= 0xc9)
		return drop(m, be(m, 1u << (t - 0xc7)) + 1);
	else if (t >= 0xd9 && t <= 0xdb)
		return drop(m, be(m, 1u << (t - 0xd9)));
	else if (t == 0xdc || t == 0xdd)
		n = be(m, t == 0xdc ? 2 : 4);
	else if (t == 0xde || t == 0xdf)
		n = 2 * be(m, t == 0xde ? 2 : 4);
	else if (t == 0xc1)
		return (void)fail(m);
	else
		return drop(m, fixed[t - 0xc0]);
	if (depth == 0 || n > (size_t)(m->end - m->p))
		return (void)fail(m);
	skip_n(m, n, depth - 1);
}

/*
 * Most skipped values are numbers: their length with the type byte, indexed by it; 0: not a number.
 */
static void skip_n(struct mp *m, uint64_t n, int depth)
{
	static const uint8_t size[256] = {
		[0x00 ... 0x7f] = 1, [0xc0] = 1,	  [0xc2 ... 0xc3] = 1, [0xca] = 5,
		[0xcb] = 9,	     [0xcc] = 2,	  [0xcd] = 3,	       [0xce] = 5,
		[0xcf] = 9,	     [0xd0] = 2,	  [0xd1] = 3,	       [0xd2] = 5,
		[0xd3] = 9,	     [0xe0 ... 0xff] = 1,
	};

	for (; n && !m->bad; n--) {
		size_t left = (size_t)(m->end - m->p);
		uint8_t one = left ? size[*m->p] : 0;

		if (one && one <= left)
			m->p += one;
		else
			skip(m, depth);
	}
}

void mp_skip(struct mp *m)
{
	skip(m, MAX_DEPTH);
}

void mp_skip_n(struct mp *m, uint32_t n)
{
	skip_n(m, n, MAX_DEPTH);
}
