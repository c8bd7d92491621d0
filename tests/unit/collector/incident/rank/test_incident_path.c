// SPDX-License-Identifier: Apache-2.0
/* test_incident_path.c - what the requests of one host waited for. */
#include "tests/unit/collector/incident/rank/rank_scene.h"

static const double MS = 100 * 1000; /* of 100 requests, in us */

static double parts_of(const struct rank *r)
{
	double sum = r->unexplained;

	for (int i = 0; i < r->ngraph; i++)
		sum += r->graph[i].value;
	return sum;
}

static bool is_equal(double a, double b)
{
	return a - b < 1e-6 * a + 1e-6 && b - a < 1e-6 * a + 1e-6;
}

TEST(a_host_that_the_headline_does_not_call_is_not_blamed_for_it)
{
	struct scene s = { .from = FRONT + 1 };
	const struct rank *r;

	chain(&s, 5, 10, 80, 5);
	time_of(&s, RANK_SERVER, OTHER, -1, 5000, 0);
	time_of(&s, RANK_OWN, OTHER, -1, 5000, 0);
	r = ranked(&s, false);
	CHECK_EQ(r->best[0].host, DB);
	CHECK_EQ(r->best[0].share * 100, 85);
	CHECK(r->clear);
	for (int i = 0; i < r->ngraph; i++)
		CHECK(r->graph[i].from != OTHER);
}

TEST(the_parts_and_what_is_unexplained_add_up_to_the_excess_of_the_headline)
{
	struct scene s = { .from = FRONT + 1 };
	const struct rank *r;

	chain(&s, 10, 20, 100, 30);
	time_of(&s, RANK_SERVER, FRONT, -1, 40, 0); /* nobody knows where these were spent */
	r = ranked(&s, false);
	CHECK(is_equal(r->whole, 200 * MS));
	CHECK(is_equal(r->unexplained, 40 * MS));
	CHECK(is_equal(parts_of(r), r->whole));
}

TEST(callees_that_are_asked_at_the_same_time_share_the_time_of_the_caller)
{
	struct scene s = { .from = FRONT + 1 };
	const struct rank *r;

	time_of(&s, RANK_SERVER, FRONT, -1, 100, 0);
	time_of(&s, RANK_OWN, FRONT, -1, 0, 0);
	time_of(&s, RANK_CALL, FRONT, APP, 100, 0);
	time_of(&s, RANK_CALL, FRONT, OTHER, 50, 0);
	time_of(&s, RANK_SERVED, APP, FRONT, 100, 0);
	time_of(&s, RANK_SERVED, OTHER, FRONT, 50, 0);
	time_of(&s, RANK_OWN, APP, -1, 100, 0);
	time_of(&s, RANK_OWN, OTHER, -1, 50, 0);
	r = ranked(&s, false);
	CHECK(is_equal(r->whole, 100 * MS));
	CHECK(is_equal(parts_of(r), r->whole));
	CHECK_EQ(r->best[0].host, APP);
	CHECK(is_equal(r->best[0].own, 2 * r->best[1].own));
}

TEST(of_a_callee_only_the_part_counts_that_the_headline_waited_for)
{
	struct scene s = { .from = FRONT + 1 };
	const struct rank *r;

	chain(&s, 60, 0, 40, 0);
	time_of(&s, RANK_SERVER, DB, -1, 360, 0); /* for others */
	time_of(&s, RANK_OWN, DB, -1, 360, 0);
	time_of(&s, RANK_CALL, OTHER, DB, 360, 0);
	time_of(&s, RANK_SERVED, DB, OTHER, 360, 0);
	r = ranked(&s, false);
	CHECK_EQ(r->best[0].host, FRONT);
	CHECK(is_equal(r->best[0].own, 60 * MS));
	CHECK(is_equal(r->best[1].own, 40 * MS));
}

TEST(calls_in_a_circle_end)
{
	struct scene s = { .from = FRONT + 1 };
	const struct rank *r;

	chain(&s, 0, 10, 0, 0);
	time_of(&s, RANK_CALL, APP, FRONT, 10, 0);
	time_of(&s, RANK_SERVED, FRONT, APP, 10, 0);
	r = ranked(&s, false);
	CHECK_EQ(r->best[0].host, APP);
	CHECK(parts_of(r) <= r->whole * 1.001 && parts_of(r) >= r->whole * 0.999);
}

TEST(errors_are_followed_along_the_calls_too)
{
	struct scene s = { .from = FRONT + 1 };
	const struct rank *r;

	errors_of(&s, RANK_SERVER, FRONT, -1, 60);
	errors_of(&s, RANK_CALL, FRONT, APP, 60);
	errors_of(&s, RANK_SERVED, APP, FRONT, 60);
	s.host[APP].own_errors = 60;
	s.host[OTHER].own_errors = 500;
	r = ranked(&s, true);
	CHECK_EQ(r->n, 1);
	CHECK_EQ(r->best[0].host, APP);
	CHECK(is_equal(r->best[0].own, 60));
}

TEST(the_headline_is_the_host_that_lost_most_at_the_named_one)
{
	struct scene s = { 0 };
	struct rank_input in;
	const int heads[] = { OTHER, DB, FRONT };
	struct rank r;

	chain(&s, 5, 10, 80, 40);
	time_of(&s, RANK_SERVER, OTHER, -1, 70, 0);
	time_of(&s, RANK_OWN, OTHER, -1, 70, 0);
	in = (struct rank_input){ s.sum, s.n, s.host, HOSTS, -1 };
	CHECK_EQ(rank_along(&in, false, heads, 3, &r), 2);
	CHECK_EQ(r.best[0].host, DB);
	CHECK_EQ(rank_along(&in, false, heads, 1, &r), 0);
	CHECK_EQ(r.best[0].host, OTHER);
	CHECK_EQ(rank_along(&in, false, heads, 0, &r), -1);
	CHECK_EQ(r.best[0].host, DB);
}
