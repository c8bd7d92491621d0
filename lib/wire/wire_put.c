// SPDX-License-Identifier: Apache-2.0
/* wire_put.c - encodes the items of a body. */
#include "lib/wire/wire_write.h"

#include <assert.h>
#include <float.h>
#include <math.h>

static void put_u32(msgpack_packer *pk, uint32_t v)
{
	put_uint(pk, v, INT32_MAX);
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

/* The shortest form that decodes to the same number. */
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

msgpack_packer wire_item(struct buf *body, enum item_kind kind, uint32_t more)
{
	static const uint8_t fields[] = {
#define ITEM(id, name, n) [id] = (n),
#include "schema/def/messages.def"
#undef ITEM
	};
	msgpack_packer pk = wire_packer(body);

	msgpack_pack_array(&pk, fields[kind] + more);
	msgpack_pack_uint8(&pk, (uint8_t)kind);
	return pk;
}

static msgpack_packer item(struct buf *body, enum item_kind kind)
{
	return wire_item(body, kind, 0);
}

void wire_put_sample(struct buf *body, const struct sample_item *s)
{
	msgpack_packer pk = item(body, ITEM_SAMPLE);

	assert(s->n <= ITEM_MAX_VALUES);
	put_u64(&pk, s->layout);
	put_str(&pk, s->entity, ITEM_MAX_TEXT);
	msgpack_pack_array(&pk, s->n);
	for (uint32_t i = 0; i < s->n; i++)
		put_value(&pk, s->v[i]);
}

void wire_put_red(struct buf *body, const struct red_item *r)
{
	msgpack_packer pk = wire_item(body, ITEM_RED, r->judged ? WIRE_JUDGED_FIELDS : 0);

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
	if (!r->judged)
		return;
	put_u64(&pk, r->excess_us);
	put_u64(&pk, r->judged);
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

static void put_params(msgpack_packer *pk, const struct param *p, uint32_t n)
{
	assert(n <= ITEM_MAX_PARAMS);
	msgpack_pack_array(pk, n);
	for (uint32_t i = 0; i < n; i++)
		put_param(pk, &p[i]);
}

static void put_shares(msgpack_packer *pk, const struct request_item *r)
{
	assert(r->nshares <= ITEM_MAX_SHARES);
	msgpack_pack_array(pk, r->nshares);
	for (uint32_t i = 0; i < r->nshares; i++) {
		msgpack_pack_array(pk, WIRE_SHARE_FIELDS);
		msgpack_pack_uint8(pk, r->shares[i].part);
		put_u64(pk, r->shares[i].us);
		put_u64(pk, r->shares[i].normal_us);
	}
}

/* A check has a why or NULL, never an empty text: NULL is sent as "". */
static void put_checks(msgpack_packer *pk, const struct request_item *r)
{
	assert(r->nchecks <= ITEM_MAX_CHECKS);
	msgpack_pack_array(pk, r->nchecks);
	for (uint32_t i = 0; i < r->nchecks; i++) {
		const char *why = r->checks[i].why;

		assert(!why || *why);
		msgpack_pack_array(pk, WIRE_CHECK_FIELDS);
		put_uint(pk, r->checks[i].reason, INT16_MAX);
		put_str(pk, why ? why : "", ITEM_MAX_TEXT);
	}
}

static void put_losses(msgpack_packer *pk, const struct request_item *r)
{
	assert(r->nlosses <= ITEM_MAX_LOSSES);
	msgpack_pack_array(pk, r->nlosses);
	for (uint32_t i = 0; i < r->nlosses; i++) {
		msgpack_pack_array(pk, WIRE_LOSS_FIELDS);
		msgpack_pack_uint8(pk, r->losses[i].side);
		msgpack_pack_uint8(pk, r->losses[i].kind);
		put_u32(pk, r->losses[i].count);
	}
}

static void put_evidence(msgpack_packer *pk, const struct evidence_item *e, uint32_t n)
{
	assert(n <= ITEM_MAX_EVIDENCE);
	msgpack_pack_array(pk, n);
	for (uint32_t i = 0; i < n; i++, e++) {
		msgpack_pack_array(pk, WIRE_EVIDENCE_FIELDS);
		put_u64(pk, e->start_ns);
		put_u64(pk, e->us);
		msgpack_pack_uint8(pk, e->part);
		put_u32(pk, e->pid);
		put_u32(pk, e->tid);
		put_name(pk, e->comm);
		put_name(pk, e->call);
		put_str(pk, e->what, ITEM_MAX_TEXT);
		put_str(pk, e->who, ITEM_MAX_TEXT);
		put_u64(pk, e->stack);
	}
}

static void put_request_times(msgpack_packer *pk, const struct request_item *r)
{
	put_u32(pk, r->flags);
	put_uint(pk, r->status, WIRE_MAX_STATUS);
	put_u64(pk, r->request_us);
	put_u64(pk, r->queue_us);
	put_u64(pk, r->bytes_in);
	put_u64(pk, r->bytes_out);
	put_u64(pk, r->normal_us);
	put_u64(pk, r->limit_us);
	put_u32(pk, r->retrans);
	put_u32(pk, r->srtt_us);
	put_u32(pk, r->rcv_ooo);
	put_uint(pk, r->reason, INT16_MAX);
}

static void put_request_evidence(msgpack_packer *pk, const struct request_item *r)
{
	put_evidence(pk, r->evidence, r->nevidence);
}

static void put_trace(msgpack_packer *pk, const struct request_item *r)
{
	put_name(pk, r->trace ? r->trace : "");
}

static void put_sent_id(msgpack_packer *pk, const struct request_item *r)
{
	put_name(pk, r->sent_id ? r->sent_id : "");
}

/* The number of appended fields up to the last one that is not empty. */
static uint32_t appended(const struct request_item *r)
{
	return r->sent_id     ? 6
	       : r->trace     ? 5
	       : r->nevidence ? 4
	       : r->nlosses   ? 3
	       : r->nchecks   ? 2
	       : r->nshares   ? 1
			      : 0;
}

void wire_put_request(struct buf *body, const struct request_item *r)
{
	static void (*const put[])(msgpack_packer *, const struct request_item *) = {
		put_shares, put_checks, put_losses, put_request_evidence, put_trace, put_sent_id
	};
	uint32_t more = appended(r);
	msgpack_packer pk = wire_item(body, ITEM_REQUEST, more);

	assert(r->nups <= ITEM_MAX_UPS && more <= ARRAY_SIZE(put));
	put_request_head(&pk, r);
	put_request_times(&pk, r);
	put_params(&pk, r->params, r->nparams);
	msgpack_pack_array(&pk, r->nups);
	for (uint32_t i = 0; i < r->nups; i++)
		put_up(&pk, &r->ups[i]);
	for (uint32_t i = 0; i < more; i++)
		put[i](&pk, r);
}

void wire_put_stack(struct buf *body, const struct stack_item *s)
{
	msgpack_packer pk = item(body, ITEM_STACK);

	assert(s->n <= ITEM_MAX_FRAMES);
	put_u64(&pk, s->id);
	msgpack_pack_uint8(&pk, s->flags);
	msgpack_pack_array(&pk, s->n);
	for (uint32_t i = 0; i < s->n; i++)
		put_str(&pk, s->frame[i], ITEM_MAX_TEXT);
}

void wire_put_event(struct buf *body, const struct event_item *e)
{
	msgpack_packer pk = wire_item(body, ITEM_EVENT, e->id ? WIRE_LASTING_FIELDS : 0);

	assert(e->id ? e->update > 0 : e->update == 0 && !e->going_on);
	put_u64(&pk, e->start_ns);
	put_u64(&pk, e->us);
	put_u64(&pk, e->error_us);
	put_name(&pk, e->kind);
	msgpack_pack_uint8(&pk, e->severity);
	put_u32(&pk, e->pid);
	put_u32(&pk, e->tid);
	put_name(&pk, e->comm);
	put_uint(&pk, e->reason, INT16_MAX);
	put_params(&pk, e->params, e->nparams);
	put_evidence(&pk, e->evidence, e->nevidence);
	if (!e->id)
		return;
	put_u64(&pk, e->id);
	put_u32(&pk, e->update);
	msgpack_pack_uint8(&pk, e->going_on);
}

void wire_put_profile(struct buf *body, const struct profile_item *p)
{
	msgpack_packer pk = item(body, ITEM_PROFILE);

	assert(p->n <= ITEM_MAX_SEEN);
	put_u64(&pk, p->start_ns);
	put_u32(&pk, p->period_us);
	put_name(&pk, p->app);
	msgpack_pack_array(&pk, p->n);
	for (uint32_t i = 0; i < p->n; i++) {
		msgpack_pack_array(&pk, WIRE_SEEN_FIELDS);
		put_u64(&pk, p->seen[i].kernel);
		put_u64(&pk, p->seen[i].user);
		put_u32(&pk, p->seen[i].n);
	}
}

void wire_put_place(struct buf *body, const struct place_item *q)
{
	msgpack_packer pk = item(body, ITEM_PLACE);

	assert(q->n <= ITEM_MAX_PLACES);
	msgpack_pack_uint8(&pk, q->whole);
	put_u32(&pk, q->left_out);
	msgpack_pack_array(&pk, q->n);
	for (uint32_t i = 0; i < q->n; i++) {
		const struct place *p = &q->places[i];

		msgpack_pack_array(&pk, WIRE_PLACE_FIELDS);
		msgpack_pack_uint8(&pk, p->kind);
		put_addr(&pk, &p->addr);
		put_name(&pk, p->app);
		put_u64(&pk, p->netns);
		msgpack_pack_uint8(&pk, p->gone);
	}
}

void wire_put_nat(struct buf *body, const struct nat_item *q)
{
	msgpack_packer pk = item(body, ITEM_NAT);

	assert(q->n <= ITEM_MAX_WAYS);
	put_u32(&pk, q->left_out);
	msgpack_pack_array(&pk, q->n);
	for (uint32_t i = 0; i < q->n; i++) {
		const struct nat_way *w = &q->ways[i];

		msgpack_pack_array(&pk, WIRE_WAY_FIELDS);
		msgpack_pack_uint8(&pk, w->kind);
		put_addr(&pk, &w->seen);
		put_addr(&pk, &w->real);
		put_u64(&pk, w->netns);
	}
}

void wire_put_clock(struct buf *body, const struct clock_item *c)
{
	msgpack_packer pk = item(body, ITEM_CLOCK);

	put_u64(&pk, c->since_ns);
	put_value(&pk, fmax(-WIRE_MAX_OFFSET_US, fmin((double)c->offset_us, WIRE_MAX_OFFSET_US)));
	put_u64(&pk, c->uncertainty_us);
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
