// SPDX-License-Identifier: Apache-2.0
/*
 * Every decoder, on whatever comes in: it refuses it, or makes a value within the limits that
 * encodes, and what was encoded decodes and encodes to the same bytes. The first byte chooses.
 */
#include "lib/wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static struct arena *arena;

static void must(bool so)
{
	if (!so)
		__builtin_trap();
}

/* enc(dec(in)) is once, enc(dec(once)) is twice: they are the same */
#define ROUND(type, decode, encode)                                                                \
	do {                                                                                       \
		struct type v_;                                                                    \
		struct buf once_ = { 0 }, twice_ = { 0 };                                          \
		if (decode(data, len, &v_) == 0) {                                                 \
			encode(&once_, &v_);                                                       \
			must(decode(once_.data, once_.len, &v_) == 0);                             \
			encode(&twice_, &v_);                                                      \
			must(once_.len == twice_.len);                                             \
			must(!once_.len || !memcmp(once_.data, twice_.data, once_.len));           \
		}                                                                                  \
		buf_free(&once_);                                                                  \
		buf_free(&twice_);                                                                 \
	} while (0)

static int hello(const void *f, size_t len, struct wire_hello *h)
{
	return wire_hello_decode(arena, f, len, h);
}

static int refused(const void *f, size_t len, struct wire_refused *r)
{
	return wire_refused_decode(arena, f, len, r);
}

static int keys(const void *f, size_t len, struct wire_keys *k)
{
	return wire_keys_decode(arena, f, len, k);
}

static int dict(const void *f, size_t len, struct wire_dict *d)
{
	int r = wire_dict_decode(arena, f, len, d);

	must(r < 0 || (d->n >= 1 && d->n <= ITEM_MAX_VALUES && d->layout == wire_layout_id(d)));
	return r;
}

static void ack_encode(struct buf *b, const struct wire_mark *m)
{
	must(m->stream >= STREAM_EVENT && m->stream < STREAM_END);
	wire_mark_encode(b, WIRE_ACK, m);
}

static void body_encode(struct buf *b, const struct wire_body *v)
{
	for (uint32_t i = 0; i < v->nsamples; i++)
		wire_put_sample(b, &v->samples[i]);
	for (uint32_t i = 0; i < v->nreds; i++)
		wire_put_red(b, &v->reds[i]);
	for (uint32_t i = 0; i < v->nrequests; i++)
		wire_put_request(b, &v->requests[i]);
	for (uint32_t i = 0; i < v->nsources; i++)
		wire_put_source(b, &v->sources[i]);
	for (uint32_t i = 0; i < v->nprofiles; i++)
		wire_put_profile(b, &v->profiles[i]);
	for (uint32_t i = 0; i < v->nunreads; i++)
		wire_put_unread(b, &v->unreads[i]);
	for (uint32_t i = 0; i < v->nstacks; i++)
		wire_put_stack(b, &v->stacks[i]);
	for (uint32_t i = 0; i < v->nevents; i++)
		wire_put_event(b, &v->events[i]);
	for (uint32_t i = 0; i < v->nplaces; i++)
		wire_put_place(b, &v->places[i]);
}

/* What the collector indexes by, and the texts it takes to be there. */
static void check_blocks(const struct evidence_item *e, uint32_t n)
{
	must(n <= ITEM_MAX_EVIDENCE);
	for (uint32_t i = 0; i < n; i++)
		must(e[i].comm && e[i].call && e[i].what && e[i].who && e[i].us <= INT64_MAX);
}

static int body(const void *f, size_t len, struct wire_body *b)
{
	int r = wire_body_decode(arena, f, len, b);

	for (uint32_t i = 0; r == 0 && i < b->nrequests; i++) {
		const struct request_item *q = &b->requests[i];

		must(q->nparams <= ITEM_MAX_PARAMS && q->nups <= ITEM_MAX_UPS);
		must(q->nshares <= ITEM_MAX_SHARES && q->nchecks <= ITEM_MAX_CHECKS);
		must(q->nlosses <= ITEM_MAX_LOSSES);
		check_blocks(q->evidence, q->nevidence);
	}
	for (uint32_t i = 0; r == 0 && i < b->nevents; i++) {
		must(b->events[i].nparams <= ITEM_MAX_PARAMS && *b->events[i].kind);
		must(!b->events[i].id == !b->events[i].update);
		must(b->events[i].id || !b->events[i].going_on);
		check_blocks(b->events[i].evidence, b->events[i].nevidence);
	}
	for (uint32_t i = 0; r == 0 && i < b->nplaces; i++) {
		must(b->places[i].n <= ITEM_MAX_PLACES);
		for (uint32_t k = 0; k < b->places[i].n; k++)
			must(b->places[i].places[k].app && b->places[i].places[k].addr.len);
	}
	for (uint32_t i = 0; r == 0 && i < b->nnats; i++) {
		must(b->nats[i].n <= ITEM_MAX_WAYS);
		for (uint32_t k = 0; k < b->nats[i].n; k++)
			must(b->nats[i].ways[k].seen.len && b->nats[i].ways[k].real.len);
	}
	for (uint32_t i = 0; r == 0 && i < b->nrollups; i++) {
		const struct rollup_item *q = &b->rollups[i];

		must(q->nmetrics && q->nmetrics <= ITEM_MAX_VALUES &&
		     q->nentities <= ITEM_MAX_ROLLED);
		must(q->chunk_len <= len);
	}
	for (uint32_t i = 0; r == 0 && i < b->nstacks; i++)
		must(b->stacks[i].n <= ITEM_MAX_FRAMES);
	return r;
}

/* A fuzzer does not find a hash, so here it makes the list, and the id follows: it decodes. */
static void dict_made(const uint8_t *data, size_t len)
{
	struct wire_metric metrics[ITEM_MAX_VALUES];
	struct wire_dict got, d = { .entity_kind = "x", .metrics = metrics };
	struct buf f = { 0 };

	for (size_t used = 0; d.n < ITEM_MAX_VALUES && (d.n == 0 || used < len); used += 9) {
		char *s = arena_alloc(arena, 16);

		s[0] = 'm';
		memcpy(s + 1, data + used, len - used < 8 ? len - used : 8);
		metrics[d.n++] = (struct wire_metric){ s, s + 1, (uint8_t)s[2] };
	}
	d.layout = wire_layout_id(&d);
	wire_dict_encode(&f, &d);
	must(wire_dict_decode(arena, f.data, f.len, &got) == 0 && got.n == d.n);
	f.data[10] ^= 1;
	must(wire_dict_decode(arena, f.data, f.len, &got) == -EBADMSG);
	buf_free(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	enum wire_type type;
	uint8_t which;

	if (!len)
		return 0;
	if (!arena)
		arena = arena_new(1 << 22);
	which = *data++ % 9;
	len--;
	(void)!wire_type_of(data, len, &type);
	if (which == 0)
		ROUND(wire_hello, hello, wire_hello_encode);
	else if (which == 1)
		ROUND(wire_welcome, wire_welcome_decode, wire_welcome_encode);
	else if (which == 2)
		ROUND(wire_dict, dict, wire_dict_encode);
	else if (which == 3) {
		ROUND(wire_need_dict, wire_need_dict_decode, wire_need_dict_encode);
		ROUND(wire_refused, refused, wire_refused_encode);
		ROUND(wire_keys, keys, wire_keys_encode);
	} else if (which == 4)
		ROUND(wire_mark, wire_mark_decode, ack_encode);
	else if (which == 5)
		ROUND(wire_batch_head, wire_batch_head_decode, wire_batch_head_encode);
	else if (which == 6)
		dict_made(data, len);
	else if (which >= 7) /* the most to find */
		ROUND(wire_body, body, body_encode);
	arena_reset(arena);
	return 0;
}
