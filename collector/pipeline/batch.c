// SPDX-License-Identifier: Apache-2.0
#include "collector/pipeline/batch.h"

#include "lib/base/log.h"

/* The largest decoded body, one full of small requests, takes a quarter of this. */
enum { ARENA_LIMIT = 32 << 20 };

struct batch *batch_new(void)
{
	struct batch *b = calloc(1, sizeof(*b));

	if (!b)
		die("out of memory");
	b->arena = arena_new(ARENA_LIMIT);
	zmq_msg_init(&b->body);
	b->room = UINT32_MAX;
	b->relay = b->name = "";
	return b;
}

void batch_forget_rows(struct batch *b)
{
	for (int f = 0; f < FACT_END; f++) {
		buf_reset(&b->rows[f].bytes);
		b->rows[f].n = 0;
	}
	b->clamped = 0;
}

void batch_free(struct batch *b)
{
	if (!b)
		return;
	for (int f = 0; f < FACT_END; f++)
		buf_free(&b->rows[f].bytes);
	zmq_msg_close(&b->body);
	arena_free(b->arena);
	free(b);
}
