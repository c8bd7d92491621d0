// SPDX-License-Identifier: Apache-2.0
/*
 * spool.h - batches that are not stored yet: in memory, and on disk if they wait.
 *
 * A batch keeps its seq until it is acked or a cap drops it: the oldest metrics go before any
 * event, every drop is counted, and spool_base tells the collector what is gone. Each queue has a
 * cursor that spool_next moves on and spool_rewind moves back. No sockets and no clock.
 *
 * A process has an epoch of its own. What an earlier one left on disk is a run with that one's
 * epoch, and goes first; the functions that send and ack work on the oldest run there is.
 */
#pragma once

#include "lib/wire/wire.h"

struct spool;

struct spool_batch {
	uint64_t seq, wall_ns;
	uint32_t rows, len;
	_Atomic uint32_t refs; /* the spool's own, and one for each message under way */
	uint8_t body[];
};

struct spool_lost {
	uint64_t batches, rows;
};

uint64_t spool_draw_epoch(void); /* 63 random bits, as databases keep them, and never 0 */
struct spool *spool_new(size_t cap_bytes); /* of memory; born with a random epoch */
struct spool *spool_of_epoch(size_t cap_bytes, uint64_t epoch); /* one that goes on */
/* The next append to a stream that holds nothing has this seq; what lies before it is gone. */
void spool_begin(struct spool *s, enum wire_stream stream, uint64_t seq);
void spool_free(struct spool *s); /* NULL is fine; files stay */

uint64_t spool_append(struct spool *s, enum wire_stream stream, uint64_t wall_ns, uint32_t rows,
		      const void *body, size_t len); /* its seq; the first is 1 */
struct spool_batch *spool_next(struct spool *s, enum wire_stream stream); /* NULL: all sent */
void spool_rewind(struct spool *s, enum wire_stream stream, uint64_t mark); /* next: mark + 1 */
/* Everything up to mark is stored. -ERANGE, and nothing done: there is no such seq yet. */
int spool_ack(struct spool *s, enum wire_stream stream, uint64_t mark) MUST_CHECK;
bool spool_turn(
	struct spool *s); /* nothing is left of the oldest run: now it is the next, a new epoch */
void spool_renew(struct spool *s); /* of the last run: a new epoch, the same batches from 1 again */

/*
 * The directory where batches wait, made if there is none; *left: those that an earlier process
 * left there, *damaged: files whose end was cut off. -EBUSY: another probe has it; else -errno of
 * opening it, and all stay in memory. Before the first append.
 */
int spool_open_disk(struct spool *s, const char *dir, size_t cap_bytes, uint32_t *left,
		    int *damaged) MUST_CHECK;
/* Every now and then: writes what must wait, once the oldest batch is SPOOL_WAIT_NS old. */
void spool_keep(struct spool *s, uint64_t mono_ns);
int spool_keep_all(struct spool *s); /* at the end: what is not acked is on disk, or -errno */
int spool_disk_error(const struct spool *s); /* of the last try to write: then all stay in memory */

/* Layouts outlive the program that knew them: with the first batch these are written, too; they
 * stay the caller's. -ENOENT: no such one is kept. */
void spool_use_dicts(struct spool *s, const struct wire_dict *const *layouts, size_t n);
int spool_dict(const struct spool *s, uint64_t layout, struct buf *frame) MUST_CHECK;
bool spool_is_of_before(const struct spool *s); /* the oldest run is an earlier process's */
/* The oldest run's metrics cannot be understood without their layout: they are lost. */
void spool_drop_metrics(struct spool *s);

#define SPOOL_WAIT_NS 5000000000ull

uint64_t spool_epoch(const struct spool *s);
uint64_t spool_base(const struct spool *s,
		    enum wire_stream stream); /* lowest seq there is, or will be */
uint32_t spool_batches(const struct spool *s); /* of both streams and all runs */
uint32_t spool_unacked(const struct spool *s, size_t *bytes); /* sent and not acked */
size_t spool_bytes(const struct spool *s); /* of memory */
struct spool_lost spool_lost(const struct spool *s, enum wire_stream stream); /* since its making */

/* A message may outlive its batch in the spool; both are safe from any thread. */
void spool_batch_hold(struct spool_batch *b);
void spool_batch_release(struct spool_batch *b);

DEFINE_AUTO(struct spool *, spool_free)
