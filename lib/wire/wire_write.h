// SPDX-License-Identifier: Apache-2.0
/*
 * wire_write.h - writers shared by wire_encode.c, wire_put.c and wire_relay.c; private to these.
 *
 * Measured values are checked against the wire's limits here: a counter that ran backwards or a
 * name that is too long costs its own value, not the whole batch, which a reader would refuse.
 */
#pragma once

#include <msgpack.h>

#include "lib/wire/wire.h"

static inline int wire_write_buf(void *arg, const char *p, size_t len)
{
	buf_put(arg, p, len);
	return 0;
}

static inline msgpack_packer wire_packer(struct buf *out)
{
	msgpack_packer pk;

	msgpack_packer_init(&pk, out, wire_write_buf);
	return pk;
}

static inline void put_uint(msgpack_packer *pk, uint64_t v, uint64_t max)
{
	msgpack_pack_uint64(pk, v < max ? v : max);
}

static inline void put_u64(msgpack_packer *pk, uint64_t v)
{
	put_uint(pk, v, INT64_MAX);
}

static inline void put_str(msgpack_packer *pk, const char *s, size_t max)
{
	msgpack_pack_str_with_body(pk, s, strnlen(s, max));
}

/* lib/wire/wire_put.c: begins an item with its original fields and `more` appended ones. */
msgpack_packer wire_item(struct buf *body, enum item_kind kind, uint32_t more);

static inline void put_name(msgpack_packer *pk, const char *s)
{
	put_str(pk, s, ITEM_MAX_NAME);
}

static inline void put_metrics(msgpack_packer *pk, uint32_t n, const struct wire_metric *m)
{
	msgpack_pack_array(pk, n);
	for (uint32_t i = 0; i < n; i++) {
		msgpack_pack_array(pk, WIRE_METRIC_FIELDS);
		put_name(pk, m[i].name);
		put_name(pk, m[i].unit);
		msgpack_pack_uint8(pk, m[i].kind);
	}
}
