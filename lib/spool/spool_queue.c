// SPDX-License-Identifier: Apache-2.0
/* spool_queue.c - the runs and queues of a spool: entries added, loaded, removed, lost. */
#include "lib/spool/spool_queue.h"

#include <assert.h>
#include <sys/random.h>

#include "lib/base/log.h"

/* 63 bits: PostgreSQL's bigint is signed. */
uint64_t spool_draw_epoch(void)
{
	uint64_t epoch;

	if (getrandom(&epoch, sizeof(epoch), 0) != (ssize_t)sizeof(epoch))
		die("no random numbers from the kernel");
	return (epoch & INT64_MAX) | 1;
}

struct spool_run *spool_run_add(struct spool *s, const struct segment_run *id)
{
	struct spool_run *run = calloc(1, sizeof(*run));

	if (!run)
		die("out of memory");
	run->id = *id;
	for (int i = 1; i < STREAM_END; i++)
		run->queue[i].next_seq = 1;
	if (s->back)
		s->back->next = run;
	else
		s->front = run;
	s->back = run;
	return run;
}

void spool_batch_hold(struct spool_batch *b)
{
	b->refs++;
}

void spool_batch_release(struct spool_batch *b)
{
	if (--b->refs == 0)
		free(b);
}

/* Includes the overhead, so that the caps also hold for many small batches. */
size_t spool_entry_cost(const struct spool_entry *e)
{
	return sizeof(struct spool_batch) + e->record.len;
}

struct spool_batch *spool_batch_new(const struct segment_record *r)
{
	struct spool_batch *b = malloc(sizeof(*b) + r->len);

	if (!b)
		die("out of memory");
	b->seq = r->seq;
	b->wall_ns = r->wall_ns;
	b->rows = r->rows;
	b->len = r->len;
	b->refs = 1;
	return b;
}

int spool_entry_load(struct spool *s, struct spool_entry *e)
{
	struct spool_batch *b;
	int r;

	if (e->batch)
		return 0;
	b = spool_batch_new(&e->record);
	r = segment_read(e->segment, e->at, &e->record, b->body);
	if (r < 0) {
		spool_batch_release(b);
		return r;
	}
	e->batch = b;
	s->memory += spool_entry_cost(e);
	return 0;
}

void spool_entry_unload(struct spool *s, struct spool_entry *e)
{
	if (!e->batch)
		return;
	s->memory -= spool_entry_cost(e);
	spool_batch_release(e->batch);
	e->batch = NULL;
}

void spool_entry_add(struct spool *s, struct spool_queue *q, const struct spool_entry *as)
{
	struct spool_entry *e = malloc(sizeof(*e));

	if (!e)
		die("out of memory");
	*e = *as;
	e->next = NULL;
	if (q->tail)
		q->tail->next = e;
	else
		q->head = e;
	q->tail = e;
	if (!q->cursor)
		q->cursor = e;
	if (!q->unwritten && !e->segment)
		q->unwritten = e;
	q->next_seq = e->record.seq + 1;
	s->n++;
	s->memory += sizeof(*e) + (e->batch ? spool_entry_cost(e) : 0);
}

static bool is_sent(const struct spool_queue *q, const struct spool_entry *e)
{
	return !q->cursor || e->record.seq < q->cursor->record.seq;
}

static void uncount_sent(struct spool_queue *q, const struct spool_entry *e)
{
	if (e->lost || !is_sent(q, e))
		return;
	q->sent--;
	q->sent_bytes -= spool_entry_cost(e);
}

static void release_entry(struct spool *s, struct spool_entry *e)
{
	if (e->lost)
		return;
	spool_entry_unload(s, e);
	if (e->segment)
		segment_unuse(e->segment);
	e->segment = NULL;
	s->n--;
}

void spool_queue_remove_head(struct spool *s, struct spool_queue *q)
{
	struct spool_entry *e = q->head;

	uncount_sent(q, e);
	release_entry(s, e);
	if (q->cursor == e)
		q->cursor = e->next;
	if (q->unwritten == e)
		q->unwritten = e->next;
	q->head = e->next;
	if (!q->head)
		q->tail = NULL;
	s->memory -= sizeof(*e);
	free(e);
}

/* A hole at the head is removed: base_seq covers it. */
void spool_queue_skip_holes(struct spool *s, struct spool_queue *q)
{
	while (q->head && q->head->lost)
		spool_queue_remove_head(s, q);
}

void spool_entry_lose(struct spool *s, struct spool_run *run, enum wire_stream stream,
		      struct spool_entry *e)
{
	struct spool_queue *q = &run->queue[stream];

	s->lost[stream].batches++;
	s->lost[stream].rows += e->record.rows;
	uncount_sent(q, e);
	release_entry(s, e);
	e->lost = true;
	while (q->unwritten && q->unwritten->lost)
		q->unwritten = q->unwritten->next;
	spool_queue_skip_holes(s, q);
}

struct spool_queue *spool_queue_of(struct spool_run *run, enum wire_stream stream)
{
	assert(stream == STREAM_EVENT || stream == STREAM_METRIC);
	return &run->queue[stream];
}

void spool_rewind(struct spool *s, enum wire_stream stream, uint64_t mark)
{
	struct spool_queue *q = spool_queue_of(s->front, stream);

	q->sent = 0;
	q->sent_bytes = 0;
	for (q->cursor = q->head; q->cursor && q->cursor->record.seq <= mark;
	     q->cursor = q->cursor->next) {
		q->sent += !q->cursor->lost;
		q->sent_bytes += q->cursor->lost ? 0 : spool_entry_cost(q->cursor);
	}
}
