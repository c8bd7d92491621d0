// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include "collector/incident/model/incident_set.h"
#include "lib/wire/reason.h"

/* A fault at T: a request each second, 100 ms too slow. Times are seconds. */
enum { T = 1000000, REGION = 7, WEB = 1, APP = 2, FAR = 3, NO = 0 };

static const struct incident_limits limits = {
	.least_events = 5,
	.least_percent = 2,
	.least_excess_ms = 20,
	.window_s = 300,
	.join_s = 300,
	.quiet_s = 600,
	.reopen_s = 1800,
};

struct scene {
	struct incident_set *set;
	struct incident_steps steps;
	char told[512];
	uint64_t id;
};

static void take(void *arg, struct incident *i, int64_t at_us, const char *kind,
		 const struct signal *g, const struct incident *other)
{
	struct scene *s = arg;
	size_t n = strlen(s->told);

	(void)i, (void)g, (void)other;
	snprintf(s->told + n, sizeof(s->told) - n, "%s%s@%d", n ? " " : "", kind,
		 (int)(at_us / INCIDENT_SEC - T));
}

static struct scene *scene_new(void)
{
	static struct scene s;

	s = (struct scene){ .steps = { take, &s } };
	s.set = incident_set_new(&limits, &s.steps);
	return &s;
}

static void row(struct scene *s, uint64_t node, int at_s, int total_ms, int normal_ms, int reason,
		int status)
{
	const struct incident_row r = { .begin_us = (T + at_s) * INCIDENT_SEC,
					.total_us = total_ms * 1000,
					.normal_us = normal_ms * 1000,
					.node = node,
					.id = ++s->id,
					.app = "shop",
					.route = "/buy",
					.reason = (uint16_t)reason,
					.status = (uint16_t)status };
	bool full;

	incident_set_count(s->set, &r, &full);
}

static void slow(struct scene *s, uint64_t node, int from_s, int until_s)
{
	for (int t = from_s; t < until_s; t++)
		row(s, node, t, 110, 10, R_IO_BLOCK, 200);
}

/* What a pass of the thread does, at a time, of a route with so many requests. near: besides
 * itself. */
static struct incident *pass(struct scene *s, int at_s, double asked, uint64_t neighbors)
{
	struct signal *due[8];
	int64_t now = (T + at_s) * INCIDENT_SEC;
	size_t n = incident_set_due(s->set, now, due, 8);
	struct incident *i = NULL;

	for (size_t k = 0; k < n; k++) {
		uint64_t at[2] = { due[k]->node, neighbors };
		struct incident_place p = { REGION, "home", at, 1 + (neighbors != NO), now };

		if (neighbors && neighbors < due[k]->node) {
			at[0] = neighbors;
			at[1] = due[k]->node;
		}
		bool enough;

		enough = signal_judge(due[k], &limits,
				      (struct signal_requests){ asked, now - due[k]->clock_us, 0 },
				      now); /* counts are by the clock of their node, too */
		if (due[k]->active && !enough)
			signal_end(due[k]);
		else if (!due[k]->active && enough)
			i = incident_set_open(s->set, due[k], &p);
	}
	incident_set_pass(s->set, REGION, now);
	return i;
}

static size_t open_ones(const struct scene *s)
{
	size_t n = 0;

	for (size_t k = 0; k < incident_set_count_of(s->set); k++)
		n += !incident_set_at(s->set, k)->closed_us;
	return n;
}

TEST(a_fault_is_one_incident_from_its_first_request_on)
{
	struct scene *s = scene_new();
	struct incident *i;

	slow(s, WEB, 0, 20);
	i = pass(s, 20, 100, NO);
	CHECK(i);
	CHECK_EQ(i->onset_us, T * INCIDENT_SEC);
	CHECK_EQ(i->signal[0]->n, 20);
	CHECK_EQ(i->signal[0]->excess_us, 20 * 100 * 1000);
	slow(s, WEB, 20, 30);
	CHECK(!pass(s, 30, 100, NO));
	CHECK_EQ(i->signal[0]->n, 30);
	CHECK_STR(s->told, "opened@20");
	incident_set_free(s->set);
}

TEST(what_goes_on_now_and_then_as_it_always_does_keeps_no_incident_open)
{
	struct scene *s = scene_new();
	struct incident *i;

	slow(s, WEB, 0, 20);
	i = pass(s, 20, 100, NO);
	CHECK(i);
	for (int t = 100; t <= 2000; t += 100) {
		row(s, WEB, t, 110, 10, R_IO_BLOCK, 200);
		pass(s, t, 1000, NO);
	}
	CHECK(i->closed_us && i->closed_us < (T + 1200) * INCIDENT_SEC);
	CHECK_STR(s->told, "opened@20 closed@700");
	CHECK_EQ(i->signal[0]->n, 21); /* until it is judged to be over they count */
	incident_set_free(s->set);
}

TEST(few_or_a_small_share_or_hardly_slower_are_none)
{
	struct scene *s = scene_new();

	slow(s, WEB, 0, 4);
	CHECK(!pass(s, 60, 10, NO));
	slow(s, APP, 0, 20);
	CHECK(!pass(s, 60, 1001, NO));
	for (int t = 0; t < 20; t++)
		row(s, FAR, t, 29, 10, R_IO_BLOCK, 200);
	CHECK(!pass(s, 60, 20, NO));
	CHECK_EQ(incident_set_count_of(s->set), 0);
	incident_set_free(s->set);
}

TEST(what_nobody_knows_the_normal_of_is_none_and_a_slow_client_neither)
{
	struct scene *s = scene_new();

	for (int t = 0; t < 20; t++) {
		row(s, WEB, t, 900, 0, R_UNKNOWN, 200);
		row(s, APP, t, 900, 10, R_CLIENT_SLOW, 200);
	}
	CHECK(!pass(s, 60, 20, NO));
	incident_set_free(s->set);
}

TEST(what_is_not_counted_yet_is_not_judged_yet)
{
	struct scene *s = scene_new();
	struct signal *due[2];
	int64_t now = (T + 12) * INCIDENT_SEC;

	slow(s, WEB, 0, 12);
	CHECK_EQ(incident_set_due(s->set, now, due, 2), 1);
	CHECK(!signal_judge(due[0], &limits,
			    (struct signal_requests){ 5, (T + 5) * INCIDENT_SEC, 0 }, now));
	CHECK(!signal_judge(due[0], &limits, (struct signal_requests){ 0, 0, 0 }, now));
	CHECK(signal_judge(due[0], &limits,
			   (struct signal_requests){ 10, (T + 10) * INCIDENT_SEC, 0 }, now));
	CHECK(signal_judge(due[0], &limits, (struct signal_requests){ 0, 0, 0 },
			   now + 60 * INCIDENT_SEC));
	incident_set_free(s->set);
}

TEST(a_limit_that_was_learnt_from_few_is_exceeded_by_some)
{
	struct scene *s = scene_new();
	const struct signal *g;

	slow(s, WEB, 0, 20);
	g = incident_set_signal_of(s->set, WEB, "shop", "/buy", "io");
	CHECK(signal_is_chance(g, &limits, 360, 120));
	CHECK(signal_is_chance(g, &limits, 360, 0)); /* its probe has had a hundred */
	CHECK(!signal_is_chance(g, &limits, 360, 1000));
	CHECK(!signal_is_chance(g, &limits, 40, 0)); /* half of all is none */
	incident_set_free(s->set);
}

TEST(errors_need_not_be_slow)
{
	struct scene *s = scene_new();
	struct incident *i;

	for (int t = 0; t < 10; t++)
		row(s, WEB, t, 1, 10, R_APP_ERROR, 500);
	i = pass(s, 20, 100, NO);
	CHECK(i);
	CHECK_STR(i->signal[0]->class, "error");
	CHECK_EQ(i->signal[0]->excess_us, 0);
	for (int t = 20; t < 30; t++)
		row(s, APP, t, 1, 10, R_UP_ERROR, 502);
	CHECK(pass(s, 40, 100, WEB) == i);
	CHECK_STR(i->signal[1]->class, "error.up");
	incident_set_free(s->set);
}

TEST(who_is_near_joins_and_who_is_far_does_not)
{
	struct scene *s = scene_new();
	struct incident *i;

	slow(s, WEB, 0, 20);
	i = pass(s, 20, 100, NO);
	slow(s, APP, 10, 30);
	CHECK(pass(s, 30, 100, WEB) == i);
	slow(s, FAR, 10, 30);
	CHECK(pass(s, 40, 100, NO) != i);
	CHECK_EQ(open_ones(s), 2);
	CHECK_STR(s->told, "opened@20 joined@30 opened@40");
	incident_set_free(s->set);
}

/* As the engine learns it with what was counted. */
static void is_ahead(struct scene *s, uint64_t node, int seconds)
{
	incident_set_signal_of(s->set, node, "shop", "/buy", "io")->clock_us =
		-seconds * INCIDENT_SEC;
}

TEST(hosts_are_compared_by_one_clock_however_far_ahead_that_of_one_is)
{
	struct scene *s = scene_new();
	struct incident *i;

	slow(s, WEB, 0, 20);
	i = pass(s, 20, 100, NO);
	slow(s, APP, 1010, 1030);
	is_ahead(s, APP, 1000);
	CHECK(pass(s, 30, 100, WEB) == i);
	CHECK_EQ(i->last_us / 1000, (int64_t)(T + 29) * 1000 + 110);
	slow(s, APP, 1030, 1040);
	CHECK_EQ(i->last_us / 1000, (int64_t)(T + 39) * 1000 + 110);
	CHECK_EQ(i->signal[1]->first_us, (T + 1010) * INCIDENT_SEC); /* its rows are found by it */
	incident_set_free(s->set);
}

TEST(an_incident_begins_by_the_collector_s_clock)
{
	struct scene *s = scene_new();
	struct incident *i;

	slow(s, APP, 1000, 1020);
	is_ahead(s, APP, 1000);
	i = pass(s, 20, 100, NO);
	CHECK_EQ(i->onset_us, T * INCIDENT_SEC);
	CHECK_EQ(i->last_us / 1000, (int64_t)(T + 19) * 1000 + 110);
	incident_set_free(s->set);
}

TEST(what_is_not_counted_yet_is_not_judged_by_a_clock_that_is_behind)
{
	struct scene *s = scene_new();
	struct signal *due[2];
	int64_t now = (T + 12) * INCIDENT_SEC;

	slow(s, WEB, -1000, -988);
	is_ahead(s, WEB, -1000);
	CHECK_EQ(incident_set_due(s->set, now, due, 2), 1);
	CHECK(!signal_judge(due[0], &limits, (struct signal_requests){ 0, 0, 0 }, now));
	incident_set_free(s->set);
}

TEST(after_the_gap_nobody_joins)
{
	struct scene *s = scene_new();

	slow(s, WEB, 0, 20);
	pass(s, 20, 100, NO);
	slow(s, APP, 321, 340);
	pass(s, 345, 100, WEB);
	CHECK_EQ(open_ones(s), 2);
	incident_set_free(s->set);
}

TEST(quiet_closes_and_the_same_node_reopens)
{
	struct scene *s = scene_new();
	struct incident *i;

	slow(s, WEB, 0, 20);
	i = pass(s, 20, 100, NO);
	pass(s, 619, 100, NO);
	CHECK_EQ(open_ones(s), 1);
	pass(s, 620, 100, NO);
	CHECK_EQ(open_ones(s), 0);
	CHECK_EQ(i->closed_us / 1000, (int64_t)(T + 619) * 1000 + 110);
	slow(s, WEB, 2000, 2020);
	CHECK(pass(s, 2020, 100, NO) == i);
	CHECK_EQ(i->signal[0]->n, 40);
	CHECK_EQ(i->onset_us, T * INCIDENT_SEC);
	CHECK_STR(s->told, "opened@20 closed@619 reopened@2020");
	incident_set_free(s->set);
}

TEST(later_it_is_another_one)
{
	struct scene *s = scene_new();
	struct incident *i, *next;
	uint64_t id;

	slow(s, WEB, 0, 20);
	i = pass(s, 20, 100, NO);
	id = i->id;
	pass(s, 620, 100, NO);
	i->dirty = false;
	slow(s, WEB, 2500, 2520);
	next = pass(s, 2520, 100, NO);
	CHECK(next && next->id != id);
	CHECK_EQ(next->signal[0]->n, 20);
	CHECK_EQ(incident_set_count_of(s->set), 1);
	incident_set_free(s->set);
}

TEST(who_is_near_to_two_makes_them_one_and_the_older_goes_on)
{
	struct scene *s = scene_new();
	struct incident *old, *young;

	slow(s, WEB, 0, 20);
	old = pass(s, 20, 100, NO);
	slow(s, FAR, 10, 30);
	young = pass(s, 30, 100, NO);
	CHECK(old != young);
	for (int t = 30; t < 50; t++)
		row(s, WEB, t, 300, 10, R_CPU_WAIT, 200);
	CHECK(pass(s, 50, 100, FAR) == old);
	CHECK_EQ(young->into, old->id);
	CHECK_EQ(open_ones(s), 1);
	CHECK_STR(s->told, "opened@20 opened@30 merged@50 merged@50 joined@50");
	incident_set_free(s->set);
}

TEST(an_id_is_of_what_it_is_about)
{
	struct scene *s = scene_new();
	struct incident *i;
	uint64_t id;

	slow(s, WEB, 0, 20);
	id = pass(s, 20, 100, NO)->id;
	incident_set_free(s->set);
	s = scene_new();
	slow(s, WEB, 0, 25);
	i = pass(s, 60, 100, NO);
	CHECK_EQ(i->id, id);
	incident_set_free(s->set);
}

TEST(the_worst_are_the_samples)
{
	struct scene *s = scene_new();
	struct incident *i;

	for (int t = 0; t < 20; t++)
		row(s, WEB, t, 100 + (t == 7) * 500, 10, t == 7 ? R_IO_BLOCK : R_IO_DIRTY, 200);
	i = pass(s, 20, 100, NO);
	CHECK_EQ(i->signal[0]->worst[0].begin_us / INCIDENT_SEC, T + 7);
	CHECK_EQ(i->signal[0]->reason, R_IO_BLOCK);
	CHECK(i->signal[0]->worst[2].id);
	incident_set_free(s->set);
}
