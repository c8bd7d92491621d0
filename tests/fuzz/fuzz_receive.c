// SPDX-License-Identifier: Apache-2.0
/*
 * The collector's way in, from messages to rows, played by a script: raw frames and made ones,
 * losses, restarts and time. A script's writer stores by the rule of the commit. It holds that
 * nothing is answered that was not stored, that batches come in order, that every message is
 * counted, and that each row is what COPY BINARY takes: fields of their lengths, texts of UTF-8,
 * JSON.
 */
#include "collector/ingest/receive.h"
#include "lib/base/clock.h"
#include "lib/base/hash.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/check_rows.h"
#include "tests/fuzz/fake_registry.h"

enum { NODES = 2, EPOCHS = 2, KNOWN = 16 };

#define NOW 1790000000000000000ull
#define DAYS (2 * 86400 * 1000000000ull)

/* What is in the database. */
struct stored {
	uint64_t node, epoch, seq[STREAM_END];
	bool lost, again; /* work of it; or what was queued has been asked for again */
};

static struct rig {
	struct layouts *layouts;
	struct pipeline *front, *back;
	struct writer_queue *link;
	struct receive *receive;
	struct stored stored[KNOWN];
	int nstored;
	struct input frame[2];
	int nframes; /* to be received */
	unsigned who; /* the key that they come with */
	uint64_t mono_ns;
} rig;

uint64_t clock_mono_ns(void)
{
	return rig.mono_ns;
}

uint64_t clock_wall_ns(void)
{
	return NOW;
}

static struct stored *find(uint64_t node, uint64_t epoch)
{
	for (int i = 0; i < rig.nstored; i++)
		if (rig.stored[i].node == node && rig.stored[i].epoch == epoch)
			return &rig.stored[i];
	return NULL;
}

int router_recv(struct router *r UNUSED, struct sender *from, zmq_msg_t frame[static 2])
{
	int n = rig.nframes;

	if (!n)
		return -EAGAIN;
	rig.nframes = 0;
	*from = (struct sender){ .peer = { .len = 1, .id = "p" }, .address = "192.0.2.1" };
	from->key = rig.who < ARRAY_SIZE(registry) ? registry[rig.who].key
						   : "0000000000000000000000000000000000000000";
	for (int i = 0; i < n; i++) {
		zmq_msg_close(&frame[i]);
		zmq_msg_init_size(&frame[i], rig.frame[i].len);
		if (rig.frame[i].len)
			memcpy(zmq_msg_data(&frame[i]), rig.frame[i].p, rig.frame[i].len);
	}
	return n;
}

static void check_mark(const struct buf *frame)
{
	const struct stored *s;
	struct wire_mark m;

	must(wire_mark_decode(frame->data, frame->len, &m) == 0);
	s = find(m.node_id, m.epoch);
	must(s && m.mark <= s->seq[m.stream]);
}

static void check_welcome(const struct buf *frame)
{
	const struct stored *s;
	struct wire_welcome w;

	must(wire_welcome_decode(frame->data, frame->len, &w) == 0);
	s = find(w.node_id, w.epoch);
	must(s != NULL);
	for (int i = STREAM_EVENT; i < STREAM_END; i++)
		must(w.mark[i] <= s->seq[i]);
}

void router_look(struct router *r UNUSED)
{
}

void router_send(struct router *r UNUSED, struct peer *to, const struct buf *frame)
{
	enum wire_type type;
	struct wire_need_dict d;

	must(to->len == 1);
	must(wire_type_of(frame->data, frame->len, &type) == 0);
	if (type == WIRE_ACK || type == WIRE_NACK) {
		check_mark(frame);
	} else if (type == WIRE_WELCOME) {
		check_welcome(frame);
	} else if (type != WIRE_REFUSED && type != WIRE_KEYS) {
		must(wire_need_dict_decode(frame->data, frame->len, &d) == 0);
		must(!layouts_find(rig.layouts, d.layout));
	}
}

static bool is_next(const struct stored *s, const struct wire_batch_head *h)
{
	uint64_t next = s->seq[h->stream] + 1;

	return h->seq == next || (h->base_seq > next && h->seq == h->base_seq);
}

static void store(struct stored *s, struct batch *b)
{
	b->now_ns = NOW;
	b->from_ns = NOW - DAYS;
	b->until_ns = NOW + DAYS;
	b->raw_from_ns = NOW - DAYS / 2;
	b->raw_until_ns = NOW + DAYS / 2;
	must(pipeline_run(rig.back, b) >= 0);
	for (int i = 0; i < FACT_END; i++)
		check_rows(&b->rows[i], fields[i]);
	must(b->malformed || b->rows[FACT_REQUEST].n == b->items.nrequests);
	must(b->malformed || b->rows[FACT_EVENT].n == b->items.nevents);
	for (uint32_t i = 0; !b->malformed && i < b->items.nrequests; i++)
		must(be32(b->rows[FACT_REQUEST].bytes.data + b->stored_at[i] - 4) == 8);
	for (uint32_t i = 0; !b->malformed && i < b->items.nevents; i++)
		must(be32(b->rows[FACT_EVENT].bytes.data + b->event_stored_at[i] - 4) == 8);
	s->seq[b->head.stream] = b->head.seq;
}

static void send_note(enum note_kind kind, const struct work *w, const struct stored *s)
{
	struct note n = {
		.kind = kind, .hello = w->kind == WORK_HELLO, .node = w->node, .epoch = w->epoch
	};

	if (s)
		memcpy(n.seq, s->seq, sizeof(n.seq));
	writer_queue_note(rig.link, &n);
	must(receive_notes(rig.receive) == 0);
}

/* The writer's turn: one piece of work, which it stores, or loses and says what there is. */
static bool write_one(bool loses)
{
	enum note_kind kind = NOTE_LOADED;
	struct stored *s;
	struct work *w;

	if (writer_queue_take(rig.link, 0, &w) < 0)
		return false;
	writer_queue_done(w);
	s = find(w->node, w->epoch);
	if (s)
		s->again |= w->kind != WORK_BATCH;
	if (!s && w->kind == WORK_HELLO && rig.nstored < KNOWN) {
		must(is_text(w->name, strlen(w->name)) && is_text(w->machine, strlen(w->machine)));
		s = &rig.stored[rig.nstored++];
		*s = (struct stored){ .node = w->node, .epoch = w->epoch };
	}
	if (s && w->kind == WORK_BATCH) {
		const struct wire_batch_head *h = &w->batch->head;
		bool next = is_next(s, h);

		must(next || s->lost || (s->again && h->seq <= s->seq[h->stream]));
		s->lost |= loses;
		if (next && !loses) {
			store(s, w->batch);
			kind = NOTE_STORED;
		}
	}
	send_note(s ? kind : NOTE_UNKNOWN_NODE, w, s);
	work_free(w);
	return true;
}

static uint64_t outcomes(void)
{
	uint64_t n = counter_get(C_HELLOS) + counter_get(C_DICTS) + counter_get(C_BATCHES);

	for (enum counter c = C_REFUSED_FRAMES; c <= C_REFUSED_IDENTITY; c++)
		n += counter_get(c);
	return n;
}

static void say(const void *frame, size_t len, const struct input *body)
{
	uint64_t before = outcomes(), taken = counter_get(C_BATCHES) + counter_get(C_DICTS);

	rig.frame[0] = (struct input){ frame, len };
	rig.frame[1] = body ? *body : (struct input){ 0 };
	rig.nframes = body ? 2 : 1;
	must(receive_messages(rig.receive) == 0 && rig.nframes == 0);
	must(outcomes() > before);
	must(rig.who < NODES || taken == counter_get(C_BATCHES) + counter_get(C_DICTS));
	rig.who = 0;
}

static uint64_t node_of(uint8_t bits, const char **name)
{
	static const char *const names[NODES] = { "n1", "n2" };

	*name = names[bits % NODES];
	rig.who = bits & 0x80 ? bits >> 4 & 7 : bits % NODES; /* its own key, or any */
	return hash_node_id(*name);
}

static void say_hello(uint8_t bits)
{
	struct wire_hello h = { .epoch = bits >> 1 & (EPOCHS - 1), .machine = "m", .version = "v" };
	struct buf f = { 0 };

	node_of(bits, &h.node);
	wire_hello_encode(&f, &h);
	say(f.data, f.len, NULL);
	buf_free(&f);
}

static void say_dict(uint8_t bits)
{
	static const struct wire_metric metrics[] = { { "a", "s", 0 }, { "b", "", 1 } };
	struct wire_dict d = { .entity_kind = "disk", .n = 1 + bits % 2, .metrics = metrics };
	struct buf f = { 0 };

	d.layout = wire_layout_id(&d);
	wire_dict_encode(&f, &d);
	say(f.data, f.len, NULL);
	buf_free(&f);
}

/* A batch of a node that may be known, near to what is stored, with the script's bytes as body. */
static void say_batch(uint8_t bits, struct input *in)
{
	struct wire_batch_head h = { .epoch = bits >> 1 & (EPOCHS - 1), .wall_ns = NOW };
	const struct stored *s;
	struct input body;
	struct buf f = { 0 };
	const char *name;

	h.node_id = node_of(bits, &name);
	h.stream = bits & 4 ? STREAM_EVENT : STREAM_METRIC;
	s = find(h.node_id, h.epoch);
	h.seq = (s ? s->seq[h.stream] : 0) + 1 + take8(in) % 8;
	h.base_seq = bits & 8 ? h.seq : 1;
	body = take_bytes(in);
	wire_batch_head_encode(&f, &h);
	say(f.data, f.len, &body);
	buf_free(&f);
}

static void say_raw(bool two, struct input *in)
{
	struct input head = take_bytes(in), body = { 0 };

	if (two)
		body = take_bytes(in);
	say(head.p, head.len, two ? &body : NULL);
}

static void play(struct input *in)
{
	while (in->len) {
		uint8_t op = take8(in);

		if (op % 8 == 0)
			say_raw(op & 8, in);
		else if (op % 8 == 1)
			say_hello(op >> 4);
		else if (op % 8 == 2)
			say_dict(op >> 4);
		else if (op % 8 <= 4)
			say_batch(op >> 4, in);
		else if (op % 8 <= 6)
			write_one(op >> 4 == 15);
		else
			rig.mono_ns += (uint64_t)(op >> 3) * 100000000;
		must(receive_tick(rig.receive) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct stage *const front[] = { &stage_decode, &stage_limit, &stage_enrich };
	static const struct stage *const back[] = { &stage_store };
	static const struct own_keys own = { .next = "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6" };
	struct input in = { data, len };

	if (!rig.link)
		rig.link = writer_queue_new(); /* empty after each script, so one is enough */
	rig = (struct rig){ .mono_ns = 1000000000, .layouts = layouts_new(), .link = rig.link };
	must(pipeline_open(&rig.front, front, ARRAY_SIZE(front),
			   &(struct stage_env){ .layouts = rig.layouts }) == 0);
	must(pipeline_open(&rig.back, back, 1, &(struct stage_env){ 0 }) == 0);
	rig.receive = receive_new(&(struct receive_config){ .own = &own,
							    .rows_per_s = 50,
							    .link = rig.link,
							    .layouts = rig.layouts,
							    .front = rig.front });
	play(&in);
	while (write_one(false))
		;
	must(counter_get(C_QUEUE_BYTES) == 0 && counter_get(C_QUEUE_BATCHES) == 0);
	receive_free(rig.receive);
	pipeline_close(rig.back);
	pipeline_close(rig.front);
	layouts_free(rig.layouts);
	return 0;
}
