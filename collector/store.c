// SPDX-License-Identifier: Apache-2.0
/* store.c - items to rows for COPY. What the tables cannot hold is cut to what they can. */
#include "stage.h"

#include "../lib/hash.h"
#include "copy.h"
#include "jsonb.h"

/* In a row of request: the count, three bigints before, and the length of the field itself. */
enum { STORED_AT = 2 + 3 * (4 + 8) + 4, REQUEST_FIELDS = 30 };

static bool has_partition(const struct batch *b, uint64_t wall_ns)
{
	return wall_ns >= b->from_ns && wall_ns < b->until_ns;
}

static uint64_t hash_name(const char *kind, const char *name)
{
	return hash_end(hash_add_str(hash_add_str(HASH_START, kind), name));
}

static uint64_t hash_key(const struct red_item *q)
{
	uint64_t h =
		hash_add_str(hash_add_str(hash_add_str(HASH_START, q->app), q->route), q->peer);

	return hash_end(hash_add(h, &q->role, sizeof(q->role)));
}

static uint64_t hash_request(const struct wire_batch_head *h, uint32_t place)
{
	uint64_t h64 = hash_add(HASH_START, &h->node_id, sizeof(h->node_id));

	h64 = hash_add(h64, &h->epoch, sizeof(h->epoch));
	h64 = hash_add(h64, &h->stream, sizeof(h->stream));
	h64 = hash_add(h64, &h->seq, sizeof(h->seq));
	return hash_end(hash_add(h64, &place, sizeof(place)));
}

static void put_sample(struct batch *b, uint32_t i)
{
	const struct sample_item *s = &b->items.samples[i];
	struct rows *rows = &b->rows[FACT_SAMPLE];

	b->entity_id[i] = hash_name(b->layout[i]->kind, s->entity);
	copy_row(&rows->bytes, 5);
	copy_time(&rows->bytes, b->tick_ns);
	copy_int8(&rows->bytes, (int64_t)b->head.node_id);
	copy_int8(&rows->bytes, (int64_t)b->entity_id[i]);
	copy_int8(&rows->bytes, (int64_t)s->layout);
	copy_float8s(&rows->bytes, s->v, s->n);
	rows->n++;
}

static void put_red(struct batch *b, uint32_t i)
{
	const struct red_item *q = &b->items.reds[i];
	struct rows *rows = &b->rows[FACT_RED];

	b->key_id[i] = hash_key(q);
	copy_row(&rows->bytes, 8);
	copy_time(&rows->bytes, b->tick_ns);
	copy_int8(&rows->bytes, (int64_t)b->head.node_id);
	copy_int8(&rows->bytes, (int64_t)b->key_id[i]);
	copy_int2(&rows->bytes, q->status_class);
	copy_int8(&rows->bytes, copy_bigint(q->count));
	copy_int8(&rows->bytes, copy_bigint(q->sum_us));
	copy_int2(&rows->bytes, q->lo);
	copy_int4s(&rows->bytes, q->b, q->nb);
	rows->n++;
}

static void put_unread(struct batch *b, const struct unread_item *u)
{
	struct rows *rows = &b->rows[FACT_UNREAD];

	copy_row(&rows->bytes, 5);
	copy_time(&rows->bytes, b->tick_ns);
	copy_int8(&rows->bytes, (int64_t)b->head.node_id);
	copy_text(&rows->bytes, u->app);
	copy_text(&rows->bytes, u->kind);
	copy_int8(&rows->bytes, copy_bigint(u->count));
	rows->n++;
}

static void params_json(struct buf *j, const struct request_item *q)
{
	jsonb_raw(j, "{");
	for (uint32_t i = 0; i < q->nparams; i++) {
		const struct param *p = &q->params[i];

		jsonb_raw(j, i ? "," : "");
		jsonb_text(j, p->key);
		jsonb_raw(j, ":");
		if (p->text)
			jsonb_text(j, p->text);
		else
			jsonb_number(j, p->number);
	}
	jsonb_raw(j, "}");
}

static void number_member(struct buf *j, const char *name, uint64_t v)
{
	jsonb_raw(j, ",");
	jsonb_text(j, name);
	jsonb_raw(j, ":");
	jsonb_uint(j, v);
}

static void up_json(struct buf *j, const struct up_item *u)
{
	const char *error = u->error ? strerrordesc_np(u->error) : "";
	char text[ADDR_TEXT];

	jsonb_raw(j, "{\"addr\":");
	jsonb_text(j, up_addr_text(u, text));
	jsonb_raw(j, ",\"error\":");
	jsonb_text(j, error ? error : "Unknown error");
	number_member(j, "startUs", (uint64_t)copy_bigint(u->start_us));
	number_member(j, "connectUs", (uint64_t)copy_bigint(u->connect_us));
	number_member(j, "responseUs", (uint64_t)copy_bigint(u->response_us));
	number_member(j, "status", u->status);
	number_member(j, "retrans", u->retrans);
	number_member(j, "srttUs", u->srtt_us);
	number_member(j, "flags", u->flags & INT32_MAX);
	number_member(j, "localPort", u->local_port);
	jsonb_raw(j, "}");
}

static void ups_json(struct buf *j, const struct request_item *q)
{
	jsonb_raw(j, "[");
	for (uint32_t i = 0; i < q->nups; i++) {
		jsonb_raw(j, i ? "," : "");
		up_json(j, &q->ups[i]);
	}
	jsonb_raw(j, "]");
}

static void put_peers(struct buf *o, const struct request_item *q)
{
	copy_text(o, q->app);
	copy_text(o, q->comm);
	copy_int4(o, copy_int(q->pid));
	copy_int4(o, copy_int(q->tid));
	copy_inet(o, &q->remote);
	copy_int4(o, q->remote.port);
	copy_inet(o, &q->local);
	copy_int4(o, q->local.port);
	copy_text(o, q->method);
	copy_text(o, q->path);
	copy_text(o, q->route);
}

static void put_times(struct buf *o, const struct request_item *q)
{
	uint64_t upstream_us = 0;

	for (uint32_t i = 0; i < q->nups; i++)
		if (__builtin_add_overflow(upstream_us, q->ups[i].response_us, &upstream_us))
			upstream_us = UINT64_MAX;
	copy_int8(o, copy_bigint(q->request_us));
	copy_int8(o, copy_bigint(q->queue_us));
	if (q->nups)
		copy_int8(o, copy_bigint(upstream_us));
	else
		copy_null(o);
	copy_int8(o, copy_bigint(q->bytes_in));
	copy_int8(o, copy_bigint(q->bytes_out));
	copy_int8(o, copy_bigint(q->normal_us));
	copy_int8(o, copy_bigint(q->limit_us));
	copy_int4(o, copy_int(q->retrans));
	copy_int4(o, copy_int(q->srtt_us));
	copy_int4(o, copy_int(q->rcv_ooo));
}

static void put_request(struct batch *b, uint32_t i, struct buf *json)
{
	const struct request_item *q = &b->items.requests[i];
	struct rows *rows = &b->rows[FACT_REQUEST];
	struct buf *o = &rows->bytes;
	bool known = has_partition(b, q->start_ns);

	b->clamped += !known;
	b->stored_at[i] = o->len + STORED_AT;
	copy_row(o, REQUEST_FIELDS);
	copy_time(o, known ? q->start_ns : b->now_ns);
	copy_int8(o, (int64_t)b->head.node_id);
	copy_int8(o, (int64_t)hash_request(&b->head, i));
	copy_time(o, b->now_ns); /* stored: set anew at the commit */
	put_peers(o, q);
	copy_int4(o, (int32_t)(q->flags & INT32_MAX));
	copy_int2(o, copy_smallint(q->status));
	put_times(o, q);
	copy_int2(o, copy_smallint(q->reason));
	buf_reset(json);
	params_json(json, q);
	copy_jsonb(o, json->data, json->len);
	buf_reset(json);
	ups_json(json, q);
	copy_jsonb(o, json->data, json->len);
	rows->n++;
}

static int store_run(void *self, struct batch *b)
{
	struct buf *json = self;
	bool known = has_partition(b, b->head.wall_ns);

	if (b->poison)
		return STAGE_DONE;
	batch_forget_rows(b);
	b->tick_ns = known ? b->head.wall_ns : b->now_ns;
	b->entity_id = arena_alloc(b->arena, b->items.nsamples * sizeof(*b->entity_id));
	b->key_id = arena_alloc(b->arena, b->items.nreds * sizeof(*b->key_id));
	b->stored_at = arena_alloc(b->arena, b->items.nrequests * sizeof(*b->stored_at));
	for (uint32_t i = 0; i < b->items.nsamples; i++)
		put_sample(b, i);
	for (uint32_t i = 0; i < b->items.nreds; i++)
		put_red(b, i);
	for (uint32_t i = 0; i < b->items.nunreads; i++)
		put_unread(b, &b->items.unreads[i]);
	for (uint32_t i = 0; i < b->items.nrequests; i++)
		put_request(b, i, json);
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
