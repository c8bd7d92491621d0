// SPDX-License-Identifier: Apache-2.0
/*
 * store_sample.c - makes rows of samples. Samples of the expected hours go to sample_raw, as small
 * as possible without compression: entities of one layout share a row, as many as fit, with their
 * values encoded by row_codec.h. All others get a row each in table sample.
 */
#include <assert.h>

#include "collector/db/copy.h"
#include "collector/store/row/dims.h"
#include "collector/codec/row_codec.h"
#include "collector/store/row/store.h"

enum {
	/*
	 * PostgreSQL keeps a row of up to 2,032 bytes inline. Of these the row's head and its first
	 * three columns take 48, the head of the array of entities 24, and alignment 7.
	 */
	ROW_ROOM = 2032 - 48 - 24 - 7,
	ROW_ENTITIES = 64,
	/* of a row in COPY: two bytes, four fields of 12, the array's head of 24; then
	 * each value */
	SAMPLE_ROW_BYTES = 2 + 4 * 12 + 24,
	SAMPLE_VALUE_BYTES = 12,
	RAW_ROW_BYTES = 2 + 3 * 12 + 24 + 12 + 4 + 7, /* and the remaining bits */
	RAW_VALUE_BYTES = 9,
};

_Static_assert(ROW_ROOM > (int)RAW_VALUE_BYTES * (int)ITEM_MAX_VALUES, "a sample fits into a row");
_Static_assert(ROW_ROOM + 8 * (int)ITEM_MAX_VALUES <= (int)RAW_MAX_BYTES, "and one more is tried");

/* Writes one row and returns how many entities, from `first` on, it holds. */
static uint32_t put_shared_row(struct batch *b, uint32_t first, struct row_codec *raw)
{
	struct rows *rows = &b->rows[FACT_SAMPLE_RAW];
	const struct sample_item *s = &b->items.samples[first];
	uint32_t n = 0, most = b->items.nsamples - first;

	row_codec_begin(raw);
	most = most < ROW_ENTITIES ? most : ROW_ENTITIES;
	while (n < most && b->layout[first + n] == b->layout[first] &&
	       row_codec_add(raw, s[n].v, s[n].n, ROW_ROOM - (n + 1) * sizeof(*b->entity_id)))
		n++;
	assert(n);
	copy_row(&rows->bytes, 5);
	copy_time(&rows->bytes, b->tick_ns);
	copy_int8(&rows->bytes, (int64_t)b->of.node_id);
	copy_int8(&rows->bytes, (int64_t)b->layout[first]->id);
	copy_int8s(&rows->bytes, b->entity_id + first, n);
	copy_len(&rows->bytes, row_codec_len(raw));
	row_codec_put(&rows->bytes, raw);
	rows->n++;
	return n;
}

static void put_shared_rows(struct batch *b)
{
	struct row_codec raw;

	for (uint32_t i = 0; i < b->items.nsamples;)
		i += put_shared_row(b, i, &raw);
}

static void put_own_row(struct batch *b, uint32_t i)
{
	const struct sample_item *s = &b->items.samples[i];
	struct rows *rows = &b->rows[FACT_SAMPLE];

	copy_row(&rows->bytes, 5);
	copy_time(&rows->bytes, b->tick_ns);
	copy_int8(&rows->bytes, (int64_t)b->of.node_id);
	copy_int8(&rows->bytes, (int64_t)b->entity_id[i]);
	copy_int8(&rows->bytes, (int64_t)s->layout);
	copy_float8s(&rows->bytes, s->v, s->n);
	rows->n++;
}

/* Samples are most of all bytes, and their size is known beforehand. */
void store_samples(struct batch *b)
{
	bool raw = b->tick_ns >= b->raw_from_ns && b->tick_ns < b->raw_until_ns;
	size_t values = 0;

	for (uint32_t i = 0; i < b->items.nsamples; i++) {
		const struct sample_item *s = &b->items.samples[i];

		b->entity_id[i] = dims_entity_id(b->layout[i]->kind, s->entity);
		values += s->n;
	}
	buf_reserve(&b->rows[raw ? FACT_SAMPLE_RAW : FACT_SAMPLE].bytes,
		    b->items.nsamples * (raw ? RAW_ROW_BYTES : SAMPLE_ROW_BYTES) +
			    values * (raw ? RAW_VALUE_BYTES : SAMPLE_VALUE_BYTES));
	if (raw) {
		put_shared_rows(b);
		return;
	}
	for (uint32_t i = 0; i < b->items.nsamples; i++)
		put_own_row(b, i);
}
