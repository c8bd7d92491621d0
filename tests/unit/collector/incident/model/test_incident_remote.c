// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include "tests/unit/collector/incident/model/remote_scene.h"

/* Times are seconds after T. EU and US report; HOME is the collector's own region. */
enum { HOME = 1, EU = 2, US = 3, WEB = 11, DISK = 12, STORE = 13, OWN = 14 };

static char steps_log[512];

static void log_step(void *arg, struct incident *i, int64_t at_us, const char *kind,
		     const struct signal *g, const struct incident *other)
{
	size_t n = strlen(steps_log);

	(void)arg, (void)at_us, (void)g, (void)other;
	snprintf(steps_log + n, sizeof(steps_log) - n, "%s%s %d", n ? ", " : "", kind, (int)i->id);
}

static const struct incident_steps steps = { log_step, NULL };

static struct incident_set *set_new(void)
{
	*steps_log = 0;
	return incident_set_new(&limits, &steps);
}

/* A report with one signal for each of these nodes, 20 requests each. */
static char app[] = "shop", route[] = "/buy";

struct region_report {
	struct incident_report t;
	struct incident_remote_signal signal[2];
};

static struct incident_report *region_report(struct region_report *s, uint64_t region, uint64_t id,
					     int onset, uint64_t node, uint64_t other)
{
	*s = (struct region_report){ .t = { .id = id,
					    .at = id,
					    .region = region,
					    .onset_us = us(onset),
					    .last_us = us(onset + 20),
					    .opened_us = us(onset + 12),
					    .now_us = us(onset + 30),
					    .signal = s->signal,
					    .nsignals = other ? 2 : 1 } };
	for (int k = 0; k < 2; k++)
		s->signal[k] = (struct incident_remote_signal){ .node = k ? other : node,
								.n = 20,
								.app = app,
								.route = route,
								.class = "io",
								.reason = R_IO_BLOCK,
								.first_us = us(onset),
								.last_us = us(onset + 20),
								.excess_us = 2e6 };
	return &s->t;
}

TEST(an_incident_of_a_region_has_its_id_and_its_onset)
{
	struct incident_set *s = set_new();
	struct region_report eu;
	struct incident *i = incident_set_import(s, region_report(&eu, EU, 77, 0, WEB, DISK));

	CHECK(i);
	CHECK_EQ(i->id, 77);
	CHECK_EQ(i->region, EU);
	CHECK_EQ(i->onset_us, us(0));
	CHECK_EQ(i->nsignals, 2);
	CHECK(!i->closed_us && i->signal[0]->active);
	CHECK_EQ(i->signal[0]->n, 20);
	CHECK_STR(steps_log, "opened 77, joined 77");
	incident_set_free(s);
}

TEST(requests_whose_rows_were_counted_here_are_not_counted_again)
{
	struct incident_set *s = set_new();
	struct region_report eu;

	add_rows(s, WEB, 0, 20);
	incident_set_import(s, region_report(&eu, EU, 77, 0, WEB, 0));
	CHECK_EQ(signal_of(s, WEB)->n, 20);
	add_rows(s, WEB, 20, 25);
	CHECK_EQ(signal_of(s, WEB)->n, 25);
	eu.signal[0].n = 25;
	import_update(s, &eu.t, 0);
	CHECK_EQ(signal_of(s, WEB)->n, 25);
	eu.signal[0].n = 30; /* some of its rows did not arrive here */
	import_update(s, &eu.t, 0);
	CHECK_EQ(signal_of(s, WEB)->n, 30);
	CHECK_STR(steps_log, "opened 77");
	incident_set_free(s);
}

TEST(an_incident_of_a_node_with_a_fast_clock_lasts_by_the_collector_s_clock)
{
	struct incident_set *s = set_new();
	struct region_report eu;
	struct incident *i;

	region_report(&eu, EU, 77, 0, WEB, 0);
	eu.signal[0].first_us = us(100);
	eu.signal[0].last_us = us(120);
	eu.signal[0].clock_us = -100 * INCIDENT_SEC;
	i = incident_set_import(s, &eu.t);
	add_rows(s, WEB, 120, 125);
	CHECK_EQ(i->last_us, us(24) + 110000);
	incident_set_free(s);
}

TEST(its_region_decides_when_it_closes_and_reopens)
{
	struct incident_set *s = set_new();
	struct region_report eu;
	struct incident *i = incident_set_import(s, region_report(&eu, EU, 77, 0, WEB, 0));

	incident_set_pass(s, EU, us(700));
	CHECK(!i->closed_us); /* the region's limits decide, not ours */
	CHECK(import_update(s, &eu.t, us(140)) == i);
	CHECK_EQ(i->closed_us, us(140));
	CHECK(!signal_of(s, WEB)->active);
	import_update(s, &eu.t, us(140));
	import_update(s, &eu.t, 0);
	CHECK(!i->closed_us && signal_of(s, WEB)->active);
	CHECK_STR(steps_log, "opened 77, closed 77, reopened 77");
	incident_set_free(s);
}

TEST(a_silent_region_keeps_no_incident_open_for_ever)
{
	struct incident_set *s = set_new();
	struct region_report eu;
	struct incident *i = incident_set_import(s, region_report(&eu, EU, 77, 0, WEB, 0));

	i->dirty = false;
	incident_set_pass(s, EU, us(20 + 3600));
	CHECK(!i->closed_us);
	incident_set_pass(s, EU, us(20 + 3601));
	CHECK_EQ(i->closed_us, us(20 + 600));
	incident_set_free(s);
}

TEST(an_incident_closed_here_by_an_operator_stays_closed_while_its_region_keeps_it_open)
{
	struct incident_set *s = set_new();
	struct region_report eu;
	struct incident *i = incident_set_import(s, region_report(&eu, EU, 77, 0, WEB, 0));

	incident_set_close(s, i, us(30));
	import_update(s, &eu.t, 0);
	CHECK_EQ(i->closed_us, us(30));
	incident_set_free(s);
}

TEST(an_incident_closed_here_long_ago_is_reloaded_only_when_its_region_reopens_it)
{
	struct incident_set *s = set_new();
	struct region_report eu;
	struct incident *i = incident_set_import(s, region_report(&eu, EU, 77, 0, WEB, 0));

	eu.t.has_row = eu.t.was_open = true;
	incident_set_close(s, i, us(30)); /* by an operator */
	CHECK(!incident_set_must_reload(s, &eu.t));
	i->dirty = false;
	incident_set_pass(s, EU, us(30 + 1801));
	CHECK(!incident_set_find(s, 77));
	CHECK(!incident_set_must_reload(s, &eu.t));
	CHECK(!incident_set_import(s, &eu.t));
	eu.t.was_open = false;
	CHECK(incident_set_must_reload(s, &eu.t));
	eu.t.closed_us = us(1900);
	CHECK(!incident_set_must_reload(s, &eu.t));
	incident_set_free(s);
}

TEST(an_incident_that_closed_before_its_first_report_is_imported_whole_and_closed)
{
	struct incident_set *s = set_new();
	struct region_report eu;
	struct incident *i;

	region_report(&eu, EU, 77, 0, WEB, 0);
	eu.t.closed_us = us(620);
	add_rows(s, WEB, 0, 20);
	i = incident_set_import(s, &eu.t);
	CHECK_EQ(i->closed_us, us(620));
	CHECK_EQ(i->nsignals, 1);
	CHECK_EQ(signal_of(s, WEB)->n, 20);
	CHECK(!signal_is_due(signal_of(s, WEB), &limits,
			     us(700))); /* its rows open no other incident */
	incident_set_free(s);
}

TEST(two_successive_incidents_of_one_signal_are_written_one_by_one)
{
	struct incident_set *s = set_new();
	struct region_report first, second;

	region_report(&first, EU, 77, 0, WEB, 0);
	first.t.closed_us = us(620);
	incident_set_import(s, &first.t);
	region_report(&second, EU, 78, 5000, WEB, 0);
	CHECK(!incident_set_is_ready(s, &second.t));
	signal_of(s, WEB)->dirty = false;
	CHECK(incident_set_is_ready(s, &second.t));
	incident_set_free(s);
}

TEST(an_incident_opened_here_becomes_part_of_the_region_s)
{
	struct incident_set *s = set_new();
	struct incident *own, *i;
	struct region_report eu;

	add_rows(s, WEB, 0, 20);
	own = open_here(s, EU, WEB, 20);
	region_report(&eu, EU, 77, 1, WEB, DISK); /* although it is younger */
	i = incident_set_import(s, &eu.t);
	CHECK_EQ(i->id, 77);
	CHECK_EQ(own->into, 77);
	CHECK(incident_set_target(s, signal_of(s, DISK)->of) == i);
	incident_set_free(s);
}

TEST(an_incident_of_two_regions_has_the_id_of_the_older)
{
	static const uint64_t neighbors[] = { WEB, STORE };
	struct incident_set *s = set_new();
	struct region_report eu, us_story;
	struct incident *i = incident_set_import(s, region_report(&eu, EU, 77, 0, WEB, 0));

	region_report(&us_story, US, 50, -10, STORE, 0);
	us_story.t.neighbors = neighbors;
	us_story.t.nneighbors = 2;
	CHECK_EQ(incident_set_import(s, &us_story.t)->id, 50);
	CHECK_EQ(i->into, 50);
	i = incident_set_find(s, 50);
	CHECK_EQ(i->held, 2);
	CHECK(import_update(s, &eu.t, us(140)) == i); /* one part has ended, */
	CHECK(!i->closed_us);
	import_update(s, &us_story.t, us(200)); /* and now the other one */
	CHECK_EQ(i->closed_us, us(200));
	incident_set_free(s);
}

TEST(two_incidents_that_their_region_keeps_apart_stay_apart)
{
	static const uint64_t neighbors[] = { WEB, DISK };
	struct incident_set *s = set_new();
	struct region_report one, two;

	incident_set_import(s, region_report(&one, EU, 77, 0, WEB, 0));
	region_report(&two, EU, 78, 5, DISK, 0);
	two.t.neighbors = neighbors;
	two.t.nneighbors = 2;
	CHECK_EQ(incident_set_import(s, &two.t)->id, 78);
	CHECK_EQ(incident_set_find(s, 77)->into, 0);
	incident_set_free(s);
}

TEST(a_signal_split_off_in_the_region_moves_to_the_new_incident)
{
	struct incident_set *s = set_new();
	struct region_report one, two;

	incident_set_import(s, region_report(&one, EU, 77, 0, WEB, DISK));
	region_report(&two, EU, 78, 0, DISK, 0);
	CHECK_EQ(incident_set_import(s, &two.t)->id, 78);
	CHECK_EQ(signal_of(s, DISK)->of->id, 78);
	CHECK_EQ(signal_of(s, WEB)->of->id, 77);
	CHECK_EQ(incident_set_find(s, 77)->into, 0);
	incident_set_free(s);
}

TEST(a_signal_split_off_here_stays_where_it_is)
{
	struct incident_set *s = set_new();
	struct incident *split;
	struct region_report eu;

	incident_set_import(s, region_report(&eu, EU, 77, 0, WEB, DISK));
	split = incident_set_add(s, &(struct incident){ .id = 5, .region = EU, .apart = true });
	incident_set_attach(split, signal_of(s, DISK));
	import_update(s, &eu.t, 0);
	CHECK(signal_of(s, DISK)->of == split);
	CHECK_EQ(split->into, 0);
	incident_set_free(s);
}

TEST(an_incident_merged_in_its_region_is_merged_here_too)
{
	struct incident_set *s = set_new();
	struct incident *into;
	struct region_report one, two;

	into = incident_set_import(s, region_report(&one, EU, 77, 0, WEB, 0));
	incident_set_import(s, region_report(&two, EU, 78, 5, DISK, 0));
	two.t.into = 77;
	CHECK(import_update(s, &two.t, us(40)) == into);
	CHECK_EQ(incident_set_find(s, 78)->into, 77);
	CHECK_EQ(into->held, 1);
	incident_set_free(s);
}

TEST(an_incident_shared_with_the_own_region_closes_when_both_parts_end)
{
	static const uint64_t neighbors[] = { WEB, OWN };
	struct incident_set *s = set_new();
	struct incident *own, *i;
	struct region_report eu;

	add_rows(s, OWN, -5, 20);
	own = open_here(s, HOME, OWN, 20);
	region_report(&eu, EU, 77, 0, WEB, 0);
	eu.t.neighbors = neighbors;
	eu.t.nneighbors = 2;
	i = incident_set_import(s, &eu.t);
	CHECK(i == own); /* the older one */
	import_update(s, &eu.t, us(140));
	CHECK(!i->closed_us);
	incident_set_pass(s, HOME, us(700));
	CHECK(i->closed_us);
	incident_set_free(s);
}
