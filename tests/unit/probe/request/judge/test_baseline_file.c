// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>

#include "probe/request/judge/baseline_pack.h"
#include "probe/request/judge/baseline_file.h"
#include "lib/daemon/state_file.h"
#include "tests/fake/clock.h"
#include "tests/lib/test.h"

#define SECOND 1000000000ull
#define DAY (24 * 3600 * SECOND)

enum { ROUTES = 3 };

static char dir[] = "/tmp/seismo-keep.XXXXXX";
static char path[64];

static bool judged(struct detect *d, int route, uint64_t us, struct request_item *out)
{
	static const char *const names[ROUTES] = { "GET /", "GET /a", "GET /b" };

	*out = (struct request_item){
		.app = "nginx", .route = names[route], .status = 200, .request_us = us
	};
	return detect_judge(d, out, &(struct breakdown){ 0 }, &(struct judged){ 0 });
}

/* Knows three routes, of 1, 2 and 3 ms. */
static struct detect *learnt(void)
{
	struct detect *d = detect_new(-1);
	struct request_item r;

	for (uint64_t i = 0; i < 150 * ROUTES; i++)
		judged(d, (int)(i % ROUTES), 1000 * (i % ROUTES + 1) + 10 * i, &r);
	return d;
}

static bool knows(struct detect *d, int route)
{
	struct request_item r;

	judged(d, route, 1, &r);
	return r.limit_us < 30000;
}

static bool knows_any(struct detect *d)
{
	return knows(d, 0) || knows(d, 1) || knows(d, 2);
}

static void begin(void)
{
	clock_set_ns(1000 * DAY);
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	CHECK(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/probe.state", dir);
}

static void end(void)
{
	unlink(path);
	CHECK_EQ(rmdir(dir), 0); /* and no NAME.new is left */
}

static void put_file(const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	/* not O_TRUNC: ext4 then waits for the disk at each close, thousands of times */
	CHECK(fd >= 0 && write(fd, data, len) == (ssize_t)len && ftruncate(fd, (off_t)len) == 0);
	close(fd);
}

static size_t get_file(char *data, size_t room)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, data, room);

	if (fd >= 0)
		close(fd);
	return n > 0 ? (size_t)n : 0;
}

static void write_state(void)
{
	AUTO(detect_free) struct detect *d = learnt();

	baseline_file_close(baseline_file_open(path, d));
}

TEST(a_known_route_is_judged_by_its_own_limit_at_its_first_request_after_a_restart)
{
	AUTO(detect_free) struct detect *d = detect_new(-1);
	AUTO(detect_free) struct detect *before = learnt();
	struct request_item was, is;
	struct baseline_file *k;

	begin();
	write_state();
	k = baseline_file_open(path, d);
	CHECK_EQ(baseline_file_refused(k), 0);
	for (int i = 0; i < ROUTES; i++) {
		CHECK(judged(before, i, 60000, &was));
		CHECK(judged(d, i, 60000, &is));
		CHECK_EQ(is.limit_us, was.limit_us);
		CHECK_EQ(is.normal_us, was.normal_us);
	}
	baseline_file_close(k);
	end();
}

TEST(without_a_file_everything_is_learnt_and_nothing_is_refused)
{
	AUTO(detect_free) struct detect *d = detect_new(-1);
	struct baseline_file *k;

	begin();
	k = baseline_file_open(path, d);
	CHECK_EQ(baseline_file_refused(k), 0);
	CHECK(!knows_any(d));
	baseline_file_close(k);
	CHECK_EQ(baseline_file_open("", d) == NULL, true);
	baseline_file_tick(NULL, 0);
	baseline_file_close(NULL);
	end();
}

TEST(baselines_are_written_every_minute)
{
	AUTO(detect_free) struct detect *d = learnt();
	struct baseline_file *k;
	int i;

	begin();
	k = baseline_file_open(path, d);
	baseline_file_tick(k, 1000 * DAY + 59 * SECOND);
	usleep(50000);
	CHECK(access(path, F_OK) < 0);
	baseline_file_tick(k, 1000 * DAY + 61 * SECOND);
	for (i = 0; i < 400 && access(path, F_OK) < 0; i++)
		usleep(5000);
	CHECK(i < 400);
	baseline_file_close(k);
	end();
}

TEST(every_shorter_file_is_refused_and_replaced)
{
	char whole[8192];
	size_t len;

	begin();
	write_state();
	len = get_file(whole, sizeof(whole));
	CHECK(len > 100 && len < sizeof(whole));
	for (size_t n = 1; n < len; n++) {
		struct state_file f;
		struct buf body = { 0 };

		put_file(whole, n);
		CHECK_EQ(state_file_open(&f, path), 0);
		CHECK_EQ(state_file_read(&f, &body), -EBADMSG);
		state_file_close(&f);
		buf_free(&body);
	}
	AUTO(detect_free) struct detect *d = detect_new(-1);
	struct baseline_file *k = baseline_file_open(path, d);

	CHECK_EQ(baseline_file_refused(k), 1);
	CHECK(!knows_any(d));
	baseline_file_close(k);
	k = baseline_file_open(path, d);
	CHECK_EQ(baseline_file_refused(k), 0);
	baseline_file_close(k);
	end();
}

TEST(every_flipped_bit_is_noticed)
{
	char whole[8192];
	size_t len;
	struct state_file f;

	begin();
	write_state();
	len = get_file(whole, sizeof(whole));
	CHECK_EQ(state_file_open(&f, path), 0);
	for (size_t bit = 0; bit < len * 8; bit++) {
		struct buf body = { 0 };

		whole[bit / 8] ^= (char)(1 << bit % 8);
		put_file(whole, len);
		CHECK_EQ(state_file_read(&f, &body), bit < 7 * 8 ? -EEXIST : -EBADMSG);
		whole[bit / 8] ^= (char)(1 << bit % 8);
		buf_free(&body);
	}
	state_file_close(&f);
	end();
}

/* A hash protects against accidents, not against forgery: hostile bytes must do no harm either.
 */
TEST(hostile_bytes_are_refused_or_loaded_and_never_do_harm)
{
	AUTO(detect_free) struct detect *d = learnt();
	struct buf good = { 0 };

	detect_save(d, &good, 1000 * DAY);
	for (size_t n = 0; n < good.len; n += 17) { /* each costs megabytes: not all lengths */
		AUTO(detect_free) struct detect *fresh = detect_new(-1);
		AUTO_FREE void *copy =
			malloc(n ? n : 1); /* so that a read past the end is detected */

		memcpy(copy, good.data, n);
		CHECK_EQ(detect_load(fresh, copy, n, 1000 * DAY), -EBADMSG);
		CHECK(!knows_any(fresh));
	}
	for (size_t bit = 0; bit < good.len * 8; bit += 41) {
		AUTO(detect_free) struct detect *fresh = detect_new(-1);

		good.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
		if (detect_load(fresh, good.data, good.len, 1000 * DAY) < 0)
			CHECK(!knows_any(fresh));
		good.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
	buf_free(&good);
}

static bool taken(const void *bytes, size_t len)
{
	struct mp m = mp_over(bytes, len);
	struct baseline b;
	struct part_baseline parts;
	uint64_t route, used;

	baseline_take(&m, &route, &used, &b, &parts);
	return !mp_bad(&m) && m.p == m.end;
}

#define TAKEN(...) taken((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

TEST(an_impossible_histogram_is_refused)
{
	CHECK(TAKEN(0x95, 1, 1, 0x94, 3, 1, 4, 1, 0x90, 1));
	CHECK(!TAKEN(0x95, 1, 1, 0x94, 3, 1, 4, 1, 0x90, 2)); /* by_first is neither 0 nor 1 */
	CHECK(TAKEN(0x94, 1, 1, 0x94, 3, 1, 4, 1, 0x90)); /* the older format */
	CHECK(TAKEN(0x96, 1, 1, 0x94, 3, 1, 4, 1, 0x90, 1, 0xc4, 1,
		    17)); /* the current format, no samples */
	CHECK(TAKEN(0x96, 1, 1, 0x94, 3, 1, 4, 1, 0x90, 1, 0xc4, 2, 16,
		    1)); /* another number of parts */
	CHECK(!TAKEN(0x96, 1, 1, 0x94, 3, 1, 4, 1, 0x90, 1, 0xc4, 2, 17, 1)); /* half a sample */
	CHECK(!TAKEN(0x96, 1, 1, 0x94, 3, 1, 4, 1, 0x90, 1, 0xc4, 0)); /* no number of parts */
	CHECK(!TAKEN(0x96, 1, 1, 0x94, 3, 1, 4, 1, 0x90, 1, 1)); /* no bytes */
	CHECK(TAKEN(0x97, 1, 1, 0x94, 3, 1, 4, 1, 0x90, 1, 0xc4, 1, 17, 0xc0)); /* a later format */
	CHECK(!TAKEN(0x94, 0, 1, 0x94, 3, 1, 4, 1, 0x90)); /* no route */
	CHECK(!TAKEN(0x94, 1, 1, 0x94, 4, 1, 3, 1, 0x90)); /* slots in falling order */
	CHECK(!TAKEN(0x94, 1, 1, 0x94, 3, 1, 3, 1, 0x90)); /* repeated slots */
	CHECK(!TAKEN(0x94, 1, 1, 0x93, 3, 1, 4, 0x90)); /* an odd number of elements */
	CHECK(!TAKEN(0x94, 1, 1, 0x92, 3, 0, 0x90)); /* an empty slot */
	CHECK(!TAKEN(0x94, 1, 1, 0x90, 0x90)); /* nothing known */
	CHECK(!TAKEN(0x94, 1, 1, 0x92, 0xcd, 592 >> 8, 592 & 0xff, 1, 0x90)); /* no such slot */
	CHECK(TAKEN(0x94, 1, 1, 0x92, 0xcd, 591 >> 8, 591 & 0xff, 1, 0x90));
	CHECK(!TAKEN(0x94, 1, 1, 0x92, 3, 0xce, 0, 1, 0, 0, 0x90)); /* more than a window */
	CHECK(!TAKEN(0x94, 1, 1, 0x94, 3, 0xcd, 0xff, 0xff, 4, 1,
		     0x90)); /* more than a window in total */
}

TEST(a_foreign_file_is_left_unchanged)
{
	static const char text[] = "root:x:0:0:root:/root:/bin/bash\n";
	AUTO(detect_free) struct detect *d = learnt();
	char after[64];
	struct baseline_file *k;

	begin();
	put_file(text, sizeof(text));
	k = baseline_file_open(path, d);
	CHECK_EQ(baseline_file_refused(k), 1);
	baseline_file_tick(k, 1001 * DAY);
	baseline_file_close(k);
	CHECK_EQ(get_file(after, sizeof(after)), sizeof(text));
	CHECK_STR(after, text);
	end();
}

TEST(a_link_or_a_pipe_is_not_followed)
{
	AUTO(detect_free) struct detect *d = learnt();
	struct baseline_file *k;
	struct stat st;

	begin();
	CHECK_EQ(symlink("/etc/passwd", path), 0);
	k = baseline_file_open(path, d);
	CHECK_EQ(baseline_file_refused(k), 1);
	baseline_file_close(k);
	CHECK(lstat(path, &st) == 0 && S_ISLNK(st.st_mode));
	unlink(path);
	CHECK_EQ(mkfifo(path, 0600), 0);
	k = baseline_file_open(path, d);
	CHECK_EQ(baseline_file_refused(k), 1);
	baseline_file_close(k);
	CHECK(lstat(path, &st) == 0 && S_ISFIFO(st.st_mode));
	end();
}

TEST(a_missing_directory_is_counted_and_so_is_one_that_vanishes)
{
	AUTO(detect_free) struct detect *d = learnt();
	struct baseline_file *k = baseline_file_open("/nonexistent/probe.state", d);

	CHECK_EQ(baseline_file_refused(k), 1);
	baseline_file_close(k);
	begin();
	k = baseline_file_open(path, d);
	CHECK_EQ(rmdir(dir), 0);
	baseline_file_tick(k, 1001 * DAY);
	for (int i = 0; i < 400 && !baseline_file_unsaved(k); i++) {
		usleep(5000);
		baseline_file_tick(k, 1001 * DAY);
	}
	CHECK_EQ(baseline_file_unsaved(k), 1);
	baseline_file_close(k);
}

TEST(an_interrupted_write_leaves_the_old_state)
{
	AUTO(detect_free) struct detect *d = detect_new(-1);
	char fresh[80];
	struct baseline_file *k;

	begin();
	write_state();
	snprintf(fresh, sizeof(fresh), "%s.new", path);
	CHECK_EQ(rename(path, fresh), 0);
	CHECK_EQ(truncate(fresh, 20), 0); /* interrupted during the second write */
	write_state();
	k = baseline_file_open(path, d);
	CHECK_EQ(baseline_file_refused(k), 0);
	CHECK(knows(d, 0) && knows(d, 2));
	baseline_file_close(k);
	end();
}

TEST(an_unused_route_is_forgotten_after_two_weeks)
{
	AUTO(detect_free) struct detect *d = learnt();
	AUTO(detect_free) struct detect *later = detect_new(-1), *fresh = detect_new(-1);
	struct buf bytes = { 0 };

	detect_save(d, &bytes, 1000 * DAY);
	CHECK_EQ(detect_load(later, bytes.data, bytes.len, 1013 * DAY), 0);
	CHECK(knows(later, 1)); /* this counts as use */
	buf_reset(&bytes);
	detect_save(later, &bytes, 1015 * DAY);
	CHECK_EQ(detect_load(fresh, bytes.data, bytes.len, 1015 * DAY), 0);
	CHECK(knows(fresh, 1));
	CHECK(!knows(fresh, 0) && !knows(fresh, 2));
	buf_free(&bytes);
}
