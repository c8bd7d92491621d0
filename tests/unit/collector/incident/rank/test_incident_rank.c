// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/collector/incident/rank/rank_scene.h"

TEST(a_slow_callee_is_first_and_its_callers_have_nothing)
{
	struct scene s = { 0 };
	const struct rank *r;

	chain(&s, 0, 50, 1000, 0);
	r = ranked(&s, false);
	CHECK_EQ(r->n, 2);
	CHECK_EQ(r->best[0].host, DB);
	CHECK_EQ(r->best[1].host, APP);
	CHECK_EQ(r->best[0].own, 100 * 1000 * 1000);
	CHECK_EQ(r->whole, 100 * 1050 * 1000);
	CHECK_EQ(r->best[0].share * 1000, 952);
	CHECK_EQ(r->ngraph, 4);
	CHECK_EQ(r->graph[0].to, APP);
	CHECK_EQ(r->graph[0].net, 100 * 1050 * 1000);
	CHECK_EQ(r->graph[0].value, 0);
	CHECK(r->clear);
}

TEST(a_slow_way_counts_for_its_callee)
{
	struct scene s = { 0 };
	const struct rank *r;

	chain(&s, 0, 10, 20, 400);
	r = ranked(&s, false);
	CHECK_EQ(r->best[0].host, DB);
	CHECK_EQ(r->best[0].edge, 100 * 400 * 1000);
	CHECK_EQ(r->best[0].own, 100 * 20 * 1000);
	CHECK_EQ(r->best[0].nparts, 2);
	CHECK_EQ(r->best[0].part[0].from, APP);
	CHECK_EQ(r->best[0].part[0].to, DB);
	CHECK_EQ(r->best[0].part[1].to, -1);
	CHECK(r->clear);
}

TEST(a_slow_way_is_found_by_means_if_its_callee_varies_more)
{
	struct scene s = { 0 };
	const struct rank *r;

	chain(&s, 0, 0, 0, 0);
	for (size_t i = 0; i < s.n; i++) {
		if (s.sum[i].role == RANK_CALL && s.sum[i].other == DB)
			s.sum[i].us += 100 * 30 * 1000;
		if (s.sum[i].role == RANK_SERVED && s.sum[i].host == DB)
			s.sum[i].excess = s.sum[i].us = 100 * 10 * 1000;
	}
	r = ranked(&s, false);
	CHECK_EQ(r->best[0].host, DB);
	CHECK_EQ(r->best[0].edge, 100 * 20 * 1000);
}

TEST(a_new_way_is_measured_by_its_excess)
{
	struct scene s = { 0 };

	chain(&s, 0, 0, 20, 400);
	for (size_t i = 0; i < s.n; i++)
		s.sum[i].n_before = s.sum[i].us_before = 0;
	CHECK_EQ(ranked(&s, false)->best[0].edge, 100 * 400 * 1000);
}

TEST(a_caller_whose_calls_are_all_slow_on_the_way_is_blamed)
{
	struct scene s = { 0 };
	const struct rank *r;

	for (int to = OTHER; to <= OUTSIDE; to++) {
		time_of(&s, RANK_CALL, APP, to, 200, 0);
		if (to != OUTSIDE)
			time_of(&s, RANK_SERVED, to, APP, 1, 0);
	}
	time_of(&s, RANK_OWN, APP, -1, 5, 0);
	r = ranked(&s, false);
	CHECK_EQ(r->n, 1);
	CHECK_EQ(r->best[0].host, APP);
	CHECK_EQ(r->best[0].edge, 100 * (199 + 199 + 200) * 1000);
	CHECK_EQ(r->best[0].nparts, 4);
}

TEST(a_caller_with_one_call_that_stands_out_is_not)
{
	struct scene s = { 0 };
	const struct rank *r;

	time_of(&s, RANK_CALL, APP, OTHER, 10, 0);
	time_of(&s, RANK_CALL, APP, FRONT, 10, 0);
	time_of(&s, RANK_CALL, APP, DB, 500, 0);
	r = ranked(&s, false);
	CHECK_EQ(r->best[0].host, DB);
	CHECK_EQ(r->n, 3);
}

TEST(half_a_millisecond_per_call_within_the_noise_counts_as_nothing)
{
	struct scene s = { 0 };

	time_of(&s, RANK_OWN, DB, -1, 20, 0);
	time_of(&s, RANK_CALL, FRONT, APP, 0.5, 0);
	s.sum[1].n = 10000;
	s.sum[1].us = 10000 * 500.0;
	CHECK_EQ(ranked(&s, false)->best[0].host, APP);
	s.sum[1].noise = 10000; /* of 10,000 a tenth of a millisecond: */
	CHECK_EQ(ranked(&s, false)->best[0].host, APP);
	s.sum[1].noise = 20000;
	CHECK_EQ(ranked(&s, false)->best[0].host, DB);
	CHECK_EQ(s.rank.n, 1);
	s.sum[0].noise = 100000; /* of 100 it is 10 ms, of which three are more than 20 */
	CHECK_EQ(ranked(&s, false)->n, 0);
}

TEST(callees_of_before_only_do_not_count_for_the_common_way)
{
	struct scene s = { 0 };

	time_of(&s, RANK_CALL, APP, OTHER, 200, 0);
	time_of(&s, RANK_CALL, APP, DB, 200, 0);
	time_of(&s, RANK_CALL, APP, OUTSIDE, 0, 0);
	*add(&s, RANK_CALL, APP, FRONT) = (struct rank_sum){
		.role = RANK_CALL, .host = APP, .other = FRONT, .n_before = 100, .us_before = 1e6
	};
	ranked(&s, false);
	CHECK_EQ(s.rank.n, 1);
	CHECK_EQ(s.rank.best[0].host, APP);
}

TEST(a_host_without_a_probe_never_ranks_before_one_with_evidence)
{
	struct scene s = { 0 };
	const struct rank *r;

	time_of(&s, RANK_CALL, APP, OUTSIDE, 900, 0);
	time_of(&s, RANK_OWN, APP, -1, 100, 0);
	r = ranked(&s, false);
	CHECK_EQ(r->n, 2);
	CHECK_EQ(r->best[0].host, APP);
	CHECK_EQ(r->best[1].host, OUTSIDE);
	CHECK(!r->clear);
}

TEST(remaining_noise_is_no_evidence_against_a_probed_host)
{
	struct scene s = { 0 };

	time_of(&s, RANK_CALL, APP, OUTSIDE, 900, 0);
	time_of(&s, RANK_OWN, APP, -1, 2, 0);
	CHECK_EQ(ranked(&s, false)->best[0].host, OUTSIDE);
	CHECK(s.rank.clear);
}

TEST(the_usual_time_before_is_subtracted)
{
	struct scene s = { 0 };
	const struct rank *r;

	time_of(&s, RANK_OWN, FRONT, -1, 30, 40);
	time_of(&s, RANK_OWN, APP, -1, 50, 45);
	time_of(&s, RANK_OWN, OTHER, -1, 20, 0);
	r = ranked(&s, false);
	CHECK_EQ(r->n, 2);
	CHECK_EQ(r->best[0].host, OTHER);
	CHECK_EQ(r->best[1].own, 100 * 5 * 1000);
}

TEST(below_half_there_is_no_clear_cause)
{
	struct scene s = { 0 };

	for (int h = FRONT; h <= DB; h++)
		time_of(&s, RANK_OWN, h, -1, 100 + h, 0);
	CHECK(!ranked(&s, false)->clear);
	CHECK_EQ(s.rank.n, RANK_SHOWN);
	CHECK_EQ(s.rank.best[0].host, DB);
}

TEST(time_that_clients_waited_and_no_host_had_is_unexplained)
{
	struct scene s = { 0 };

	time_of(&s, RANK_SERVER, FRONT, -1, 1000, 0);
	time_of(&s, RANK_OWN, FRONT, -1, 0, 0);
	time_of(&s, RANK_CALL, FRONT, APP, 1000, 0);
	time_of(&s, RANK_SERVED, APP, FRONT, 1000, 0);
	time_of(&s, RANK_OWN, APP, -1, 100, 0);
	CHECK_EQ(ranked(&s, false)->best[0].host, APP);
	CHECK_EQ(s.rank.best[0].share * 100, 10);
	CHECK(!s.rank.clear);
}

TEST(an_event_of_the_node_decides_between_two_equal_hosts)
{
	struct scene s = { 0 };

	time_of(&s, RANK_OWN, APP, -1, 100, 0);
	time_of(&s, RANK_OWN, DB, -1, 95, 0);
	CHECK_EQ(ranked(&s, false)->best[0].host, APP);
	s.host[DB].events = 1;
	CHECK_EQ(ranked(&s, false)->best[0].host, DB);
	s.host[DB].events = 0;
	s.host[OTHER].events = 1;
	time_of(&s, RANK_OWN, OTHER, -1, 50, 0);
	CHECK_EQ(ranked(&s, false)->best[0].host, APP);
}

TEST(without_a_reported_own_time_it_is_requests_minus_calls)
{
	struct scene s = { 0 };

	time_of(&s, RANK_SERVER, APP, -1, 300, 0);
	time_of(&s, RANK_CALL, APP, DB, 250, 0);
	time_of(&s, RANK_SERVER, DB, -1, 240, 0);
	CHECK_EQ(ranked(&s, false)->best[0].host, DB);
	CHECK_EQ(s.rank.best[0].own, 100 * 240 * 1000);
	CHECK_EQ(s.rank.best[0].edge, 100 * 10 * 1000);
	CHECK_EQ(s.rank.best[1].own, 100 * 50 * 1000);
}

TEST(errors_count_for_the_host_that_failed)
{
	struct scene s = { 0 };
	const struct rank *r;

	errors_of(&s, RANK_CALL, FRONT, APP, 60);
	errors_of(&s, RANK_SERVED, APP, FRONT, 60);
	s.host[APP].own_errors = 55;
	s.host[FRONT].own_errors = 2;
	r = ranked(&s, true);
	CHECK_EQ(r->n, 2);
	CHECK_EQ(r->best[0].host, APP);
	CHECK_EQ(r->best[0].own, 55);
	CHECK(r->clear);
}

TEST(failed_calls_that_were_never_served_count_for_the_callee)
{
	struct scene s = { 0 };

	errors_of(&s, RANK_CALL, FRONT, DB, 40);
	CHECK_EQ(ranked(&s, true)->best[0].host, DB);
	CHECK_EQ(s.rank.best[0].edge, 40);
}

TEST(no_sums_give_an_empty_ranking)
{
	struct scene s = { 0 };

	CHECK_EQ(ranked(&s, false)->n, 0);
	CHECK(!s.rank.clear);
}
