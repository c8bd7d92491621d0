// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/spool/segment.h"
#include "tests/fake/place.h"
#include "tests/lib/test.h"

enum { HEAD = 28, RECORD = 28 + 5 }; /* of a file, and with a body of five bytes */

static const struct segment_run run = { .epoch = 77, .number = 3 };

static struct segment_found found[100];
static int nfound;

static void on_found(void *arg UNUSED, const struct segment_found *f)
{
	if (nfound < 100)
		found[nfound++] = *f;
}

static struct segments *opened(void)
{
	struct segments *d = NULL;

	CHECK_EQ(segments_open(&d, place(), 1 << 24), 0);
	return d;
}

static int scanned(struct segments *d)
{
	nfound = 0;
	return segments_scan(d, on_found, NULL);
}

static void put(struct segments *d, const struct segment_run *of, enum wire_stream stream,
		uint64_t seq, const char *body)
{
	const struct segment_record r = {
		.seq = seq, .wall_ns = 1000 + seq, .rows = 5, .len = (uint32_t)strlen(body)
	};
	struct segment *s;
	uint64_t at;

	CHECK_EQ(segment_append(d, of, stream, &r, body, &s, &at), 0);
}

/* The one file of this stream and first seq. */
static int file(uint64_t first)
{
	char name[128];

	snprintf(name, sizeof(name), "%s/00000003-1-%016llx.seg", place(),
		 (unsigned long long)first);
	return open(name, O_RDWR);
}

TEST(what_was_written_is_found_again_in_order_and_read)
{
	char body[8] = "";

	place_clean();
	{
		AUTO(segments_close) struct segments *d = opened();

		CHECK_EQ(scanned(d), 0);
		put(d, &(struct segment_run){ 88, 4 }, STREAM_EVENT, 1, "later");
		put(d, &run, STREAM_METRIC, 1, "metric");
		put(d, &run, STREAM_EVENT, 7, "seven");
		put(d, &run, STREAM_EVENT, 8, "eight");
	}
	AUTO(segments_close) struct segments *d = opened();

	CHECK_EQ(scanned(d), 0);
	CHECK_EQ(nfound, 4);
	CHECK_EQ(found[0].record.seq, 7);
	CHECK_EQ(found[1].record.seq, 8);
	CHECK_EQ(found[1].record.wall_ns, 1008);
	CHECK_EQ(found[1].record.rows, 5);
	CHECK_EQ(found[1].run.epoch, 77);
	CHECK_EQ(found[2].stream, STREAM_METRIC);
	CHECK_EQ(found[3].run.number, 4);
	CHECK_EQ(segment_read(found[1].segment, found[1].at, &found[1].record, body), 0);
	CHECK_EQ(memcmp(body, "eight", 5), 0);
}

TEST(a_segment_goes_with_its_last_record)
{
	struct stat st;
	char name[128];

	place_clean();
	{
		AUTO(segments_close) struct segments *d = opened();

		put(d, &run, STREAM_EVENT, 1, "one");
		put(d, &run, STREAM_EVENT, 2, "two");
	}
	AUTO(segments_close) struct segments *d = opened();

	CHECK_EQ(scanned(d), 0);
	CHECK_EQ(nfound, 2);
	snprintf(name, sizeof(name), "%s/00000003-1-%016x.seg", place(), 1);
	segment_unuse(found[0].segment);
	CHECK_EQ(stat(name, &st), 0);
	CHECK_EQ(segments_bytes(d), st.st_size);
	segment_unuse(found[1].segment);
	CHECK(stat(name, &st) < 0);
	CHECK_EQ(segments_bytes(d), 0);
}

/* Wherever the file ends, and whichever bit is wrong: the records before it are there. */
TEST(a_torn_or_damaged_end_costs_no_record_before_it)
{
	for (int at = 0; at < HEAD + 2 * RECORD; at++) {
		for (int flip = 0; flip < 2; flip++) {
			unsigned char c = 0;
			int fd, whole = at < HEAD ? 0 : (at - HEAD) / RECORD;

			place_clean();
			{
				AUTO(segments_close) struct segments *d = opened();

				put(d, &run, STREAM_EVENT, 1, "first");
				put(d, &run, STREAM_EVENT, 2, "other");
			}
			fd = file(1);
			CHECK(fd >= 0);
			if (flip) {
				CHECK_EQ(pread(fd, &c, 1, at), 1);
				c ^= 1 << at % 8;
				CHECK_EQ(pwrite(fd, &c, 1, at), 1);
			} else {
				CHECK_EQ(ftruncate(fd, at), 0);
			}
			close(fd);
			AUTO(segments_close) struct segments *d = opened();

			CHECK_EQ(scanned(d), flip || (at != HEAD && at != HEAD + RECORD));
			CHECK_EQ(nfound, whole);
			CHECK_EQ(scanned(d), 0); /* it is repaired */
		}
	}
}

TEST(a_record_that_is_damaged_later_is_not_read)
{
	char body[8];
	int fd;

	place_clean();
	AUTO(segments_close) struct segments *d = opened();

	put(d, &run, STREAM_EVENT, 1, "first");
	CHECK_EQ(scanned(d), 0);
	fd = file(1);
	CHECK_EQ(pwrite(fd, "X", 1, HEAD + 28), 1);
	close(fd);
	CHECK_EQ(segment_read(found[0].segment, found[0].at, &found[0].record, body), -EBADMSG);
}

TEST(a_directory_has_one_probe)
{
	struct segments *other = NULL;

	place_clean();
	AUTO(segments_close) struct segments *d = opened();

	CHECK(d);
	CHECK_EQ(segments_open(&other, place(), 1 << 24), -EBUSY);
}

/* As on a full disk, a write is cut short and the next one fails. */
TEST(where_there_is_no_room_nothing_is_added_and_what_was_there_stays)
{
	const struct segment_record r = { .seq = 2, .len = 4 };
	struct segment *s;
	uint64_t at;

	place_clean();
	{
		AUTO(segments_close) struct segments *d = opened();

		place_limit(10);
		CHECK(segment_append(d, &run, STREAM_EVENT, &r, "body", &s, &at) < 0);
		CHECK_EQ(segments_bytes(d), 0);
		place_limit(HEAD + RECORD + 30);
		put(d, &run, STREAM_EVENT, 1, "first");
		CHECK(segment_append(d, &run, STREAM_EVENT, &r, "body", &s, &at) < 0);
		place_limit(HEAD + RECORD + 32);
		put(d, &run, STREAM_EVENT, 2, "body");
		place_limit(RLIM_INFINITY);
	}
	AUTO(segments_close) struct segments *d = opened();

	CHECK_EQ(scanned(d), 0);
	CHECK_EQ(nfound, 2);
	place_clean();
}
