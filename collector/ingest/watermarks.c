// SPDX-License-Identifier: Apache-2.0
#include "collector/ingest/watermarks.h"

#include "lib/base/log.h"
#include "collector/core/counters.h"
#include "collector/core/pairmap.h"

#define MS 1000000ull
#define SEC (1000 * MS)

/* A probe acts on the first of several NACKs and ignores others for the same mark for 200 ms. */
static const uint64_t NACK_INTERVAL_NS = 250 * MS;
static const uint64_t FORGET_NS = 3600 * 1000 * MS;

/* The epochs of one node. */
struct epochs {
	uint32_t n;
	uint32_t fresh, sweep; /* new ones since sweep number `sweep` */
};

struct watermarks {
	struct pairmap *map;
	struct pairmap *nodes; /* struct epochs */
	struct mark *due;
	uint64_t now_ns; /* time of the current sweep */
	uint64_t untagged;
	uint32_t sweeps;
};

struct watermarks *watermarks_new(void)
{
	struct watermarks *m = calloc(1, sizeof(*m));

	if (!m)
		die("out of memory");
	m->map = pairmap_new(sizeof(struct mark));
	m->nodes = pairmap_new(sizeof(struct epochs));
	return m;
}

void watermarks_free(struct watermarks *m)
{
	if (!m)
		return;
	pairmap_free(m->map);
	pairmap_free(m->nodes);
	free(m);
}

struct mark *watermarks_find(const struct watermarks *m, uint64_t node, uint64_t epoch)
{
	return pairmap_find(m->map, node, epoch);
}

static bool admit_epoch(const struct watermarks *m, struct epochs *e)
{
	if (e->sweep != m->sweeps)
		e->fresh = 0;
	e->sweep = m->sweeps;
	if (e->n >= MARKS_OF_NODE || e->fresh >= MARKS_AT_ONCE)
		return false;
	e->n++;
	e->fresh++;
	return true;
}

struct mark *watermarks_get(struct watermarks *m, uint64_t node, uint64_t epoch)
{
	struct mark *k = watermarks_find(m, node, epoch);

	if (k || pairmap_count(m->map) >= MARKS_MAX)
		return k;
	if (!admit_epoch(m, pairmap_add(m->nodes, node, 0)))
		return NULL;
	k = pairmap_add(m->map, node, epoch);
	k->node = node;
	k->epoch = epoch;
	return k;
}

static uint8_t stream_bit(uint8_t stream)
{
	return (uint8_t)(1u << stream);
}

static void put_due(struct watermarks *m, struct mark *k)
{
	if (k->due)
		return;
	k->due = true;
	k->next_due = m->due;
	m->due = k;
}

void watermarks_refused(struct watermarks *m, struct mark *k, uint8_t stream)
{
	k->nack |= stream_bit(stream);
	put_due(m, k);
}

enum mark_verdict watermarks_judge(struct watermarks *m, struct mark *k,
				   const struct wire_batch_head *h)
{
	uint64_t next = k->queued[h->stream] + 1;

	if (k->state != MARK_KNOWN) {
		watermarks_refused(m, k, h->stream);
		return MARK_UNSYNCED;
	}
	if (h->seq < next) {
		if (h->seq <= k->stored[h->stream]) {
			k->ack |= stream_bit(h->stream);
			put_due(m, k);
		}
		return MARK_DUPLICATE;
	}
	if (h->seq == next || (h->base_seq > next && h->seq == h->base_seq))
		return MARK_NEXT;
	watermarks_refused(m, k, h->stream);
	return MARK_GAP;
}

void watermarks_queued(struct mark *k, const struct wire_batch_head *h, uint64_t wall_ns)
{
	k->queued[h->stream] = h->seq;
	k->sent_ns[h->stream] = h->sent_ns;
	k->came_ns[h->stream] = wall_ns;
	k->nack &= (uint8_t)~stream_bit(h->stream);
}

/* Counted by the probe's clock: an hour of spooled batches that arrive at once is not a burst. */
uint32_t watermarks_room(const struct mark *k, const struct wire_batch_head *h, uint32_t per_s)
{
	uint32_t used = h->wall_ns / SEC == k->second[h->stream] ? k->rows[h->stream] : 0;

	return used < per_s ? per_s - used : 0;
}

void watermarks_rows(struct mark *k, const struct wire_batch_head *h, uint32_t rows)
{
	if (h->wall_ns / SEC != k->second[h->stream])
		k->rows[h->stream] = 0;
	k->second[h->stream] = h->wall_ns / SEC;
	k->rows[h->stream] += rows;
}

bool watermarks_idle(const struct mark *k)
{
	return memcmp(k->queued, k->stored, sizeof(k->queued)) == 0;
}

void watermarks_stored(struct watermarks *m, struct mark *k, const uint64_t seq[static STREAM_END])
{
	for (uint8_t s = STREAM_EVENT; s < STREAM_END; s++) {
		if (seq[s] > k->queued[s])
			k->queued[s] = seq[s];
		if (seq[s] <= k->stored[s])
			continue;
		k->stored[s] = seq[s];
		k->ack |= stream_bit(s);
		put_due(m, k);
	}
}

/* A queued batch that is not in the database was lost on the way: the probe must resend it. */
void watermarks_load(struct watermarks *m, struct mark *k, const uint64_t seq[static STREAM_END])
{
	bool was_known = k->state == MARK_KNOWN;

	k->state = MARK_KNOWN;
	for (uint8_t s = STREAM_EVENT; s < STREAM_END; s++) {
		if (was_known && k->queued[s] != seq[s])
			k->nack |= stream_bit(s);
		k->queued[s] = k->stored[s] = seq[s];
	}
	if (k->nack)
		put_due(m, k);
}

struct mark *watermarks_next_due(struct watermarks *m)
{
	struct mark *k = m->due;

	if (!k)
		return NULL;
	m->due = k->next_due;
	k->due = false;
	return k;
}

bool watermarks_take_ack(struct mark *k, uint8_t stream)
{
	bool yes = k->ack & stream_bit(stream);

	k->ack &= (uint8_t)~stream_bit(stream);
	return yes && k->state == MARK_KNOWN;
}

bool watermarks_take_nack(struct mark *k, uint8_t stream, uint64_t now_ns)
{
	if (!(k->nack & stream_bit(stream)) || k->state != MARK_KNOWN)
		return false;
	if (k->nack_ns[stream] && k->nack_mark[stream] == k->stored[stream] &&
	    now_ns - k->nack_ns[stream] < NACK_INTERVAL_NS)
		return false;
	k->nack &= (uint8_t)~stream_bit(stream);
	k->nack_mark[stream] = k->stored[stream];
	k->nack_ns[stream] = now_ns;
	return true;
}

static bool sweep_mark(void *arg, uint64_t node, uint64_t epoch UNUSED, void *value)
{
	struct watermarks *m = arg;
	struct mark *k = value;

	if (k->nack && k->state == MARK_KNOWN)
		put_due(m, k);
	if (!k->due && m->now_ns - k->heard_ns > FORGET_NS) {
		((struct epochs *)pairmap_find(m->nodes, node, 0))->n--;
		return false;
	}
	m->untagged += k->state == MARK_KNOWN && !k->tagged;
	return true;
}

void watermarks_sweep(struct watermarks *m, uint64_t now_ns)
{
	m->now_ns = now_ns;
	m->untagged = 0;
	m->sweeps++;
	pairmap_each(m->map, sweep_mark, m);
	counter_set(C_EPOCHS, pairmap_count(m->map));
	counter_set(C_UNTAGGED, m->untagged);
}
