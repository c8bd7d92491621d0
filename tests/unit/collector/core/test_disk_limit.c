// SPDX-License-Identifier: Apache-2.0
#include "collector/core/disk_limit.h"
#include "tests/lib/test.h"

static const uint64_t MB = 1000 * 1000, GB = 1000 * MB;

static struct disk_limit parsed(const char *text)
{
	struct disk_limit l = { 0 };

	CHECK_EQ(disk_limit_parse(text, &l), 0);
	return l;
}

TEST(a_limit_is_a_share_or_a_size_or_off)
{
	CHECK_EQ(parsed("80%").percent, 80);
	CHECK_EQ(parsed("80 %").percent, 80);
	CHECK_EQ(parsed("200GB").bytes, 200 * GB);
	CHECK_EQ(parsed("500 mb").bytes, 500 * MB);
	CHECK_EQ(parsed("2TB").bytes, 2000 * GB);
	CHECK_EQ(parsed("123456").bytes, 123456);
	CHECK_EQ(parsed("off").percent + parsed("off").bytes, 0);
}

TEST(no_limit_is_read_from_anything_else)
{
	static const char *const wrong[] = { "",
					     "%",
					     "0%",
					     "101%",
					     "80%%",
					     "-5GB",
					     "5 days",
					     "GB",
					     "0",
					     "1.5GB",
					     "5GB more",
					     " 80%",
					     "99999999999999999999",
					     "18446744073709551615GB" };
	struct disk_limit l = { .percent = 7 };

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		CHECK_EQ(disk_limit_parse(wrong[i], &l), -EINVAL);
	CHECK_EQ(l.percent, 7);
}

TEST(the_bounds_follow_the_file_system)
{
	struct disk_limit share = { .percent = 80 }, size = { .bytes = 5 * GB }, off = { 0 };

	CHECK_EQ(disk_bounds(&share, 300 * MB).allowed, 240 * MB);
	CHECK_EQ(disk_bounds(&share, 320 * MB).reserve, 40 * MB);
	CHECK_EQ(disk_bounds(&share, 1000 * GB).reserve, 512ull << 20);
	CHECK_EQ(disk_bounds(&share, 0).allowed, 0);
	CHECK_EQ(disk_bounds(&size, 0).allowed, 5 * GB);
	CHECK_EQ(disk_bounds(&size, 0).reserve, 0);
	CHECK_EQ(disk_bounds(&off, 300 * MB).reserve, 0);
}

static const struct disk_bounds small = { .allowed = 240 * 1000 * 1000,
					  .reserve = 40 * 1000 * 1000 };

static struct disk_state judge(uint64_t used, uint64_t avail, struct disk_state was)
{
	return disk_judge(&small, &(struct disk_sizes){ used, 320 * MB, avail }, was);
}

TEST(each_state_ends_later_than_it_begins)
{
	struct disk_state none = { 0 }, dropping = { .dropping = true }, both = { true, true };

	CHECK(!judge(225 * MB, 200 * MB, none).dropping);
	CHECK(judge(226 * MB, 200 * MB, none).dropping);
	CHECK(judge(215 * MB, 200 * MB, dropping).dropping);
	CHECK(!judge(211 * MB, 200 * MB, dropping).dropping);
	CHECK(judge(100 * MB, 59 * MB, none).dropping);
	CHECK(judge(100 * MB, 79 * MB, dropping).dropping);
	CHECK(!judge(100 * MB, 80 * MB, dropping).dropping);
	CHECK(!judge(239 * MB, 200 * MB, dropping).refusing);
	CHECK(judge(240 * MB, 200 * MB, dropping).refusing);
	CHECK(judge(233 * MB, 200 * MB, both).refusing);
	CHECK(!judge(232 * MB, 200 * MB, both).refusing);
	CHECK(judge(100 * MB, 39 * MB, dropping).refusing);
	CHECK(judge(100 * MB, 49 * MB, both).refusing);
	CHECK(!judge(100 * MB, 50 * MB, both).refusing);
}

TEST(without_a_limit_nothing_is_dropped_or_refused)
{
	struct disk_state s =
		disk_judge(&(struct disk_bounds){ 0 }, &(struct disk_sizes){ 1000 * GB, 0, 0 },
			   (struct disk_state){ true, true });

	CHECK(!s.dropping && !s.refusing);
	CHECK_EQ(disk_room(&(struct disk_bounds){ 0 }, &(struct disk_sizes){ 0 }), UINT64_MAX);
}

TEST(the_room_is_the_smaller_of_limit_and_free_space)
{
	CHECK_EQ(disk_room(&small, &(struct disk_sizes){ 200 * MB, 320 * MB, 200 * MB }), 40 * MB);
	CHECK_EQ(disk_room(&small, &(struct disk_sizes){ 100 * MB, 320 * MB, 60 * MB }), 20 * MB);
	CHECK_EQ(disk_room(&small, &(struct disk_sizes){ 250 * MB, 320 * MB, 60 * MB }), 0);
	CHECK_EQ(disk_room(&small, &(struct disk_sizes){ 100 * MB, 320 * MB, 30 * MB }), 0);
}

static size_t grow(struct disk_point *p, size_t n, int64_t every_s, int64_t per_s)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (struct disk_point){ 1000 + (int64_t)i * every_s,
					    50 * GB + (uint64_t)((int64_t)i * every_s * per_s) };
	return n;
}

TEST(a_steady_growth_is_continued)
{
	struct disk_point p[36];
	size_t n = grow(p, 36, 600, 10000);

	CHECK_EQ(disk_forecast_s(p, n, 864 * MB), 86400);
	CHECK_EQ(disk_forecast_s(p, n, 0), 0);
	CHECK_EQ(disk_forecast_s(p, n, UINT64_MAX), DISK_NEVER);
}

TEST(a_short_history_gives_no_forecast)
{
	struct disk_point p[36] = { 0 };

	CHECK_EQ(disk_forecast_s(p, 0, GB), -1);
	CHECK_EQ(disk_forecast_s(p, grow(p, 2, 3600, 1), GB), -1);
	CHECK_EQ(disk_forecast_s(p, grow(p, 36, 10, 1), GB), -1);
}

TEST(a_database_that_does_not_grow_is_never_full)
{
	struct disk_point p[36];

	CHECK_EQ(disk_forecast_s(p, grow(p, 36, 600, 0), GB), DISK_NEVER);
	CHECK_EQ(disk_forecast_s(p, grow(p, 36, 600, -5), GB), DISK_NEVER);
}

TEST(one_drop_by_retention_does_not_hide_the_growth)
{
	struct disk_point p[36];
	size_t n = grow(p, 36, 600, 10000);

	for (size_t i = 30; i < n; i++)
		p[i].used -= 30 * GB;
	CHECK(disk_forecast_s(p, n, 864 * MB) <= 86401);
}

TEST(an_hourly_sawtooth_is_no_growth_beyond_its_trend)
{
	struct disk_point p[36];
	size_t n = grow(p, 36, 600, 10000);
	int64_t s;

	for (size_t i = 0; i < n; i++)
		p[i].used += i % 6 * 200 * MB;
	s = disk_forecast_s(p, n, 8640 * MB);
	CHECK(s > 864000 * 9 / 10 && s < 864000 * 11 / 10);
}

TEST(points_of_one_moment_divide_nothing_by_zero)
{
	struct disk_point p[4] = { { 0, 5 }, { 0, 900 }, { 3600, 3605 }, { 3600, 4500 } };

	CHECK_EQ(disk_forecast_s(p, 4, 1000), 1000);
}
