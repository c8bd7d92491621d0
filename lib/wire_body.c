// SPDX-License-Identifier: Apache-2.0
#include "wire_read.h"

#include <math.h>

static const uint8_t least_fields[] = {
#define ITEM(id, name, least) [id] = (least),
#include "../schema/messages.def"
#undef ITEM
};

static const char *read_str(struct mp *m, struct arena *a, size_t max, int *r)
{
	uint32_t len;
	const char *s = mp_str(m, &len);
	void *copy;

	if (*r < 0)
		return NULL;
	if (mp_bad(m) || len > max || memchr(s, 0, len)) {
		*r = -EBADMSG;
		return NULL;
	}
	*r = arena_try(a, (size_t)len + 1, 1, &copy);
	return *r < 0 ? NULL : memcpy(copy, s, len);
}

const char *wire_read_name(struct mp *m, struct arena *a, int *r)
{
	return read_str(m, a, ITEM_MAX_NAME, r);
}

const char *wire_read_key(struct mp *m, struct arena *a, int *r)
{
	const char *s = wire_read_name(m, a, r);

	if (s && !*s)
		*r = -EBADMSG;
	return s;
}

static struct addr read_addr(struct mp *m)
{
	uint32_t len;
	const uint8_t *ip = mp_bin(m, &len);
	uint16_t port = (uint16_t)mp_uint_max(m, UINT16_MAX);

	if (mp_bad(m) || (len != 0 && len != 4 && len != 16)) {
		wire_read_fail(m);
		return (struct addr){ 0 };
	}
	return addr_make(ip, len, port);
}

static int read_sample(struct mp *m, struct arena *a, struct sample_item *s)
{
	double *v;
	void *p;
	int r = 0;

	s->layout = wire_read_u64(m);
	s->entity = wire_read_name(m, a, &r);
	if (r < 0)
		return r;
	s->n = mp_array(m);
	if (s->n > ITEM_MAX_VALUES)
		return -EBADMSG;
	r = arena_try(a, s->n, sizeof(*v), &p);
	if (r < 0)
		return r;
	v = p;
	for (uint32_t i = 0; i < s->n; i++)
		v[i] = mp_double(m);
	s->v = v;
	return 0;
}

static int read_red(struct mp *m, struct arena *a, struct red_item *red)
{
	uint32_t *b;
	void *p;
	int r = 0;

	red->app = wire_read_name(m, a, &r);
	red->route = wire_read_name(m, a, &r);
	red->peer = wire_read_name(m, a, &r);
	if (r < 0)
		return r;
	red->role = (uint8_t)mp_uint_max(m, UINT8_MAX);
	red->status_class = (uint8_t)mp_uint_max(m, 5);
	red->count = wire_read_u64(m);
	red->sum_us = wire_read_u64(m);
	red->lo = (uint8_t)mp_uint_max(m, ITEM_MAX_SLOTS);
	red->nb = mp_array(m);
	if (red->nb > (uint32_t)(ITEM_MAX_SLOTS - red->lo))
		return -EBADMSG;
	r = arena_try(a, red->nb, sizeof(*b), &p);
	if (r < 0)
		return r;
	b = p;
	for (uint32_t i = 0; i < red->nb; i++)
		b[i] = wire_read_u32(m);
	red->b = b;
	return 0;
}

static bool is_str(const struct mp *m)
{
	return m->p < m->end && (*m->p >> 5 == 5 || (*m->p >= 0xd9 && *m->p <= 0xdb));
}

static int read_params(struct mp *m, struct arena *a, struct request_item *q)
{
	int r = 0;

	q->nparams = mp_array(m);
	if (q->nparams > ITEM_MAX_PARAMS)
		return -EBADMSG;
	for (uint32_t i = 0; i < q->nparams; i++) {
		struct param *p = &q->params[i];
		uint32_t width = mp_array(m);

		p->key = wire_read_key(m, a, &r);
		if (is_str(m))
			p->text = read_str(m, a, ITEM_MAX_TEXT, &r);
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
		u->addr = read_addr(m);
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
			u->path = read_str(m, a, ITEM_MAX_NAME, &r);
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
	q->remote = read_addr(m);
	q->local = read_addr(m);
	q->method = wire_read_name(m, a, &r);
	q->path = read_str(m, a, ITEM_MAX_PATH, &r);
	q->route = wire_read_name(m, a, &r);
	return r;
}

static int read_request(struct mp *m, struct arena *a, struct request_item *q)
{
	int r = read_request_head(m, a, q);

	if (r < 0)
		return r;
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
	r = read_params(m, a, q);
	return r < 0 ? r : read_ups(m, a, q);
}

static int read_source(struct mp *m, struct arena *a, struct source_item *s)
{
	int r = 0;

	s->name = wire_read_key(m, a, &r);
	s->state = (uint8_t)mp_uint_max(m, UINT8_MAX);
	s->why = read_str(m, a, ITEM_MAX_TEXT, &r);
	return r;
}

static int read_unread(struct mp *m, struct arena *a, struct unread_item *u)
{
	int r = 0;

	u->app = wire_read_name(m, a, &r);
	u->kind = wire_read_key(m, a, &r);
	u->count = wire_read_u64(m);
	return r;
}

static int read_item(struct mp *m, struct arena *a, uint64_t kind, struct wire_body *b)
{
	switch ((enum item_kind)kind) {
	case ITEM_SAMPLE:
		return read_sample(m, a, &b->samples[b->nsamples++]);
	case ITEM_RED:
		return read_red(m, a, &b->reds[b->nreds++]);
	case ITEM_REQUEST:
		return read_request(m, a, &b->requests[b->nrequests++]);
	case ITEM_SOURCE:
		return read_source(m, a, &b->sources[b->nsources++]);
	case ITEM_UNREAD:
		return read_unread(m, a, &b->unreads[b->nunreads++]);
	}
	return -EBADMSG;
}

static bool is_known(uint64_t kind)
{
	return kind < ARRAY_SIZE(least_fields) && least_fields[kind];
}

/* First pass: how many there are of each kind, and whether each is whole and wide enough. */
static int count_items(struct mp m, uint32_t n[static ARRAY_SIZE(least_fields)], uint32_t *unknown)
{
	while (m.p < m.end) {
		uint32_t width = mp_array(&m);
		uint64_t kind = mp_uint(&m);

		if (mp_bad(&m) || width == 0)
			return -EBADMSG;
		if (is_known(kind) && width < least_fields[kind])
			return -EBADMSG;
		if (is_known(kind))
			n[kind]++;
		else
			++*unknown;
		mp_skip_n(&m, width - 1);
	}
	return mp_bad(&m) ? -EBADMSG : 0;
}

static int room(struct arena *a, uint32_t n, size_t size, void *at)
{
	void *p;
	int r = arena_try(a, n, size, &p);

	if (r == 0)
		memcpy(at, &p, sizeof(p));
	return r;
}

static int make_room(struct arena *a, const uint32_t *n, struct wire_body *b)
{
	int r = room(a, n[ITEM_SAMPLE], sizeof(*b->samples), &b->samples);

	if (r == 0)
		r = room(a, n[ITEM_RED], sizeof(*b->reds), &b->reds);
	if (r == 0)
		r = room(a, n[ITEM_REQUEST], sizeof(*b->requests), &b->requests);
	if (r == 0)
		r = room(a, n[ITEM_SOURCE], sizeof(*b->sources), &b->sources);
	return r < 0 ? r : room(a, n[ITEM_UNREAD], sizeof(*b->unreads), &b->unreads);
}

int wire_body_decode(struct arena *a, const void *f, size_t len, struct wire_body *b)
{
	struct mp m = mp_over(f, len);
	uint32_t n[ARRAY_SIZE(least_fields)] = { 0 };
	struct wire_body got = { 0 };
	int r = len > WIRE_MAX_FRAME ? -EBADMSG : count_items(m, n, &got.nunknown);

	if (r == 0)
		r = make_room(a, n, &got);
	if (r < 0)
		return r;
	while (m.p < m.end) {
		uint32_t width = mp_array(&m);
		uint64_t kind = mp_uint(&m);
		uint32_t least = is_known(kind) ? least_fields[kind] : 1;

		if (is_known(kind))
			r = read_item(&m, a, kind, &got);
		if (r < 0)
			return r;
		mp_skip_n(&m, width - least);
	}
	if (mp_bad(&m))
		return -EBADMSG;
	*b = got;
	return 0;
}
