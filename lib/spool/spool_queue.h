// SPDX-License-Identifier: Apache-2.0
/*
 * spool_queue.h - runs of batches, oldest first: the lists below spool.c and spool_disk.c. Private
 * to lib/spool.
 */
#pragma once

#include "lib/spool/segment.h"
#include "lib/spool/spool.h"

struct spool_entry {
	struct spool_entry *next;
	struct spool_batch *batch; /* NULL: only on disk, or lost */
	struct segment *segment; /* NULL: only in memory, or lost */
	uint64_t at; /* offset in the segment */
	uint64_t since_ns; /* creation time, as of the last spool_keep */
	struct segment_record record;
	bool lost; /* a hole, removed when it is the oldest */
};

struct spool_queue {
	struct spool_entry *head, *tail;
	struct spool_entry *cursor; /* next to send; NULL: all sent */
	struct spool_entry *unwritten; /* first not on disk; none after it is either */
	uint64_t next_seq;
	uint32_t sent; /* entries before the cursor, without holes */
	size_t sent_bytes;
};

struct spool_run {
	struct segment_run id;
	struct spool_queue queue[STREAM_END];
	struct spool_run *next;
};

struct spool {
	struct spool_run *front, *back; /* sent from; appended to */
	size_t cap, memory;
	uint32_t n;
	struct spool_lost lost[STREAM_END];
	uint64_t now_ns;
	/* NULL: none */
	struct segments *disk;
	size_t disk_cap;
	uint32_t removals; /* of the directory, by others */
	int disk_error;
	uint64_t retry_ns; /* no write before this, after an error */
	const struct wire_dict *const *dicts;
	size_t ndicts, all_dicts; /* not written yet, and all */
};

struct spool_batch *spool_batch_new(const struct segment_record *r); /* its body is not filled in */
struct spool_queue *spool_queue_of(struct spool_run *run, enum wire_stream stream);
void spool_queue_remove_head(struct spool *s, struct spool_queue *q);
void spool_queue_skip_holes(struct spool *s, struct spool_queue *q);
size_t spool_entry_cost(const struct spool_entry *e); /* bytes of memory and of the send window */
struct spool_run *spool_run_add(struct spool *s, const struct segment_run *id);
void spool_entry_add(struct spool *s, struct spool_queue *q, const struct spool_entry *as);
void spool_entry_lose(struct spool *s, struct spool_run *run, enum wire_stream stream,
		      struct spool_entry *e);
int spool_entry_load(struct spool *s,
		     struct spool_entry *e) MUST_CHECK; /* reads the batch from disk if needed */
void spool_entry_unload(struct spool *s, struct spool_entry *e);

/* spool_disk.c */
void spool_write(struct spool *s); /* writes what is only in memory, unless the disk failed within
				      RETRY_NS */
