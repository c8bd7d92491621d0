// SPDX-License-Identifier: Apache-2.0
/*
 * mp.h - reads msgpack from memory: a cursor that remembers the first error.
 *
 * Getters on a cursor that has gone bad return 0 and leave it bad, so a caller reads a whole record
 * and checks mp_bad once. A count is only accepted if that many bytes are left. Nothing is
 * allocated; strings point into the input.
 */
#pragma once

#include "lib/base/base.h"

struct mp {
	const uint8_t *p, *end;
	bool bad;
};

static inline struct mp mp_over(const void *data, size_t len)
{
	const uint8_t *p = data;

	return (struct mp){ .p = p, .end = len ? p + len : p };
}

static inline bool mp_bad(const struct mp *m)
{
	return m->bad;
}

uint32_t mp_array(struct mp *m);
uint64_t mp_uint(struct mp *m);
uint64_t mp_uint_max(struct mp *m, uint64_t max); /* a larger value makes the cursor bad */
double mp_double(struct mp *m); /* any number; nil is NaN: "unavailable" */
void mp_doubles(struct mp *m, double *v, uint32_t n); /* n of them */
const char *mp_str(struct mp *m, uint32_t *len);
const uint8_t *mp_bin(struct mp *m, uint32_t *len);
void mp_skip(struct mp *m); /* one value of any type, nested to 16 */
void mp_skip_n(struct mp *m, uint32_t n); /* the tail that a later version appended */
