// SPDX-License-Identifier: Apache-2.0
/* store.c - makes rows of items for COPY. Values that exceed a column are clamped. */
#include "collector/pipeline/stage.h"

#include "lib/base/hash.h"
#include "collector/db/copy.h"
#include "collector/store/row/remote_rollups.h"
#include "collector/store/row/store.h"

/* Limits above any real ten-second count, so that sums of many fit a bigint. */
static const uint64_t MOST_US = 1000000000000000, MOST_JUDGED = 1000000000000;

static int64_t at_most(uint64_t v, uint64_t most)
{
	return (int64_t)(v < most ? v : most);
}

static uint64_t hash_key(const struct red_item *q)
{
	uint64_t h =
		hash_add_str(hash_add_str(hash_add_str(HASH_START, q->app), q->route), q->peer);

	return hash_end(hash_add(h, &q->role, sizeof(q->role)));
}

static void put_red(struct batch *b, uint32_t i)
{
	const struct red_item *q = &b->items.reds[i];
	struct rows *rows = &b->rows[FACT_RED];

	b->key_id[i] = hash_key(q);
	copy_row(&rows->bytes, 10);
	copy_time(&rows->bytes, b->tick_ns);
	copy_int8(&rows->bytes, (int64_t)b->of.node_id);
	copy_int8(&rows->bytes, (int64_t)b->key_id[i]);
	copy_int2(&rows->bytes, q->status_class);
	copy_int8(&rows->bytes, copy_bigint(q->count));
	copy_int8(&rows->bytes, copy_bigint(q->sum_us));
	copy_int2(&rows->bytes, q->lo);
	copy_int4s(&rows->bytes, q->b, q->nb);
	if (q->judged)
		copy_int8(&rows->bytes, at_most(q->excess_us, MOST_US));
	else
		copy_null(&rows->bytes);
	copy_int8(&rows->bytes, at_most(q->judged, MOST_JUDGED));
	rows->n++;
}

static void put_unread(struct batch *b, const struct unread_item *u)
{
	struct rows *rows = &b->rows[FACT_UNREAD];

	copy_row(&rows->bytes, 5);
	copy_time(&rows->bytes, b->tick_ns);
	copy_int8(&rows->bytes, (int64_t)b->of.node_id);
	copy_text(&rows->bytes, u->app);
	copy_text(&rows->bytes, u->kind);
	copy_int8(&rows->bytes, copy_bigint(u->count));
	rows->n++;
}

static int store_run(void *self, struct batch *b)
{
	struct buf *json = self;
	bool known = store_has_day(b, b->of.wall_ns);

	if (!b->malformed)
		b->malformed = remote_rollups_refused(b);
	if (b->malformed)
		return STAGE_DONE;
	batch_forget_rows(b);
	b->tick_ns = known ? b->of.wall_ns : b->now_ns;
	b->entity_id = arena_alloc(b->arena, b->items.nsamples * sizeof(*b->entity_id));
	b->key_id = arena_alloc(b->arena, b->items.nreds * sizeof(*b->key_id));
	b->checks_id = arena_alloc(b->arena, b->items.nrequests * sizeof(*b->checks_id));
	b->stored_at = arena_alloc(b->arena, b->items.nrequests * sizeof(*b->stored_at));
	b->event_stored_at = arena_alloc(b->arena, b->items.nevents * sizeof(*b->event_stored_at));
	store_samples(b);
	for (uint32_t i = 0; i < b->items.nreds; i++)
		put_red(b, i);
	for (uint32_t i = 0; i < b->items.nunreads; i++)
		put_unread(b, &b->items.unreads[i]);
	for (uint32_t i = 0; i < b->items.nprofiles; i++)
		store_profile(b, i);
	for (uint32_t i = 0; i < b->items.nrequests; i++)
		store_request(b, i, json);
	for (uint32_t i = 0; i < b->items.nevents; i++)
		store_event(b, i, json);
	if (!known)
		b->clamped += b->items.nsamples + b->items.nreds + b->items.nunreads;
	return STAGE_NEXT;
}

static void store_close(void *self)
{
	buf_free(self);
}

const struct stage stage_store = {
	.name = "store",
	.size = sizeof(struct buf),
	.run = store_run,
	.close = store_close,
	STAGE_COUNTERS(STORE),
};
