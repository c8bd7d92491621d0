// SPDX-License-Identifier: Apache-2.0
#include "probe/kernel/sums.h"
#include "tests/lib/test.h"

enum { FIELDS = 7 };

static struct {
	const char *name; /* that is asked for */
	uint32_t n, times; /* told at all, of this name */
	double since[FIELDS], all[FIELDS];
} told;

static void on_tell(void *arg, const char *name, const double *since, const double *all)
{
	CHECK(arg == &told);
	told.n++;
	if (strcmp(name, told.name) != 0)
		return;
	told.times++;
	memcpy(told.since, since, sizeof(told.since));
	memcpy(told.all, all, sizeof(told.all));
}

/* What is told at a tick; false: nothing of this name. */
static bool tell(struct sums *t, const char *name)
{
	memset(&told, 0, sizeof(told));
	told.name = name;
	sums_tell(t, on_tell, &told);
	CHECK(told.times <= 1);
	return told.times;
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

TEST(what_came_since_the_last_tick_is_told)
{
	struct sums t = empty();

	CHECK(!sums_knows(&t, key(1)));
	sums_seen(&t, key(1), "/a", sums_of(100), false);
	CHECK(sums_knows(&t, key(1)));
	CHECK(tell(&t, "/a") && told.since[0] == 100 && told.since[6] == 106);
	sums_seen(&t, key(1), NULL, sums_of(1100), false);
	CHECK(tell(&t, "/a") && told.since[0] == 1000 && told.since[6] == 1000);
	CHECK(told.all[0] == 1100);
	sums_seen(&t, key(1), NULL, sums_of(1090), false);
	CHECK(tell(&t, "/a") && told.since[0] == -10 && told.all[6] == 1096);
	sums_free(&t);
}

TEST(two_keys_of_one_name_are_one)
{
	struct sums t = empty();

	sums_seen(&t, key(9), "/a", sums_of(1), false);
	sums_seen(&t, key(5), "/b", sums_of(10), false);
	sums_seen(&t, key(7), "/a", sums_of(100), false);
	CHECK(tell(&t, "/a") && told.since[0] == 101 && told.all[0] == 101);
	CHECK_EQ(told.n, 2);
	sums_free(&t);
}

TEST(one_that_is_idle_is_no_longer_told_then_forgotten_and_one_that_is_held_never)
{
	struct sums t = empty();
	int ticks = 0, kept = 0;

	sums_seen(&t, key(0), "(others)", sums_of(5), true);
	sums_seen(&t, key(1), "/a", sums_of(5), false);
	while (tell(&t, "/a") && ++ticks < 100) {
		sums_seen(&t, key(0), NULL, sums_of(5), true);
		CHECK(sums_seen(&t, key(1), NULL, sums_of(5), false));
	}
	CHECK_EQ(ticks, SUMS_TOLD_TICKS);
	while (sums_seen(&t, key(1), NULL, sums_of(5), false) && ++kept < 100)
		sums_seen(&t, key(0), NULL, sums_of(5), true);
	CHECK_EQ(kept, SUMS_KEPT_TICKS - SUMS_TOLD_TICKS - 1);
	CHECK(!sums_knows(&t, key(1)));
	for (int i = 0; i < 2 * SUMS_KEPT_TICKS; i++)
		CHECK(sums_seen(&t, key(0), NULL, sums_of(5), true));
	sums_seen(&t, key(0), NULL, sums_of(6), true);
	CHECK(tell(&t, "(others)") && told.since[0] == 1);
	sums_free(&t);
}
