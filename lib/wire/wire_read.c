// SPDX-License-Identifier: Apache-2.0
/* wire_read.c - decodes values shared by several messages and items: text, addresses, metrics. */
#include "lib/wire/wire_read.h"

const char *wire_read_text(struct mp *m, struct arena *a, size_t max, int *r)
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
	return wire_read_text(m, a, ITEM_MAX_NAME, r);
}

const char *wire_read_key(struct mp *m, struct arena *a, int *r)
{
	const char *s = wire_read_name(m, a, r);

	if (s && !*s)
		*r = -EBADMSG;
	return s;
}

struct addr wire_read_addr(struct mp *m)
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

int wire_read_metrics(struct mp *m, struct arena *a, struct wire_dict *d)
{
	struct wire_metric *metrics;
	void *p;
	int r;

	d->n = mp_array(m);
	if (mp_bad(m) || d->n == 0 || d->n > ITEM_MAX_VALUES)
		return -EBADMSG;
	r = arena_try(a, d->n, sizeof(*metrics), &p);
	if (r < 0)
		return r;
	metrics = p;
	for (uint32_t i = 0; i < d->n && r == 0; i++) {
		uint32_t width = mp_array(m);

		if (width < WIRE_METRIC_FIELDS)
			return -EBADMSG;
		metrics[i].name = wire_read_key(m, a, &r);
		metrics[i].unit = wire_read_name(m, a, &r);
		metrics[i].kind = (uint8_t)mp_uint_max(m, UINT8_MAX);
		mp_skip_n(m, width - WIRE_METRIC_FIELDS);
	}
	d->metrics = metrics;
	return r;
}
