// SPDX-License-Identifier: Apache-2.0
/*
 * spool.h - batches the collector has not stored yet: kept in memory, and on disk after they have
 * waited 5 s.
 *
 * A batch keeps its seq until it is acked or a cap drops it: the oldest metrics are dropped before
 * any event, every drop is counted, and spool_base gives the lowest seq still available. Each queue
 * has a cursor: spool_next advances it, spool_rewind moves it back. No sockets, no clock.
 *
 * Each process has its own epoch. Batches left on disk by an earlier process form a run that
 * keeps that process's epoch. They are sent first; the functions that send and ack work on the
 * oldest run.
 */
#pragma once

#include "lib/wire/wire.h"

struct spool;

struct spool_batch {
	uint64_t seq, wall_ns;
	uint32_t rows, len;
	_Atomic uint32_t refs; /* one for the spool, one per message in flight */
	uint8_t body[];
};

struct spool_lost {
	uint64_t batches, rows;
};

uint64_t spool_draw_epoch(void); /* 63 random bits (a signed bigint), never 0 */
struct spool *spool_new(size_t cap_bytes); /* cap: bytes of memory; the epoch is random */
struct spool *spool_of_epoch(size_t cap_bytes, uint64_t epoch); /* continues an epoch */
/* Sets the seq of the next append to an empty stream; lower ones are gone. */
void spool_begin(struct spool *s, enum wire_stream stream, uint64_t seq);
void spool_free(struct spool *s); /* NULL is fine; files stay */

uint64_t spool_append(struct spool *s, enum wire_stream stream, uint64_t wall_ns, uint32_t rows,
		      const void *body, size_t len); /* returns its seq, from 1 */
struct spool_batch *spool_next(struct spool *s, enum wire_stream stream); /* NULL: all sent */
void spool_rewind(struct spool *s, enum wire_stream stream, uint64_t mark); /* next: mark + 1 */
/* Removes everything up to mark. -ERANGE, and no change: mark was not assigned yet. */
int spool_ack(struct spool *s, enum wire_stream stream, uint64_t mark) MUST_CHECK;
/* If the oldest run is empty, makes the next run (with its own epoch) current and returns true. */
bool spool_turn(struct spool *s);
void spool_renew(
	struct spool *s); /* gives the last run a new epoch and renumbers its batches from 1 */

/*
 * Opens the spool directory, creating it if needed; call it before the first append. *left: batches
 * from an earlier process; *damaged: files truncated because their end was damaged. -EBUSY: another
 * probe uses it; else -errno. On an error all batches stay in memory.
 */
int spool_open_disk(struct spool *s, const char *dir, size_t cap_bytes, uint32_t *left,
		    int *damaged) MUST_CHECK;
/* Call it regularly: writes waiting batches once the oldest is SPOOL_WAIT_NS old. */
void spool_keep(struct spool *s, uint64_t mono_ns);
int spool_keep_all(struct spool *s); /* at exit: writes everything unacked, or -errno */
/* How often the directory had been removed, and was made again: batches that were only there are
 * lost. */
uint32_t spool_disk_removals(const struct spool *s);
int spool_disk_error(const struct spool *s); /* of the last write, 0: none; after an error batches
						stay in memory */

/* Layouts are written with the first batch, for a later process that does not know them. The caller
 * keeps ownership. spool_dict: -ENOENT if that layout is not on disk. */
void spool_use_dicts(struct spool *s, const struct wire_dict *const *layouts, size_t n);
int spool_dict(const struct spool *s, uint64_t layout, struct buf *frame) MUST_CHECK;
bool spool_is_of_before(const struct spool *s); /* the oldest run is from an earlier process */
/* Drops the oldest run's metrics: their layout is lost. */
void spool_drop_metrics(struct spool *s);

#define SPOOL_WAIT_NS 5000000000ull

uint64_t spool_epoch(const struct spool *s);
uint64_t spool_base(const struct spool *s,
		    enum wire_stream stream); /* lowest seq available, or the next one */
uint32_t spool_batches(const struct spool *s); /* of both streams and all runs */
uint32_t spool_unacked(const struct spool *s, size_t *bytes); /* sent, not acked */
size_t spool_bytes(const struct spool *s); /* in memory */
struct spool_lost spool_lost(const struct spool *s, enum wire_stream stream); /* since spool_new */

/* References: a message may outlive its batch in the spool. Safe from any thread. */
void spool_batch_hold(struct spool_batch *b);
void spool_batch_release(struct spool_batch *b);

DEFINE_AUTO(struct spool *, spool_free)
