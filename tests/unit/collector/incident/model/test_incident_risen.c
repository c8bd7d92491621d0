// SPDX-License-Identifier: Apache-2.0
/* A fault of a busy route: 20 requests a second, of which some are slow from T on. */
#include "tests/lib/test.h"

#include "collector/incident/model/incident_set.h"
#include "collector/incident/model/incident_window.h"
#include "tests/unit/collector/incident/model/remote_scene.h"

enum { WEB = 1 };

static uint64_t ids;

static int64_t took_us = 110000;

static struct signal *slow_at(struct incident_set *s, int64_t at_us, int64_t took, int64_t normal)
{
	const struct incident_row r = { .begin_us = T * INCIDENT_SEC + at_us,
					.total_us = took,
					.normal_us = normal,
					.node = WEB,
					.id = ++ids,
					.app = "shop",
					.route = "/buy",
					.reason = R_IO_BLOCK,
					.status = 200 };
	bool full;

	return incident_set_count(s, &r, &full);
}

/* So many a second, each 100 ms too slow. */
static struct signal *slow(struct incident_set *s, int from_s, int until_s, int each)
{
	struct signal *g = NULL;

	for (int i = from_s * each; i < until_s * each; i++)
		g = slow_at(s, i * INCIDENT_SEC / each, took_us, 10000);
	return g;
}

static void no_step(void *arg UNUSED, struct incident *i UNUSED, int64_t at_us UNUSED,
		    const char *kind UNUSED, const struct signal *g UNUSED,
		    const struct incident *other UNUSED)
{
}

static struct incident_set *set_new(void)
{
	static const struct incident_steps steps = { .on_step = no_step };

	return incident_set_new(&limits, &steps);
}

/* In the window there are thousands. */
static bool judged(struct signal *g, int at_s, double risen)
{
	struct signal_requests asked = { 6000, (T + at_s) * INCIDENT_SEC, risen };

	return signal_judge(g, &limits, asked, (T + at_s) * INCIDENT_SEC);
}

TEST(a_tenth_of_a_busy_route_that_is_slow_for_ten_seconds_is_enough)
{
	struct incident_set *s = set_new();
	struct signal *g = slow(s, 0, 8, 4);

	CHECK(!judged(g, 10, 200)); /* what lasts for eight seconds is over, as far as is known */
	slow(s, 8, 20, 4);
	CHECK(!judged(g, 20, 1600)); /* a twentieth */
	CHECK(!judged(g, 20, 0)); /* nobody counts it */
	CHECK(judged(g, 20, 400));
	incident_set_free(s);
}

TEST(what_was_enough_since_it_rose_is_so_while_it_goes_on)
{
	struct incident_set *s = set_new();
	struct signal *g = slow(s, 0, 20, 2);

	CHECK(judged(g, 20, 400));
	for (int t = 40; t <= 120; t += 20) {
		slow(s, t - 20, t, 2);
		g->active = true;
		CHECK(judged(g, t, 20 * t));
		g->active = false;
	}
	incident_set_free(s);
}

/* It was enough, and is a part of an incident. */
static bool goes_on(struct signal *g, int at_s, double n)
{
	int64_t at_us = (T + at_s) * INCIDENT_SEC;
	bool on;

	g->active = true;
	on = signal_judge(g, &limits, (struct signal_requests){ n, at_us, 0 }, at_us);
	g->active = false;
	return on;
}

TEST(what_comes_now_and_then_after_a_fault_is_not_that_fault)
{
	struct incident_set *s = set_new();
	struct signal *g = slow(s, 0, 40, 8);

	CHECK(goes_on(g, 40, 2400));
	CHECK(goes_on(g, 60, 2400)); /* of twenty seconds that is not said yet */
	slow(s, 50, 51, 1);
	slow(s, 65, 66, 1);
	CHECK(!goes_on(g, 80, 2400));
	incident_set_free(s);
}

TEST(a_fault_after_which_nothing_comes_is_over_too)
{
	struct incident_set *s = set_new();
	struct signal *g = slow(s, 0, 40, 8);

	CHECK(!goes_on(g, 80, 2400));
	slow(s, 140, 141, 1);
	CHECK(!goes_on(g, 150, 2400));
	g->active = true; /* of a route that nobody counts that is not known */
	CHECK(signal_judge(g, &limits, (struct signal_requests){ 0 }, (T + 150) * INCIDENT_SEC));
	incident_set_free(s);
}

TEST(a_fault_that_goes_on_at_a_third_of_its_rate_or_was_rare_is_not_over)
{
	struct incident_set *s = set_new();
	struct signal *g = slow(s, 0, 40, 9);

	slow(s, 40, 80, 3);
	CHECK(goes_on(g, 80, 2400));
	incident_set_free(s);
	s = set_new();
	for (int i = 0; i < 12; i++)
		g = slow(s, 10 * i, 10 * i + 1, 2);
	CHECK(goes_on(g, 150, 600));
	incident_set_free(s);
}

/* Each takes 40 s, and is told then: of the last half minute there is none yet. */
TEST(a_fault_whose_requests_take_long_goes_on_though_those_that_began_last_are_not_told_yet)
{
	struct incident_set *s = set_new();
	struct signal *g = NULL;

	took_us = 40000000;
	g = slow(s, 0, 40, 8);
	took_us = 110000;
	CHECK(goes_on(g, 80, 2400));
	incident_set_free(s);
}

TEST(a_fault_that_began_at_the_end_of_ten_seconds_was_not_more_frequent_then)
{
	struct incident_set *s = set_new();
	struct signal *g = NULL;

	for (int i = 0; i < 60; i++)
		g = slow_at(s, i * INCIDENT_SEC + 9800000, 110000, 10000);
	for (int t = 40; t <= 60; t += 10)
		CHECK(goes_on(g, t, 60));
	incident_set_free(s);
}

/* 25 s are usual; of the last half minute a sixth is told. */
TEST(a_fault_of_requests_that_always_take_long_goes_on)
{
	struct incident_set *s = set_new();
	struct signal *g = NULL;

	for (int i = 0; i < 45 * 8; i++)
		g = slow_at(s, i * INCIDENT_SEC / 8, 35000000, 25000000);
	CHECK(goes_on(g, 80, 2400));
	incident_set_free(s);
}

/* Others of it go on, and so its last time is later than what comes now. */
TEST(what_has_ended_in_an_incident_that_goes_on_may_begin_anew_there)
{
	struct incident_set *s = set_new();
	struct signal *g = slow(s, 0, 20, 4);
	struct incident i = { .last_us = (T + 100) * INCIDENT_SEC };

	g->of = &i;
	signal_end(g);
	slow(s, 10, 11, 4); /* comes late */
	CHECK_EQ(g->n, 4);
	CHECK(!signal_is_due(g, &limits, (T + 100) * INCIDENT_SEC));
	slow(s, 60, 80, 4);
	CHECK_EQ(g->n, 4);
	CHECK(signal_is_due(g, &limits, (T + 100) * INCIDENT_SEC));
	CHECK(judged(g, 80, 400));
	i.closed_us = i.last_us + 1;
	slow(s, 90, 91, 4); /* of one that is closed all that began before its end is late */
	CHECK_EQ(g->n, 8);
	g->of = NULL;
	incident_set_free(s);
}

/* Others of it have kept it open since. */
TEST(what_comes_after_a_part_of_an_incident_ended_is_kept_when_that_is_closed)
{
	struct incident_set *s = set_new();
	struct signal *g = slow(s, 0, 20, 4);
	struct incident i = { .last_us = (T + 70) * INCIDENT_SEC, .signal = &g, .nsignals = 1 };

	g->of = &i;
	signal_end(g);
	slow(s, 60, 80, 4);
	incident_set_close(s, &i, (T + 80) * INCIDENT_SEC);
	CHECK(signal_is_due(g, &limits, (T + 80) * INCIDENT_SEC));
	g->of = NULL;
	incident_set_free(s);
}

TEST(those_of_before_are_not_held_against_it)
{
	struct incident_set *s = set_new();
	struct signal *g = slow(s, -240, -239, 2);

	slow(s, 0, 20, 4);
	CHECK_EQ(signal_rise_start(g, &limits), T * INCIDENT_SEC);
	CHECK(judged(g, 20, 400));
	incident_set_free(s);
}

TEST(a_few_of_a_busy_route_are_not_asked_about_each_time_and_many_are)
{
	struct incident_set *s = set_new();
	struct signal *due[2], *g = slow(s, 0, 6, 1);
	int64_t now = (T + 11) * INCIDENT_SEC;

	CHECK_EQ(incident_set_due(s, now, due, 2), 1);
	CHECK(!judged(g, 11, 6000));
	now += 6 * INCIDENT_SEC;
	CHECK_EQ(incident_set_due(s, now, due, 2), 0);
	slow(s, 12, 17, 4);
	CHECK_EQ(incident_set_due(s, now, due, 2), 1);
	incident_set_free(s);
}
