// SPDX-License-Identifier: Apache-2.0
/* spool_disk.c - batches on disk: writing them, and loading those of an earlier process. */
#include <stdio.h>

#include "lib/base/log.h"
#include "lib/spool/spool_queue.h"
#include "lib/daemon/state_file.h"

static const uint64_t RETRY_NS = 60000000000ull;

static struct spool_run *run_of(struct spool *s, const struct segment_run *id)
{
	struct spool_run *run = s->front;

	while (run && (run->id.number != id->number || run->id.epoch != id->epoch))
		run = run->next;
	return run ? run : spool_run_add(s, id);
}

static void on_found(void *arg, const struct segment_found *f)
{
	struct spool *s = arg;
	struct spool_queue *q = &run_of(s, &f->run)->queue[f->stream];

	if (f->record.seq < q->next_seq) { /* a copied file: a run never reuses a seq */
		segment_unuse(f->segment);
		return;
	}
	if (q->head) /* the damaged records in between */
		s->lost[f->stream].batches += f->record.seq - q->next_seq;
	spool_entry_add(
		s, q,
		&(struct spool_entry){ .segment = f->segment, .at = f->at, .record = f->record });
}

void spool_use_dicts(struct spool *s, const struct wire_dict *const *layouts, size_t n)
{
	s->dicts = layouts;
	s->ndicts = s->all_dicts = n;
}

int spool_open_disk(struct spool *s, const char *dir, size_t cap_bytes, uint32_t *left,
		    int *damaged)
{
	struct spool_run *own = s->back;
	int r = segments_open(&s->disk, dir, cap_bytes);

	if (r < 0)
		return r;
	s->disk_cap = cap_bytes;
	s->front = s->back = NULL;
	*damaged = segments_scan(s->disk, on_found, s);
	*left = s->n;
	own->id.number = s->back ? s->back->id.number + 1 : 1;
	if (s->back)
		s->back->next = own;
	else
		s->front = own;
	s->back = own;
	return 0;
}

static struct state_file dict_file(const struct spool *s, uint64_t layout)
{
	struct state_file f = { .dir = segments_fd(s->disk) };

	snprintf(f.name, sizeof(f.name), "%016llx.dict", (unsigned long long)layout);
	return f;
}

static int keep_dict(const struct spool *s, const struct wire_dict *d)
{
	const struct state_file f = dict_file(s, d->layout);
	struct buf frame = { 0 }, there = { 0 };
	int r = 0;

	wire_dict_encode(&frame, d);
	if (state_file_read(&f, &there) < 0 || there.len != frame.len ||
	    memcmp(there.data, frame.data, frame.len) != 0)
		r = state_file_write(&f, &frame, false);
	buf_free(&frame);
	buf_free(&there);
	return r;
}

static int write_one(struct spool *s, enum wire_stream stream, struct spool_entry *e)
{
	struct spool_queue *q = &s->back->queue[stream];
	int r = segment_append(s->disk, &s->back->id, stream, &e->record, e->batch->body,
			       &e->segment, &e->at);

	if (r < 0)
		return r;
	if (q->cursor && e->record.seq >= q->cursor->record.seq)
		spool_entry_unload(s, e);
	return 0;
}

/* Into a new directory the layouts are written again. */
static int restore_disk(struct spool *s)
{
	int r = segments_restore(s->disk);

	if (r <= 0)
		return r;
	s->ndicts = s->all_dicts;
	s->removals++;
	return 0;
}

uint32_t spool_disk_removals(const struct spool *s)
{
	return s->removals;
}

void spool_write(struct spool *s)
{
	if (!s->disk || (s->disk_error && s->now_ns < s->retry_ns))
		return;
	s->disk_error = restore_disk(s);
	for (; !s->disk_error && s->ndicts; s->ndicts -= !s->disk_error)
		s->disk_error = keep_dict(s, s->dicts[s->ndicts - 1]);
	for (enum wire_stream i = STREAM_EVENT; i < STREAM_END; i++) {
		struct spool_entry **e = &s->back->queue[i].unwritten;

		while (*e && !s->disk_error) {
			if (!(*e)->lost)
				s->disk_error = write_one(s, i, *e);
			if (!s->disk_error)
				*e = (*e)->next;
		}
	}
	if (s->disk_error)
		s->retry_ns = s->now_ns + RETRY_NS;
}

/* Drops the oldest batch on disk, metrics before events. */
static bool lose_oldest(struct spool *s)
{
	for (enum wire_stream i = STREAM_METRIC; i >= STREAM_EVENT; i--)
		for (struct spool_run *run = s->front; run; run = run->next)
			if (run->queue[i].head && run->queue[i].head->segment) {
				spool_entry_lose(s, run, i, run->queue[i].head);
				return true;
			}
	return false;
}

static bool must_wait(const struct spool *s)
{
	if (s->front != s->back)
		return true;
	for (int i = 1; i < STREAM_END; i++)
		if (s->back->queue[i].head &&
		    s->now_ns >= s->back->queue[i].head->since_ns + SPOOL_WAIT_NS)
			return true;
	return false;
}

void spool_keep(struct spool *s, uint64_t mono_ns)
{
	s->now_ns = mono_ns;
	if (!s->disk)
		return;
	if (must_wait(s))
		spool_write(s);
	while (segments_bytes(s->disk) > s->disk_cap && lose_oldest(s))
		;
}

int spool_keep_all(struct spool *s)
{
	if (!s->disk)
		return s->n ? -ENOENT : 0;
	s->retry_ns = 0;
	spool_write(s);
	return s->disk_error;
}

bool spool_is_of_before(const struct spool *s)
{
	return s->front != s->back;
}

int spool_disk_error(const struct spool *s)
{
	return s->disk_error;
}

/* Loads batches back into memory while there is room: their files have the old epoch and seqs. */
static void unwrite(struct spool *s, enum wire_stream stream)
{
	struct spool_queue *q = &s->back->queue[stream];
	struct spool_entry *next;

	for (struct spool_entry *e = q->head; e; e = next) {
		next = e->next;
		if (e->lost || !e->segment)
			continue;
		if (s->memory + e->record.len > s->cap || spool_entry_load(s, e) < 0) {
			spool_entry_lose(s, s->back, stream, e);
			continue;
		}
		segment_unuse(e->segment);
		e->segment = NULL;
	}
	q->unwritten = q->head;
}

void spool_renew(struct spool *s)
{
	struct spool_run *run = s->back;

	for (enum wire_stream i = STREAM_EVENT; i < STREAM_END; i++)
		unwrite(s, i);
	run->id.epoch = spool_draw_epoch();
	run->id.number++;
	for (enum wire_stream i = STREAM_EVENT; i < STREAM_END; i++) {
		struct spool_queue *q = &run->queue[i];

		q->next_seq = 1;
		for (struct spool_entry *e = q->head; e; e = e->next) {
			e->record.seq = q->next_seq++;
			if (e->batch)
				e->batch->seq = e->record.seq;
		}
		spool_rewind(s, i, 0);
	}
}

int spool_dict(const struct spool *s, uint64_t layout, struct buf *frame)
{
	struct state_file f;

	if (!s->disk)
		return -ENOENT;
	f = dict_file(s, layout);
	return state_file_read(&f, frame) < 0 ? -ENOENT : 0;
}

void spool_drop_metrics(struct spool *s)
{
	struct spool_queue *q = &s->front->queue[STREAM_METRIC];

	while (q->head)
		spool_entry_lose(s, s->front, STREAM_METRIC, q->head);
}
