// SPDX-License-Identifier: Apache-2.0
/* store_profile.c - makes rows of profiles: one row per app and part of a minute, with its stacks
 * as arrays. */
#include "collector/db/copy.h"
#include "collector/store/row/store.h"

void store_profile(struct batch *b, uint32_t i)
{
	const struct profile_item *q = &b->items.profiles[i];
	struct rows *rows = &b->rows[FACT_PROFILE];
	bool known = store_has_day(b, q->start_ns);
	uint64_t kernel[ITEM_MAX_SEEN], user[ITEM_MAX_SEEN];
	uint32_t n[ITEM_MAX_SEEN];

	for (uint32_t k = 0; k < q->n; k++) {
		kernel[k] = q->seen[k].kernel;
		user[k] = q->seen[k].user;
		n[k] = q->seen[k].n;
	}
	copy_row(&rows->bytes, 7);
	copy_time(&rows->bytes, known ? q->start_ns : b->tick_ns);
	copy_int8(&rows->bytes, (int64_t)b->of.node_id);
	copy_text(&rows->bytes, q->app);
	copy_int4(&rows->bytes, copy_int(q->period_us));
	copy_int8s(&rows->bytes, kernel, q->n);
	copy_int8s(&rows->bytes, user, q->n);
	copy_int4s(&rows->bytes, n, q->n);
	rows->n++;
	b->clamped += !known;
}
