// SPDX-License-Identifier: Apache-2.0
/* buf.h - a growing byte buffer, owned by the code that declares it and released by buf_free. */
#pragma once

#include "lib/base/base.h"

struct buf {
	unsigned char *data;
	size_t len, cap;
};

void buf_put(struct buf *b, const void *p,
	     size_t len); /* dies when memory runs out: never pass a size from outside */
void buf_reserve(struct buf *b, size_t len); /* makes room for len more bytes at once */
unsigned char *buf_add(struct buf *b, size_t len); /* appends len bytes for the caller to fill in */
void buf_free(struct buf *b);

static inline void buf_reset(struct buf *b)
{
	b->len = 0;
}
