// SPDX-License-Identifier: Apache-2.0
/*
 * store_sample.c - samples to rows. Those of an hour that is expected go to sample_raw, as small as
 * it can be without packing: the entities of one layout share a row, a zero is a bit, and what a
 * float4 holds is one. Any other has a row of its own in table sample.
 */
#include "../lib/hash.h"
#include "copy.h"
#include "store.h"

enum {
	ROW_VALUES = 384, /* all of them as float4s fit into a row that is not put aside */
	ROW_ENTITIES = 64,
	/* of a row in COPY: two bytes, four fields of 12, the array's head of 24; and each value */
	SAMPLE_ROW_BYTES = 2 + 4 * 12 + 24,
	SAMPLE_VALUE_BYTES = 12,
	RAW_ROW_BYTES = 2 + 3 * 12 + 3 * 24,
};

enum value_kind { VALUE_ZERO, VALUE_FLOAT4, VALUE_FLOAT8 };

/* What goes into one row of sample_raw. */
struct together {
	uint32_t first, n, values;
	double v[ROW_VALUES];
	uint8_t kind[ROW_VALUES];
};

_Static_assert((int)ROW_VALUES >= (int)ITEM_MAX_VALUES, "a sample fits into a row");

static uint64_t hash_name(const char *kind, const char *name)
{
	return hash_end(hash_add_str(hash_add_str(HASH_START, kind), name));
}

/* -0 is no zero here. A NaN is any. */
static uint8_t kind_of(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	if (bits == 0)
		return VALUE_ZERO;
	return (double)(float)v == v || v != v ? VALUE_FLOAT4 : VALUE_FLOAT8;
}

static void gather(struct together *t, const struct batch *b, uint32_t first)
{
	const struct sample_item *s = &b->items.samples[first];

	t->first = first;
	t->n = t->values = 0;
	for (uint32_t i = first; i < b->items.nsamples && t->n < ROW_ENTITIES; i++, s++) {
		if (b->layout[i] != b->layout[first] || t->values + s->n > ROW_VALUES)
			break;
		memcpy(t->v + t->values, s->v, s->n * sizeof(*s->v));
		t->values += s->n;
		t->n++;
	}
	for (uint32_t i = 0; i < t->values; i++)
		t->kind[i] = kind_of(t->v[i]);
}

static void put_together(struct batch *b, const struct together *t)
{
	struct rows *rows = &b->rows[FACT_SAMPLE_RAW];

	copy_row(&rows->bytes, 6);
	copy_time(&rows->bytes, b->tick_ns);
	copy_int8(&rows->bytes, (int64_t)b->of.node_id);
	copy_int8(&rows->bytes, (int64_t)b->layout[t->first]->id);
	copy_int8s(&rows->bytes, b->entity_id + t->first, t->n);
	copy_some_float4s(&rows->bytes, t->v, t->kind, VALUE_FLOAT4, t->values);
	copy_some_float8s(&rows->bytes, t->v, t->kind, VALUE_FLOAT8, t->values);
	rows->n++;
}

static void put_all_together(struct batch *b)
{
	struct together t;

	for (uint32_t i = 0; i < b->items.nsamples; i += t.n) {
		gather(&t, b, i);
		put_together(b, &t);
	}
}

static void put_alone(struct batch *b, uint32_t i)
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

/* Their bytes are most of all there are, and known beforehand. */
void store_samples(struct batch *b)
{
	bool raw = b->tick_ns >= b->raw_from_ns && b->tick_ns < b->raw_until_ns;
	size_t values = 0;

	for (uint32_t i = 0; i < b->items.nsamples; i++) {
		const struct sample_item *s = &b->items.samples[i];

		b->entity_id[i] = hash_name(b->layout[i]->kind, s->entity);
		values += s->n;
	}
	buf_reserve(&b->rows[raw ? FACT_SAMPLE_RAW : FACT_SAMPLE].bytes,
		    b->items.nsamples * (raw ? RAW_ROW_BYTES : SAMPLE_ROW_BYTES) +
			    values * SAMPLE_VALUE_BYTES);
	if (raw) {
		put_all_together(b);
		return;
	}
	for (uint32_t i = 0; i < b->items.nsamples; i++)
		put_alone(b, i);
}
