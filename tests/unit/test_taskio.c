// SPDX-License-Identifier: Apache-2.0
#include "../../lib/arena.h"
#include "../../probe/layout.h"
#include "../../probe/taskio_table.h"
#include "../test.h"

static struct wire_body told;

/* What is told at a tick; false: nothing of this name. */
static bool tell(struct taskio_table *t, const char *name, double v[static TASKIO_FIELDS])
{
	static struct arena *arena;
	struct sink out = { 0 };
	bool found = false;

	if (!arena)
		arena = arena_new(1 << 20);
	arena_reset(arena);
	taskio_tell(t, &layout_cgroupio, &out);
	CHECK_EQ(wire_body_decode(arena, out.metric.data, out.metric.len, &told), 0);
	for (uint32_t i = 0; i < told.nsamples; i++) {
		if (strcmp(told.samples[i].entity, name) != 0)
			continue;
		CHECK(!found);
		found = true;
		memcpy(v, told.samples[i].v, TASKIO_FIELDS * sizeof(*v));
	}
	buf_free(&out.metric);
	return found;
}

static const struct taskio *sums(__u64 first)
{
	static struct taskio io;

	for (int i = 0; i < TASKIO_FIELDS; i++)
		io.v[i] = first + (__u64)i;
	return &io;
}

static const void *key(uint64_t id)
{
	static uint64_t bytes[TASKIO_KEY / 8];

	bytes[0] = id;
	return bytes;
}

TEST(what_came_since_the_last_tick_is_told)
{
	struct taskio_table t = { 0 };
	double v[TASKIO_FIELDS];

	CHECK(!taskio_knows(&t, key(1)));
	taskio_seen(&t, key(1), "/a", sums(100));
	CHECK(taskio_knows(&t, key(1)));
	CHECK(tell(&t, "/a", v) && v[0] == 100 && v[6] == 106);
	taskio_seen(&t, key(1), NULL, sums(1100));
	CHECK(tell(&t, "/a", v) && v[0] == 1000 && v[6] == 1000);
	taskio_table_free(&t);
}

TEST(two_keys_of_one_name_are_one_sample)
{
	struct taskio_table t = { 0 };
	double v[TASKIO_FIELDS];

	taskio_seen(&t, key(9), "/a", sums(1));
	taskio_seen(&t, key(5), "/b", sums(10));
	taskio_seen(&t, key(7), "/a", sums(100));
	CHECK(tell(&t, "/a", v) && v[0] == 101);
	CHECK_EQ(told.nsamples, 2);
	taskio_table_free(&t);
}

TEST(one_that_is_idle_is_no_longer_told_then_forgotten_and_others_never)
{
	struct taskio_table t = { 0 };
	double v[TASKIO_FIELDS];
	int ticks = 0, kept = 0;

	taskio_seen(&t, key(0), "(others)", sums(5));
	taskio_seen(&t, key(1), "/a", sums(5));
	while (tell(&t, "/a", v) && ++ticks < 100) {
		taskio_seen(&t, key(0), NULL, sums(5));
		CHECK(taskio_seen(&t, key(1), NULL, sums(5)));
	}
	CHECK_EQ(ticks, TASKIO_TOLD_TICKS);
	while (taskio_seen(&t, key(1), NULL, sums(5)) && ++kept < 100)
		taskio_seen(&t, key(0), NULL, sums(5));
	CHECK_EQ(kept, TASKIO_KEPT_TICKS - TASKIO_TOLD_TICKS - 1);
	CHECK(!taskio_knows(&t, key(1)));
	for (int i = 0; i < 2 * TASKIO_KEPT_TICKS; i++)
		taskio_seen(&t, key(0), NULL, sums(5));
	taskio_seen(&t, key(0), NULL, sums(6));
	CHECK(tell(&t, "(others)", v) && v[0] == 1);
	taskio_table_free(&t);
}

static void path_is(const void *names, size_t len, uint32_t cut, const char *expected)
{
	static struct taskio_cgroup c;
	char text[ITEM_MAX_TEXT];

	memset(&c, 0, sizeof(c));
	memcpy(c.path, names, len);
	c.len = (__u32)len;
	c.cut = cut;
	taskio_path(&c, 0x42, text);
	CHECK_STR(text, expected);
}

#define PATH_IS(names, expected) path_is(names, sizeof(names) - 1, 0, expected)

TEST(a_path_is_put_together_from_its_end)
{
	char much[TASKIO_PATH], text[ITEM_MAX_TEXT] = "~0000000000000042";

	PATH_IS("\0", "/");
	PATH_IS("a\0", "/a");
	PATH_IS("c.scope\0b.slice\0a.slice\0", "/a.slice/b.slice/c.scope");
	PATH_IS("c\0b", "/c"); /* not ended */
	path_is("c\0b\0", 4, 1, "~0000000000000042/b/c");
	memset(much, 'x', sizeof(much));
	for (size_t i = 9; i < sizeof(much); i += 10)
		much[i] = 0;
	for (size_t i = 0; i < 20; i++)
		strcat(text, "/xxxxxxxxx");
	path_is(much, 760, 1, text);
}
