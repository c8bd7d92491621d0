// SPDX-License-Identifier: Apache-2.0
/*
 * segment.h - batches on disk: a directory of segment files, each with records of one stream.
 *
 * A segment is named NUMBER-STREAM-SEQ.seg: the number of the probe's run, the stream, and the
 * first seq, in hex. It starts with "SEISSEG1", the run's epoch and number, the stream, and a
 * CRC32C of those. A record is a CRC32C of the rest, the batch's length, rows, seq and time, and
 * its body. All integers are little-endian. A damaged record ends its segment, as its length cannot
 * be trusted. Nothing is synced: data survives the process, but a power loss may cost the last half
 * minute. The directory also holds the file "lock".
 */
#pragma once

#include "lib/wire/wire.h"

struct segments; /* a directory */
struct segment; /* a file, deleted with its last record */

struct segment_run {
	uint64_t epoch;
	uint32_t number; /* increases with each run */
};

struct segment_record {
	uint64_t seq, wall_ns;
	uint32_t rows, len; /* len: of the body, <= WIRE_MAX_FRAME */
};

/* A record found by the scan, in order of run, stream and seq; each is one use of its segment. */
struct segment_found {
	struct segment_run run;
	enum wire_stream stream;
	struct segment_record record;
	struct segment *segment;
	uint64_t at; /* for segment_read */
};
typedef void segment_fn(void *arg, const struct segment_found *f);

/* Creates the directory if needed. -EBUSY: another probe uses it. A file holds at most 1/16 of the
 * cap plus one record, because space is freed by whole files. */
int segments_open(struct segments **out, const char *path, size_t cap_bytes) MUST_CHECK;
void segments_close(struct segments *d); /* NULL is fine; the files stay */
/* Call it once, first. Returns the number of segments truncated because of a damaged end. */
int segments_scan(struct segments *d, segment_fn *found, void *arg) MUST_CHECK;
size_t segments_bytes(const struct segments *d); /* of all segment files */

/*
 * Makes the directory again if somebody removed it: 1 then, and what was only there is lost; 0: it
 * is there; -errno.
 */
int segments_restore(struct segments *d) MUST_CHECK;

/* Appends to this run's segment, or starts a new one. -errno: nothing was added. */
int segment_append(struct segments *d, const struct segment_run *run, enum wire_stream stream,
		   const struct segment_record *r, const void *body, struct segment **seg,
		   uint64_t *at) MUST_CHECK;
/* -EBADMSG: damaged, or not this record. body has room for r->len bytes. */
int segment_read(const struct segment *seg, uint64_t at, const struct segment_record *r,
		 void *body) MUST_CHECK;
void segment_unuse(struct segment *seg); /* drops one record; the file is deleted with the last */

int segments_fd(const struct segments *d); /* the directory, for other files in it */

DEFINE_AUTO(struct segments *, segments_close)
