// SPDX-License-Identifier: Apache-2.0
/*
 * wire_read.h - what wire_decode.c and wire_body.c read alike; nobody else includes it.
 *
 * Like the cursor they stand on, these return 0 or NULL once it has gone bad. The texts keep the
 * first error in *r: -EBADMSG for bytes that break a limit, -ENOMEM for an arena that is full.
 */
#pragma once

#include "mp.h"
#include "wire.h"

static inline void wire_read_fail(struct mp *m)
{
	m->bad = true;
	m->p = m->end;
}

/* Whole numbers are kept in signed columns. */
static inline uint64_t wire_read_u64(struct mp *m)
{
	return mp_uint_max(m, INT64_MAX);
}

static inline uint32_t wire_read_u32(struct mp *m)
{
	return (uint32_t)mp_uint_max(m, INT32_MAX);
}

const char *wire_read_name(struct mp *m, struct arena *a, int *r); /* <= ITEM_MAX_NAME */
const char *wire_read_key(struct mp *m, struct arena *a, int *r); /* a name that is not "" */
