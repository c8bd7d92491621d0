// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include "tests/unit/collector/incident/model/remote_scene.h"

/* Times are seconds after T. EU and US tell; HOME is the collector's own region. */
enum { HOME = 1, EU = 2, US = 3, WEB = 11, DISK = 12, STORE = 13, OWN = 14 };

static char told[512];

static void take(void *arg, struct incident *i, int64_t at_us, const char *kind,
		 const struct signal *g, const struct incident *other)
{
	size_t n = strlen(told);

	(void)arg, (void)at_us, (void)g, (void)other;
	snprintf(told + n, sizeof(told) - n, "%s%s %d", n ? ", " : "", kind, (int)i->id);
}

static const struct incident_steps steps = { take, NULL };

static struct incident_set *set_new(void)
{
	*told = 0;
	return incident_set_new(&limits, &steps);
}

/* One whose signals are one of each of these nodes, 20 requests each. */
static char app[] = "shop", route[] = "/buy";

struct story {
	struct incident_report t;
	struct incident_remote_signal signal[2];
};

static struct incident_report *story(struct story *s, uint64_t region, uint64_t id, int onset,
				     uint64_t node, uint64_t other)
{
	*s = (struct story){ .t = { .id = id,
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
	struct story eu;
	struct incident *i = incident_set_import(s, story(&eu, EU, 77, 0, WEB, DISK));

	CHECK(i);
	CHECK_EQ(i->id, 77);
	CHECK_EQ(i->region, EU);
	CHECK_EQ(i->onset_us, us(0));
	CHECK_EQ(i->nsignals, 2);
	CHECK(!i->closed_us && i->signal[0]->active);
	CHECK_EQ(i->signal[0]->n, 20);
	CHECK_STR(told, "opened 77, joined 77");
	incident_set_free(s);
}

TEST(what_its_rows_counted_here_already_is_not_counted_again)
{
	struct incident_set *s = set_new();
	struct story eu;

	rows(s, WEB, 0, 20);
	incident_set_import(s, story(&eu, EU, 77, 0, WEB, 0));
	CHECK_EQ(signal_of(s, WEB)->n, 20);
	rows(s, WEB, 20, 25);
	CHECK_EQ(signal_of(s, WEB)->n, 25);
	eu.signal[0].n = 25;
	again(s, &eu.t, 0);
	CHECK_EQ(signal_of(s, WEB)->n, 25);
	eu.signal[0].n = 30; /* some of its rows were lost on the way */
	again(s, &eu.t, 0);
	CHECK_EQ(signal_of(s, WEB)->n, 30);
	CHECK_STR(told, "opened 77");
	incident_set_free(s);
}

TEST(what_goes_on_of_a_node_whose_clock_is_ahead_does_so_by_the_collector_s)
{
	struct incident_set *s = set_new();
	struct story eu;
	struct incident *i;

	story(&eu, EU, 77, 0, WEB, 0);
	eu.signal[0].first_us = us(100);
	eu.signal[0].last_us = us(120);
	eu.signal[0].clock_us = -100 * INCIDENT_SEC;
	i = incident_set_import(s, &eu.t);
	rows(s, WEB, 120, 125);
	CHECK_EQ(i->last_us, us(24) + 110000);
	incident_set_free(s);
}

TEST(its_region_says_when_it_is_over_and_when_it_goes_on)
{
	struct incident_set *s = set_new();
	struct story eu;
	struct incident *i = incident_set_import(s, story(&eu, EU, 77, 0, WEB, 0));

	incident_set_pass(s, EU, us(700));
	CHECK(!i->closed_us); /* the limits are not the region's */
	CHECK(again(s, &eu.t, us(140)) == i);
	CHECK_EQ(i->closed_us, us(140));
	CHECK(!signal_of(s, WEB)->active);
	again(s, &eu.t, us(140));
	again(s, &eu.t, 0);
	CHECK(!i->closed_us && signal_of(s, WEB)->active);
	CHECK_STR(told, "opened 77, closed 77, reopened 77");
	incident_set_free(s);
}

TEST(a_region_that_is_not_heard_of_holds_none_open_for_ever)
{
	struct incident_set *s = set_new();
	struct story eu;
	struct incident *i = incident_set_import(s, story(&eu, EU, 77, 0, WEB, 0));

	i->dirty = false;
	incident_set_pass(s, EU, us(20 + 3600));
	CHECK(!i->closed_us);
	incident_set_pass(s, EU, us(20 + 3601));
	CHECK_EQ(i->closed_us, us(20 + 600));
	incident_set_free(s);
}

TEST(one_that_a_person_closed_here_stays_closed_while_its_region_goes_on)
{
	struct incident_set *s = set_new();
	struct story eu;
	struct incident *i = incident_set_import(s, story(&eu, EU, 77, 0, WEB, 0));

	incident_set_close(s, i, us(30));
	again(s, &eu.t, 0);
	CHECK_EQ(i->closed_us, us(30));
	incident_set_free(s);
}

TEST(one_that_is_over_here_for_long_is_read_anew_when_it_goes_on_again_and_not_while_it_does)
{
	struct incident_set *s = set_new();
	struct story eu;
	struct incident *i = incident_set_import(s, story(&eu, EU, 77, 0, WEB, 0));

	eu.t.has_row = eu.t.was_open = true;
	incident_set_close(s, i, us(30)); /* by a person */
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

TEST(what_was_over_before_it_was_heard_of_is_told_whole_and_closed)
{
	struct incident_set *s = set_new();
	struct story eu;
	struct incident *i;

	story(&eu, EU, 77, 0, WEB, 0);
	eu.t.closed_us = us(620);
	rows(s, WEB, 0, 20);
	i = incident_set_import(s, &eu.t);
	CHECK_EQ(i->closed_us, us(620));
	CHECK_EQ(i->nsignals, 1);
	CHECK_EQ(signal_of(s, WEB)->n, 20);
	CHECK(!signal_is_due(signal_of(s, WEB), &limits, us(700))); /* its rows open no other */
	incident_set_free(s);
}

TEST(two_of_the_same_requests_one_after_the_other_are_written_one_by_one)
{
	struct incident_set *s = set_new();
	struct story first, second;

	story(&first, EU, 77, 0, WEB, 0);
	first.t.closed_us = us(620);
	incident_set_import(s, &first.t);
	story(&second, EU, 78, 5000, WEB, 0);
	CHECK(!incident_set_is_ready(s, &second.t));
	signal_of(s, WEB)->dirty = false;
	CHECK(incident_set_is_ready(s, &second.t));
	incident_set_free(s);
}

TEST(what_was_opened_here_of_the_same_becomes_a_part_of_the_regions)
{
	struct incident_set *s = set_new();
	struct incident *own, *i;
	struct story eu;

	rows(s, WEB, 0, 20);
	own = open_here(s, EU, WEB, 20);
	story(&eu, EU, 77, 1, WEB, DISK); /* though it is the younger one */
	i = incident_set_import(s, &eu.t);
	CHECK_EQ(i->id, 77);
	CHECK_EQ(own->into, 77);
	CHECK(incident_set_target(s, signal_of(s, DISK)->of) == i);
	incident_set_free(s);
}

TEST(one_of_two_regions_has_the_id_of_the_older)
{
	static const uint64_t neighbors[] = { WEB, STORE };
	struct incident_set *s = set_new();
	struct story eu, us_story;
	struct incident *i = incident_set_import(s, story(&eu, EU, 77, 0, WEB, 0));

	story(&us_story, US, 50, -10, STORE, 0);
	us_story.t.neighbors = neighbors;
	us_story.t.nneighbors = 2;
	CHECK_EQ(incident_set_import(s, &us_story.t)->id, 50);
	CHECK_EQ(i->into, 50);
	i = incident_set_find(s, 50);
	CHECK_EQ(i->held, 2);
	CHECK(again(s, &eu.t, us(140)) == i); /* a part of it is over, */
	CHECK(!i->closed_us);
	again(s, &us_story.t, us(200)); /* and now the other */
	CHECK_EQ(i->closed_us, us(200));
	incident_set_free(s);
}

TEST(two_that_their_region_keeps_apart_stay_two)
{
	static const uint64_t neighbors[] = { WEB, DISK };
	struct incident_set *s = set_new();
	struct story one, two;

	incident_set_import(s, story(&one, EU, 77, 0, WEB, 0));
	story(&two, EU, 78, 5, DISK, 0);
	two.t.neighbors = neighbors;
	two.t.nneighbors = 2;
	CHECK_EQ(incident_set_import(s, &two.t)->id, 78);
	CHECK_EQ(incident_set_find(s, 77)->into, 0);
	incident_set_free(s);
}

TEST(a_signal_that_was_split_off_in_the_region_goes_with_the_new_one)
{
	struct incident_set *s = set_new();
	struct story one, two;

	incident_set_import(s, story(&one, EU, 77, 0, WEB, DISK));
	story(&two, EU, 78, 0, DISK, 0);
	CHECK_EQ(incident_set_import(s, &two.t)->id, 78);
	CHECK_EQ(signal_of(s, DISK)->of->id, 78);
	CHECK_EQ(signal_of(s, WEB)->of->id, 77);
	CHECK_EQ(incident_set_find(s, 77)->into, 0);
	incident_set_free(s);
}

TEST(a_signal_that_was_split_off_here_stays_where_it_is)
{
	struct incident_set *s = set_new();
	struct incident *split;
	struct story eu;

	incident_set_import(s, story(&eu, EU, 77, 0, WEB, DISK));
	split = incident_set_add(s, &(struct incident){ .id = 5, .region = EU, .apart = true });
	incident_set_attach(split, signal_of(s, DISK));
	again(s, &eu.t, 0);
	CHECK(signal_of(s, DISK)->of == split);
	CHECK_EQ(split->into, 0);
	incident_set_free(s);
}

TEST(what_its_region_made_a_part_of_another_is_that_here_too)
{
	struct incident_set *s = set_new();
	struct incident *into;
	struct story one, two;

	into = incident_set_import(s, story(&one, EU, 77, 0, WEB, 0));
	incident_set_import(s, story(&two, EU, 78, 5, DISK, 0));
	two.t.into = 77;
	CHECK(again(s, &two.t, us(40)) == into);
	CHECK_EQ(incident_set_find(s, 78)->into, 77);
	CHECK_EQ(into->held, 1);
	incident_set_free(s);
}

TEST(with_a_host_of_the_collectors_own_it_is_over_when_both_are)
{
	static const uint64_t neighbors[] = { WEB, OWN };
	struct incident_set *s = set_new();
	struct incident *own, *i;
	struct story eu;

	rows(s, OWN, -5, 20);
	own = open_here(s, HOME, OWN, 20);
	story(&eu, EU, 77, 0, WEB, 0);
	eu.t.neighbors = neighbors;
	eu.t.nneighbors = 2;
	i = incident_set_import(s, &eu.t);
	CHECK(i == own); /* the older */
	again(s, &eu.t, us(140));
	CHECK(!i->closed_us);
	incident_set_pass(s, HOME, us(700));
	CHECK(i->closed_us);
	incident_set_free(s);
}
