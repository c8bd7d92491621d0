// SPDX-License-Identifier: Apache-2.0
#include "lib/wire/wire_write.h"

#include <assert.h>

#include "lib/base/hash.h"

/* more: number of fields appended later that this message has. */
static msgpack_packer message_with(struct buf *out, enum wire_type type, uint8_t more)
{
	static const uint8_t fields[] = {
#define MESSAGE(id, name, n) [id] = (n),
#include "schema/def/messages.def"
#undef MESSAGE
	};
	msgpack_packer pk = wire_packer(out);

	buf_reset(out);
	msgpack_pack_array(&pk, fields[type] + (size_t)more);
	msgpack_pack_uint8(&pk, WIRE_VERSION);
	msgpack_pack_uint8(&pk, (uint8_t)type);
	return pk;
}

static msgpack_packer message(struct buf *out, enum wire_type type)
{
	return message_with(out, type, 0);
}

void wire_hello_encode(struct buf *out, const struct wire_hello *h)
{
	const char *token = h->token ? h->token : "", *next = h->next_key ? h->next_key : "";
	const char *relay = h->relay ? h->relay : "";
	uint8_t more = *relay ? 3 : *next ? 2 : *token ? 1 : 0;
	msgpack_packer pk = message_with(out, WIRE_HELLO, more);

	put_name(&pk, h->node);
	put_u64(&pk, h->epoch);
	put_name(&pk, h->machine);
	put_name(&pk, h->version);
	put_u64(&pk, h->wall_ns);
	if (more)
		put_name(&pk, token);
	if (more > 1)
		put_name(&pk, next);
	if (more > 2)
		put_name(&pk, relay);
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
	put_metrics(&pk, d->n, d->metrics);
}

void wire_need_dict_encode(struct buf *out, const struct wire_need_dict *d)
{
	msgpack_packer pk = message(out, WIRE_NEED_DICT);

	put_u64(&pk, d->layout);
}

void wire_mark_encode(struct buf *out, enum wire_type ack_or_nack, const struct wire_mark *m)
{
	bool times = ack_or_nack == WIRE_ACK && m->sent_ns;
	msgpack_packer pk = message_with(out, ack_or_nack, times ? WIRE_TIMES_FIELDS : 0);

	assert(ack_or_nack == WIRE_ACK || ack_or_nack == WIRE_NACK);
	put_u64(&pk, m->node_id);
	put_u64(&pk, m->epoch);
	msgpack_pack_uint8(&pk, m->stream);
	put_u64(&pk, m->mark);
	if (!times)
		return;
	put_u64(&pk, m->sent_ns);
	put_u64(&pk, m->received_ns);
	put_u64(&pk, m->answered_ns);
}

void wire_batch_head_encode(struct buf *out, const struct wire_batch_head *h)
{
	msgpack_packer pk = message_with(out, WIRE_BATCH, h->sent_ns != 0);

	put_u64(&pk, h->node_id);
	put_u64(&pk, h->epoch);
	msgpack_pack_uint8(&pk, h->stream);
	put_u64(&pk, h->seq);
	put_u64(&pk, h->base_seq);
	put_u64(&pk, h->wall_ns);
	if (h->sent_ns)
		put_u64(&pk, h->sent_ns);
}

void wire_refused_encode(struct buf *out, const struct wire_refused *r)
{
	msgpack_packer pk = message(out, WIRE_REFUSED);

	put_u64(&pk, r->node_id);
	put_u64(&pk, r->epoch);
	msgpack_pack_uint8(&pk, r->why);
	put_name(&pk, r->known_as);
}

void wire_keys_encode(struct buf *out, const struct wire_keys *k)
{
	msgpack_packer pk = message(out, WIRE_KEYS);

	put_u64(&pk, k->node_id);
	put_u64(&pk, k->epoch);
	put_name(&pk, k->collector);
	msgpack_pack_uint8(&pk, k->rotate);
	put_name(&pk, k->taken);
}
