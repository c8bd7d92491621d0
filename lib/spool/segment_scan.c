// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>

#include "lib/base/crc32c.h"
#include "lib/base/log.h"
#include "lib/spool/segment_file.h"

enum { OLD_MAX = 65536 };

/* Parses the name of an earlier run's segment; read_head checks that the header agrees. */
static bool read_name(const char *name, struct segment *s)
{
	unsigned long long first;
	char again[NAME];
	int stream;

	memset(s, 0, sizeof(*s));
	if (sscanf(name, "%8x-%1d-%16llx.seg", &s->run.number, &stream, &first) != 3 ||
	    stream < STREAM_EVENT || stream >= STREAM_END)
		return false;
	s->stream = (enum wire_stream)stream;
	s->first = first;
	segment_name(s, again);
	return strcmp(name, again) == 0;
}

static bool read_head(int fd, struct segment *s)
{
	unsigned char head[HEAD];
	const unsigned char *p = head + 8;

	if (pread(fd, head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    memcmp(head, SEGMENT_MAGIC, 8) != 0)
		return false;
	s->run.epoch = segment_get(&p, 8);
	return segment_get(&p, 4) == s->run.number && segment_get(&p, 4) == (uint64_t)s->stream &&
	       segment_get(&p, 4) == crc32c(0, head, HEAD - 4);
}

static int by_age(const void *pa, const void *pb)
{
	const struct segment *a = *(struct segment *const *)pa, *b = *(struct segment *const *)pb;

	if (a->run.number != b->run.number)
		return a->run.number < b->run.number ? -1 : 1;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

/* Reads records up to the first bad one. Returns the error that ended the scan. */
static int scan_records(int fd, struct segment *s, void *body, segment_fn *found, void *arg)
{
	struct segment_found f = { .run = s->run, .stream = s->stream, .segment = s };
	uint64_t last = 0;
	int r;

	s->len = HEAD;
	while ((r = segment_read_at(fd, s->len, &f.record, body, WIRE_MAX_FRAME)) == 0 &&
	       f.record.seq > last) {
		s->uses++;
		f.at = s->len;
		last = f.record.seq;
		s->len += RECORD + f.record.len;
		found(arg, &f);
	}
	return r == 0 ? -EBADMSG : r;
}

/* True: damaged. The damaged part is truncated, unless the disk itself cannot be read.
 */
static bool scan_one(struct segment *s, void *body, segment_fn *found, void *arg)
{
	AUTO_CLOSE int fd = -1;
	char name[NAME];
	off_t end;
	bool good;
	int r;

	segment_name(s, name);
	fd = openat(s->dir->dir, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		segment_forget(s);
		return true;
	}
	s->uses = 1; /* keeps it alive during the scan */
	r = read_head(fd, s) ? scan_records(fd, s, body, found, arg) : -EBADMSG;
	end = lseek(fd, 0, SEEK_END);
	good = s->len && end == (off_t)s->len;
	if (!good && r == -EBADMSG && ftruncate(fd, (off_t)s->len) < 0)
		log_warn(-errno, "cannot truncate the damaged segment %s", name);
	s->dir->bytes += s->len;
	segment_unuse(s);
	return !good;
}

static size_t list(struct segments *d, struct segment **old)
{
	int fd = openat(d->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	size_t n = 0;

	while (dir && n < OLD_MAX && (e = readdir(dir))) {
		struct segment s;

		if (read_name(e->d_name, &s))
			old[n++] = segment_add(d, &s);
	}
	if (dir)
		closedir(dir);
	return n;
}

int segments_scan(struct segments *d, segment_fn *found, void *arg)
{
	AUTO_FREE struct segment **old = calloc(OLD_MAX, sizeof(*old));
	AUTO_FREE void *body = malloc(WIRE_MAX_FRAME);
	int damaged = 0;
	size_t n;

	if (!old || !body)
		die("out of memory");
	n = list(d, old);
	qsort(old, n, sizeof(*old), by_age);
	for (size_t i = 0; i < n; i++)
		damaged += scan_one(old[i], body, found, arg);
	return damaged;
}
