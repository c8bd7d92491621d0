// SPDX-License-Identifier: Apache-2.0
/*
 * segment.h - batches in files: a directory of segments, each a few records of one stream.
 *
 * A segment is NUMBER-STREAM-SEQ.seg: the run of the probe that made it, counted, the stream, and
 * its first seq, in hex. It begins with "SEISSEG1", the run's epoch, number and stream, and a
 * CRC32C of that; a record is a CRC32C of what follows, length, rows, seq and time of a batch, and
 * its body; all low byte first. A damaged record ends its segment: how long it is cannot be
 * believed. Nothing is synced: what a process wrote outlives it, but not a loss of power within the
 * kernel's half minute. Beside them lies "lock".
 */
#pragma once

#include "lib/wire/wire.h"

struct segments; /* a directory */
struct segment; /* a file; lives as long as it has records */

struct segment_run {
	uint64_t epoch;
	uint32_t number; /* of a later run it is higher */
};

struct segment_record {
	uint64_t seq, wall_ns;
	uint32_t rows, len; /* len: of the body, at most WIRE_MAX_FRAME */
};

/* What is found is told in the order of run, stream and seq; each record is one use of its segment.
 */
struct segment_found {
	struct segment_run run;
	enum wire_stream stream;
	struct segment_record record;
	struct segment *segment;
	uint64_t at; /* for segment_read */
};
typedef void segment_fn(void *arg, const struct segment_found *f);

/* Makes the directory if there is none. -EBUSY: another probe uses it. A file is at most a
 * sixteenth of the cap, and a record, long: what is dropped goes by files. */
int segments_open(struct segments **out, const char *path, size_t cap_bytes) MUST_CHECK;
void segments_close(struct segments *d); /* NULL is fine; the files stay */
/* Once, at first. How many segments had a damaged end, now cut off. */
int segments_scan(struct segments *d, segment_fn *found, void *arg) MUST_CHECK;
size_t segments_bytes(const struct segments *d); /* of all files of segments */

/* To the end of this run's segment, or of a new one. -errno: nothing was added. */
int segment_append(struct segments *d, const struct segment_run *run, enum wire_stream stream,
		   const struct segment_record *r, const void *body, struct segment **seg,
		   uint64_t *at) MUST_CHECK;
/* -EBADMSG: it is damaged, or another record than this. body has room for r->len. */
int segment_read(const struct segment *seg, uint64_t at, const struct segment_record *r,
		 void *body) MUST_CHECK;
void segment_unuse(struct segment *seg); /* one record less; with the last the file goes */

int segments_fd(const struct segments *d); /* of the directory, for what lies beside them */

DEFINE_AUTO(struct segments *, segments_close)
