// SPDX-License-Identifier: Apache-2.0
#include "wire.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <msgpack.h>

#include "hash.h"

static int buf_write(void *arg, const char *p, size_t len)
{
	buf_put(arg, p, len);
	return 0;
}

static msgpack_packer packer(struct buf *out)
{
	msgpack_packer pk;

	msgpack_packer_init(&pk, out, buf_write);
	return pk;
}

/*
 * What was measured is held to the wire's limits here: a counter that ran backwards or a name that
 * is too long costs its own value, and not the batch that a reader would refuse.
 */
static void put_uint(msgpack_packer *pk, uint64_t v, uint64_t max)
{
	msgpack_pack_uint64(pk, v < max ? v : max);
}

static void put_u64(msgpack_packer *pk, uint64_t v)
{
	put_uint(pk, v, INT64_MAX);
}

static void put_u32(msgpack_packer *pk, uint32_t v)
{
	put_uint(pk, v, INT32_MAX);
}

static void put_str(msgpack_packer *pk, const char *s, size_t max)
{
	msgpack_pack_str_with_body(pk, s, strnlen(s, max));
}

static void put_name(msgpack_packer *pk, const char *s)
{
	put_str(pk, s, ITEM_MAX_NAME);
}

static void put_addr(msgpack_packer *pk, const struct addr *a)
{
	msgpack_pack_bin_with_body(pk, a->ip, a->len);
	msgpack_pack_uint16(pk, a->port);
}

static bool is_exact_float(double v)
{
	return isinf(v) || (fabs(v) <= (double)FLT_MAX && (double)(float)v == v);
}

/* The shortest form that gives the same number back. */
static void put_value(msgpack_packer *pk, double v)
{
	if (isnan(v))
		msgpack_pack_nil(pk);
	else if (!signbit(v) && v < 0x1p63 && (double)(uint64_t)v == v)
		msgpack_pack_uint64(pk, (uint64_t)v);
	else if (is_exact_float(v))
		msgpack_pack_float(pk, (float)v);
	else
		msgpack_pack_double(pk, v);
}

static msgpack_packer message(struct buf *out, enum wire_type type)
{
	static const uint8_t fields[] = {
#define MESSAGE(id, name, n) [id] = (n),
#include "../schema/messages.def"
#undef MESSAGE
	};
	msgpack_packer pk = packer(out);

	buf_reset(out);
	msgpack_pack_array(&pk, fields[type]);
	msgpack_pack_uint8(&pk, WIRE_VERSION);
	msgpack_pack_uint8(&pk, (uint8_t)type);
	return pk;
}

void wire_hello_encode(struct buf *out, const struct wire_hello *h)
{
	msgpack_packer pk = message(out, WIRE_HELLO);

	put_name(&pk, h->node);
	put_u64(&pk, h->epoch);
	put_name(&pk, h->machine);
	put_name(&pk, h->version);
	put_u64(&pk, h->wall_ns);
}

void wire_welcome_encode(struct buf *out, const struct wire_welcome *w)
{
	msgpack_packer pk = message(out, WIRE_WELCOME);

	put_u64(&pk, w->node_id);
	put_u64(&pk, w->epoch);
	msgpack_pack_array(&pk, STREAM_END - 1);
	for (int i = 1; i < STREAM_END; i++)
		put_u64(&pk, w->mark[i]);
	put_u64(&pk, w->wall_ns);
}

uint64_t wire_layout_id(const struct wire_dict *d)
{
	uint64_t h = hash_add_str(HASH_START, d->entity_kind);

	for (uint32_t i = 0; i < d->n; i++) {
		h = hash_add_str(h, d->metrics[i].name);
		h = hash_add_str(h, d->metrics[i].unit);
		h = hash_add(h, &d->metrics[i].kind, 1);
	}
	return hash_end(h);
}

void wire_dict_encode(struct buf *out, const struct wire_dict *d)
{
	msgpack_packer pk = message(out, WIRE_DICT);

	assert(d->n && d->n <= ITEM_MAX_VALUES && d->layout == wire_layout_id(d));
	put_u64(&pk, d->layout);
	put_name(&pk, d->entity_kind);
	msgpack_pack_array(&pk, d->n);
	for (uint32_t i = 0; i < d->n; i++) {
		msgpack_pack_array(&pk, 3);
		put_name(&pk, d->metrics[i].name);
		put_name(&pk, d->metrics[i].unit);
		msgpack_pack_uint8(&pk, d->metrics[i].kind);
	}
}

void wire_need_dict_encode(struct buf *out, const struct wire_need_dict *d)
{
	msgpack_packer pk = message(out, WIRE_NEED_DICT);

	put_u64(&pk, d->layout);
}

void wire_mark_encode(struct buf *out, enum wire_type ack_or_nack, const struct wire_mark *m)
{
	msgpack_packer pk = message(out, ack_or_nack);

	assert(ack_or_nack == WIRE_ACK || ack_or_nack == WIRE_NACK);
	put_u64(&pk, m->node_id);
	put_u64(&pk, m->epoch);
	msgpack_pack_uint8(&pk, m->stream);
	put_u64(&pk, m->mark);
}

void wire_batch_head_encode(struct buf *out, const struct wire_batch_head *h)
{
	msgpack_packer pk = message(out, WIRE_BATCH);

	put_u64(&pk, h->node_id);
	put_u64(&pk, h->epoch);
	msgpack_pack_uint8(&pk, h->stream);
	put_u64(&pk, h->seq);
	put_u64(&pk, h->base_seq);
	put_u64(&pk, h->wall_ns);
}

static msgpack_packer item(struct buf *body, enum item_kind kind)
{
	static const uint8_t fields[] = {
#define ITEM(id, name, n) [id] = (n),
#include "../schema/messages.def"
#undef ITEM
	};
	msgpack_packer pk = packer(body);

	msgpack_pack_array(&pk, fields[kind]);
	msgpack_pack_uint8(&pk, (uint8_t)kind);
	return pk;
}

void wire_put_sample(struct buf *body, const struct sample_item *s)
{
	msgpack_packer pk = item(body, ITEM_SAMPLE);

	assert(s->n <= ITEM_MAX_VALUES);
	put_u64(&pk, s->layout);
	put_name(&pk, s->entity);
	msgpack_pack_array(&pk, s->n);
	for (uint32_t i = 0; i < s->n; i++)
		put_value(&pk, s->v[i]);
}

void wire_put_red(struct buf *body, const struct red_item *r)
{
	msgpack_packer pk = item(body, ITEM_RED);

	assert(r->lo + r->nb <= ITEM_MAX_SLOTS && r->status_class <= 5);
	put_name(&pk, r->app);
	put_name(&pk, r->route);
	put_name(&pk, r->peer);
	msgpack_pack_uint8(&pk, r->role);
	msgpack_pack_uint8(&pk, r->status_class);
	put_u64(&pk, r->count);
	put_u64(&pk, r->sum_us);
	msgpack_pack_uint8(&pk, r->lo);
	msgpack_pack_array(&pk, r->nb);
	for (uint32_t i = 0; i < r->nb; i++)
		put_u32(&pk, r->b[i]);
}

static void put_param(msgpack_packer *pk, const struct param *p)
{
	msgpack_pack_array(pk, 2);
	put_name(pk, p->key);
	if (p->text)
		put_str(pk, p->text, ITEM_MAX_TEXT);
	else
		put_value(pk, isfinite(p->number) ? p->number : (double)NAN);
}

static void put_up(msgpack_packer *pk, const struct up_item *u)
{
	msgpack_pack_array(pk, WIRE_UP_FIELDS + (u->path != NULL));
	put_addr(pk, &u->addr);
	put_u64(pk, u->start_us);
	put_u64(pk, u->connect_us);
	put_u64(pk, u->response_us);
	put_uint(pk, u->status, WIRE_MAX_STATUS);
	put_uint(pk, u->error, WIRE_MAX_ERROR);
	put_u32(pk, u->retrans);
	put_u32(pk, u->srtt_us);
	put_u32(pk, u->flags);
	msgpack_pack_uint16(pk, u->local_port);
	if (u->path)
		put_name(pk, u->path);
}

static void put_request_head(msgpack_packer *pk, const struct request_item *r)
{
	put_u64(pk, r->start_ns);
	put_name(pk, r->app);
	put_name(pk, r->comm);
	put_u32(pk, r->pid);
	put_u32(pk, r->tid);
	put_addr(pk, &r->remote);
	put_addr(pk, &r->local);
	put_name(pk, r->method);
	put_str(pk, r->path, ITEM_MAX_PATH);
	put_name(pk, r->route);
}

void wire_put_request(struct buf *body, const struct request_item *r)
{
	msgpack_packer pk = item(body, ITEM_REQUEST);

	assert(r->nparams <= ITEM_MAX_PARAMS && r->nups <= ITEM_MAX_UPS);
	put_request_head(&pk, r);
	put_u32(&pk, r->flags);
	put_uint(&pk, r->status, WIRE_MAX_STATUS);
	put_u64(&pk, r->request_us);
	put_u64(&pk, r->queue_us);
	put_u64(&pk, r->bytes_in);
	put_u64(&pk, r->bytes_out);
	put_u64(&pk, r->normal_us);
	put_u64(&pk, r->limit_us);
	put_u32(&pk, r->retrans);
	put_u32(&pk, r->srtt_us);
	put_u32(&pk, r->rcv_ooo);
	put_uint(&pk, r->reason, INT16_MAX);
	msgpack_pack_array(&pk, r->nparams);
	for (uint32_t i = 0; i < r->nparams; i++)
		put_param(&pk, &r->params[i]);
	msgpack_pack_array(&pk, r->nups);
	for (uint32_t i = 0; i < r->nups; i++)
		put_up(&pk, &r->ups[i]);
}

void wire_put_source(struct buf *body, const struct source_item *s)
{
	msgpack_packer pk = item(body, ITEM_SOURCE);

	put_name(&pk, s->name);
	msgpack_pack_uint8(&pk, s->state);
	put_str(&pk, s->why, ITEM_MAX_TEXT);
}

void wire_put_unread(struct buf *body, const struct unread_item *u)
{
	msgpack_packer pk = item(body, ITEM_UNREAD);

	put_name(&pk, u->app);
	put_name(&pk, u->kind);
	put_u64(&pk, u->count);
}
