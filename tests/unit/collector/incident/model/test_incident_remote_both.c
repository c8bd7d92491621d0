// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include "tests/unit/collector/incident/model/remote_scene.h"

/* What a region tells of what its global collector sees, too. Times are seconds after T. */
enum { EU = 2, US = 3, WEB = 11 };

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

static char app[] = "shop", route[] = "/buy";

/* By region, of what began at 0, as it was at 20. */
static struct incident_report *telling(struct incident_report *t, uint64_t region, uint64_t id)
{
	static struct incident_remote_signal g;

	g = (struct incident_remote_signal){ .node = WEB,
					     .n = 20,
					     .app = app,
					     .route = route,
					     .class = "io",
					     .reason = R_IO_BLOCK,
					     .first_us = us(0),
					     .last_us = us(20),
					     .excess_us = 2e6 };
	*t = (struct incident_report){ .id = id,
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

TEST(one_that_both_opened_has_the_onset_of_its_region)
{
	struct incident_set *s = set_new();
	struct incident_report t;
	struct incident *i;

	rows(s, WEB, 0, 20);
	i = open_here(s, EU, WEB, 20);
	telling(&t, EU, i->id)->onset_us += 83;
	CHECK(incident_set_import(s, &t) == i);
	CHECK_EQ(i->onset_us, us(0) + 83);
	t.onset_us += 1000; /* only the first time, for by it the incident is called */
	CHECK(again(s, &t, 0) == i);
	CHECK_EQ(i->onset_us, us(0) + 83);
	incident_set_free(s);
}

TEST(what_is_counted_after_its_region_closed_it_is_not_of_it)
{
	struct incident_set *s = set_new();
	struct incident_report t;
	struct incident *i = incident_set_import(s, telling(&t, EU, 77));

	rows(s, WEB, 20, 43); /* of which the region counted those up to 40 */
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
	struct incident_report eu, us_too;
	struct incident *i = incident_set_import(s, telling(&eu, EU, 77));

	telling(&us_too, US, 78)->last_us = us(50);
	us_too.at = 77; /* a part of the same */
	CHECK(incident_set_import(s, &us_too) == i);
	CHECK(again(s, &us_too, us(70)) == i);
	CHECK(!i->closed_us);
	CHECK(again(s, &eu, us(60)) == i);
	CHECK(i->closed_us);
	CHECK_EQ(i->last_us, us(50));
	incident_set_free(s);
}
