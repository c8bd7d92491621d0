// SPDX-License-Identifier: Apache-2.0
#include "spool.h"

#include <assert.h>
#include <sys/random.h>

#include "../lib/log.h"

struct queue {
	struct spool_batch *head, *tail;
	struct spool_batch *cursor; /* the next to send; NULL: all are sent */
	uint64_t next_seq;
	uint32_t n, sent; /* sent: those before the cursor */
	size_t bytes, sent_bytes;
	struct spool_lost lost;
};

struct spool {
	uint64_t epoch;
	size_t cap;
	struct queue queue[STREAM_END];
};

/* 63 bits, for PostgreSQL's bigint. */
static uint64_t draw_epoch(void)
{
	uint64_t epoch;

	if (getrandom(&epoch, sizeof(epoch), 0) != (ssize_t)sizeof(epoch))
		die("no random numbers from the kernel");
	return (epoch & INT64_MAX) | 1;
}

struct spool *spool_new(size_t cap_bytes)
{
	struct spool *s = calloc(1, sizeof(*s));

	if (!s)
		die("out of memory");
	s->epoch = draw_epoch();
	s->cap = cap_bytes;
	for (int i = 1; i < STREAM_END; i++)
		s->queue[i].next_seq = 1;
	return s;
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

/* What the batch costs in memory, so that the cap is honest for small ones too. */
static size_t cost(const struct spool_batch *b)
{
	return sizeof(*b) + b->len;
}

static void remove_head(struct queue *q)
{
	struct spool_batch *b = q->head;

	if (q->cursor == b) {
		q->cursor = b->next;
	} else {
		q->sent--;
		q->sent_bytes -= cost(b);
	}
	q->head = b->next;
	if (!q->head)
		q->tail = NULL;
	q->n--;
	q->bytes -= cost(b);
	spool_batch_release(b);
}

void spool_free(struct spool *s)
{
	if (!s)
		return;
	for (int i = 1; i < STREAM_END; i++)
		while (s->queue[i].head)
			remove_head(&s->queue[i]);
	free(s);
}

static struct queue *queue_of(struct spool *s, enum wire_stream stream)
{
	assert(stream == STREAM_EVENT || stream == STREAM_METRIC);
	return &s->queue[stream];
}

static void drop_head(struct queue *q)
{
	q->lost.batches++;
	q->lost.rows += q->head->rows;
	remove_head(q);
}

static void keep_below_cap(struct spool *s)
{
	while (spool_bytes(s) > s->cap)
		drop_head(&s->queue[s->queue[STREAM_METRIC].head ? STREAM_METRIC : STREAM_EVENT]);
}

uint64_t spool_append(struct spool *s, enum wire_stream stream, uint64_t wall_ns, uint32_t rows,
		      const void *body, size_t len)
{
	struct queue *q = queue_of(s, stream);
	struct spool_batch *b = malloc(sizeof(*b) + len);
	uint64_t seq = q->next_seq++;

	if (!b)
		die("out of memory");
	assert(len <= WIRE_MAX_FRAME);
	*b = (struct spool_batch){
		.seq = seq, .wall_ns = wall_ns, .rows = rows, .len = (uint32_t)len, .refs = 1
	};
	memcpy(b->body, body, len);
	if (q->tail)
		q->tail->next = b;
	else
		q->head = b;
	q->tail = b;
	if (!q->cursor)
		q->cursor = b;
	q->n++;
	q->bytes += cost(b);
	keep_below_cap(s);
	return seq;
}

struct spool_batch *spool_next(struct spool *s, enum wire_stream stream)
{
	struct queue *q = queue_of(s, stream);
	struct spool_batch *b = q->cursor;

	if (!b)
		return NULL;
	q->cursor = b->next;
	q->sent++;
	q->sent_bytes += cost(b);
	return b;
}

void spool_rewind(struct spool *s, enum wire_stream stream, uint64_t mark)
{
	struct queue *q = queue_of(s, stream);

	q->sent = 0;
	q->sent_bytes = 0;
	for (q->cursor = q->head; q->cursor && q->cursor->seq <= mark;
	     q->cursor = q->cursor->next) {
		q->sent++;
		q->sent_bytes += cost(q->cursor);
	}
}

int spool_ack(struct spool *s, enum wire_stream stream, uint64_t mark)
{
	struct queue *q = queue_of(s, stream);

	if (mark >= q->next_seq)
		return -ERANGE;
	while (q->head && q->head->seq <= mark)
		remove_head(q);
	return 0;
}

void spool_renew(struct spool *s)
{
	s->epoch = draw_epoch();
	for (enum wire_stream i = STREAM_EVENT; i < STREAM_END; i++) {
		struct queue *q = queue_of(s, i);

		q->next_seq = 1;
		for (struct spool_batch *b = q->head; b; b = b->next)
			b->seq = q->next_seq++;
		spool_rewind(s, i, 0);
	}
}

uint64_t spool_epoch(const struct spool *s)
{
	return s->epoch;
}

uint64_t spool_base(const struct spool *s, enum wire_stream stream)
{
	const struct queue *q = &s->queue[stream];

	return q->head ? q->head->seq : q->next_seq;
}

uint32_t spool_batches(const struct spool *s)
{
	return s->queue[STREAM_EVENT].n + s->queue[STREAM_METRIC].n;
}

uint32_t spool_unacked(const struct spool *s, size_t *bytes)
{
	*bytes = s->queue[STREAM_EVENT].sent_bytes + s->queue[STREAM_METRIC].sent_bytes;
	return s->queue[STREAM_EVENT].sent + s->queue[STREAM_METRIC].sent;
}

size_t spool_bytes(const struct spool *s)
{
	return s->queue[STREAM_EVENT].bytes + s->queue[STREAM_METRIC].bytes;
}

struct spool_lost spool_lost(const struct spool *s, enum wire_stream stream)
{
	return s->queue[stream].lost;
}
