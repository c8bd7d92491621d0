// SPDX-License-Identifier: Apache-2.0
#include "lib/base/buf.h"

#include "lib/base/log.h"

static void grow(struct buf *b, size_t cap)
{
	void *data = realloc(b->data, cap);

	if (!data)
		die("out of memory");
	b->data = data;
	b->cap = cap;
}

void buf_reserve(struct buf *b, size_t len)
{
	if (b->cap - b->len < len)
		grow(b, b->len + len);
}

unsigned char *buf_add(struct buf *b, size_t len)
{
	if (b->cap - b->len < len)
		grow(b, (b->len + len) * 2);
	b->len += len;
	return b->data + b->len - len;
}

void buf_put(struct buf *b, const void *p, size_t len)
{
	if (len)
		memcpy(buf_add(b, len), p, len);
}

void buf_free(struct buf *b)
{
	free(b->data);
	*b = (struct buf){ 0 };
}
