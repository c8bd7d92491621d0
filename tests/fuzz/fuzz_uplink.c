// SPDX-License-Identifier: Apache-2.0
/*
 * What a collector, or who says that it is one, may answer a probe: raw frames, and made ones near
 * to the truth, between batches, time and a link that breaks. It holds that only a mark takes a
 * batch out of the spool, that none that is stored is sent again, and that the window stays one.
 */
#include "lib/uplink/uplink_state.c"
#include "lib/uplink/uplink.c"
#include "lib/uplink/uplink_answer.c"
#include "lib/uplink/uplink_keys.c"

#include <stdio.h>

#include "tests/fuzz/check.h"

#define KEY "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
#define NEXT_KEY "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"

enum { ENOUGH = 16 << 20, BODY = 40 }; /* for 4,096 times 15 batches */

static struct rig {
	struct uplink u;
	uint64_t now_ns;
	bool broken; /* nothing can be sent */
} rig;

uint64_t clock_mono_ns(void)
{
	return rig.now_ns;
}

uint64_t clock_wall_ns(void)
{
	return rig.now_ns;
}

/* The log goes nowhere. */
int log_err(int err, const char *fmt UNUSED, ...)
{
	return err;
}

int log_warn(int err, const char *fmt UNUSED, ...)
{
	return err;
}

void log_info(const char *fmt UNUSED, ...)
{
}

void die(const char *fmt UNUSED, ...)
{
	abort();
}

/* The socket is a place to point to. */
void *dealer_context(void)
{
	return NULL;
}

int dealer_open(void *zmq UNUSED, const char *endpoint, const struct key_pair *own UNUSED,
		const char *collector_key, struct dealer *out)
{
	must(*endpoint && key_is_text(collector_key));
	memset(out, 0, sizeof(*out));
	return rig.broken ? -EMFILE : 0;
}

void dealer_close(struct dealer *d UNUSED)
{
}

bool handshake_next(void *watch UNUSED, enum handshake *out UNUSED)
{
	return false;
}

/* Keys as keyring.c keeps them, but on no disk. */
bool keyring_trust(struct keyring *k, const char *collector_key)
{
	bool is_new = key_is_text(collector_key) && !keys_has(&k->collectors, collector_key);

	if (is_new)
		keys_add(&k->collectors, collector_key);
	must(k->collectors.n >= 1 && k->collectors.n <= KEYS_MAX);
	return is_new;
}

int keyring_prepare(struct keyring *k)
{
	snprintf(k->next.public, KEY_TEXT, "%s", NEXT_KEY);
	return rig.broken ? -ENOSPC : 0;
}

int keyring_change(struct keyring *k)
{
	must(*k->next.public);
	memset(&k->next, 0, sizeof(k->next));
	return 0;
}

int dealer_send(void *sock UNUSED, const struct buf *frame)
{
	enum wire_type type;

	must(wire_type_of(frame->data, frame->len, &type) == 0);
	must(type == WIRE_HELLO || type == WIRE_DICT);
	return rig.broken ? -EAGAIN : 0;
}

int dealer_send_batch(void *sock UNUSED, const struct buf *head, struct spool_batch *b)
{
	struct wire_batch_head h;

	must(wire_batch_head_decode(head->data, head->len, &h) == 0 && h.seq == b->seq);
	must(h.epoch == spool_epoch(rig.u.cfg.spool) && b->len == BODY);
	must(h.seq >= h.base_seq && h.base_seq == spool_base(rig.u.cfg.spool, h.stream));
	return rig.broken ? -EAGAIN : 0;
}

void loop_add_zmq(struct loop *l UNUSED, void *sock UNUSED, loop_fn *fn UNUSED, void *arg UNUSED)
{
}

void loop_swap_zmq(struct loop *l UNUSED, void *old UNUSED, void *sock UNUSED)
{
}

static void on_fresh(void *arg UNUSED)
{
}

/* What the frame says is stored, if it is one that can say so. */
static void read_marks(const void *f, size_t len, uint64_t acked[static STREAM_END])
{
	struct wire_welcome w;
	struct wire_mark m;

	memset(acked, 0, STREAM_END * sizeof(*acked));
	if (wire_welcome_decode(f, len, &w) == 0)
		memcpy(acked, w.mark, sizeof(w.mark));
	else if (wire_mark_decode(f, len, &m) == 0)
		acked[m.stream] = m.mark;
}

static void say(const void *f, size_t len)
{
	struct spool *s = rig.u.cfg.spool;
	uint64_t acked[STREAM_END], base[STREAM_END], epoch = spool_epoch(s);

	read_marks(f, len, acked);
	for (enum wire_stream i = STREAM_EVENT; i < STREAM_END; i++)
		base[i] = spool_base(s, i);
	on_frame(&rig.u, f, len);
	for (enum wire_stream i = STREAM_EVENT; i < STREAM_END; i++) {
		if (spool_epoch(s) != epoch)
			must(spool_base(s, i) == 1);
		else
			must(spool_base(s, i) == base[i] || spool_base(s, i) == acked[i] + 1);
	}
}

/* Only a mark takes a batch away. */
static void check_spool(uint32_t batches)
{
	struct spool *s = rig.u.cfg.spool;
	size_t bytes;

	must(spool_unacked(s, &bytes) <= WINDOW_BATCHES);
	must(spool_batches(s) == batches);
	for (enum wire_stream i = STREAM_EVENT; i < STREAM_END; i++)
		must(spool_lost(s, i).batches == 0);
}

static void say_made(uint8_t op, struct input *in)
{
	struct spool *s = rig.u.cfg.spool;
	struct buf f = { 0 };
	uint8_t bits = take8(in);
	enum wire_stream stream = bits & 1 ? STREAM_EVENT : STREAM_METRIC;
	uint64_t mark = spool_base(s, stream) - 1 + (bits >> 2) % 32;
	struct wire_welcome w = { .node_id = rig.u.node_id, .epoch = spool_epoch(s) };
	struct wire_mark m = { .node_id = w.node_id,
			       .epoch = w.epoch,
			       .stream = (uint8_t)stream,
			       .mark = bits & 2 ? mark : mark % 4 };

	w.mark[stream] = m.mark;
	w.mark[STREAM_EVENT + STREAM_METRIC - stream] = take8(in) % 4;
	if (op == 0)
		wire_welcome_encode(&f, &w);
	else if (op == 1)
		wire_mark_encode(&f, WIRE_ACK, &m);
	else if (op == 2)
		wire_mark_encode(&f, WIRE_NACK, &m);
	else if (bits & 0x80)
		wire_keys_encode(&f,
				 &(struct wire_keys){ w.node_id, w.epoch, bits & 4 ? KEY : NEXT_KEY,
						      bits & 8, bits & 16 ? NEXT_KEY : "" });
	else if (bits & 0x40)
		wire_refused_encode(
			&f, &(struct wire_refused){ w.node_id, w.epoch, bits & 7, "other" });
	else
		wire_need_dict_encode(&f, &(struct wire_need_dict){ rig.u.cfg.layouts[0]->layout });
	say(f.data, f.len);
	buf_free(&f);
}

static void append(uint8_t n, enum wire_stream stream)
{
	static const char body[BODY];

	for (; n; n--)
		spool_append(rig.u.cfg.spool, stream, rig.now_ns, 1, body, sizeof(body));
	uplink_send(&rig.u);
}

static void play(struct input *in)
{
	while (in->len) {
		uint8_t op = take8(in);
		uint32_t batches;

		if (op % 8 < 4) {
			say_made(op % 8, in);
		} else if (op % 8 == 4) {
			struct input frame = take_bytes(in);

			say(frame.p, frame.len);
		} else if (op % 8 == 5) {
			append(op >> 4, op & 8 ? STREAM_EVENT : STREAM_METRIC);
		} else if (op % 8 == 6) {
			rig.now_ns += (uint64_t)(op >> 3) * 250 * MS;
		} else {
			rig.broken = op & 8;
		}
		batches = spool_batches(rig.u.cfg.spool);
		must(uplink_tick(&rig.u) == 0);
		check_spool(batches);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct wire_metric metric = { "a", "s", 0 };
	struct wire_dict dict = { .entity_kind = "x", .n = 1, .metrics = &metric };
	const struct wire_dict *const layouts[] = { &dict };
	const struct endpoints at = { 2, { "tcp://a:1", "tcp://b:1" } };
	struct keyring keys = { .collectors = { 1, { KEY } } };
	struct input in = { data, len };
	struct spool *spool = spool_new(ENOUGH);

	dict.layout = wire_layout_id(&dict);
	rig = (struct rig){ .now_ns = 1000000 * MS };
	rig.u = (struct uplink){ .cfg = { .node = "n",
					  .machine = "m",
					  .version = "v",
					  .collectors = &at,
					  .keys = &keys,
					  .layouts = layouts,
					  .nlayouts = 1,
					  .spool = spool,
					  .on_fresh = on_fresh },
				 .node_id = hash_node_id("n"),
				 .patience_ns = PATIENCE_NS,
				 .since_ns = rig.now_ns };
	play(&in);
	buf_free(&rig.u.frame);
	spool_free(spool);
	return 0;
}
