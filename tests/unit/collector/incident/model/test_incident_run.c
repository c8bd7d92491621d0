// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include "collector/incident/model/incident_run.h"

/* Ten requests in each ten seconds, from 0 s on. */
enum { MOST = 200 };

static const struct incident_limits limits = { .least_events = 5,
					       .least_excess_ms = 20,
					       .window_s = 300 };

struct run_counts {
	struct run_count count[MOST];
	size_t n;
};

static void add_counts(struct run_counts *s, int n, double ms, enum run_incident incident)
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

/* Whether a run ends with the last count. */
static bool ends_run(struct run_counts *s, struct incident_slowdown *whole)
{
	return incident_run(s->count, s->n - 1, &limits, whole);
}

TEST(three_counts_that_are_slower_than_before_are_a_run_from_the_first_on)
{
	struct incident_slowdown whole = { 0 };
	struct run_counts s = { 0 };

	add_counts(&s, 60, 0, RUN_NO_INCIDENT);
	add_counts(&s, 2, 25, RUN_NO_INCIDENT);
	CHECK(!ends_run(&s, &whole));
	CHECK_EQ(whole.n, 0);
	add_counts(&s, 1, 25, RUN_NO_INCIDENT);
	CHECK(ends_run(&s, &whole));
	CHECK_EQ(whole.begin_us, 600 * INCIDENT_SEC);
	CHECK_EQ(whole.end_us, 630 * INCIDENT_SEC);
	CHECK_EQ(whole.n, 30);
	CHECK_EQ(whole.excess_us, 30 * 25000);
}

TEST(a_run_begins_in_the_slow_part_of_its_first_count)
{
	struct incident_slowdown whole;
	struct run_counts s = { 0 };

	add_counts(&s, 60, 0, RUN_NO_INCIDENT);
	add_counts(&s, 1, 25, RUN_NO_INCIDENT);
	add_counts(&s, 2, 100, RUN_NO_INCIDENT);
	CHECK(ends_run(&s, &whole));
	CHECK_EQ(whole.begin_us * 10, 6075 * INCIDENT_SEC);
}

TEST(an_excess_within_the_usual_variation_is_no_run)
{
	struct incident_slowdown whole;
	struct run_counts s = { 0 };

	for (int i = 0; i < 15; i++) {
		add_counts(&s, 2, 0, RUN_NO_INCIDENT);
		add_counts(&s, 2, 12, RUN_NO_INCIDENT);
	}
	add_counts(&s, 3, 35, RUN_NO_INCIDENT);
	CHECK(!ends_run(&s, &whole));
	add_counts(&s, 3, 60, RUN_NO_INCIDENT);
	CHECK(ends_run(&s, &whole));
}

TEST(an_earlier_fault_does_not_hide_the_next)
{
	struct incident_slowdown whole;
	struct run_counts s = { 0 };

	add_counts(&s, 50, 0, RUN_NO_INCIDENT);
	add_counts(&s, 24, 200, RUN_CLOSED_INCIDENT);
	add_counts(&s, 12, 0, RUN_NO_INCIDENT);
	add_counts(&s, 3, 30, RUN_NO_INCIDENT);
	CHECK(ends_run(&s, &whole));
	for (size_t i = 0; i < s.n; i++)
		s.count[i].incident = RUN_NO_INCIDENT;
	CHECK(!ends_run(&s, &whole)); /* outside an incident those counts are the baseline */
}

TEST(a_long_run_is_one_run_even_if_all_counts_arrive_at_once)
{
	struct incident_slowdown whole;
	struct run_counts s = { 0 };

	add_counts(&s, 60, 0, RUN_NO_INCIDENT);
	add_counts(&s, 60, 200, RUN_NO_INCIDENT);
	for (size_t i = 0; i < s.n; i++)
		CHECK_EQ(incident_run(s.count, i, &limits, &whole), i >= 62);
	CHECK_EQ(whole.end_us, 1200 * INCIDENT_SEC);
}

TEST(counts_of_a_closed_incident_are_not_reported_again)
{
	struct incident_slowdown whole;
	struct run_counts s = { 0 };

	add_counts(&s, 60, 0, RUN_NO_INCIDENT);
	add_counts(&s, 3, 50, RUN_OPEN_INCIDENT);
	CHECK(ends_run(&s, &whole));
	for (size_t i = s.n - 3; i < s.n; i++)
		s.count[i].incident = RUN_CLOSED_INCIDENT;
	CHECK(!ends_run(&s, &whole));
	add_counts(&s, 2, 50, RUN_NO_INCIDENT);
	CHECK(!ends_run(&s, &whole));
	add_counts(&s, 1, 50, RUN_NO_INCIDENT);
	CHECK(ends_run(&s, &whole));
	CHECK_EQ(whole.n, 30);
}

TEST(without_a_baseline_there_is_no_run)
{
	struct incident_slowdown whole;
	struct run_counts s = { 0 };

	add_counts(&s, 11, 0, RUN_NO_INCIDENT);
	add_counts(&s, 30, 0, RUN_CLOSED_INCIDENT);
	add_counts(&s, 3, 100, RUN_NO_INCIDENT);
	CHECK(!ends_run(&s, &whole));
}

TEST(a_minute_without_requests_ends_a_run)
{
	struct incident_slowdown whole;
	struct run_counts s = { 0 };

	add_counts(&s, 60, 0, RUN_NO_INCIDENT);
	add_counts(&s, 3, 50, RUN_NO_INCIDENT);
	for (size_t i = s.n - 2; i < s.n; i++)
		s.count[i].ts_us += 61 * INCIDENT_SEC;
	CHECK(!ends_run(&s, &whole));
}

TEST(fewer_than_five_requests_are_no_run)
{
	struct incident_slowdown whole;
	struct run_counts s = { 0 };

	add_counts(&s, 60, 0, RUN_NO_INCIDENT);
	add_counts(&s, 3, 100, RUN_NO_INCIDENT);
	for (size_t i = s.n - 3; i < s.n; i++) {
		s.count[i].n = 1;
		s.count[i].excess_us /= 10;
	}
	CHECK(!ends_run(&s, &whole));
}
