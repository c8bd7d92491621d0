// SPDX-License-Identifier: Apache-2.0
#include "probe/request/judge/baseline_pack.h"

#include <msgpack.h>

enum {
	FIELDS = 6,
	WITH_BY_FIRST = 5, /* written before parts existed */
	FIELDS_LEAST = 4, /* written before by_first existed */
};

static int buf_write(void *arg, const char *p, size_t len)
{
	buf_put(arg, p, len);
	return 0;
}

static void put_hist(msgpack_packer *pk, const struct hist *h)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < HIST_SLOTS; i++)
		n += h->b[i] != 0;
	msgpack_pack_array(pk, n * 2);
	for (uint32_t i = 0; i < HIST_SLOTS; i++) {
		if (!h->b[i])
			continue;
		msgpack_pack_uint32(pk, i);
		msgpack_pack_uint32(pk, h->b[i]);
	}
}

void baseline_put_count(struct buf *out, uint32_t n)
{
	msgpack_packer pk;

	msgpack_packer_init(&pk, out, buf_write);
	msgpack_pack_array(&pk, n);
}

void baseline_put(struct buf *out, uint64_t route, uint64_t used_s, const struct baseline *b,
		  const struct part_baseline *parts)
{
	struct buf bytes = { 0 };
	msgpack_packer pk;

	msgpack_packer_init(&pk, out, buf_write);
	msgpack_pack_array(&pk, FIELDS);
	msgpack_pack_uint64(&pk, route);
	msgpack_pack_uint64(&pk, used_s);
	put_hist(&pk, &b->base);
	put_hist(&pk, &b->up);
	msgpack_pack_uint8(&pk, b->by_first);
	part_baseline_put(&bytes, parts);
	msgpack_pack_bin(&pk, bytes.len);
	msgpack_pack_bin_body(&pk, bytes.data, bytes.len);
	buf_free(&bytes);
}

static void take_hist(struct mp *m, struct hist *h)
{
	uint32_t n = mp_array(m), next = 0;

	*h = (struct hist){ 0 };
	m->bad |= n % 2 != 0;
	for (uint32_t i = 0; i < n / 2 && !mp_bad(m); i++) {
		uint32_t slot = (uint32_t)mp_uint_max(m, HIST_SLOTS - 1);
		uint32_t count = (uint32_t)mp_uint_max(m, HIST_WINDOW - 1 - h->count);

		m->bad |= slot < next || !count;
		h->b[slot] = count;
		h->count += count;
		next = slot + 1;
	}
}

static void take_parts(struct mp *m, struct part_baseline *parts)
{
	uint32_t len;
	const uint8_t *p = mp_bin(m, &len);

	m->bad |= mp_bad(m) || !part_baseline_take(parts, p, len);
}

void baseline_take(struct mp *m, uint64_t *route, uint64_t *used_s, struct baseline *b,
		   struct part_baseline *parts)
{
	uint32_t n = mp_array(m);

	*b = (struct baseline){ 0 };
	*parts = (struct part_baseline){ 0 };
	m->bad |= n < FIELDS_LEAST;
	*route = mp_uint(m);
	*used_s = mp_uint(m);
	take_hist(m, &b->base);
	take_hist(m, &b->up);
	b->by_first = n >= WITH_BY_FIRST && mp_uint_max(m, 1);
	if (n >= FIELDS)
		take_parts(m, parts);
	if (n > FIELDS)
		mp_skip_n(m, n - FIELDS);
	m->bad |= !*route || !b->base.count;
}
