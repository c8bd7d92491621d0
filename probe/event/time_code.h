// SPDX-License-Identifier: Apache-2.0
/*
 * time_code.h - encodes a time in us in one byte, with an error of at most 6 %: eight steps per
 * power of two, up to 67 minutes.
 */
#pragma once

#include "lib/base/base.h"

enum {
	TIME_SUB_BITS = 3,
	TIME_SUBS = 1 << TIME_SUB_BITS,
	TIME_CODE_MAX = 239, /* the largest code whose time fits 32 bits */
};

static inline uint8_t time_code(uint64_t us)
{
	uint32_t shift, code;

	if (us < TIME_SUBS)
		return (uint8_t)us;
	shift = 63 - (uint32_t)__builtin_clzll(us) - TIME_SUB_BITS;
	if (shift > TIME_CODE_MAX / TIME_SUBS)
		return TIME_CODE_MAX;
	code = shift * TIME_SUBS + (uint32_t)(us >> shift);
	return code < TIME_CODE_MAX ? (uint8_t)code : TIME_CODE_MAX;
}

/* The shortest time with this code; others: the number of further times with it. */
static inline uint32_t time_of_code(uint8_t code, uint32_t *others)
{
	uint32_t shift = code < TIME_SUBS ? 0 : code / TIME_SUBS - 1u;

	*others = (1u << shift) - 1;
	return (code - shift * TIME_SUBS) << shift;
}
