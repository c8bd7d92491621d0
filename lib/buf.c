// SPDX-License-Identifier: Apache-2.0
#include "buf.h"

#include "log.h"

void buf_put(struct buf *b, const void *p, size_t len)
{
	if (b->cap - b->len < len) {
		size_t cap = (b->len + len) * 2;
		void *data = realloc(b->data, cap);

		if (!data)
			die("out of memory");
		b->data = data;
		b->cap = cap;
	}
	if (len)
		memcpy(b->data + b->len, p, len);
	b->len += len;
}

void buf_free(struct buf *b)
{
	free(b->data);
	*b = (struct buf){ 0 };
}
