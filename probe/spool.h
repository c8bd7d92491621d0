// SPDX-License-Identifier: Apache-2.0
/*
 * spool.h - batches that are not stored yet, in memory, one queue per stream.
 *
 * A batch keeps its seq until it is acked or the cap drops it: the oldest metrics go before any
 * event, every drop is counted, and spool_base tells the collector what is gone. Each queue has a
 * cursor that spool_next moves on and spool_rewind moves back. Pure: no sockets and no clock.
 */
#pragma once

#include "../lib/wire.h"

struct spool;

struct spool_batch {
	uint64_t seq, wall_ns;
	uint32_t rows; /* what a drop loses */
	uint32_t len;
	_Atomic uint32_t refs; /* the spool's own, and one for each message under way */
	struct spool_batch *next;
	uint8_t body[];
};

struct spool_lost {
	uint64_t batches, rows;
};

struct spool *spool_new(size_t cap_bytes); /* born with a random epoch */
void spool_free(struct spool *s); /* NULL is fine */

uint64_t spool_append(struct spool *s, enum wire_stream stream, uint64_t wall_ns, uint32_t rows,
		      const void *body, size_t len); /* its seq; the first is 1 */
struct spool_batch *spool_next(struct spool *s, enum wire_stream stream); /* NULL: all sent */
void spool_rewind(struct spool *s, enum wire_stream stream, uint64_t mark); /* next: mark + 1 */
/* Everything up to mark is stored. -ERANGE, and nothing done: there is no such seq yet. */
int spool_ack(struct spool *s, enum wire_stream stream, uint64_t mark) MUST_CHECK;
void spool_renew(struct spool *s); /* a new epoch: the same batches, numbered from 1 again */

uint64_t spool_epoch(const struct spool *s);
uint64_t spool_base(const struct spool *s,
		    enum wire_stream stream); /* lowest seq there is, or will be */
uint32_t spool_batches(const struct spool *s); /* of both streams, like the next two */
uint32_t spool_unacked(const struct spool *s, size_t *bytes); /* sent and not acked */
size_t spool_bytes(const struct spool *s);
struct spool_lost spool_lost(const struct spool *s, enum wire_stream stream); /* since its making */

/* A message may outlive its batch in the spool; both are safe from any thread. */
void spool_batch_hold(struct spool_batch *b);
void spool_batch_release(struct spool_batch *b);

DEFINE_AUTO(struct spool *, spool_free)
