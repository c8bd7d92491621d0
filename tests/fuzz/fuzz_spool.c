// SPDX-License-Identifier: Apache-2.0
/*
 * A spool's directory, whatever lies in it: of each file what is whole is found, in order, once,
 * and what was cut off is no longer there at the next look. The first byte chooses: a file as it
 * is, or records whose sums are made right, since no fuzzer finds one.
 */
#include <fcntl.h>
#include <stdio.h>

#include "lib/spool/segment.c"
#include "lib/spool/spool.h"
#include "tests/fuzz/check.h"

enum { ENOUGH = 1 << 20 };

static char dir[64];

/* The log goes nowhere. */
int log_warn(int err, const char *fmt UNUSED, ...)
{
	return err;
}

void die(const char *fmt UNUSED, ...)
{
	abort();
}

static void file_of(uint32_t number, enum wire_stream stream, uint64_t first, const struct buf *b)
{
	const struct segment s = { .run.number = number, .stream = stream, .first = first };
	char name[NAME], path[128];
	int fd;

	segment_name(&s, name);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	must(fd >= 0 && write(fd, b->data, b->len) == (ssize_t)b->len);
	close(fd);
}

static void make_head(struct buf *b, uint64_t epoch, uint32_t number, enum wire_stream stream)
{
	unsigned char head[HEAD], *p = head;

	memcpy(p, SEGMENT_MAGIC, 8);
	p = put_le(put_le(put_le(p + 8, 8, epoch), 4, number), 4, stream);
	put_le(p, 4, crc32c(0, head, HEAD - 4));
	buf_put(b, head, HEAD);
}

static void make_record(struct buf *b, uint64_t seq, const uint8_t *body, uint32_t len)
{
	const struct segment_record r = { .seq = seq, .wall_ns = seq, .rows = 1, .len = len };
	unsigned char head[RECORD];

	encode_head(head, &r, body);
	buf_put(b, head, RECORD);
	buf_put(b, body, len);
}

/* Files whose sums are right, of seqs and bodies as the input has them; one byte may be wrong. */
static void make_files(struct input *in)
{
	struct buf b = { 0 };

	for (int file = 0; file < 4 && in->len; file++) {
		uint8_t bits = take8(in);
		enum wire_stream stream = bits & 1 ? STREAM_EVENT : STREAM_METRIC;
		uint64_t seq = 1 + take8(in), first = seq;

		buf_reset(&b);
		make_head(&b, 1 + (bits >> 1 & 1), 1 + (bits >> 1 & 1), stream);
		for (int i = 0; i < (bits >> 2 & 7) && in->len; i++) {
			uint32_t len = take8(in);

			len = len > in->len ? (uint32_t)in->len : len;
			make_record(&b, seq, in->p, len);
			in->p += len;
			in->len -= len;
			seq += take8(in) % 3;
		}
		if (bits >> 5 == 7)
			b.data[take8(in) % b.len] ^= 4;
		file_of(1 + (bits >> 1 & 1), stream, first, &b);
	}
	buf_free(&b);
}

static void drain(struct spool *s)
{
	uint64_t last[STREAM_END] = { 0 };
	struct spool_batch *b;

	do {
		memset(last, 0, sizeof(last));
		for (enum wire_stream i = STREAM_EVENT; i < STREAM_END; i++) {
			while ((b = spool_next(s, i))) {
				must(b->seq > last[i] && b->seq >= spool_base(s, i));
				last[i] = b->seq;
			}
			must(spool_ack(s, i, last[i]) == 0);
		}
	} while (spool_turn(s));
	must(spool_batches(s) == 0 && spool_bytes(s) == 0);
}

static uint32_t look(bool and_drain, int *damaged)
{
	struct spool *s = spool_new(ENOUGH);
	uint32_t left;

	must(spool_open_disk(s, dir, ENOUGH, &left, damaged) == 0);
	must(left == spool_batches(s));
	if (and_drain)
		drain(s);
	spool_free(s);
	return left;
}

static void clean(void)
{
	char lock[128];

	snprintf(lock, sizeof(lock), "%s/lock", dir);
	unlink(lock);
	rmdir(dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = { data + 1, len - 1 };
	struct buf b = { 0 };
	int damaged;
	uint32_t n;

	if (!len)
		return 0;
	if (!*dir) {
		snprintf(dir, sizeof(dir), "/tmp/seismo-fuzz-spool.XXXXXX");
		must(mkdtemp(dir) && atexit(clean) == 0);
	}
	if (*data == 'f') {
		buf_put(&b, data + 1, len - 1);
		file_of(1, STREAM_EVENT, 1, &b);
		buf_free(&b);
	} else {
		make_files(&in);
	}
	n = look(false, &damaged);
	must(look(true, &damaged) == n && damaged == 0);
	must(look(false, &damaged) == 0);
	return 0;
}
