// SPDX-License-Identifier: Apache-2.0
/* segment_file.h - what segment.c, which writes, and segment_scan.c, which finds, share. */
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
	int dir, lock;
	size_t bytes, full; /* of all; of one, which is long enough then */
	struct segment *all;
	struct segment *last[STREAM_END]; /* being written */
	int fd[STREAM_END];
};

struct segment *segment_add(struct segments *d, const struct segment *as);
void segment_forget(struct segment *s); /* its file stays */
void segment_name(const struct segment *s, char name[static NAME]);
uint64_t segment_get(const unsigned char **p, int bytes);
/* The record at an offset of an open file, checked; its body is at most room long. */
int segment_read_at(int fd, uint64_t at, struct segment_record *r, void *body,
		    uint32_t room) MUST_CHECK;
