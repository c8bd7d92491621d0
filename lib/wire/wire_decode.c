// SPDX-License-Identifier: Apache-2.0
#include "lib/wire/wire.h"

#include "lib/wire/wire_read.h"

/* Opens a message; more: number of fields after the type. */
static int open_message(struct mp *m, const void *f, size_t len, enum wire_type *type, uint32_t *n)
{
	static const uint8_t fields[] = {
#define MESSAGE(id, name, least) [id] = (least),
#include "schema/def/messages.def"
#undef MESSAGE
	};
	uint32_t width;
	uint64_t version, t;

	if (len > WIRE_MAX_FRAME)
		return -EBADMSG;
	*m = mp_over(f, len);
	width = mp_array(m);
	version = mp_uint(m);
	if (mp_bad(m) || width < 2)
		return -EBADMSG;
	if (version != WIRE_VERSION)
		return -EPROTONOSUPPORT;
	t = mp_uint(m);
	if (mp_bad(m))
		return -EBADMSG;
	if (t >= ARRAY_SIZE(fields) || !fields[t])
		t = WIRE_OTHER;
	else if (width < fields[t])
		return -EBADMSG;
	*type = (enum wire_type)t;
	*n = width - 2;
	return 0;
}

static int expect(struct mp *m, const void *f, size_t len, enum wire_type wanted, uint32_t *n)
{
	enum wire_type type;
	int r = open_message(m, f, len, &type, n);

	if (r < 0)
		return r;
	return type == wanted ? 0 : -EBADMSG;
}

/* Closes a message: fields appended by a later version must be valid, and nothing may follow. */
static int close_message(struct mp *m, uint32_t more)
{
	mp_skip_n(m, more);
	return mp_bad(m) || m->p != m->end ? -EBADMSG : 0;
}

int wire_type_of(const void *frame, size_t len, enum wire_type *type)
{
	struct mp m;
	uint32_t n;

	return open_message(&m, frame, len, type, &n);
}

/*
 * A text field that was appended later: "" if it is absent or of another type (the vector
 * hello_later).
 */
static const char *read_later(struct mp *m, struct arena *a, uint32_t *n, int *r)
{
	bool is_str = m->p < m->end && ((*m->p & 0xe0) == 0xa0 || (*m->p >= 0xd9 && *m->p <= 0xdb));

	if (*n == 0)
		return "";
	--*n;
	if (is_str)
		return wire_read_name(m, a, r);
	mp_skip_n(m, 1);
	return "";
}

int wire_hello_decode(struct arena *a, const void *f, size_t len, struct wire_hello *h)
{
	struct wire_hello got = { 0 };
	struct mp m;
	uint32_t n;
	int r = expect(&m, f, len, WIRE_HELLO, &n);

	if (r < 0)
		return r;
	got.node = wire_read_key(&m, a, &r);
	got.epoch = wire_read_u64(&m);
	got.machine = wire_read_name(&m, a, &r);
	got.version = wire_read_name(&m, a, &r);
	got.wall_ns = wire_read_u64(&m);
	n -= 5;
	got.token = read_later(&m, a, &n, &r);
	got.next_key = read_later(&m, a, &n, &r);
	got.relay = read_later(&m, a, &n, &r);
	if (r < 0)
		return r;
	r = close_message(&m, n);
	if (r == 0)
		*h = got;
	return r;
}

static void read_marks(struct mp *m, uint64_t mark[static STREAM_END])
{
	uint32_t n = mp_array(m);

	if (n < STREAM_END - 1)
		return wire_read_fail(m);
	for (int i = 1; i < STREAM_END; i++)
		mark[i] = wire_read_u64(m);
	mp_skip_n(m, n - (STREAM_END - 1));
}

int wire_welcome_decode(const void *f, size_t len, struct wire_welcome *w)
{
	struct wire_welcome got = { 0 };
	struct mp m;
	uint32_t n;
	int r = expect(&m, f, len, WIRE_WELCOME, &n);

	if (r < 0)
		return r;
	got.node_id = wire_read_u64(&m);
	got.epoch = wire_read_u64(&m);
	read_marks(&m, got.mark);
	got.wall_ns = wire_read_u64(&m);
	r = close_message(&m, n - 4);
	if (r == 0)
		*w = got;
	return r;
}

int wire_dict_decode(struct arena *a, const void *f, size_t len, struct wire_dict *d)
{
	struct wire_dict got = { 0 };
	struct mp m;
	uint32_t n;
	int r = expect(&m, f, len, WIRE_DICT, &n);

	if (r < 0)
		return r;
	got.layout = wire_read_u64(&m);
	got.entity_kind = wire_read_key(&m, a, &r);
	if (r == 0)
		r = wire_read_metrics(&m, a, &got);
	if (r == 0)
		r = close_message(&m, n - 3);
	if (r < 0)
		return r;
	if (got.layout != wire_layout_id(&got))
		return -EBADMSG;
	*d = got;
	return 0;
}

int wire_need_dict_decode(const void *f, size_t len, struct wire_need_dict *d)
{
	struct wire_need_dict got = { 0 };
	struct mp m;
	uint32_t n;
	int r = expect(&m, f, len, WIRE_NEED_DICT, &n);

	if (r < 0)
		return r;
	got.layout = wire_read_u64(&m);
	r = close_message(&m, n - 1);
	if (r == 0)
		*d = got;
	return r;
}

/* The stream is an array index on both sides; it is checked only here. */
static uint8_t read_stream(struct mp *m)
{
	uint64_t stream = mp_uint_max(m, STREAM_END - 1);

	if (stream < STREAM_EVENT)
		wire_read_fail(m);
	return (uint8_t)stream;
}

/* The same for a number: 0 if it is absent or of another type. */
static uint64_t read_later_u64(struct mp *m, uint32_t *n)
{
	bool is_uint = m->p < m->end && (*m->p <= 0x7f || (*m->p >= 0xcc && *m->p <= 0xcf));

	if (*n == 0)
		return 0;
	--*n;
	if (is_uint)
		return wire_read_u64(m);
	mp_skip_n(m, 1);
	return 0;
}

int wire_mark_decode(const void *f, size_t len, struct wire_mark *mark)
{
	struct wire_mark got = { 0 };
	enum wire_type type;
	struct mp m;
	uint32_t n;
	int r = open_message(&m, f, len, &type, &n);

	if (r < 0)
		return r;
	if (type != WIRE_ACK && type != WIRE_NACK)
		return -EBADMSG;
	got.node_id = wire_read_u64(&m);
	got.epoch = wire_read_u64(&m);
	got.stream = read_stream(&m);
	got.mark = wire_read_u64(&m);
	n -= 4;
	if (type == WIRE_ACK) {
		got.sent_ns = read_later_u64(&m, &n);
		got.received_ns = read_later_u64(&m, &n);
		got.answered_ns = read_later_u64(&m, &n);
	}
	r = close_message(&m, n);
	if (r == 0)
		*mark = got;
	return r;
}

int wire_batch_head_decode(const void *f, size_t len, struct wire_batch_head *h)
{
	struct wire_batch_head got = { 0 };
	struct mp m;
	uint32_t n;
	int r = expect(&m, f, len, WIRE_BATCH, &n);

	if (r < 0)
		return r;
	got.node_id = wire_read_u64(&m);
	got.epoch = wire_read_u64(&m);
	got.stream = read_stream(&m);
	got.seq = wire_read_u64(&m);
	got.base_seq = wire_read_u64(&m);
	got.wall_ns = wire_read_u64(&m);
	n -= 6;
	got.sent_ns = read_later_u64(&m, &n);
	r = close_message(&m, n);
	if (r < 0)
		return r;
	if (got.seq == 0 || got.base_seq == 0 || got.base_seq > got.seq)
		return -EBADMSG;
	*h = got;
	return 0;
}

int wire_refused_decode(struct arena *a, const void *f, size_t len, struct wire_refused *out)
{
	struct wire_refused got = { 0 };
	struct mp m;
	uint32_t n;
	int r = expect(&m, f, len, WIRE_REFUSED, &n);

	if (r < 0)
		return r;
	got.node_id = wire_read_u64(&m);
	got.epoch = wire_read_u64(&m);
	got.why = (uint8_t)mp_uint_max(&m, UINT8_MAX);
	got.known_as = wire_read_name(&m, a, &r);
	if (r < 0)
		return r;
	r = close_message(&m, n - 4);
	if (r == 0)
		*out = got;
	return r;
}

int wire_keys_decode(struct arena *a, const void *f, size_t len, struct wire_keys *k)
{
	struct wire_keys got = { 0 };
	struct mp m;
	uint32_t n;
	int r = expect(&m, f, len, WIRE_KEYS, &n);

	if (r < 0)
		return r;
	got.node_id = wire_read_u64(&m);
	got.epoch = wire_read_u64(&m);
	got.collector = wire_read_name(&m, a, &r);
	got.rotate = mp_uint_max(&m, UINT8_MAX) & 1;
	got.taken = wire_read_name(&m, a, &r);
	if (r < 0)
		return r;
	r = close_message(&m, n - 5);
	if (r == 0)
		*k = got;
	return r;
}
