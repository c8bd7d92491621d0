// SPDX-License-Identifier: Apache-2.0
#include "lib/spool/spool.h"

#include <assert.h>

#include "lib/base/log.h"
#include "lib/spool/spool_queue.h"

struct spool *spool_of_epoch(size_t cap_bytes, uint64_t epoch)
{
	struct spool *s = calloc(1, sizeof(*s));

	if (!s)
		die("out of memory");
	s->cap = cap_bytes;
	spool_run_add(s, &(struct segment_run){ .epoch = epoch, .number = 1 });
	return s;
}

struct spool *spool_new(size_t cap_bytes)
{
	return spool_of_epoch(cap_bytes, spool_draw_epoch());
}

void spool_free(struct spool *s)
{
	struct spool_run *next;

	if (!s)
		return;
	for (struct spool_run *run = s->front; run; run = next) {
		for (int i = 1; i < STREAM_END; i++)
			while (run->queue[i].head) {
				run->queue[i].head->segment = NULL; /* its file stays */
				spool_queue_remove_head(s, &run->queue[i]);
			}
		next = run->next;
		free(run);
	}
	segments_close(s->disk);
	free(s);
}

void spool_begin(struct spool *s, enum wire_stream stream, uint64_t seq)
{
	struct spool_queue *q = spool_queue_of(s->back, stream);

	assert(!q->head && seq >= q->next_seq);
	q->next_seq = seq;
}

/* Batches on disk take almost no memory. If writing is not enough, the oldest are dropped. */
static void keep_below_cap(struct spool *s)
{
	if (s->memory > s->cap)
		spool_write(s);
	while (s->memory > s->cap) {
		enum wire_stream i =
			s->back->queue[STREAM_METRIC].unwritten ? STREAM_METRIC : STREAM_EVENT;

		if (!s->back->queue[i].unwritten)
			break;
		spool_entry_lose(s, s->back, i, s->back->queue[i].unwritten);
	}
}

uint64_t spool_append(struct spool *s, enum wire_stream stream, uint64_t wall_ns, uint32_t rows,
		      const void *body, size_t len)
{
	struct spool_queue *q = spool_queue_of(s->back, stream);
	struct spool_entry e = { .since_ns = s->now_ns,
				 .record = { .seq = q->next_seq,
					     .wall_ns = wall_ns,
					     .rows = rows,
					     .len = (uint32_t)len } };

	assert(len <= WIRE_MAX_FRAME);
	e.batch = spool_batch_new(&e.record);
	memcpy(e.batch->body, body, len);
	spool_entry_add(s, q, &e);
	keep_below_cap(s);
	return e.record.seq;
}

/* Skips holes; a batch that cannot be read back becomes one. */
struct spool_batch *spool_next(struct spool *s, enum wire_stream stream)
{
	struct spool_queue *q = spool_queue_of(s->front, stream);
	struct spool_entry *e;

	while ((e = q->cursor)) {
		if (e->lost)
			q->cursor = e->next;
		else if (spool_entry_load(s, e) == 0)
			break;
		else
			spool_entry_lose(s, s->front, stream, e);
	}
	if (!e)
		return NULL;
	q->cursor = e->next;
	q->sent++;
	q->sent_bytes += spool_entry_cost(e);
	return e->batch;
}

/* An earlier run may have sent more than it wrote to disk, so a higher mark is fine there. */
int spool_ack(struct spool *s, enum wire_stream stream, uint64_t mark)
{
	struct spool_queue *q = spool_queue_of(s->front, stream);

	if (mark >= q->next_seq && s->front == s->back)
		return -ERANGE;
	while (q->head && q->head->record.seq <= mark)
		spool_queue_remove_head(s, q);
	spool_queue_skip_holes(s, q);
	return 0;
}

bool spool_turn(struct spool *s)
{
	struct spool_run *old = s->front;

	if (old == s->back || old->queue[STREAM_EVENT].head || old->queue[STREAM_METRIC].head)
		return false;
	s->front = old->next;
	free(old);
	return true;
}

uint64_t spool_epoch(const struct spool *s)
{
	return s->front->id.epoch;
}

uint64_t spool_base(const struct spool *s, enum wire_stream stream)
{
	const struct spool_queue *q = &s->front->queue[stream];

	return q->head ? q->head->record.seq : q->next_seq;
}

uint32_t spool_batches(const struct spool *s)
{
	return s->n;
}

uint32_t spool_unacked(const struct spool *s, size_t *bytes)
{
	const struct spool_queue *q = s->front->queue;

	*bytes = q[STREAM_EVENT].sent_bytes + q[STREAM_METRIC].sent_bytes;
	return q[STREAM_EVENT].sent + q[STREAM_METRIC].sent;
}

size_t spool_bytes(const struct spool *s)
{
	return s->memory;
}

struct spool_lost spool_lost(const struct spool *s, enum wire_stream stream)
{
	return s->lost[stream];
}
