// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include "collector/incident/model/incident_window.h"
#include "lib/wire/reason.h"

/* A fault at T; times are seconds. */
enum { T = 1000000 };

static const struct incident_limits limits = {
	.least_events = 5,
	.least_excess_ms = 20,
	.window_s = 300,
};

static void add_rows(struct signal *g, double from_s, double until_s, double every_s)
{
	for (double t = from_s; t < until_s - .001; t += every_s) {
		const struct incident_row r = { .begin_us = (int64_t)((T + t) * 1000000),
						.total_us = 110000,
						.normal_us = 10000,
						.reason = R_IO_BLOCK,
						.status = 200 };

		signal_count(g, &limits, &r);
	}
}

/* Seconds after T, to a tenth. */
static double fault_start(const struct signal *g)
{
	return (double)(signal_fault_start(g, &limits) - T * INCIDENT_SEC) / 1000000;
}

TEST(a_single_slow_request_before_is_not_the_begin_of_a_fault)
{
	for (int before = 20; before <= 280; before += 20) {
		struct signal g = { .kind = SIGNAL_SLOW };

		add_rows(&g, -before, -before + 1, 1);
		add_rows(&g, 0, 15, 1);
		CHECK_EQ(fault_start(&g), 0);
		signal_begin(&g, &limits, NULL);
		CHECK_EQ(g.first_us, T * INCIDENT_SEC);
		CHECK_EQ(g.n, 15);
		CHECK_EQ(g.excess_us, 15 * 100000);
	}
}

TEST(nor_are_occasional_slow_requests_minutes_before)
{
	struct signal g = { .kind = SIGNAL_SLOW };

	add_rows(&g, -240, -30, 50);
	add_rows(&g, 3, 23, .5);
	CHECK_EQ(fault_start(&g), 3);
}

TEST(five_events_within_some_seconds_are_enough_to_begin_a_fault)
{
	struct signal g = { .kind = SIGNAL_SLOW };

	add_rows(&g, -18, -17, 1);
	add_rows(&g, 1, 6, 1);
	CHECK_EQ(fault_start(&g), 1);
}

TEST(a_fault_with_few_requests_begins_with_the_first)
{
	for (int every = 2; every <= 60; every++) {
		struct signal g = { .kind = SIGNAL_ERROR };

		add_rows(&g, 0, 280, every);
		CHECK_EQ(fault_start(&g), 0);
	}
}

TEST(a_fault_may_begin_at_the_end_of_a_bucket)
{
	for (int tenth = 0; tenth < 100; tenth += 7) {
		struct signal g = { .kind = SIGNAL_SLOW };

		add_rows(&g, tenth / 10., 60, .5);
		CHECK_EQ(fault_start(&g) * 10, tenth);
	}
}

TEST(a_fault_that_grows_begins_with_its_first_event)
{
	struct signal g = { .kind = SIGNAL_SLOW };

	for (int i = 0; i < 6; i++) /* 2, 3, 5, 8, 12, 18 of ten seconds */
		add_rows(&g, i * 10, i * 10 + 10, 10 / (2 + i * (i + 1) * .55));
	CHECK_EQ(fault_start(&g), 0);
}

TEST(a_fault_with_a_pause_does_not_begin_with_its_second_half)
{
	struct signal g = { .kind = SIGNAL_SLOW };

	add_rows(&g, 0, 30, 1);
	add_rows(&g, 120, 150, .5);
	CHECK_EQ(fault_start(&g), 0);
}

TEST(a_fault_found_by_counts_begins_with_the_first_count)
{
	struct signal g = { .kind = SIGNAL_SLOW, .class = SIGNAL_MEAN };

	for (int i = 0; i < 5; i++)
		signal_count_mean(
			&g, &(struct incident_slowdown){ .begin_us = (T + i * 10) * INCIDENT_SEC,
							 .end_us = (T + i * 10 + 10) * INCIDENT_SEC,
							 .n = 200,
							 .excess_us = 200 * 30000 });
	CHECK_EQ(fault_start(&g), 0);
}
