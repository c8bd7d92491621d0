// SPDX-License-Identifier: Apache-2.0
/* buf.h - bytes that grow at the end. Owned by whoever declared it; buf_free gives them back. */
#pragma once

#include "lib/base/base.h"

struct buf {
	unsigned char *data;
	size_t len, cap;
};

void buf_put(struct buf *b, const void *p, size_t len); /* dies out of memory: sizes are ours */
void buf_reserve(struct buf *b, size_t len); /* so many more will come: no growing in between */
unsigned char *buf_add(struct buf *b, size_t len); /* so many more, for the caller to fill in */
void buf_free(struct buf *b);

static inline void buf_reset(struct buf *b)
{
	b->len = 0;
}
