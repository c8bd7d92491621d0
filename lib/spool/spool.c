// SPDX-License-Identifier: Apache-2.0
#include "lib/spool/spool.h"

#include <assert.h>
#include <sys/random.h>

#include "lib/base/log.h"
#include "lib/spool/spool_queue.h"

/* 63 bits, for PostgreSQL's bigint. */
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

void spool_batch_hold(struct spool_batch *b)
{
	b->refs++;
}

void spool_batch_release(struct spool_batch *b)
{
	if (--b->refs == 0)
		free(b);
}

/* What a batch costs in memory and in the window, so that the caps are honest for small ones too.
 */
static size_t cost(const struct spool_entry *e)
{
	return sizeof(struct spool_batch) + e->record.len;
}

static struct spool_batch *new_batch(const struct segment_record *r)
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
	b = new_batch(&e->record);
	r = segment_read(e->segment, e->at, &e->record, b->body);
	if (r < 0) {
		spool_batch_release(b);
		return r;
	}
	e->batch = b;
	s->memory += cost(e);
	return 0;
}

void spool_entry_unload(struct spool *s, struct spool_entry *e)
{
	if (!e->batch)
		return;
	s->memory -= cost(e);
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
	s->memory += sizeof(*e) + (e->batch ? cost(e) : 0);
}

static bool is_sent(const struct spool_queue *q, const struct spool_entry *e)
{
	return !q->cursor || e->record.seq < q->cursor->record.seq;
}

static void unsend(struct spool_queue *q, const struct spool_entry *e)
{
	if (e->lost || !is_sent(q, e))
		return;
	q->sent--;
	q->sent_bytes -= cost(e);
}

static void release(struct spool *s, struct spool_entry *e)
{
	if (e->lost)
		return;
	spool_entry_unload(s, e);
	if (e->segment)
		segment_unuse(e->segment);
	e->segment = NULL;
	s->n--;
}

static void remove_head(struct spool *s, struct spool_queue *q)
{
	struct spool_entry *e = q->head;

	unsend(q, e);
	release(s, e);
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

/* A hole that is the oldest is none: base_seq tells of it. */
static void skip_holes(struct spool *s, struct spool_queue *q)
{
	while (q->head && q->head->lost)
		remove_head(s, q);
}

void spool_entry_lose(struct spool *s, struct spool_run *run, enum wire_stream stream,
		      struct spool_entry *e)
{
	struct spool_queue *q = &run->queue[stream];

	s->lost[stream].batches++;
	s->lost[stream].rows += e->record.rows;
	unsend(q, e);
	release(s, e);
	e->lost = true;
	while (q->unwritten && q->unwritten->lost)
		q->unwritten = q->unwritten->next;
	skip_holes(s, q);
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
				remove_head(s, &run->queue[i]);
			}
		next = run->next;
		free(run);
	}
	segments_close(s->disk);
	free(s);
}

static struct spool_queue *queue_of(struct spool_run *run, enum wire_stream stream)
{
	assert(stream == STREAM_EVENT || stream == STREAM_METRIC);
	return &run->queue[stream];
}

void spool_begin(struct spool *s, enum wire_stream stream, uint64_t seq)
{
	struct spool_queue *q = queue_of(s->back, stream);

	assert(!q->head && seq >= q->next_seq);
	q->next_seq = seq;
}

/* What is on disk takes next to nothing. What is too much is lost. */
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
	struct spool_queue *q = queue_of(s->back, stream);
	struct spool_entry e = { .since_ns = s->now_ns,
				 .record = { .seq = q->next_seq,
					     .wall_ns = wall_ns,
					     .rows = rows,
					     .len = (uint32_t)len } };

	assert(len <= WIRE_MAX_FRAME);
	e.batch = new_batch(&e.record);
	memcpy(e.batch->body, body, len);
	spool_entry_add(s, q, &e);
	keep_below_cap(s);
	return e.record.seq;
}

/* Over holes, and over what cannot be read back, which is one then. */
struct spool_batch *spool_next(struct spool *s, enum wire_stream stream)
{
	struct spool_queue *q = queue_of(s->front, stream);
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
	q->sent_bytes += cost(e);
	return e->batch;
}

void spool_rewind(struct spool *s, enum wire_stream stream, uint64_t mark)
{
	struct spool_queue *q = queue_of(s->front, stream);

	q->sent = 0;
	q->sent_bytes = 0;
	for (q->cursor = q->head; q->cursor && q->cursor->record.seq <= mark;
	     q->cursor = q->cursor->next) {
		q->sent += !q->cursor->lost;
		q->sent_bytes += q->cursor->lost ? 0 : cost(q->cursor);
	}
}

/* Of an earlier run more may be stored than it had time to write down. */
int spool_ack(struct spool *s, enum wire_stream stream, uint64_t mark)
{
	struct spool_queue *q = queue_of(s->front, stream);

	if (mark >= q->next_seq && s->front == s->back)
		return -ERANGE;
	while (q->head && q->head->record.seq <= mark)
		remove_head(s, q);
	skip_holes(s, q);
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
