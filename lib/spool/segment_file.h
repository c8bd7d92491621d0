// SPDX-License-Identifier: Apache-2.0
/* segment_file.h - shared by segment.c (writes) and segment_scan.c (scans). Private to lib/spool.
 */
#pragma once

#include "lib/spool/segment.h"

enum { HEAD = 28, RECORD = 28, NAME = 40 };
#define SEGMENT_MAGIC "SEISSEG1"

struct segment {
	struct segments *dir;
	struct segment *before, *after;
	struct segment_run run;
	enum wire_stream stream;
	uint64_t first, len; /* seq; bytes */
	uint32_t uses;
};

struct segments {
	char *path;
	int dir, lock;
	size_t bytes, full; /* of all files; size at which a file is closed */
	struct segment *all;
	struct segment *last[STREAM_END]; /* being written, per stream */
	int fd[STREAM_END];
};

struct segment *segment_add(struct segments *d, const struct segment *as);
void segment_forget(struct segment *s); /* keeps its file */
void segment_name(const struct segment *s, char name[static NAME]);
uint64_t segment_get(const unsigned char **p, int bytes);
/* Reads and checks the record at an offset; its body is at most room bytes. */
int segment_read_at(int fd, uint64_t at, struct segment_record *r, void *body,
		    uint32_t room) MUST_CHECK;
