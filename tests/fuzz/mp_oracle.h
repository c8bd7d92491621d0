// SPDX-License-Identifier: Apache-2.0
/*
 * mp_oracle.h - lib/mp beside msgpack-c over the same bytes, for the fuzzer and for a unit test.
 *
 * oracle_agrees answers NULL when both say the same: whether a whole value stands there, where it
 * ends, and for each value in it the type and the value; else a sentence about the first
 * difference. These differences are wanted, and no others:
 *  - mp refuses what nests deeper than 16, msgpack-c what nests deeper than 32;
 *  - mp_uint takes unsigned forms only; to msgpack-c 5 in a signed form is positive, too;
 *  - a count larger than the input cannot be true. msgpack-c 4.0.0 believes it and reserves the
 *    memory (8 GiB for five bytes), so it is not asked.
 */
#pragma once

#include <math.h>
#include <msgpack.h>
#include <msgpack/unpack_define.h>

#include "lib/wire/mp.h"

enum { ORACLE_DEPTH = 16 };

struct oracle_tally {
	uint64_t whole, refused, unasked, deep,
		values; /* documents, and the values in whole ones */
};

/* msgpack-c's own state machine with callbacks that keep nothing: it only says what may be asked.
 */
struct guard {
	size_t len;
	bool lies;
};

static inline int guard_take(char *o)
{
	*o = 0;
	return 0;
}

#define GUARD_NUMBER(name, type)                                                                   \
	static inline int guard_##name(struct guard *g UNUSED, type v UNUSED, char *o)             \
	{                                                                                          \
		return guard_take(o);                                                              \
	}
#define GUARD_WORD(name)                                                                           \
	static inline int guard_##name(struct guard *g UNUSED, char *o)                            \
	{                                                                                          \
		return guard_take(o);                                                              \
	}
#define GUARD_BYTES(name)                                                                          \
	static inline int guard_##name(struct guard *g UNUSED, const char *in UNUSED,              \
				       const char *p UNUSED, unsigned n UNUSED, char *o)           \
	{                                                                                          \
		return guard_take(o);                                                              \
	}
#define GUARD_COUNT(name)                                                                          \
	static inline int guard_##name(struct guard *g, unsigned n, char *o)                       \
	{                                                                                          \
		g->lies |= n > g->len;                                                             \
		return g->lies ? -1 : guard_take(o);                                               \
	}
GUARD_NUMBER(uint8, uint8_t)
GUARD_NUMBER(uint16, uint16_t)
GUARD_NUMBER(uint32, uint32_t)
GUARD_NUMBER(uint64, uint64_t)
GUARD_NUMBER(int8, int8_t)
GUARD_NUMBER(int16, int16_t)
GUARD_NUMBER(int32, int32_t)
GUARD_NUMBER(int64, int64_t)
GUARD_NUMBER(float, float)
GUARD_NUMBER(double, double)
GUARD_WORD(nil)
GUARD_WORD(true)
GUARD_WORD(false)
GUARD_BYTES(str)
GUARD_BYTES(bin)
GUARD_BYTES(ext)
GUARD_COUNT(array)
GUARD_COUNT(map)

static inline char guard_root(struct guard *g UNUSED)
{
	return 0;
}

static inline int guard_array_item(struct guard *g UNUSED, char *array UNUSED, char v UNUSED)
{
	return 0;
}

static inline int guard_map_item(struct guard *g UNUSED, char *map UNUSED, char k UNUSED,
				 char v UNUSED)
{
	return 0;
}

#define msgpack_unpack_struct(name) struct guard##name
#define msgpack_unpack_func(type, name) static inline type guard##name
#define msgpack_unpack_callback(name) guard##name
#define msgpack_unpack_object char
#define msgpack_unpack_user struct guard
#include <msgpack/unpack_template.h>

static inline bool oracle_may_be_asked(const uint8_t *data, size_t len)
{
	struct guard_context c = { .user = { .len = len } };
	size_t off = 0;

	guard_init(&c);
	guard_execute(&c, (const char *)data, len, &off);
	return !c.user.lies;
}

enum { TAKES_UINT = 1, TAKES_REAL = 2, TAKES_STR = 4, TAKES_BIN = 8, TAKES_ARRAY = 16 };

/* Which getters must take what msgpack-c says stands there. */
static inline int oracle_takers(const msgpack_object *o, uint8_t tag)
{
	switch (o->type) {
	case MSGPACK_OBJECT_POSITIVE_INTEGER:
		return tag >= 0xd0 && tag <= 0xd3 ? TAKES_REAL : TAKES_REAL | TAKES_UINT;
	case MSGPACK_OBJECT_NIL:
	case MSGPACK_OBJECT_NEGATIVE_INTEGER:
	case MSGPACK_OBJECT_FLOAT32:
	case MSGPACK_OBJECT_FLOAT64:
		return TAKES_REAL;
	case MSGPACK_OBJECT_STR:
		return TAKES_STR;
	case MSGPACK_OBJECT_BIN:
		return TAKES_BIN;
	case MSGPACK_OBJECT_ARRAY:
		return TAKES_ARRAY;
	case MSGPACK_OBJECT_BOOLEAN:
	case MSGPACK_OBJECT_MAP:
	case MSGPACK_OBJECT_EXT:
		break;
	}
	return 0;
}

static inline int mp_takers(const struct mp *m)
{
	struct mp uint = *m, real = *m, str = *m, bin = *m, array = *m;
	uint32_t len;

	mp_uint(&uint);
	mp_double(&real);
	mp_str(&str, &len);
	mp_bin(&bin, &len);
	mp_array(&array);
	return (mp_bad(&uint) ? 0 : TAKES_UINT) | (mp_bad(&real) ? 0 : TAKES_REAL) |
	       (mp_bad(&str) ? 0 : TAKES_STR) | (mp_bad(&bin) ? 0 : TAKES_BIN) |
	       (mp_bad(&array) ? 0 : TAKES_ARRAY);
}

static inline bool oracle_same_real(const msgpack_object *o, double v)
{
	if (o->type == MSGPACK_OBJECT_NIL)
		return isnan(v);
	if (o->type == MSGPACK_OBJECT_POSITIVE_INTEGER)
		return v == (double)o->via.u64;
	if (o->type == MSGPACK_OBJECT_NEGATIVE_INTEGER)
		return v == (double)o->via.i64;
	return memcmp(&v, &o->via.f64, sizeof(v)) == 0 || (isnan(v) && isnan(o->via.f64));
}

static inline bool oracle_same_bytes(const void *p, uint32_t len, const void *q, uint32_t qlen)
{
	return len == qlen && (len == 0 || memcmp(p, q, len) == 0);
}

/* One value that getters take; m goes behind it, of an array behind its count. */
static inline bool oracle_same_value(struct mp *m, const msgpack_object *o, int takers)
{
	struct mp at = *m, max = *m, over = *m;
	uint32_t len;
	const void *p;

	if (takers & TAKES_UINT && mp_uint(&at) != o->via.u64)
		return false;
	if (takers & TAKES_UINT && mp_uint_max(&max, o->via.u64) != o->via.u64)
		return false;
	if (takers & TAKES_UINT && o->via.u64 && mp_uint_max(&over, o->via.u64 - 1) != 0)
		return false;
	if (takers & TAKES_UINT && (at.p != max.p || mp_bad(&max) || mp_bad(&over) != !!o->via.u64))
		return false;
	if (takers & TAKES_ARRAY)
		return mp_array(m) == o->via.array.size;
	if (takers & TAKES_REAL)
		return oracle_same_real(o, mp_double(m));
	p = takers & TAKES_STR ? (const void *)mp_str(m, &len) : (const void *)mp_bin(m, &len);
	return takers & TAKES_STR ? oracle_same_bytes(p, len, o->via.str.ptr, o->via.str.size)
				  : oracle_same_bytes(p, len, o->via.bin.ptr, o->via.bin.size);
}

static inline const char *oracle_same(struct mp *m, const msgpack_object *o,
				      struct oracle_tally *t);

static inline const char *oracle_same_map(struct mp *m, const msgpack_object *o,
					  struct oracle_tally *t)
{
	const char *why = NULL;

	m->p += *m->p == 0xde ? 3 : *m->p == 0xdf ? 5 : 1;
	for (uint32_t i = 0; i < o->via.map.size && !why; i++) {
		why = oracle_same(m, &o->via.map.ptr[i].key, t);
		if (!why)
			why = oracle_same(m, &o->via.map.ptr[i].val, t);
	}
	return why;
}

/* The value at m, and all in it; m goes behind it. */
static inline const char *oracle_same(struct mp *m, const msgpack_object *o, struct oracle_tally *t)
{
	struct mp skipped = *m;
	int takers = mp_takers(m);
	const char *why = NULL;

	mp_skip(&skipped);
	if (m->p == m->end)
		return "a value is missing";
	if (takers != oracle_takers(o, *m->p))
		return "a getter takes another type, or not its own";
	if (o->type == MSGPACK_OBJECT_MAP)
		why = oracle_same_map(m, o, t);
	else if (!takers)
		mp_skip(m);
	else if (!oracle_same_value(m, o, takers))
		why = "a value is another";
	for (uint32_t i = 0; takers & TAKES_ARRAY && i < o->via.array.size && !why; i++)
		why = oracle_same(m, &o->via.array.ptr[i], t);
	t->values++;
	return why || (!mp_bad(m) && m->p == skipped.p) ? why : "a value is skipped to another end";
}

static inline int oracle_depth(const msgpack_object *o)
{
	int deepest = 0;

	for (uint32_t i = 0; o->type == MSGPACK_OBJECT_ARRAY && i < o->via.array.size; i++) {
		int d = oracle_depth(&o->via.array.ptr[i]);

		deepest = d > deepest ? d : deepest;
	}
	for (uint32_t i = 0; o->type == MSGPACK_OBJECT_MAP && i < o->via.map.size; i++) {
		int k = oracle_depth(&o->via.map.ptr[i].key);
		int v = oracle_depth(&o->via.map.ptr[i].val);

		deepest = k > deepest ? k : deepest;
		deepest = v > deepest ? v : deepest;
	}
	return deepest + (o->type == MSGPACK_OBJECT_ARRAY || o->type == MSGPACK_OBJECT_MAP);
}

static inline const char *oracle_refuses(const struct mp *skipped, uint64_t *tally)
{
	++*tally;
	if (!mp_bad(skipped))
		return "mp takes what is to be refused";
	return skipped->p == skipped->end ? NULL : "a reader that went bad is not at its end";
}

static inline const char *oracle_whole(struct mp *m, const struct mp *skipped, const uint8_t *end,
				       const msgpack_object *o, struct oracle_tally *t)
{
	if (oracle_depth(o) > ORACLE_DEPTH)
		return oracle_refuses(skipped, &t->deep);
	t->whole++;
	if (mp_bad(skipped))
		return "mp refuses what is whole";
	if (skipped->p != end)
		return "mp ends elsewhere";
	return oracle_same(m, o, t);
}

/* *used: the bytes of the whole value that both read, 0 if there is none. */
static inline const char *oracle_agrees(const uint8_t *data, size_t len, size_t *used,
					struct oracle_tally *t)
{
	struct mp m = mp_over(data, len), skipped = m;
	msgpack_unpacked u;
	const char *why;
	size_t off = 0;

	*used = 0;
	mp_skip(&skipped);
	if (!oracle_may_be_asked(data, len))
		return oracle_refuses(&skipped, &t->unasked);
	msgpack_unpacked_init(&u);
	if (msgpack_unpack_next(&u, (const char *)data, len, &off) == MSGPACK_UNPACK_SUCCESS)
		why = oracle_whole(&m, &skipped, data + off, &u.data, t);
	else
		why = oracle_refuses(&skipped, &t->refused);
	msgpack_unpacked_destroy(&u);
	if (!mp_bad(&skipped))
		*used = (size_t)(skipped.p - data);
	return why;
}
