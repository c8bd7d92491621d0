// SPDX-License-Identifier: Apache-2.0
/* store_event.c - makes rows of events, and what requests and events have in common: ids, params,
 * evidence. */
#include "collector/store/row/store.h"

#include "lib/base/hash.h"
#include "lib/base/json.h"
#include "collector/db/copy.h"

enum { EVENT_FIELDS = 17, EVIDENCE_FIELDS = 14 };

#define DAY_NS (86400 * 1000000000ull)

uint64_t store_id(const struct wire_batch_head *h, const char *of, uint32_t place)
{
	uint64_t h64 = *of ? hash_add_str(HASH_START, of) : HASH_START;

	h64 = hash_add(h64, &h->node_id, sizeof(h->node_id));
	h64 = hash_add(h64, &h->epoch, sizeof(h->epoch));
	h64 = hash_add(h64, &h->stream, sizeof(h->stream));
	h64 = hash_add(h64, &h->seq, sizeof(h->seq));
	return hash_end(hash_add(h64, &place, sizeof(place)));
}

void store_params(struct buf *j, const struct param *param, uint32_t n)
{
	json_raw(j, "{");
	for (uint32_t i = 0; i < n; i++) {
		const struct param *p = &param[i];

		json_raw(j, i ? "," : "");
		json_text(j, p->key);
		json_raw(j, ":");
		if (p->text)
			json_text(j, p->text);
		else
			json_number(j, p->number);
	}
	json_raw(j, "}");
}

static void put_block(struct batch *b, const struct store_owner *o, const struct evidence_item *e,
		      uint32_t place)
{
	struct rows *rows = &b->rows[FACT_EVIDENCE];
	struct buf *out = &rows->bytes;
	int64_t after_ns = (int64_t)e->start_ns - (int64_t)o->start_ns;

	copy_row(out, EVIDENCE_FIELDS);
	copy_time(out, o->row_ns);
	copy_int8(out, (int64_t)b->of.node_id);
	copy_int8(out, (int64_t)o->id);
	copy_int2(out, copy_smallint(place));
	copy_int8(out, after_ns / 1000);
	copy_int8(out, copy_bigint(e->us));
	copy_int2(out, e->part);
	copy_int4(out, copy_int(e->pid));
	copy_int4(out, copy_int(e->tid));
	copy_text(out, e->comm);
	copy_text(out, e->call);
	copy_text(out, e->what);
	copy_text(out, e->who);
	if (e->stack)
		copy_int8(out, copy_bigint(e->stack));
	else
		copy_null(out);
	rows->n++;
}

void store_evidence(struct batch *b, const struct store_owner *o, const struct evidence_item *e,
		    uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		put_block(b, o, &e[i], i);
}

/* All updates of an ongoing event share one id, so that the last can be found. The id of a single
 * event is its place in the batch. */
static uint64_t event_id(const struct batch *b, const struct event_item *e, uint64_t place)
{
	uint64_t h = hash_add_str(HASH_START, "lasting");

	if (!e->id)
		return place;
	h = hash_add(h, &b->of.node_id, sizeof(b->of.node_id));
	return hash_end(hash_add(h, &e->id, sizeof(e->id)));
}

/* The day of an event that began before all partitions. An ongoing event gets one row per day,
 * however often it is updated. */
static uint64_t event_day(const struct batch *b, const struct event_item *e)
{
	return e->id ? b->now_ns - b->now_ns % DAY_NS : b->now_ns;
}

static uint64_t us_since(uint64_t row_ns, const struct event_item *e)
{
	uint64_t end_ns;

	if (row_ns <= e->start_ns || __builtin_mul_overflow(e->us, 1000, &end_ns) ||
	    __builtin_add_overflow(end_ns, e->start_ns, &end_ns) || end_ns < row_ns)
		return e->us;
	return (end_ns - row_ns) / 1000;
}

static void put_update(struct buf *o, const struct batch *b, const struct event_item *e,
		       uint64_t place)
{
	copy_int4(o, copy_int(e->update));
	copy_int2(o, e->going_on);
	copy_int8(o, (int64_t)b->of.epoch);
	if (e->id)
		copy_int8(o, (int64_t)place); /* its evidence belongs to this update */
	else
		copy_null(o);
}

void store_event(struct batch *b, uint32_t i, struct buf *json)
{
	const struct event_item *e = &b->items.events[i];
	bool known = store_has_day(b, e->start_ns);
	struct rows *rows = &b->rows[FACT_EVENT];
	struct buf *o = &rows->bytes;
	const struct store_owner owner = {
		.id = store_id(&b->of, "event", i),
		.start_ns = e->start_ns,
		.row_ns = known ? e->start_ns : event_day(b, e),
	};

	b->clamped += !known;
	b->event_stored_at[i] = o->len + STORED_AT;
	copy_row(o, EVENT_FIELDS);
	copy_time(o, owner.row_ns);
	copy_int8(o, (int64_t)b->of.node_id);
	copy_int8(o, (int64_t)event_id(b, e, owner.id));
	copy_time(o, b->now_ns); /* stored: overwritten at the commit */
	copy_text(o, e->kind);
	copy_int2(o, e->severity);
	copy_int4(o, copy_int(e->pid));
	copy_int4(o, copy_int(e->tid));
	copy_text(o, e->comm);
	copy_int8(o, copy_bigint(e->id && !known ? us_since(owner.row_ns, e) : e->us));
	copy_int8(o, copy_bigint(e->error_us));
	copy_int2(o, copy_smallint(e->reason));
	buf_reset(json);
	store_params(json, e->params, e->nparams);
	copy_jsonb(o, json->data, json->len);
	put_update(o, b, e, owner.id);
	rows->n++;
	store_evidence(b, &owner, e->evidence, e->nevidence);
}
