// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/collector/incident/rank/rank_scene.h"

#include "collector/incident/rank/incident_via.h"

/* FRONT calls OUTSIDE, a balancer, which calls APP and OTHER in turn; the second is slow. */
static void balanced(struct scene *s, double way)
{
	time_of(s, RANK_OWN, FRONT, -1, 0, 0);
	time_of(s, RANK_SERVER, FRONT, -1, 300 + way, 0);
	time_of(s, RANK_CALL, FRONT, OUTSIDE, 300 + way, 0);
	for (int host = APP; host <= OTHER; host++) {
		double ms = host == OTHER ? 300 : 0;

		time_of(s, RANK_OWN, host, -1, ms, 0);
		time_of(s, RANK_SERVER, host, -1, ms, 0);
		time_of(s, RANK_SERVED, host, OUTSIDE, ms, 0);
	}
}

TEST(the_time_a_balancer_without_a_probe_forwards_arose_behind_it)
{
	struct scene s = { 0 };
	const struct rank *r;

	balanced(&s, 0);
	r = ranked(&s, false);
	CHECK_EQ(r->n, 1);
	CHECK_EQ(r->best[0].host, OTHER);
	CHECK_EQ(r->whole, 100 * 300 * 1000);
	CHECK_EQ(r->best[0].share, 1);
	CHECK(r->clear);
}

TEST(the_time_a_balancer_takes_itself_is_its_own)
{
	struct scene s = { 0 };
	const struct rank *r;

	balanced(&s, 200);
	r = ranked(&s, false);
	CHECK_EQ(r->n, 2);
	CHECK_EQ(r->best[0].host, OTHER);
	CHECK_EQ(r->best[1].host, OUTSIDE);
	CHECK_EQ(r->best[1].edge, 100 * 200 * 1000);
	CHECK_EQ(r->whole, 100 * 500 * 1000);
}

TEST(a_slow_balancer_is_first_if_the_hosts_behind_it_are_not_slow)
{
	struct scene s = { 0 };
	const struct rank *r;

	time_of(&s, RANK_CALL, FRONT, OUTSIDE, 300, 0);
	time_of(&s, RANK_SERVED, APP, OUTSIDE, 0, 0);
	r = ranked(&s, false);
	CHECK_EQ(r->best[0].host, OUTSIDE);
	CHECK_EQ(r->best[0].share, 1);
}

TEST(two_callers_of_one_balancer_get_nothing_of_the_time_behind_it)
{
	struct scene s = { 0 };
	const struct rank *r;

	time_of(&s, RANK_CALL, FRONT, OUTSIDE, 300, 0);
	time_of(&s, RANK_CALL, OTHER, OUTSIDE, 100, 0);
	time_of(&s, RANK_OWN, APP, -1, 400, 0);
	time_of(&s, RANK_SERVED, APP, OUTSIDE, 400, 0);
	r = ranked(&s, false);
	CHECK_EQ(r->n, 1);
	CHECK_EQ(r->best[0].host, APP);
	CHECK_EQ(r->whole, 100 * 400 * 1000);
}

/* A virtual address, or a NAT on the way to it: DB sees its caller, and is never called by its
 * own address. */
TEST(a_host_behind_a_virtual_address_is_found_by_its_caller)
{
	struct scene s = { 0 };
	const struct rank *r;

	time_of(&s, RANK_CALL, FRONT, OUTSIDE, 300, 0);
	time_of(&s, RANK_OWN, DB, -1, 300, 0);
	time_of(&s, RANK_SERVER, DB, -1, 300, 0);
	time_of(&s, RANK_SERVED, DB, FRONT, 300, 0);
	r = ranked(&s, false);
	CHECK_EQ(r->n, 1);
	CHECK_EQ(r->best[0].host, DB);
	CHECK_EQ(r->best[0].share, 1);
}

TEST(a_host_called_by_its_own_address_subtracts_nothing_from_another)
{
	struct scene s = { 0 };
	const struct rank *r;

	chain(&s, 0, 0, 300, 0);
	time_of(&s, RANK_CALL, APP, OUTSIDE, 500, 0);
	r = ranked(&s, false);
	CHECK_EQ(r->best[1].host, OUTSIDE);
	CHECK_EQ(r->best[1].edge, 100 * 500 * 1000);
}

TEST(forwarded_errors_count_for_the_host_that_made_them)
{
	struct scene s = { 0 };
	const struct rank *r;

	errors_of(&s, RANK_CALL, FRONT, OUTSIDE, 40);
	errors_of(&s, RANK_SERVED, APP, OUTSIDE, 30);
	s.host[APP].own_errors = 30;
	r = ranked(&s, true);
	CHECK_EQ(r->n, 2);
	CHECK_EQ(r->best[0].host, APP);
	CHECK_EQ(r->best[1].edge, 10);
	CHECK_EQ(r->whole, 40);
}

TEST(a_called_address_has_a_port_and_a_caller_none)
{
	CHECK(rank_is_at("10.0.0.1:80", "10.0.0.1"));
	CHECK(rank_is_at("[2001:db8::1]:80", "2001:db8::1"));
	CHECK(!rank_is_at("10.0.0.10:80", "10.0.0.1"));
	CHECK(!rank_is_at("[2001:db8::11]:80", "2001:db8::1"));
	CHECK(!rank_is_at(":80", ""));
}
