// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include "tests/unit/collector/incident/model/remote_scene.h"

/* A region reports what its global collector sees too. Times are seconds after T. */
enum { EU = 2, US = 3, WEB = 11 };

static void ignore_step(void *arg, struct incident *i, int64_t at_us, const char *kind,
			const struct signal *g, const struct incident *other)
{
	(void)arg, (void)i, (void)at_us, (void)kind, (void)g, (void)other;
}

static struct incident_set *set_new(void)
{
	static const struct incident_steps steps = { ignore_step, NULL };

	return incident_set_new(&limits, &steps);
}

static char app[] = "shop", route[] = "/buy";

/* A report of region: began at 0, state of second 20. */
static struct incident_report *report_of(struct incident_report *t, uint64_t region, uint64_t id)
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

TEST(an_incident_opened_on_both_sides_has_the_onset_of_its_region)
{
	struct incident_set *s = set_new();
	struct incident_report t;
	struct incident *i;

	add_rows(s, WEB, 0, 20);
	i = open_here(s, EU, WEB, 20);
	report_of(&t, EU, i->id)->onset_us += 83;
	CHECK(incident_set_import(s, &t) == i);
	CHECK_EQ(i->onset_us, us(0) + 83);
	t.onset_us += 1000; /* only the first report sets it: the incident is named by it */
	CHECK(import_update(s, &t, 0) == i);
	CHECK_EQ(i->onset_us, us(0) + 83);
	incident_set_free(s);
}

TEST(rows_after_the_end_of_an_incident_do_not_extend_it)
{
	struct incident_set *s = set_new();
	struct incident_report t;
	struct incident *i = incident_set_import(s, report_of(&t, EU, 77));

	add_rows(s, WEB, 20, 43); /* the region counted those up to 40 */
	CHECK(i->last_us > us(42));
	t.last_us = us(40);
	CHECK(import_update(s, &t, us(60)) == i);
	CHECK_EQ(i->closed_us, us(60));
	CHECK_EQ(i->last_us, us(40));
	incident_set_free(s);
}

TEST(an_incident_of_two_regions_lasts_until_the_later_end)
{
	struct incident_set *s = set_new();
	struct incident_report eu, us_too;
	struct incident *i = incident_set_import(s, report_of(&eu, EU, 77));

	report_of(&us_too, US, 78)->last_us = us(50);
	us_too.at = 77; /* part of the same incident */
	CHECK(incident_set_import(s, &us_too) == i);
	CHECK(import_update(s, &us_too, us(70)) == i);
	CHECK(!i->closed_us);
	CHECK(import_update(s, &eu, us(60)) == i);
	CHECK(i->closed_us);
	CHECK_EQ(i->last_us, us(50));
	incident_set_free(s);
}
