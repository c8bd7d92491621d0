// SPDX-License-Identifier: Apache-2.0
#include "lib/spool/segment_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "lib/base/crc32c.h"
#include "lib/base/log.h"

enum { FULL_MAX = 1 << 20, FULL_MIN = 4096 };

static unsigned char *put_le(unsigned char *p, int bytes, uint64_t v)
{
	for (int i = 0; i < bytes; i++)
		p[i] = (unsigned char)(v >> 8 * i);
	return p + bytes;
}

uint64_t segment_get(const unsigned char **p, int bytes)
{
	uint64_t v = 0;

	for (int i = 0; i < bytes; i++)
		v |= (uint64_t)(*p)[i] << 8 * i;
	*p += bytes;
	return v;
}

void segment_name(const struct segment *s, char name[static NAME])
{
	snprintf(name, NAME, "%08x-%d-%016llx.seg", s->run.number, (int)s->stream,
		 (unsigned long long)s->first);
}

static int make_directory(struct segments *d)
{
	AUTO_CLOSE int dir = -1, lock = -1;

	if (mkdir(d->path, 0700) < 0 && errno != EEXIST)
		return -errno;
	dir = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	lock = openat(dir, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (lock < 0)
		return -errno;
	if (flock(lock, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	close_autop(&d->dir);
	close_autop(&d->lock);
	d->dir = dir;
	d->lock = lock;
	dir = lock = -1;
	return 0;
}

int segments_open(struct segments **out, const char *path, size_t cap_bytes)
{
	AUTO(segments_close) struct segments *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		die("out of memory");
	d->dir = d->lock = -1;
	d->full = cap_bytes / 16 > FULL_MAX   ? FULL_MAX
		  : cap_bytes / 16 < FULL_MIN ? FULL_MIN
					      : cap_bytes / 16;
	for (int i = 0; i < STREAM_END; i++)
		d->fd[i] = -1;
	d->path = strdup(path);
	if (!d->path)
		die("out of memory");
	r = make_directory(d);
	if (r < 0)
		return r;
	*out = TAKE(d);
	return 0;
}

struct segment *segment_add(struct segments *d, const struct segment *as)
{
	struct segment *s = malloc(sizeof(*s));

	if (!s)
		die("out of memory");
	*s = *as;
	s->dir = d;
	s->before = NULL;
	s->after = d->all;
	if (d->all)
		d->all->before = s;
	d->all = s;
	return s;
}

void segment_forget(struct segment *s)
{
	if (s->before)
		s->before->after = s->after;
	else
		s->dir->all = s->after;
	if (s->after)
		s->after->before = s->before;
	free(s);
}

void segments_close(struct segments *d)
{
	if (!d)
		return;
	while (d->all)
		segment_forget(d->all);
	for (int i = 0; i < STREAM_END; i++)
		close_autop(&d->fd[i]);
	close_autop(&d->lock);
	close_autop(&d->dir);
	free(d->path);
	free(d);
}

size_t segments_bytes(const struct segments *d)
{
	return d->bytes;
}

int segments_fd(const struct segments *d)
{
	return d->dir;
}

/* Closes a segment for writing. */
static void end_segment(struct segment *s)
{
	struct segments *d = s->dir;

	if (d->last[s->stream] != s)
		return;
	close(d->fd[s->stream]);
	d->fd[s->stream] = -1;
	d->last[s->stream] = NULL;
}

int segments_restore(struct segments *d)
{
	struct stat st;
	int r;

	if (fstat(d->dir, &st) < 0)
		return -errno;
	if (st.st_nlink)
		return 0;
	r = make_directory(d);
	for (int i = 0; r == 0 && i < STREAM_END; i++)
		if (d->last[i])
			end_segment(d->last[i]);
	return r < 0 ? r : 1;
}

static void discard_segment(struct segment *s)
{
	char name[NAME];

	end_segment(s);
	segment_name(s, name);
	unlinkat(s->dir->dir, name, 0);
	s->dir->bytes -= s->len;
	segment_forget(s);
}

void segment_unuse(struct segment *s)
{
	if (--s->uses == 0)
		discard_segment(s);
}

static int write_at(int fd, const void *p, size_t len, uint64_t at)
{
	ssize_t n = pwrite(fd, p, len, (off_t)at);

	return n < 0 ? -errno : n == (ssize_t)len ? 0 : -ENOSPC;
}

static int begin_segment(struct segments *d, const struct segment_run *run, enum wire_stream stream,
			 uint64_t first)
{
	struct segment *s =
		segment_add(d, &(struct segment){ .run = *run, .stream = stream, .first = first });
	unsigned char head[HEAD], *p = head;
	char name[NAME];
	int r;

	segment_name(s, name);
	d->fd[stream] = openat(d->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (d->fd[stream] < 0) {
		r = -errno;
		segment_forget(s);
		return r;
	}
	d->last[stream] = s;
	memcpy(p, SEGMENT_MAGIC, 8);
	p = put_le(put_le(put_le(p + 8, 8, run->epoch), 4, run->number), 4, stream);
	put_le(p, 4, crc32c(0, head, HEAD - 4));
	r = write_at(d->fd[stream], head, HEAD, 0);
	if (r < 0) {
		discard_segment(s);
		return r;
	}
	s->len = HEAD;
	d->bytes += HEAD;
	return 0;
}

static void encode_head(unsigned char head[static RECORD], const struct segment_record *r,
			const void *body)
{
	put_le(put_le(put_le(put_le(head + 4, 4, r->len), 4, r->rows), 8, r->seq), 8, r->wall_ns);
	put_le(head, 4, crc32c(crc32c(0, head + 4, RECORD - 4), body, r->len));
}

int segment_append(struct segments *d, const struct segment_run *run, enum wire_stream stream,
		   const struct segment_record *r, const void *body, struct segment **seg,
		   uint64_t *at)
{
	struct segment *s = d->last[stream];
	unsigned char head[RECORD];
	int err;

	if (s && (s->len >= d->full || s->run.number != run->number))
		end_segment(s);
	if (!d->last[stream]) {
		err = begin_segment(d, run, stream, r->seq);
		if (err < 0)
			return err;
	}
	s = d->last[stream];
	encode_head(head, r, body);
	err = write_at(d->fd[stream], head, RECORD, s->len);
	if (err == 0)
		err = write_at(d->fd[stream], body, r->len, s->len + RECORD);
	if (err < 0) {
		if (s->uses == 0)
			discard_segment(s);
		else if (ftruncate(d->fd[stream], (off_t)s->len) < 0)
			end_segment(s); /* the next scan truncates it */
		return err;
	}
	*seg = s;
	*at = s->len;
	s->uses++;
	s->len += RECORD + r->len;
	d->bytes += RECORD + r->len;
	return 0;
}

int segment_read_at(int fd, uint64_t at, struct segment_record *r, void *body, uint32_t room)
{
	unsigned char head[RECORD];
	const unsigned char *p = head;
	ssize_t n = pread(fd, head, sizeof(head), (off_t)at);
	uint64_t sum;

	if (n < 0)
		return -errno;
	if (n != (ssize_t)sizeof(head))
		return -EBADMSG;
	sum = segment_get(&p, 4);
	r->len = (uint32_t)segment_get(&p, 4);
	r->rows = (uint32_t)segment_get(&p, 4);
	r->seq = segment_get(&p, 8);
	r->wall_ns = segment_get(&p, 8);
	if (r->len > room)
		return -EBADMSG;
	n = pread(fd, body, r->len, (off_t)(at + RECORD));
	if (n < 0)
		return -errno;
	if (n != (ssize_t)r->len || crc32c(crc32c(0, head + 4, RECORD - 4), body, r->len) != sum)
		return -EBADMSG;
	return 0;
}

int segment_read(const struct segment *s, uint64_t at, const struct segment_record *want,
		 void *body)
{
	struct segment_record r;
	AUTO_CLOSE int fd = -1;
	char name[NAME];
	int err;

	segment_name(s, name);
	fd = openat(s->dir->dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = segment_read_at(fd, at, &r, body, want->len);
	if (err == 0 && (r.seq != want->seq || r.len != want->len))
		err = -EBADMSG;
	return err;
}
