// SPDX-License-Identifier: Apache-2.0
/* wire_request.c - decodes the items that describe anomalies and their evidence. */
#include "lib/wire/wire_read.h"

#include <math.h>

static bool is_str(const struct mp *m)
{
	return m->p < m->end && (*m->p >> 5 == 5 || (*m->p >= 0xd9 && *m->p <= 0xdb));
}

static int read_params(struct mp *m, struct arena *a, struct param *param, uint32_t *n)
{
	int r = 0;

	*n = mp_array(m);
	if (*n > ITEM_MAX_PARAMS)
		return -EBADMSG;
	for (uint32_t i = 0; i < *n; i++) {
		struct param *p = &param[i];
		uint32_t width = mp_array(m);

		p->key = wire_read_key(m, a, &r);
		if (is_str(m))
			p->text = wire_read_text(m, a, ITEM_MAX_TEXT, &r);
		else
			p->number = mp_double(m);
		if (r < 0)
			return r;
		if (width < 2 || isinf(p->number))
			return -EBADMSG;
		mp_skip_n(m, width - 2);
	}
	return 0;
}

static int read_ups(struct mp *m, struct arena *a, struct request_item *q)
{
	int r = 0;

	q->nups = mp_array(m);
	if (q->nups > ITEM_MAX_UPS)
		return -EBADMSG;
	for (uint32_t i = 0; i < q->nups; i++) {
		struct up_item *u = &q->ups[i];
		uint32_t width = mp_array(m);

		if (width < WIRE_UP_FIELDS)
			return -EBADMSG;
		u->addr = wire_read_addr(m);
		u->start_us = wire_read_u64(m);
		u->connect_us = wire_read_u64(m);
		u->response_us = wire_read_u64(m);
		u->status = (uint16_t)mp_uint_max(m, WIRE_MAX_STATUS);
		u->error = (uint16_t)mp_uint_max(m, WIRE_MAX_ERROR);
		u->retrans = wire_read_u32(m);
		u->srtt_us = wire_read_u32(m);
		u->flags = wire_read_u32(m);
		u->local_port = (uint16_t)mp_uint_max(m, UINT16_MAX);
		width -= WIRE_UP_FIELDS;
		if (width && is_str(m)) {
			u->path = wire_read_text(m, a, ITEM_MAX_NAME, &r);
			width--;
		}
		mp_skip_n(m, width);
	}
	return r;
}

static int read_request_head(struct mp *m, struct arena *a, struct request_item *q)
{
	int r = 0;

	q->start_ns = wire_read_u64(m);
	q->app = wire_read_name(m, a, &r);
	q->comm = wire_read_name(m, a, &r);
	q->pid = wire_read_u32(m);
	q->tid = wire_read_u32(m);
	q->remote = wire_read_addr(m);
	q->local = wire_read_addr(m);
	q->method = wire_read_name(m, a, &r);
	q->path = wire_read_text(m, a, ITEM_MAX_PATH, &r);
	q->route = wire_read_name(m, a, &r);
	return r;
}

static void read_request_times(struct mp *m, struct request_item *q)
{
	q->flags = wire_read_u32(m);
	q->status = (uint16_t)mp_uint_max(m, WIRE_MAX_STATUS);
	q->request_us = wire_read_u64(m);
	q->queue_us = wire_read_u64(m);
	q->bytes_in = wire_read_u64(m);
	q->bytes_out = wire_read_u64(m);
	q->normal_us = wire_read_u64(m);
	q->limit_us = wire_read_u64(m);
	q->retrans = wire_read_u32(m);
	q->srtt_us = wire_read_u32(m);
	q->rcv_ooo = wire_read_u32(m);
	q->reason = (uint16_t)mp_uint_max(m, INT16_MAX);
}

/*
 * Opens the array of one share, check, ...; returns the number of fields beyond those known here.
 */
static uint32_t open_tuple(struct mp *m, uint32_t least)
{
	uint32_t width = mp_array(m);

	if (width >= least)
		return width - least;
	wire_read_fail(m);
	return 0;
}

static int read_shares(struct mp *m, struct arena *a UNUSED, struct request_item *q)
{
	q->nshares = mp_array(m);
	if (q->nshares > ITEM_MAX_SHARES)
		return -EBADMSG;
	for (uint32_t i = 0; i < q->nshares; i++) {
		uint32_t more = open_tuple(m, WIRE_SHARE_FIELDS);

		q->shares[i].part = (uint8_t)mp_uint_max(m, UINT8_MAX);
		q->shares[i].us = wire_read_u64(m);
		q->shares[i].normal_us = wire_read_u64(m);
		mp_skip_n(m, more);
	}
	return 0;
}

static int read_checks(struct mp *m, struct arena *a, struct request_item *q)
{
	int r = 0;

	q->nchecks = mp_array(m);
	if (q->nchecks > ITEM_MAX_CHECKS)
		return -EBADMSG;
	for (uint32_t i = 0; i < q->nchecks; i++) {
		uint32_t more = open_tuple(m, WIRE_CHECK_FIELDS);
		const char *why;

		q->checks[i].reason = (uint16_t)mp_uint_max(m, INT16_MAX);
		why = wire_read_text(m, a, ITEM_MAX_TEXT, &r);
		q->checks[i].why = why && *why ? why : NULL;
		mp_skip_n(m, more);
	}
	return r;
}

static int read_losses(struct mp *m, struct arena *a UNUSED, struct request_item *q)
{
	q->nlosses = mp_array(m);
	if (q->nlosses > ITEM_MAX_LOSSES)
		return -EBADMSG;
	for (uint32_t i = 0; i < q->nlosses; i++) {
		uint32_t more = open_tuple(m, WIRE_LOSS_FIELDS);

		q->losses[i].side = (uint8_t)mp_uint_max(m, UINT8_MAX);
		q->losses[i].kind = (uint8_t)mp_uint_max(m, UINT8_MAX);
		q->losses[i].count = wire_read_u32(m);
		mp_skip_n(m, more);
	}
	return 0;
}

static int read_evidence(struct mp *m, struct arena *a, struct evidence_item *e, uint32_t *n)
{
	int r = 0;

	*n = mp_array(m);
	if (*n > ITEM_MAX_EVIDENCE)
		return -EBADMSG;
	for (uint32_t i = 0; i < *n; i++, e++) {
		uint32_t more = open_tuple(m, WIRE_EVIDENCE_FIELDS);

		e->start_ns = wire_read_u64(m);
		e->us = wire_read_u64(m);
		e->part = (uint8_t)mp_uint_max(m, UINT8_MAX);
		e->pid = wire_read_u32(m);
		e->tid = wire_read_u32(m);
		e->comm = wire_read_name(m, a, &r);
		e->call = wire_read_name(m, a, &r);
		e->what = wire_read_text(m, a, ITEM_MAX_TEXT, &r);
		e->who = wire_read_text(m, a, ITEM_MAX_TEXT, &r);
		e->stack = wire_read_u64(m);
		mp_skip_n(m, more);
	}
	return r;
}

static int read_request_evidence(struct mp *m, struct arena *a, struct request_item *q)
{
	return read_evidence(m, a, q->evidence, &q->nevidence);
}

static const char *read_id(struct mp *m, struct arena *a, int *r)
{
	const char *s = wire_read_name(m, a, r);

	return s && *s ? s : NULL;
}

static int read_trace(struct mp *m, struct arena *a, struct request_item *q)
{
	int r = 0;

	q->trace = read_id(m, a, &r);
	return r;
}

static int read_sent_id(struct mp *m, struct arena *a, struct request_item *q)
{
	int r = 0;

	q->sent_id = read_id(m, a, &r);
	return r;
}

int wire_read_request(struct mp *m, struct arena *a, struct request_item *q, uint32_t *more)
{
	static int (*const appended[])(struct mp *, struct arena *, struct request_item *) = {
		read_shares,	       read_checks, read_losses,
		read_request_evidence, read_trace,  read_sent_id
	};
	int r = read_request_head(m, a, q);

	if (r < 0)
		return r;
	read_request_times(m, q);
	r = read_params(m, a, q->params, &q->nparams);
	if (r == 0)
		r = read_ups(m, a, q);
	for (size_t i = 0; i < ARRAY_SIZE(appended) && *more && r == 0; i++, --*more)
		r = appended[i](m, a, q);
	return r;
}

int wire_read_stack(struct mp *m, struct arena *a, struct stack_item *s)
{
	int r = 0;

	s->id = wire_read_u64(m);
	s->flags = (uint8_t)mp_uint_max(m, UINT8_MAX);
	s->n = mp_array(m);
	if (s->n > ITEM_MAX_FRAMES)
		return -EBADMSG;
	for (uint32_t i = 0; i < s->n; i++)
		s->frame[i] = wire_read_text(m, a, ITEM_MAX_TEXT, &r);
	return r;
}

/* A report without a number is the first one. */
static void read_lasting(struct mp *m, struct event_item *e, uint32_t *more)
{
	uint64_t later[3] = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(later) && *more; i++, --*more)
		later[i] = i == 0 ? wire_read_u64(m) : wire_read_u32(m);
	e->id = later[0];
	e->update = !e->id ? 0 : later[1] ? (uint32_t)later[1] : 1;
	e->going_on = e->id && later[2] & 1;
}

int wire_read_event(struct mp *m, struct arena *a, struct event_item *e, uint32_t *more)
{
	int r = 0;

	e->start_ns = wire_read_u64(m);
	e->us = wire_read_u64(m);
	e->error_us = wire_read_u64(m);
	e->kind = wire_read_key(m, a, &r);
	e->severity = (uint8_t)mp_uint_max(m, UINT8_MAX);
	e->pid = wire_read_u32(m);
	e->tid = wire_read_u32(m);
	e->comm = wire_read_name(m, a, &r);
	e->reason = (uint16_t)mp_uint_max(m, INT16_MAX);
	if (r == 0)
		r = read_params(m, a, e->params, &e->nparams);
	if (r == 0)
		r = read_evidence(m, a, e->evidence, &e->nevidence);
	if (r == 0)
		read_lasting(m, e, more);
	return r;
}
