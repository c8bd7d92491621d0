// SPDX-License-Identifier: Apache-2.0
/* Cgroups throttled by their quota, and when that becomes an event: scenes of ticks. */
#include <math.h>

#include "lib/base/arena.h"
#include "lib/wire/reason.h"
#include "probe/source/cgroup/cpu_quota.h"
#include "tests/lib/test.h"

#define S 1000000000ull
#define WALL (1700000000ull * S)

enum { TICK_S = 10 };

static struct cpu_quota all;
static uint64_t now_ns;
static struct arena *arena;
static struct wire_body sent;

static void begin(void)
{
	if (!arena)
		arena = arena_new(1 << 20);
	now_ns = 1000 * S;
}

/* The number of events sent. */
static uint32_t tick(const char *path, double periods, double stopped)
{
	struct sink out = { 0 };

	if (path)
		cpu_quota_seen(&all, path,
			       &(struct throttled){ periods, stopped, stopped / 20, 0.5 });
	now_ns += TICK_S * S;
	arena_reset(arena);
	cpu_quota_step(&all, now_ns, WALL + now_ns, &out);
	CHECK_EQ(wire_body_decode(arena, out.event.data, out.event.len, &sent), 0);
	buf_free(&out.event);
	buf_free(&out.metric);
	return sent.nevents;
}

static const struct param *param(const struct event_item *e, const char *key)
{
	static const struct param none = { .text = "(none)" };

	for (uint32_t i = 0; i < e->nparams; i++)
		if (strcmp(e->params[i].key, key) == 0)
			return &e->params[i];
	return &none;
}

static const char box[] = "/system.slice/box.service";

TEST(a_throttled_cgroup_is_one_event_until_it_is_over)
{
	uint64_t id;

	begin();
	CHECK_EQ(tick(box, 100, 5), 0);
	CHECK_EQ(all.n, 0);
	CHECK_EQ(tick(box, 100, 60), 0); /* the first tick has no interval */
	CHECK_EQ(tick(box, 100, 80), 1);
	CHECK_STR(sent.events[0].kind, "cpu.quota");
	CHECK_EQ(sent.events[0].reason, R_CPU_QUOTA);
	CHECK(sent.events[0].going_on && sent.events[0].update == 1);
	CHECK_STR(param(&sent.events[0], "cgroup")->text, box);
	CHECK_STR(param(&sent.events[0], "name")->text, "box.service");
	CHECK(param(&sent.events[0], "cpus")->number == 0.5);
	CHECK(param(&sent.events[0], "lost_s")->number == 7);
	CHECK(param(&sent.events[0], "pct")->number == 80);
	for (const char *s = reason_find(R_CPU_QUOTA)->en; (s = strchr(s, '{')); s++) {
		AUTO_FREE char *key = strndup(s + 1, strcspn(s + 1, "}"));

		CHECK_STR(param(&sent.events[0], key)->key, key);
	}
	id = sent.events[0].id;
	CHECK_EQ(tick(box, 100, 80), 0);
	CHECK_EQ(tick(box, 100, 80) + tick(box, 100, 80), 1); /* it goes on */
	CHECK_EQ(tick(box, 100, 1), 0);
	CHECK_EQ(tick(NULL, 0, 0), 1); /* idle, or gone */
	CHECK(sent.events[0].id == id && !sent.events[0].going_on);
	CHECK_EQ(tick(box, 100, 80), 1); /* back soon: the same event */
	CHECK(sent.events[0].id == id && sent.events[0].going_on);
	for (int i = 0; i < 60; i++)
		tick(NULL, 0, 0);
	CHECK_EQ(all.n, 0);
	cpu_quota_free(&all);
}

TEST(little_throttling_or_few_periods_are_no_event_and_events_are_bounded)
{
	char path[32];

	begin();
	for (int i = 0; i < 30; i++)
		CHECK_EQ(tick(box, 100, 20) + tick("/few", 9, 9), 0);
	for (int i = 0; i < 2 * THROTTLES_MAX; i++) {
		snprintf(path, sizeof(path), "/%d", i);
		cpu_quota_seen(&all, path, &(struct throttled){ 100, 90, 1, NAN });
	}
	CHECK_EQ(all.n, THROTTLES_MAX);
	cpu_quota_free(&all);
}
