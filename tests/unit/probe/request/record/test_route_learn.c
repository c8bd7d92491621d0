// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "probe/request/record/route_learn.h"
#include "tests/lib/test.h"

static uint32_t now_s = 1000;

static const char *learnt(struct route_learner *l, const char *app, const char *route)
{
	static char out[ROUTE_TEXT];

	return route_learn(l, app, route, now_s, out);
}

/* So many different paths with this prefix. Returns how many were not "GET /:x". */
static size_t crawl(struct route_learner *l, const char *app, const char *prefix, size_t n)
{
	char route[ROUTE_TEXT];
	size_t named = 0;

	for (size_t i = 0; i < n; i++) {
		snprintf(route, sizeof(route), "GET /%s%zx", prefix, i);
		named += strcmp(learnt(l, app, route), "GET /:x") != 0;
	}
	return named;
}

static void repeat(struct route_learner *l, const char *app, const char *route, size_t n)
{
	for (size_t i = 0; i < n; i++)
		CHECK_STR(learnt(l, app, route), route);
}

TEST(a_crawler_of_forty_thousand_paths_makes_one_route)
{
	AUTO(route_learner_free) struct route_learner *l = route_learner_new();

	CHECK_EQ(crawl(l, "shop", "p", 40000), LEARN_VALUES);
	CHECK_EQ(crawl(l, "shop", "q", 40000), 0);
}

TEST(up_to_fifty_values_keep_their_names)
{
	AUTO(route_learner_free) struct route_learner *l = route_learner_new();

	CHECK_EQ(crawl(l, "shop", "p", LEARN_VALUES), LEARN_VALUES);
	CHECK_EQ(crawl(l, "shop", "p", LEARN_VALUES), LEARN_VALUES);
	CHECK_STR(learnt(l, "shop", "GET /one-more"), "GET /:x");
}

TEST(a_named_route_stays_named_while_a_crawler_runs)
{
	AUTO(route_learner_free) struct route_learner *l = route_learner_new();

	repeat(l, "shop", "GET /checkout/cart", LEARN_SETTLED);
	repeat(l, "shop", "GET /health", LEARN_SETTLED);
	for (int i = 0; i < 10; i++) {
		crawl(l, "shop", "p", 1000);
		CHECK_STR(learnt(l, "shop", "GET /checkout/cart"), "GET /checkout/cart");
		CHECK_STR(learnt(l, "shop", "GET /health"), "GET /health");
	}
}

TEST(a_route_that_is_new_in_a_wide_place_gets_a_name_by_its_share)
{
	AUTO(route_learner_free) struct route_learner *l = route_learner_new();
	size_t named = 0;

	crawl(l, "shop", "p", 1000);
	for (size_t i = 0; i < 200; i++) {
		named += strcmp(learnt(l, "shop", "GET /checkout"), "GET /checkout") == 0;
		crawl(l, "shop", i & 1 ? "a" : "b", 4);
	}
	CHECK(named >= 200 - 2 * LEARN_SETTLED);
	CHECK_STR(learnt(l, "shop", "GET /checkout"), "GET /checkout");
}

TEST(users_that_come_back_are_no_routes)
{
	AUTO(route_learner_free) struct route_learner *l = route_learner_new();
	char route[ROUTE_TEXT];

	for (size_t i = 0; i < 100000; i++) {
		snprintf(route, sizeof(route), "GET /u/%zu-name", i * 7919 % 100);
		learnt(l, "shop", route);
	}
	for (size_t i = 0; i < 100; i++) {
		snprintf(route, sizeof(route), "GET /u/%zu-name", i);
		CHECK_STR(learnt(l, "shop", route), "GET /u/:x");
	}
}

TEST(a_part_in_the_middle_is_learnt_with_all_that_is_below_it)
{
	AUTO(route_learner_free) struct route_learner *l = route_learner_new();
	char route[ROUTE_TEXT];
	size_t named = 0;

	for (size_t i = 0; i < 1000; i++) {
		snprintf(route, sizeof(route), "GET /u/p%zxq/%s", i, i & 1 ? "mail" : "posts");
		named += strncmp(learnt(l, "shop", route), "GET /u/:x/", 10) != 0;
	}
	CHECK_EQ(named, LEARN_VALUES);
	CHECK_STR(learnt(l, "shop", "GET /u/new/mail"), "GET /u/:x/mail");
	CHECK_STR(learnt(l, "shop", "GET /u/new/posts"), "GET /u/:x/posts");
	CHECK_STR(learnt(l, "shop", "GET /u"), "GET /u");
}

TEST(random_parts_at_each_depth_are_learnt_at_once)
{
	AUTO(route_learner_free) struct route_learner *l = route_learner_new();
	char route[ROUTE_TEXT];
	size_t named = 0;

	for (size_t i = 0; i < 1000; i++) {
		snprintf(route, sizeof(route), "GET /p%zxq/p%zxr/p%zxs", i, i, i);
		named += strcmp(learnt(l, "shop", route), "GET /:x/:x/:x") != 0;
	}
	CHECK_EQ(named, LEARN_VALUES);
}

TEST(methods_are_learnt_like_parts_of_a_path)
{
	AUTO(route_learner_free) struct route_learner *l = route_learner_new();
	char route[ROUTE_TEXT];
	size_t named = 0;

	repeat(l, "shop", "GET /", LEARN_SETTLED);
	for (size_t i = 0; i < 1000; i++) {
		snprintf(route, sizeof(route), "BREW%zx /", i);
		named += strcmp(learnt(l, "shop", route), ":x /") != 0;
	}
	CHECK(named <= LEARN_VALUES);
	CHECK_STR(learnt(l, "shop", "GET /"), "GET /");
}

/* 40 places of 40 values each are not wide, but more than an app may have. */
static size_t spread(struct route_learner *l, const char *app, size_t n)
{
	char route[ROUTE_TEXT];
	size_t others = 0;

	for (size_t i = 0; i < n; i++) {
		snprintf(route, sizeof(route), "GET /p%zxq/p%zxr", i % 40, i / 40);
		others += strcmp(learnt(l, app, route), ROUTE_OTHER) == 0;
	}
	return others;
}

TEST(an_app_has_at_most_512_live_routes_and_the_rest_is_one)
{
	AUTO(route_learner_free) struct route_learner *l = route_learner_new();

	CHECK_EQ(spread(l, "shop", 1600), 1600 - LEARN_ROUTES);
	CHECK_EQ(spread(l, "shop", LEARN_ROUTES), 0); /* the first ones stay */
	now_s += 3601;
	learnt(l, "shop", "GET /p0q/p0r");
	CHECK_STR(learnt(l, "shop", "GET /new"), "GET /new"); /* no longer live are the others */
	CHECK_STR(learnt(l, "shop", "GET /p0q/p0r"), "GET /p0q/p0r");
}

TEST(random_paths_of_one_app_leave_the_routes_of_others_alone)
{
	AUTO(route_learner_free) struct route_learner *l = route_learner_new();

	repeat(l, "shop", "GET /checkout", 2);
	crawl(l, "attacker", "p", 40000);
	spread(l, "attacker", 1600);
	CHECK_EQ(crawl(l, "shop", "p", LEARN_VALUES - 1), LEARN_VALUES - 1);
	CHECK_STR(learnt(l, "shop", "GET /checkout"), "GET /checkout");
}

TEST(ten_thousand_apps_do_not_take_more_memory_than_128)
{
	AUTO(route_learner_free) struct route_learner *l = route_learner_new();
	char app[32];

	repeat(l, "shop", "GET /checkout", LEARN_SETTLED);
	for (size_t i = 0; i < 300; i++) {
		snprintf(app, sizeof(app), "app-%zu", i);
		spread(l, app, 600);
	}
	for (size_t i = 0; i < 10000; i++) {
		snprintf(app, sizeof(app), "app-%zu", i);
		learnt(l, app, "GET /");
	}
	CHECK(route_learner_bytes(l) < 5 << 20);
	repeat(l, "shop", "GET /checkout", 1);
	now_s += 3600;
	learnt(l, "one-more", "GET /only");
	CHECK_STR(learnt(l, "one-more", "GET /only"), "GET /only"); /* in a tree that was idle */
	CHECK(route_learner_bytes(l) < 5 << 20);
}

TEST(a_day_after_the_last_crawler_names_are_learnt_again)
{
	AUTO(route_learner_free) struct route_learner *l = route_learner_new();

	repeat(l, "shop", "GET /checkout", LEARN_SETTLED);
	crawl(l, "shop", "p", 1000);
	now_s += 50000;
	repeat(l, "shop", "GET /checkout", 1);
	now_s += 50000;
	repeat(l, "shop", "GET /checkout", 1);
	CHECK_STR(learnt(l, "shop", "GET /new"), "GET /new");
}

TEST(a_route_of_any_text_is_bounded)
{
	AUTO(route_learner_free) struct route_learner *l = route_learner_new();
	const char *const odd[] = { "",	      "/",	   "GET ",   "GET /",
				    "GET //", "OPTIONS *", ":x /:x", "GET /:id/*" };
	char out[ROUTE_TEXT], long_one[ROUTE_TEXT];

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++)
		CHECK_STR(learnt(l, "", odd[i]), odd[i]);
	memset(long_one, '/', sizeof(long_one));
	long_one[ROUTE_TEXT - 1] = 0;
	CHECK_STR(route_learn(l, "a", long_one, 0, out), long_one);
}
