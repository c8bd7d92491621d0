// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include "collector/incident/model/incident_run.h"

/* Ten requests in each ten seconds, from 0 s on. */
enum { MOST = 200 };

static const struct incident_limits limits = { .least_events = 5,
					       .least_excess_ms = 20,
					       .window_s = 300 };

struct story {
	struct run_count count[MOST];
	size_t n;
};

static void counts(struct story *s, int n, double ms, enum run_incident incident)
{
	while (n--) {
		s->count[s->n] = (struct run_count){ .ts_us = (int64_t)(s->n + 1) * RUN_COUNT_S *
							      INCIDENT_SEC,
						     .n = 10,
						     .excess_us = 10 * ms * 1000,
						     .incident = incident };
		s->n++;
	}
}

/* With its last count. */
static bool runs(struct story *s, struct incident_slowdown *whole)
{
	return incident_run(s->count, s->n - 1, &limits, whole);
}

TEST(three_counts_that_are_slower_than_before_are_a_run_from_the_first_on)
{
	struct incident_slowdown whole = { 0 };
	struct story s = { 0 };

	counts(&s, 60, 0, RUN_NO_INCIDENT);
	counts(&s, 2, 25, RUN_NO_INCIDENT);
	CHECK(!runs(&s, &whole));
	CHECK_EQ(whole.n, 0);
	counts(&s, 1, 25, RUN_NO_INCIDENT);
	CHECK(runs(&s, &whole));
	CHECK_EQ(whole.begin_us, 600 * INCIDENT_SEC);
	CHECK_EQ(whole.end_us, 630 * INCIDENT_SEC);
	CHECK_EQ(whole.n, 30);
	CHECK_EQ(whole.excess_us, 30 * 25000);
}

TEST(of_the_first_count_so_much_is_of_it_as_is_slow)
{
	struct incident_slowdown whole;
	struct story s = { 0 };

	counts(&s, 60, 0, RUN_NO_INCIDENT);
	counts(&s, 1, 25, RUN_NO_INCIDENT);
	counts(&s, 2, 100, RUN_NO_INCIDENT);
	CHECK(runs(&s, &whole));
	CHECK_EQ(whole.begin_us * 10, 6075 * INCIDENT_SEC);
}

TEST(less_than_what_it_varies_by_is_none)
{
	struct incident_slowdown whole;
	struct story s = { 0 };

	for (int i = 0; i < 15; i++) {
		counts(&s, 2, 0, RUN_NO_INCIDENT);
		counts(&s, 2, 12, RUN_NO_INCIDENT);
	}
	counts(&s, 3, 35, RUN_NO_INCIDENT);
	CHECK(!runs(&s, &whole));
	counts(&s, 3, 60, RUN_NO_INCIDENT);
	CHECK(runs(&s, &whole));
}

TEST(a_fault_before_does_not_hide_the_next_one)
{
	struct incident_slowdown whole;
	struct story s = { 0 };

	counts(&s, 50, 0, RUN_NO_INCIDENT);
	counts(&s, 24, 200, RUN_CLOSED_INCIDENT);
	counts(&s, 12, 0, RUN_NO_INCIDENT);
	counts(&s, 3, 30, RUN_NO_INCIDENT);
	CHECK(runs(&s, &whole));
	for (size_t i = 0; i < s.n; i++)
		s.count[i].incident = RUN_NO_INCIDENT;
	CHECK(!runs(&s, &whole)); /* as what it was then is usual, if it was no incident */
}

TEST(one_that_goes_on_is_one_to_its_end_also_if_all_of_it_comes_at_once)
{
	struct incident_slowdown whole;
	struct story s = { 0 };

	counts(&s, 60, 0, RUN_NO_INCIDENT);
	counts(&s, 60, 200, RUN_NO_INCIDENT);
	for (size_t i = 0; i < s.n; i++)
		CHECK_EQ(incident_run(s.count, i, &limits, &whole), i >= 62);
	CHECK_EQ(whole.end_us, 1200 * INCIDENT_SEC);
}

TEST(what_an_incident_told_that_is_over_is_not_told_again)
{
	struct incident_slowdown whole;
	struct story s = { 0 };

	counts(&s, 60, 0, RUN_NO_INCIDENT);
	counts(&s, 3, 50, RUN_OPEN_INCIDENT);
	CHECK(runs(&s, &whole));
	for (size_t i = s.n - 3; i < s.n; i++)
		s.count[i].incident = RUN_CLOSED_INCIDENT;
	CHECK(!runs(&s, &whole));
	counts(&s, 2, 50, RUN_NO_INCIDENT);
	CHECK(!runs(&s, &whole));
	counts(&s, 1, 50, RUN_NO_INCIDENT);
	CHECK(runs(&s, &whole));
	CHECK_EQ(whole.n, 30);
}

TEST(what_was_not_seen_before_nobody_judges)
{
	struct incident_slowdown whole;
	struct story s = { 0 };

	counts(&s, 11, 0, RUN_NO_INCIDENT);
	counts(&s, 30, 0, RUN_CLOSED_INCIDENT);
	counts(&s, 3, 100, RUN_NO_INCIDENT);
	CHECK(!runs(&s, &whole));
}

TEST(after_a_minute_without_requests_it_is_another_run)
{
	struct incident_slowdown whole;
	struct story s = { 0 };

	counts(&s, 60, 0, RUN_NO_INCIDENT);
	counts(&s, 3, 50, RUN_NO_INCIDENT);
	for (size_t i = s.n - 2; i < s.n; i++)
		s.count[i].ts_us += 61 * INCIDENT_SEC;
	CHECK(!runs(&s, &whole));
}

TEST(fewer_than_five_requests_are_none)
{
	struct incident_slowdown whole;
	struct story s = { 0 };

	counts(&s, 60, 0, RUN_NO_INCIDENT);
	counts(&s, 3, 100, RUN_NO_INCIDENT);
	for (size_t i = s.n - 3; i < s.n; i++) {
		s.count[i].n = 1;
		s.count[i].excess_us /= 10;
	}
	CHECK(!runs(&s, &whole));
}
