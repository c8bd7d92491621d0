// SPDX-License-Identifier: Apache-2.0
#include <zmq.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/uplink/dealer.h"
#include "lib/uplink/uplink_state.h"

enum { MAX_ANSWERS = 256 };

static const uint64_t SETTLE_NS = 200 * MS; /* one loss causes many NACKs: follow the first */

/*
 * Another process uses this epoch. Continuing with it would lose the batches that the collector
 * believes it has.
 */
static void epoch_taken(struct uplink *u, uint64_t mark)
{
	log_err(0,
		"collector at %s has batch %llu of node %s, which this process did not send: is "
		"this machine a copy? Continuing with a new epoch",
		uplink_where(u), (unsigned long long)mark, u->cfg.node);
	spool_renew(u->cfg.spool);
	uplink_start_over(u);
}

static void on_welcome(struct uplink *u, const void *frame, size_t len)
{
	struct spool *s = u->cfg.spool;
	struct wire_welcome w;
	bool fresh;

	if (wire_welcome_decode(frame, len, &w) < 0 || w.node_id != u->node_id ||
	    w.epoch != spool_epoch(s)) {
		u->stat.ignored++;
		return;
	}
	/* below what is acknowledged: its database is new, or was restored */
	fresh = w.mark[STREAM_EVENT] + 1 < spool_base(s, STREAM_EVENT);
	for (enum wire_stream i = STREAM_EVENT; i < STREAM_END; i++) {
		if (spool_ack(s, i, w.mark[i]) < 0) {
			epoch_taken(u, w.mark[i]);
			return;
		}
		spool_rewind(s, i, w.mark[i]);
	}
	u->state = UP;
	u->tried = u->failed = 0;
	u->refused = 0;
	u->since_ns = u->progress_ns = clock_mono_ns();
	uplink_say_back(u, false);
	if (fresh) {
		offset_forget(&u->offset);
		u->cfg.on_fresh(u->cfg.arg);
	}
	uplink_go_on(u);
}

/* False: the mark is not for this epoch of this node, or nothing more is to be done. */
static bool take_mark(struct uplink *u, const void *frame, size_t len, struct wire_mark *m)
{
	struct spool *s = u->cfg.spool;
	uint64_t base;

	if (u->state != UP || wire_mark_decode(frame, len, m) < 0 || m->node_id != u->node_id ||
	    m->epoch != spool_epoch(s) || m->stream < STREAM_EVENT || m->stream >= STREAM_END) {
		u->stat.ignored++;
		return false;
	}
	base = spool_base(s, m->stream);
	if (spool_ack(s, m->stream, m->mark) < 0) {
		epoch_taken(u, m->mark);
		return false;
	}
	if (spool_base(s, m->stream) > base) {
		u->progress_ns = clock_mono_ns();
		u->patience_ns = PATIENCE_NS;
		uplink_say_back(u, true);
	}
	return true;
}

/* Every batch in flight after a hole brings the same NACK: one rewind is enough. */
static void rewind_once(struct uplink *u, const struct wire_mark *m)
{
	uint64_t now = clock_mono_ns();

	u->stat.nacks++;
	if (m->mark == u->nack_mark[m->stream] && now < u->nack_until_ns[m->stream])
		return;
	u->nack_mark[m->stream] = m->mark;
	u->nack_until_ns[m->stream] = now + SETTLE_NS;
	u->stat.rewinds++;
	spool_rewind(u->cfg.spool, m->stream, m->mark);
}

/*
 * Takes the times when the collector received and stored a batch as another exchange of the clocks.
 */
static void hear_clock(struct uplink *u, const struct wire_mark *m)
{
	const struct exchange x = { .sent_ns = m->sent_ns,
				    .received_ns = m->received_ns,
				    .answered_ns = m->answered_ns,
				    .heard_ns = clock_wall_ns(),
				    .mono_ns = clock_mono_ns() };
	struct clock_item c;

	if (m->sent_ns && u->cfg.on_clock && offset_add(&u->offset, &x) &&
	    offset_news(&u->offset, &x, &c))
		u->cfg.on_clock(u->cfg.arg, &c);
}

static void on_mark(struct uplink *u, enum wire_type type, const void *frame, size_t len)
{
	struct wire_mark m;

	if (!take_mark(u, frame, len, &m))
		return;
	if (type == WIRE_NACK)
		rewind_once(u, &m);
	else
		hear_clock(u, &m);
	uplink_go_on(u);
}

static void send_dict(struct uplink *u)
{
	struct spool *s = u->cfg.spool;

	if (dealer_send(u->dealer.sock, &u->frame) < 0) {
		uplink_lost(u);
		return;
	}
	u->stat.dicts++;
	for (enum wire_stream i = STREAM_EVENT; i < STREAM_END; i++)
		spool_rewind(s, i, spool_base(s, i) - 1);
	uplink_send(u);
}

/* A layout of an earlier version of this program, left on disk with its batches. */
static void send_old_dict(struct uplink *u, uint64_t layout)
{
	if (spool_dict(u->cfg.spool, layout, &u->frame) == 0) {
		send_dict(u);
		return;
	}
	log_err(0,
		"layout %016llx of batches left by an earlier probe is missing: their metrics are "
		"lost",
		(unsigned long long)layout);
	spool_drop_metrics(u->cfg.spool);
	uplink_go_on(u);
}

static void on_need_dict(struct uplink *u, const void *frame, size_t len)
{
	uint64_t now = clock_mono_ns();
	struct wire_need_dict nd;
	size_t i = 0;
	bool known = u->state == UP && wire_need_dict_decode(frame, len, &nd) == 0;

	while (known && i < u->cfg.nlayouts && u->cfg.layouts[i]->layout != nd.layout)
		i++;
	if (!known || (i == u->cfg.nlayouts && !spool_is_of_before(u->cfg.spool))) {
		u->stat.ignored++;
		return;
	}
	if (now < u->dict_until_ns[i])
		return;
	u->dict_until_ns[i] = now + SETTLE_NS;
	if (i == u->cfg.nlayouts) {
		send_old_dict(u, nd.layout);
		return;
	}
	wire_dict_encode(&u->frame, u->cfg.layouts[i]);
	send_dict(u);
}

static void on_foreign(struct uplink *u)
{
	u->stat.ignored++;
	if (u->foreign)
		return;
	u->foreign = true;
	log_err(0,
		"collector at %s speaks another protocol version than this probe: update the older "
		"one",
		uplink_where(u));
}

static void on_frame(struct uplink *u, const void *frame, size_t len)
{
	enum wire_type type;
	int r = wire_type_of(frame, len, &type);

	if (r == -EPROTONOSUPPORT)
		on_foreign(u);
	else if (r == 0 && type == WIRE_WELCOME)
		on_welcome(u, frame, len);
	else if (r == 0 && (type == WIRE_ACK || type == WIRE_NACK))
		on_mark(u, type, frame, len);
	else if (r == 0 && type == WIRE_NEED_DICT)
		on_need_dict(u, frame, len);
	else if (r == 0 && type == WIRE_REFUSED)
		uplink_refused(u, frame, len);
	else if (r == 0 && type == WIRE_KEYS)
		uplink_keys(u, frame, len);
	else
		u->stat.ignored++; /* from a later version, or damaged: missing acks will show that
				    */
}

int uplink_input(void *uplink)
{
	struct uplink *u = uplink;
	bool tail = false; /* a second frame, which no answer has */
	zmq_msg_t m;

	zmq_msg_init(&m);
	for (int i = 0; i < MAX_ANSWERS && zmq_msg_recv(&m, u->dealer.sock, ZMQ_DONTWAIT) >= 0;
	     i++) {
		bool more = zmq_msg_more(&m);

		if (tail || more)
			u->stat.ignored++;
		else
			on_frame(u, zmq_msg_data(&m), zmq_msg_size(&m));
		tail = more;
	}
	zmq_msg_close(&m);
	return 0;
}
