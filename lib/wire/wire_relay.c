// SPDX-License-Identifier: Apache-2.0
/* wire_relay.c - encodes and decodes the items that one collector sends to another. */
#include <assert.h>

#include "lib/wire/wire_read.h"
#include "lib/wire/wire_write.h"

static void put_regions(msgpack_packer *pk, uint32_t hops, const char *const *region)
{
	assert(hops && hops <= ITEM_MAX_HOPS);
	msgpack_pack_array(pk, hops);
	for (uint32_t i = 0; i < hops; i++)
		put_name(pk, region[i]);
}

void wire_put_origin(struct buf *body, const struct origin_item *o)
{
	msgpack_packer pk = wire_item(body, ITEM_ORIGIN, 0);

	put_u64(&pk, o->node);
	put_u64(&pk, o->epoch);
	msgpack_pack_uint8(&pk, o->stream);
	put_u64(&pk, o->seq);
	put_str(&pk, o->name, ITEM_MAX_TEXT);
	put_regions(&pk, o->hops, o->region);
}

void wire_put_region(struct buf *body, const struct region_item *r)
{
	msgpack_packer pk = wire_item(body, ITEM_REGION, r->nseen != 0);

	assert(r->nseen <= ITEM_MAX_SEEN_NODES);
	put_name(&pk, r->name);
	put_str(&pk, r->console, ITEM_MAX_TEXT);
	if (!r->nseen)
		return;
	msgpack_pack_array(&pk, r->nseen);
	for (uint32_t i = 0; i < r->nseen; i++) {
		msgpack_pack_array(&pk, WIRE_SEEN_NODE_FIELDS);
		put_u64(&pk, r->seen[i].node);
		put_u64(&pk, r->seen[i].ms);
	}
}

void wire_put_node(struct buf *body, const struct node_item *n)
{
	msgpack_packer pk = wire_item(body, ITEM_NODE, 0);

	assert(n->ntags <= ITEM_MAX_TAGS);
	put_str(&pk, n->name, ITEM_MAX_TEXT);
	put_name(&pk, n->machine);
	put_name(&pk, n->version);
	put_u64(&pk, n->first_ns);
	msgpack_pack_array(&pk, n->ntags);
	for (uint32_t i = 0; i < n->ntags; i++) {
		const struct tag_item *t = &n->tags[i];

		msgpack_pack_array(&pk, WIRE_TAG_FIELDS);
		put_u64(&pk, t->entity);
		put_name(&pk, t->key);
		put_str(&pk, t->value, ITEM_MAX_TEXT);
		put_u64(&pk, t->since_us);
		put_u64(&pk, t->until_us);
		put_name(&pk, t->said_by);
	}
}

void wire_put_incident(struct buf *body, const struct incident_item *q)
{
	msgpack_packer pk = wire_item(body, ITEM_INCIDENT, 0);

	assert(q->nsignals <= ITEM_MAX_SIGNALS);
	put_u64(&pk, q->id);
	put_u64(&pk, q->onset_us);
	put_u64(&pk, q->last_us);
	put_u64(&pk, q->opened_us);
	put_u64(&pk, q->closed_us);
	put_u64(&pk, q->into);
	put_u64(&pk, q->first_host);
	put_str(&pk, q->text, ITEM_MAX_TEXT);
	put_regions(&pk, q->hops, q->region);
	msgpack_pack_array(&pk, q->nsignals);
	for (uint32_t i = 0; i < q->nsignals; i++) {
		const struct signal_item *s = &q->signals[i];

		msgpack_pack_array(&pk, WIRE_SIGNAL_FIELDS);
		put_u64(&pk, s->node);
		put_str(&pk, s->app, ITEM_MAX_TEXT);
		put_str(&pk, s->route, ITEM_MAX_LABEL);
		put_name(&pk, s->class);
		put_uint(&pk, s->reason, INT16_MAX);
		put_u64(&pk, s->first_us);
		put_u64(&pk, s->last_us);
		put_u64(&pk, s->n);
		put_u64(&pk, s->excess_us);
	}
}

void wire_put_rollup(struct buf *body, const struct rollup_item *q)
{
	msgpack_packer pk = wire_item(body, ITEM_ROLLUP, 0);

	assert(q->nmetrics && q->nmetrics <= ITEM_MAX_VALUES && q->nentities <= ITEM_MAX_ROLLED);
	put_u64(&pk, q->hour_s);
	put_uint(&pk, q->part, INT32_MAX);
	msgpack_pack_uint8(&pk, q->whole);
	put_name(&pk, q->kind);
	put_metrics(&pk, q->nmetrics, q->metrics);
	msgpack_pack_array(&pk, q->nentities);
	for (uint32_t i = 0; i < q->nentities; i++) {
		msgpack_pack_array(&pk, WIRE_ROLLED_FIELDS);
		put_u64(&pk, q->entities[i].id);
		put_str(&pk, q->entities[i].name, ITEM_MAX_TEXT);
	}
	msgpack_pack_bin_with_body(&pk, q->chunk, q->chunk_len);
}

static int read_regions(struct mp *m, struct arena *a, uint32_t *hops, const char **region)
{
	int r = 0;

	*hops = mp_array(m);
	if (*hops == 0 || *hops > ITEM_MAX_HOPS)
		return -EBADMSG;
	for (uint32_t i = 0; i < *hops; i++)
		region[i] = wire_read_key(m, a, &r);
	return r;
}

int wire_read_origin(struct mp *m, struct arena *a, struct origin_item *o)
{
	uint64_t stream;
	int r = 0;

	o->node = wire_read_u64(m);
	o->epoch = wire_read_u64(m);
	stream = mp_uint_max(m, STREAM_END - 1);
	o->stream = (uint8_t)stream;
	o->seq = wire_read_u64(m);
	o->name = wire_read_text(m, a, ITEM_MAX_TEXT, &r);
	if (r < 0)
		return r;
	if (stream < STREAM_EVENT || !*o->name)
		return -EBADMSG;
	return read_regions(m, a, &o->hops, o->region);
}

static int read_seen(struct mp *m, struct arena *a, struct region_item *q)
{
	struct seen_node *seen;
	void *p;
	int r;

	q->nseen = mp_array(m);
	if (q->nseen > ITEM_MAX_SEEN_NODES)
		return -EBADMSG;
	r = arena_try(a, q->nseen, sizeof(*seen), &p);
	if (r < 0)
		return r;
	seen = p;
	for (uint32_t i = 0; i < q->nseen; i++) {
		uint32_t width = mp_array(m);

		if (width < WIRE_SEEN_NODE_FIELDS)
			return -EBADMSG;
		seen[i].node = wire_read_u64(m);
		seen[i].ms = wire_read_u64(m);
		mp_skip_n(m, width - WIRE_SEEN_NODE_FIELDS);
	}
	q->seen = seen;
	return 0;
}

int wire_read_region(struct mp *m, struct arena *a, struct region_item *q, uint32_t *more)
{
	int r = 0;

	q->name = wire_read_key(m, a, &r);
	q->console = wire_read_text(m, a, ITEM_MAX_TEXT, &r);
	if (r == 0 && *more) {
		r = read_seen(m, a, q);
		--*more;
	}
	return r;
}

static int read_tag(struct mp *m, struct arena *a, struct tag_item *t)
{
	uint32_t width = mp_array(m);
	int r = width < WIRE_TAG_FIELDS ? -EBADMSG : 0;

	t->entity = wire_read_u64(m);
	t->key = wire_read_key(m, a, &r);
	t->value = wire_read_text(m, a, ITEM_MAX_TEXT, &r);
	t->since_us = wire_read_u64(m);
	t->until_us = wire_read_u64(m);
	t->said_by = wire_read_name(m, a, &r);
	if (r == 0)
		mp_skip_n(m, width - WIRE_TAG_FIELDS);
	return r;
}

int wire_read_node(struct mp *m, struct arena *a, struct node_item *q)
{
	struct tag_item *tags;
	void *p;
	int r = 0;

	q->name = wire_read_text(m, a, ITEM_MAX_TEXT, &r);
	q->machine = wire_read_name(m, a, &r);
	q->version = wire_read_name(m, a, &r);
	q->first_ns = wire_read_u64(m);
	q->ntags = mp_array(m);
	if (r < 0 || q->ntags > ITEM_MAX_TAGS)
		return r < 0 ? r : -EBADMSG;
	r = arena_try(a, q->ntags, sizeof(*tags), &p);
	if (r < 0)
		return r;
	tags = p;
	for (uint32_t i = 0; i < q->ntags && r == 0; i++)
		r = read_tag(m, a, &tags[i]);
	q->tags = tags;
	return r;
}

static int read_signal(struct mp *m, struct arena *a, struct signal_item *s)
{
	uint32_t width = mp_array(m);
	int r = width < WIRE_SIGNAL_FIELDS ? -EBADMSG : 0;

	s->node = wire_read_u64(m);
	s->app = wire_read_text(m, a, ITEM_MAX_TEXT, &r);
	s->route = wire_read_text(m, a, ITEM_MAX_LABEL, &r);
	s->class = wire_read_key(m, a, &r);
	s->reason = (uint16_t)mp_uint_max(m, INT16_MAX);
	s->first_us = wire_read_u64(m);
	s->last_us = wire_read_u64(m);
	s->n = wire_read_u64(m);
	s->excess_us = wire_read_u64(m);
	if (r == 0)
		mp_skip_n(m, width - WIRE_SIGNAL_FIELDS);
	return r;
}

int wire_read_incident(struct mp *m, struct arena *a, struct incident_item *q)
{
	struct signal_item *signals;
	void *p;
	int r = 0;

	q->id = wire_read_u64(m);
	q->onset_us = wire_read_u64(m);
	q->last_us = wire_read_u64(m);
	q->opened_us = wire_read_u64(m);
	q->closed_us = wire_read_u64(m);
	q->into = wire_read_u64(m);
	q->first_host = wire_read_u64(m);
	q->text = wire_read_text(m, a, ITEM_MAX_TEXT, &r);
	if (r == 0)
		r = read_regions(m, a, &q->hops, q->region);
	if (r < 0)
		return r;
	q->nsignals = mp_array(m);
	if (q->nsignals > ITEM_MAX_SIGNALS)
		return -EBADMSG;
	r = arena_try(a, q->nsignals, sizeof(*signals), &p);
	if (r < 0)
		return r;
	signals = p;
	for (uint32_t i = 0; i < q->nsignals && r == 0; i++)
		r = read_signal(m, a, &signals[i]);
	q->signals = signals;
	return r;
}

static int read_rolled(struct mp *m, struct arena *a, struct rollup_item *q)
{
	struct rolled_entity *e;
	void *p;
	int r;

	q->nentities = mp_array(m);
	if (q->nentities > ITEM_MAX_ROLLED)
		return -EBADMSG;
	r = arena_try(a, q->nentities, sizeof(*e), &p);
	if (r < 0)
		return r;
	e = p;
	for (uint32_t i = 0; i < q->nentities && r == 0; i++) {
		uint32_t width = mp_array(m);

		if (width < WIRE_ROLLED_FIELDS)
			return -EBADMSG;
		e[i].id = wire_read_u64(m);
		e[i].name = wire_read_text(m, a, ITEM_MAX_TEXT, &r);
		if (r == 0)
			mp_skip_n(m, width - WIRE_ROLLED_FIELDS);
	}
	q->entities = e;
	return r;
}

int wire_read_rollup(struct mp *m, struct arena *a, struct rollup_item *q)
{
	struct wire_dict d = { 0 };
	uint32_t len;
	int r = 0;

	q->hour_s = wire_read_u64(m);
	q->part = wire_read_u32(m);
	q->whole = mp_uint_max(m, UINT8_MAX) & 1;
	q->kind = d.entity_kind = wire_read_key(m, a, &r);
	if (r == 0)
		r = wire_read_metrics(m, a, &d);
	if (r == 0)
		r = read_rolled(m, a, q);
	if (r < 0)
		return r;
	q->chunk = mp_bin(m, &len);
	if (mp_bad(m))
		return -EBADMSG;
	q->chunk_len = len;
	q->layout = wire_layout_id(&d);
	q->nmetrics = d.n;
	q->metrics = d.metrics;
	return 0;
}
