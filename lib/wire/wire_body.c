// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "lib/wire/wire_read.h"

static const uint8_t least_fields[] = {
#define ITEM(id, name, least) [id] = (least),
#include "schema/def/messages.def"
#undef ITEM
};

static int read_sample(struct mp *m, struct arena *a, struct sample_item *s)
{
	double *v;
	void *p;
	int r = 0;

	s->layout = wire_read_u64(m);
	s->entity = wire_read_text(m, a, ITEM_MAX_TEXT, &r);
	if (r < 0)
		return r;
	s->n = mp_array(m);
	if (s->n > ITEM_MAX_VALUES)
		return -EBADMSG;
	r = arena_try(a, s->n, sizeof(*v), &p);
	if (r < 0)
		return r;
	v = p;
	mp_doubles(m, v, s->n);
	s->v = v;
	return 0;
}

/* judged = 0: the excess is unknown. */
static void read_judged(struct mp *m, struct red_item *red, uint32_t *more)
{
	uint64_t later[WIRE_JUDGED_FIELDS] = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(later) && *more; i++, --*more)
		later[i] = wire_read_u64(m);
	red->judged = later[1] < red->count ? later[1] : red->count;
	red->excess_us = red->judged ? later[0] : 0;
}

static int read_red(struct mp *m, struct arena *a, struct red_item *red, uint32_t *more)
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
	read_judged(m, red, more);
	return 0;
}

static int read_source(struct mp *m, struct arena *a, struct source_item *s)
{
	int r = 0;

	s->name = wire_read_key(m, a, &r);
	s->state = (uint8_t)mp_uint_max(m, UINT8_MAX);
	s->why = wire_read_text(m, a, ITEM_MAX_TEXT, &r);
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

static int read_profile(struct mp *m, struct arena *a, struct profile_item *q)
{
	struct seen_stack *seen;
	void *p;
	int r = 0;

	q->start_ns = wire_read_u64(m);
	q->period_us = wire_read_u32(m);
	q->app = wire_read_name(m, a, &r);
	q->n = mp_array(m);
	if (r < 0 || q->n > ITEM_MAX_SEEN)
		return r < 0 ? r : -EBADMSG;
	r = arena_try(a, q->n, sizeof(*seen), &p);
	if (r < 0)
		return r;
	seen = p;
	for (uint32_t i = 0; i < q->n; i++) {
		uint32_t width = mp_array(m);

		if (width < WIRE_SEEN_FIELDS)
			return -EBADMSG;
		seen[i].kernel = wire_read_u64(m);
		seen[i].user = wire_read_u64(m);
		seen[i].n = wire_read_u32(m);
		mp_skip_n(m, width - WIRE_SEEN_FIELDS);
	}
	q->seen = seen;
	return 0;
}

static int read_places(struct mp *m, struct arena *a, struct place_item *item)
{
	struct place *p;
	void *room;
	int r = 0;

	item->whole = mp_uint_max(m, UINT8_MAX) & 1;
	item->left_out = wire_read_u32(m);
	item->n = mp_array(m);
	if (item->n > ITEM_MAX_PLACES)
		return -EBADMSG;
	r = arena_try(a, item->n, sizeof(*p), &room);
	if (r < 0)
		return r;
	p = room;
	for (uint32_t i = 0; i < item->n; i++) {
		uint32_t width = mp_array(m);

		p[i].kind = (uint8_t)mp_uint_max(m, UINT8_MAX);
		p[i].addr = wire_read_addr(m);
		p[i].app = wire_read_name(m, a, &r);
		p[i].netns = wire_read_u64(m);
		p[i].gone = mp_uint_max(m, UINT8_MAX) & 1;
		if (r < 0)
			return r;
		if (width < WIRE_PLACE_FIELDS || !p[i].addr.len)
			return -EBADMSG;
		mp_skip_n(m, width - WIRE_PLACE_FIELDS);
	}
	item->places = p;
	return 0;
}

static int read_nat(struct mp *m, struct arena *a, struct nat_item *item)
{
	struct nat_way *w;
	void *room;
	int r;

	item->left_out = wire_read_u32(m);
	item->n = mp_array(m);
	if (item->n > ITEM_MAX_WAYS)
		return -EBADMSG;
	r = arena_try(a, item->n, sizeof(*w), &room);
	if (r < 0)
		return r;
	w = room;
	for (uint32_t i = 0; i < item->n; i++) {
		uint32_t width = mp_array(m);

		w[i].kind = (uint8_t)mp_uint_max(m, UINT8_MAX);
		w[i].seen = wire_read_addr(m);
		w[i].real = wire_read_addr(m);
		w[i].netns = wire_read_u64(m);
		if (width < WIRE_WAY_FIELDS || !w[i].seen.len || !w[i].real.len)
			return -EBADMSG;
		mp_skip_n(m, width - WIRE_WAY_FIELDS);
	}
	item->ways = w;
	return 0;
}

static int read_clock(struct mp *m, struct clock_item *c)
{
	double offset;

	c->since_ns = wire_read_u64(m);
	offset = mp_double(m);
	c->uncertainty_us = wire_read_u64(m);
	if (!(fabs(offset) <= WIRE_MAX_OFFSET_US))
		return -EBADMSG;
	c->offset_us = (int64_t)offset;
	return 0;
}

static int read_item(struct mp *m, struct arena *a, uint64_t kind, uint32_t *more,
		     struct wire_body *b)
{
	switch ((enum item_kind)kind) {
	case ITEM_SAMPLE:
		return read_sample(m, a, &b->samples[b->nsamples++]);
	case ITEM_RED:
		return read_red(m, a, &b->reds[b->nreds++], more);
	case ITEM_REQUEST:
		return wire_read_request(m, a, &b->requests[b->nrequests++], more);
	case ITEM_SOURCE:
		return read_source(m, a, &b->sources[b->nsources++]);
	case ITEM_UNREAD:
		return read_unread(m, a, &b->unreads[b->nunreads++]);
	case ITEM_STACK:
		return wire_read_stack(m, a, &b->stacks[b->nstacks++]);
	case ITEM_EVENT:
		return wire_read_event(m, a, &b->events[b->nevents++], more);
	case ITEM_PROFILE:
		return read_profile(m, a, &b->profiles[b->nprofiles++]);
	case ITEM_PLACE:
		return read_places(m, a, &b->places[b->nplaces++]);
	case ITEM_ORIGIN:
		return wire_read_origin(m, a, &b->origins[b->norigins++]);
	case ITEM_REGION:
		return wire_read_region(m, a, &b->regions[b->nregions++], more);
	case ITEM_NODE:
		return wire_read_node(m, a, &b->nodes[b->nnodes++]);
	case ITEM_CLOCK:
		return read_clock(m, &b->clocks[b->nclocks++]);
	case ITEM_INCIDENT:
		return wire_read_incident(m, a, &b->incidents[b->nincidents++]);
	case ITEM_NAT:
		return read_nat(m, a, &b->nats[b->nnats++]);
	case ITEM_ROLLUP:
		return wire_read_rollup(m, a, &b->rollups[b->nrollups++]);
	}
	return -EBADMSG;
}

static bool is_known(uint64_t kind)
{
	return kind < ARRAY_SIZE(least_fields) && least_fields[kind];
}

/* First pass: counts the items of each kind and checks that each is whole and has enough fields. */
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
	if (r == 0)
		r = room(a, n[ITEM_UNREAD], sizeof(*b->unreads), &b->unreads);
	if (r == 0)
		r = room(a, n[ITEM_STACK], sizeof(*b->stacks), &b->stacks);
	if (r == 0)
		r = room(a, n[ITEM_PROFILE], sizeof(*b->profiles), &b->profiles);
	if (r == 0)
		r = room(a, n[ITEM_EVENT], sizeof(*b->events), &b->events);
	if (r == 0)
		r = room(a, n[ITEM_ORIGIN], sizeof(*b->origins), &b->origins);
	if (r == 0)
		r = room(a, n[ITEM_REGION], sizeof(*b->regions), &b->regions);
	if (r == 0)
		r = room(a, n[ITEM_NODE], sizeof(*b->nodes), &b->nodes);
	if (r == 0)
		r = room(a, n[ITEM_CLOCK], sizeof(*b->clocks), &b->clocks);
	if (r == 0)
		r = room(a, n[ITEM_INCIDENT], sizeof(*b->incidents), &b->incidents);
	if (r == 0)
		r = room(a, n[ITEM_NAT], sizeof(*b->nats), &b->nats);
	if (r == 0)
		r = room(a, n[ITEM_ROLLUP], sizeof(*b->rollups), &b->rollups);
	return r < 0 ? r : room(a, n[ITEM_PLACE], sizeof(*b->places), &b->places);
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
		uint32_t more = width - (is_known(kind) ? least_fields[kind] : 1);

		if (is_known(kind))
			r = read_item(&m, a, kind, &more, &got);
		if (r < 0)
			return r;
		mp_skip_n(&m, more);
	}
	if (mp_bad(&m))
		return -EBADMSG;
	*b = got;
	return 0;
}
