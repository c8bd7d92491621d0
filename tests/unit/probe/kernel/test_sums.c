// SPDX-License-Identifier: Apache-2.0
#include "probe/kernel/sums.h"
#include "tests/lib/test.h"

enum { FIELDS = 7 };

static struct {
	const char *name; /* the expected one */
	uint32_t n, times; /* reports in all, and of this name */
	double since[FIELDS], all[FIELDS];
} got;

static void on_report(void *arg, const char *name, const double *since, const double *all)
{
	CHECK(arg == &got);
	got.n++;
	if (strcmp(name, got.name) != 0)
		return;
	got.times++;
	memcpy(got.since, since, sizeof(got.since));
	memcpy(got.all, all, sizeof(got.all));
}

/* Reports one tick into got; false: nothing of this name. */
static bool report(struct sums *t, const char *name)
{
	memset(&got, 0, sizeof(got));
	got.name = name;
	sums_report(t, on_report, &got);
	CHECK(got.times <= 1);
	return got.times;
}

static const __u64 *sums_of(__u64 first)
{
	static __u64 v[FIELDS];

	for (int i = 0; i < FIELDS; i++)
		v[i] = first + (__u64)i;
	return v;
}

static const void *key(uint64_t id)
{
	static uint64_t bytes;

	bytes = id;
	return &bytes;
}

static struct sums empty(void)
{
	return (struct sums){ .nkey = sizeof(uint64_t), .nfields = FIELDS };
}

TEST(the_change_since_the_last_tick_is_reported)
{
	struct sums t = empty();

	CHECK(!sums_knows(&t, key(1)));
	sums_seen(&t, key(1), "/a", sums_of(100), false);
	CHECK(sums_knows(&t, key(1)));
	CHECK(report(&t, "/a") && got.since[0] == 100 && got.since[6] == 106);
	sums_seen(&t, key(1), NULL, sums_of(1100), false);
	CHECK(report(&t, "/a") && got.since[0] == 1000 && got.since[6] == 1000);
	CHECK(got.all[0] == 1100);
	sums_seen(&t, key(1), NULL, sums_of(1090), false);
	CHECK(report(&t, "/a") && got.since[0] == -10 && got.all[6] == 1096);
	sums_free(&t);
}

TEST(two_keys_of_one_name_are_reported_as_one)
{
	struct sums t = empty();

	sums_seen(&t, key(9), "/a", sums_of(1), false);
	sums_seen(&t, key(5), "/b", sums_of(10), false);
	sums_seen(&t, key(7), "/a", sums_of(100), false);
	CHECK(report(&t, "/a") && got.since[0] == 101 && got.all[0] == 101);
	CHECK_EQ(got.n, 2);
	sums_free(&t);
}

TEST(an_idle_key_is_no_longer_reported_then_removed_unless_it_is_held)
{
	struct sums t = empty();
	int ticks = 0, kept = 0;

	sums_seen(&t, key(0), "(others)", sums_of(5), true);
	sums_seen(&t, key(1), "/a", sums_of(5), false);
	while (report(&t, "/a") && ++ticks < 100) {
		sums_seen(&t, key(0), NULL, sums_of(5), true);
		CHECK(sums_seen(&t, key(1), NULL, sums_of(5), false));
	}
	CHECK_EQ(ticks, SUMS_REPORTED_TICKS);
	while (sums_seen(&t, key(1), NULL, sums_of(5), false) && ++kept < 100)
		sums_seen(&t, key(0), NULL, sums_of(5), true);
	CHECK_EQ(kept, SUMS_KEPT_TICKS - SUMS_REPORTED_TICKS - 1);
	CHECK(!sums_knows(&t, key(1)));
	for (int i = 0; i < 2 * SUMS_KEPT_TICKS; i++)
		CHECK(sums_seen(&t, key(0), NULL, sums_of(5), true));
	sums_seen(&t, key(0), NULL, sums_of(6), true);
	CHECK(report(&t, "(others)") && got.since[0] == 1);
	sums_free(&t);
}
