// SPDX-License-Identifier: Apache-2.0
/* A fault of a busy route: 20 requests a second, of which some are slow from T on. */
#include "tests/lib/test.h"

#include "collector/incident/model/incident_set.h"
#include "collector/incident/model/incident_window.h"
#include "tests/unit/collector/incident/model/remote_scene.h"

enum { WEB = 1 };

static uint64_t ids;

static int64_t took_us = 110000;

static struct signal *add_slow(struct incident_set *s, int64_t at_us, int64_t took, int64_t normal)
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

/* `each` requests a second, each 100 ms too slow. */
static struct signal *add_slow_rows(struct incident_set *s, int from_s, int until_s, int each)
{
	struct signal *g = NULL;

	for (int i = from_s * each; i < until_s * each; i++)
		g = add_slow(s, i * INCIDENT_SEC / each, took_us, 10000);
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

/* The window has thousands of requests. */
static bool is_sufficient(struct signal *g, int at_s, double risen)
{
	struct signal_requests asked = { 6000, (T + at_s) * INCIDENT_SEC, risen };

	return signal_judge(g, &limits, asked, (T + at_s) * INCIDENT_SEC);
}

TEST(a_tenth_of_a_busy_route_slow_for_ten_seconds_is_enough)
{
	struct incident_set *s = set_new();
	struct signal *g = add_slow_rows(s, 0, 8, 4);

	CHECK(!is_sufficient(g, 10, 200)); /* eight seconds are too short */
	add_slow_rows(s, 8, 20, 4);
	CHECK(!is_sufficient(g, 20, 1600)); /* a twentieth */
	CHECK(!is_sufficient(g, 20, 0)); /* no counts */
	CHECK(is_sufficient(g, 20, 400));
	incident_set_free(s);
}

TEST(a_signal_sufficient_since_its_rise_stays_so_while_it_lasts)
{
	struct incident_set *s = set_new();
	struct signal *g = add_slow_rows(s, 0, 20, 2);

	CHECK(is_sufficient(g, 20, 400));
	for (int t = 40; t <= 120; t += 20) {
		add_slow_rows(s, t - 20, t, 2);
		g->active = true;
		CHECK(is_sufficient(g, t, 20 * t));
		g->active = false;
	}
	incident_set_free(s);
}

/* Whether a sufficient signal of an incident stays sufficient. */
static bool stays_sufficient(struct signal *g, int at_s, double n)
{
	int64_t at_us = (T + at_s) * INCIDENT_SEC;
	bool on;

	g->active = true;
	on = signal_judge(g, &limits, (struct signal_requests){ n, at_us, 0 }, at_us);
	g->active = false;
	return on;
}

TEST(occasional_slow_requests_after_a_fault_do_not_prolong_it)
{
	struct incident_set *s = set_new();
	struct signal *g = add_slow_rows(s, 0, 40, 8);

	CHECK(stays_sufficient(g, 40, 2400));
	CHECK(stays_sufficient(g, 60, 2400)); /* too early after twenty seconds */
	add_slow_rows(s, 50, 51, 1);
	add_slow_rows(s, 65, 66, 1);
	CHECK(!stays_sufficient(g, 80, 2400));
	incident_set_free(s);
}

TEST(a_fault_followed_by_silence_has_ended_too)
{
	struct incident_set *s = set_new();
	struct signal *g = add_slow_rows(s, 0, 40, 8);

	CHECK(!stays_sufficient(g, 80, 2400));
	add_slow_rows(s, 140, 141, 1);
	CHECK(!stays_sufficient(g, 150, 2400));
	g->active = true; /* unknown for a route without counts */
	CHECK(signal_judge(g, &limits, (struct signal_requests){ 0 }, (T + 150) * INCIDENT_SEC));
	incident_set_free(s);
}

TEST(a_fault_at_a_third_of_its_rate_or_a_rare_one_has_not_ended)
{
	struct incident_set *s = set_new();
	struct signal *g = add_slow_rows(s, 0, 40, 9);

	add_slow_rows(s, 40, 80, 3);
	CHECK(stays_sufficient(g, 80, 2400));
	incident_set_free(s);
	s = set_new();
	for (int i = 0; i < 12; i++)
		g = add_slow_rows(s, 10 * i, 10 * i + 1, 2);
	CHECK(stays_sufficient(g, 150, 600));
	incident_set_free(s);
}

/* Each takes 40 s and is reported at its end: none of the last half minute is known yet. */
TEST(a_fault_of_long_requests_lasts_while_the_latest_are_not_reported)
{
	struct incident_set *s = set_new();
	struct signal *g = NULL;

	took_us = 40000000;
	g = add_slow_rows(s, 0, 40, 8);
	took_us = 110000;
	CHECK(stays_sufficient(g, 80, 2400));
	incident_set_free(s);
}

TEST(a_fault_that_began_late_in_a_bucket_has_no_higher_rate)
{
	struct incident_set *s = set_new();
	struct signal *g = NULL;

	for (int i = 0; i < 60; i++)
		g = add_slow(s, i * INCIDENT_SEC + 9800000, 110000, 10000);
	for (int t = 40; t <= 60; t += 10)
		CHECK(stays_sufficient(g, t, 60));
	incident_set_free(s);
}

/* 25 s are usual; a sixth of the last half minute is known. */
TEST(a_fault_of_requests_that_always_take_long_lasts)
{
	struct incident_set *s = set_new();
	struct signal *g = NULL;

	for (int i = 0; i < 45 * 8; i++)
		g = add_slow(s, i * INCIDENT_SEC / 8, 35000000, 25000000);
	CHECK(stays_sufficient(g, 80, 2400));
	incident_set_free(s);
}

/* The incident's other signals go on, so its last time is later than the new events. */
TEST(a_signal_that_ended_may_begin_again_in_its_open_incident)
{
	struct incident_set *s = set_new();
	struct signal *g = add_slow_rows(s, 0, 20, 4);
	struct incident i = { .last_us = (T + 100) * INCIDENT_SEC };

	g->of = &i;
	signal_end(g);
	add_slow_rows(s, 10, 11, 4); /* late rows */
	CHECK_EQ(g->n, 4);
	CHECK(!signal_is_due(g, &limits, (T + 100) * INCIDENT_SEC));
	add_slow_rows(s, 60, 80, 4);
	CHECK_EQ(g->n, 4);
	CHECK(signal_is_due(g, &limits, (T + 100) * INCIDENT_SEC));
	CHECK(is_sufficient(g, 80, 400));
	i.closed_us = i.last_us + 1;
	add_slow_rows(s, 90, 91,
		      4); /* for a closed incident all rows that began before its end are late */
	CHECK_EQ(g->n, 8);
	g->of = NULL;
	incident_set_free(s);
}

/* Other signals have kept the incident open since. */
TEST(events_after_a_signal_ended_survive_the_close_of_its_incident)
{
	struct incident_set *s = set_new();
	struct signal *g = add_slow_rows(s, 0, 20, 4);
	struct incident i = { .last_us = (T + 70) * INCIDENT_SEC, .signal = &g, .nsignals = 1 };

	g->of = &i;
	signal_end(g);
	add_slow_rows(s, 60, 80, 4);
	incident_set_close(s, &i, (T + 80) * INCIDENT_SEC);
	CHECK(signal_is_due(g, &limits, (T + 80) * INCIDENT_SEC));
	g->of = NULL;
	incident_set_free(s);
}

TEST(requests_before_the_rise_do_not_lower_the_share)
{
	struct incident_set *s = set_new();
	struct signal *g = add_slow_rows(s, -240, -239, 2);

	add_slow_rows(s, 0, 20, 4);
	CHECK_EQ(signal_rise_start(g, &limits), T * INCIDENT_SEC);
	CHECK(is_sufficient(g, 20, 400));
	incident_set_free(s);
}

TEST(few_rows_of_a_busy_route_cause_no_query_and_many_do)
{
	struct incident_set *s = set_new();
	struct signal *due[2], *g = add_slow_rows(s, 0, 6, 1);
	int64_t now = (T + 11) * INCIDENT_SEC;

	CHECK_EQ(incident_set_due(s, now, due, 2), 1);
	CHECK(!is_sufficient(g, 11, 6000));
	now += 6 * INCIDENT_SEC;
	CHECK_EQ(incident_set_due(s, now, due, 2), 0);
	add_slow_rows(s, 12, 17, 4);
	CHECK_EQ(incident_set_due(s, now, due, 2), 1);
	incident_set_free(s);
}
