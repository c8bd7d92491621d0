// SPDX-License-Identifier: Apache-2.0
#include "../test.h"

#include "../../collector/incident_told.h"
#include "../../lib/reason.h"

/* What a region tells of what its global collector sees, too. Times are seconds after T. */
enum { T = 1000000, EU = 2, US = 3, WEB = 11 };

static const struct incident_limits limits = {
	.least_events = 5,
	.least_percent = 2,
	.least_excess_ms = 20,
	.window_s = 300,
	.join_s = 300,
	.quiet_s = 600,
	.reopen_s = 1800,
};

static int64_t us(int s)
{
	return (T + s) * INCIDENT_SEC;
}

static void pass_over(void *arg, struct incident *i, int64_t at_us, const char *kind,
		      const struct signal *g, const struct incident *other)
{
	(void)arg, (void)i, (void)at_us, (void)kind, (void)g, (void)other;
}

static struct incident_set *set_new(void)
{
	static const struct incident_steps steps = { pass_over, NULL };

	return incident_set_new(&limits, &steps);
}

static void rows(struct incident_set *s, int from, int until)
{
	bool full;

	for (int at = from; at < until; at++)
		incident_set_count(s,
				   &(struct incident_row){ .begin_us = us(at),
							   .total_us = 110000,
							   .normal_us = 10000,
							   .node = WEB,
							   .id = (uint64_t)at + 1,
							   .app = "shop",
							   .route = "/buy",
							   .reason = R_IO_BLOCK,
							   .status = 200 },
				   &full);
}

static struct incident *open_here(struct incident_set *s)
{
	const uint64_t node = WEB;

	return incident_set_open(s, incident_set_signal(s, WEB, "shop", "/buy", "io"),
				 &(struct incident_place){ EU, "x", &node, 1, us(20) });
}

static char app[] = "shop", route[] = "/buy";

/* By region, of what began at 0, as it was at 20. */
static struct incident_telling *telling(struct incident_telling *t, uint64_t region, uint64_t id)
{
	static struct incident_told_signal g;

	g = (struct incident_told_signal){ .node = WEB,
					   .n = 20,
					   .app = app,
					   .route = route,
					   .class = "io",
					   .reason = R_IO_BLOCK,
					   .first_us = us(0),
					   .last_us = us(20),
					   .excess_us = 2e6 };
	*t = (struct incident_telling){ .id = id,
					.at = id,
					.region = region,
					.onset_us = us(0),
					.last_us = us(20),
					.opened_us = us(12),
					.now_us = us(30),
					.signal = &g,
					.nsignals = 1 };
	return t;
}

/* As the engine does with the next telling of what it took. */
static struct incident *again(struct incident_set *s, struct incident_telling *t, int64_t closed_us)
{
	t->was_open = !t->closed_us;
	t->has_row = true;
	t->closed_us = closed_us;
	return incident_set_take(s, t);
}

TEST(one_that_both_opened_has_the_onset_of_its_region)
{
	struct incident_set *s = set_new();
	struct incident_telling t;
	struct incident *i;

	rows(s, 0, 20);
	i = open_here(s);
	telling(&t, EU, i->id)->onset_us += 83;
	CHECK(incident_set_take(s, &t) == i);
	CHECK_EQ(i->onset_us, us(0) + 83);
	t.onset_us += 1000; /* only the first time, for by it the incident is called */
	CHECK(again(s, &t, 0) == i);
	CHECK_EQ(i->onset_us, us(0) + 83);
	incident_set_free(s);
}

TEST(what_is_counted_after_its_region_closed_it_is_not_of_it)
{
	struct incident_set *s = set_new();
	struct incident_telling t;
	struct incident *i = incident_set_take(s, telling(&t, EU, 77));

	rows(s, 20, 43); /* of which the region counted those up to 40 */
	CHECK(i->last_us > us(42));
	t.last_us = us(40);
	CHECK(again(s, &t, us(60)) == i);
	CHECK_EQ(i->closed_us, us(60));
	CHECK_EQ(i->last_us, us(40));
	incident_set_free(s);
}

TEST(one_of_two_regions_lasts_as_long_as_it_was_seen)
{
	struct incident_set *s = set_new();
	struct incident_telling eu, us_too;
	struct incident *i = incident_set_take(s, telling(&eu, EU, 77));

	telling(&us_too, US, 78)->last_us = us(50);
	us_too.at = 77; /* a part of the same */
	CHECK(incident_set_take(s, &us_too) == i);
	CHECK(again(s, &us_too, us(70)) == i);
	CHECK(!i->closed_us);
	CHECK(again(s, &eu, us(60)) == i);
	CHECK(i->closed_us);
	CHECK_EQ(i->last_us, us(50));
	incident_set_free(s);
}
