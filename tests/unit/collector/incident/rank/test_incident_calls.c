// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include "collector/incident/rank/incident_calls.h"

/* As for a time as long as the one before: both counts vary. */
static struct calls_edge edge(const char *from, const char *to, double made, double expected)
{
	return (struct calls_edge){ from, to, false, made, expected, 2 * expected };
}

TEST(a_host_with_as_many_calls_as_before_misses_none)
{
	struct calls_edge e[] = { edge("web", "shop", 970, 1000), edge("web", "ads", 1010, 1000) };
	struct calls_rank r;

	calls_rank(e, 2, &r);
	CHECK_EQ(r.n, 0);
	calls_rank(e, 0, &r);
	CHECK_EQ(r.n, 0);
}

TEST(a_tenth_of_few_calls_is_chance)
{
	struct calls_edge e[] = { edge("web", "shop", 30, 50) };
	struct calls_rank r;

	calls_rank(e, 1, &r);
	CHECK_EQ(r.n, 0);
	e[0] = edge("web", "shop", 300, 500);
	calls_rank(e, 1, &r);
	CHECK_EQ(r.n, 1);
}

TEST(a_host_that_answers_early_misses_calls_to_all_callees_most_first)
{
	struct calls_edge e[] = { edge("shop", "stock", 1000, 1000), edge("web", "ads", 400, 900),
				  edge("web", "shop", 500, 1500), edge("web", "pay", 20, 19) };
	struct calls_rank r;

	calls_rank(e, 4, &r);
	CHECK_EQ(r.n, 1);
	CHECK_STR(r.best[0].name, "web");
	CHECK(!r.best[0].callee);
	CHECK_EQ((int)r.best[0].missing, 1499);
	CHECK_EQ(r.best[0].nparts, 2);
	CHECK_STR(r.best[0].part[0]->to, "shop");
	CHECK_STR(r.best[0].part[1]->to, "ads");
}

TEST(a_host_that_calls_another_callee_instead_misses_none)
{
	struct calls_edge e[] = { edge("web", "10.0.0.1:80", 0, 1000),
				  edge("web", "10.0.0.2:80", 1000, 0) };
	struct calls_rank r;

	calls_rank(e, 2, &r);
	CHECK_EQ(r.n, 0);
}

TEST(the_cause_for_several_hosts_is_their_common_callee)
{
	struct calls_edge e[] = { edge("shop", "catalog", 500, 1000), edge("shop", "mail", 90, 100),
				  edge("web", "ads", 100, 1000), edge("web", "catalog", 400, 900) };
	struct calls_rank r;

	calls_rank(e, 4, &r);
	CHECK_EQ(r.n, 3);
	CHECK_STR(r.best[0].name, "catalog");
	CHECK(r.best[0].callee);
	CHECK_EQ((int)r.best[0].missing, 1000);
	CHECK_STR(r.best[0].part[0]->from, "shop");
	CHECK_STR(r.best[1].name, "web");
	CHECK_STR(r.best[2].name, "shop");
}

TEST(at_most_three_are_named)
{
	struct calls_edge e[] = { edge("a", "x", 0, 1000), edge("b", "x", 0, 2000),
				  edge("c", "y", 0, 4000), edge("d", "y", 0, 3000) };
	struct calls_rank r;

	calls_rank(e, 4, &r);
	CHECK_EQ(r.n, 3);
	CHECK_STR(r.best[0].name, "c");
	CHECK_STR(r.best[1].name, "d");
	CHECK_STR(r.best[2].name, "b");
}
