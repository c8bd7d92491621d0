// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include <math.h>

#include "collector/score/score_node.h"
#include "lib/base/base.h"

#define SEC 1000000000ull

static const char *const known_metric[] = {
#define METRIC(layout, ID, name, unit, kind) name,
#include "schema/def/metrics.def"
#undef METRIC
};

static const char *const scored_name[] = {
#define SCORED(ID, kind, name) name,
#include "collector/score/scored.def"
};

/* 60 s of an idle node with four processors. */
static struct node_score_facts quiet_facts(void)
{
	struct node_score_facts f = { 0 };

	f.v[SCORED_USER] = 24;
	f.v[SCORED_IDLE] = 216;
	f.v[SCORED_CPUS] = 4;
	f.v[SCORED_RUNNING] = 1;
	f.v[SCORED_MEMORY] = 100;
	f.v[SCORED_AVAILABLE] = 60;
	return f;
}

static struct node_score score_of(const struct node_score_facts *f, enum node_score_class of)
{
	struct node_score s[SCORE_CLASSES];

	node_score_judge(f, s);
	return s[of];
}

#define CHECK_CAUSE(s, of, points, value_)                                                         \
	do {                                                                                       \
		CHECK((s).known);                                                                  \
		CHECK_STR((s).worst.code, of);                                                     \
		CHECK_EQ(lround((s).worst.score), points);                                         \
		CHECK_EQ(lround((s).worst.value), value_);                                         \
	} while (0)

TEST(every_scored_metric_is_a_metric_of_the_probe)
{
	for (size_t i = 0; i < SCORED_END; i++) {
		bool found = false;

		for (size_t k = 0; k < ARRAY_SIZE(known_metric) && !found; k++)
			found = strcmp(known_metric[k], scored_name[i]) == 0;
		if (!found)
			printf("    %s is in no layout\n", scored_name[i]);
		CHECK(found);
	}
}

TEST(a_quiet_node_is_saturated_by_nothing_and_loaded_by_its_memory)
{
	struct node_score_facts f = quiet_facts();
	struct node_score s = score_of(&f, SCORE_SATURATION);

	CHECK(s.known);
	CHECK_EQ(s.worst.score, 0);
	CHECK_EQ(s.nunknown, 0);
	s = score_of(&f, SCORE_LOAD);
	CHECK_CAUSE(s, "memory.used", 40, 40);
}

TEST(the_worst_of_a_class_is_named_by_its_number)
{
	struct node_score_facts f = quiet_facts();
	struct node_score s;

	f.v[SCORED_PSI_CPU] = 12; /* of 60 s */
	s = score_of(&f, SCORE_SATURATION);
	CHECK_CAUSE(s, "cpu.pressure", 20, 20);
	f.v[SCORED_PSI_MEMORY] = 6;
	s = score_of(&f, SCORE_SATURATION);
	CHECK_CAUSE(s, "memory.pressure", 50, 10);
	f.v[SCORED_PSI_IO] = 57;
	s = score_of(&f, SCORE_SATURATION);
	CHECK_CAUSE(s, "io.pressure", 95, 95);
	f.v[SCORED_AVAILABLE] = 0;
	s = score_of(&f, SCORE_SATURATION);
	CHECK_CAUSE(s, "memory.low", 100, 0);
	f.v[SCORED_USER] = 228, f.v[SCORED_IDLE] = 12;
	f.v[SCORED_AVAILABLE] = 60;
	s = score_of(&f, SCORE_LOAD);
	CHECK_CAUSE(s, "cpu.busy", 95, 95);
}

TEST(a_disk_that_has_a_queue_is_named)
{
	struct node_score_facts f = quiet_facts();
	struct node_score s;

	f.ndisks = 2;
	f.disk[0] = (struct node_score_disk){ "sda", 30, 30 };
	f.disk[1] = (struct node_score_disk){ "sdb", 60, 60 * 17 };
	s = score_of(&f, SCORE_SATURATION);
	CHECK_CAUSE(s, "disk.queue", 50, 17);
	CHECK_STR(s.worst.what, "sdb");
	s = score_of(&f, SCORE_LOAD);
	CHECK_CAUSE(s, "disk.busy", 100, 100);
}

TEST(a_kernel_without_pressure_is_scored_by_its_run_queue_and_names_the_unknown_causes)
{
	struct node_score_facts f = quiet_facts();
	struct node_score s;

	f.v[SCORED_PSI_CPU] = f.v[SCORED_PSI_MEMORY] = f.v[SCORED_PSI_IO] = NAN;
	f.v[SCORED_RUNNING] = 6;
	s = score_of(&f, SCORE_SATURATION);
	CHECK(s.known);
	CHECK_STR(s.worst.code, "cpu.queue");
	CHECK_EQ(lround(s.worst.score), 50);
	CHECK_EQ(s.nunknown, 3);
	CHECK_STR(s.unknown[1], "memory.pressure");
}

TEST(a_class_that_was_never_measured_has_no_score_but_a_reason)
{
	struct node_score_facts f = { 0 };
	struct node_score s[SCORE_CLASSES];

	for (int i = 0; i < SCORED_END; i++)
		f.v[i] = NAN;
	node_score_judge(&f, s);
	for (int i = 0; i < SCORE_CLASSES; i++)
		CHECK(!s[i].known);
	CHECK_STR(s[SCORE_SATURATION].worst.code, "notMeasured");
	CHECK_STR(s[SCORE_LATENCY].worst.code, "noRequests");
	f.requests.n = 5;
	node_score_judge(&f, s);
	CHECK_STR(s[SCORE_LATENCY].worst.code, "noNormal");
	CHECK(s[SCORE_ERROR].known);
}

TEST(the_app_that_is_slow_is_named_though_the_others_are_many)
{
	struct node_score_facts f = quiet_facts();
	struct node_score s;

	f.requests = (struct node_score_requests){ 10000, 0, 10000, 20e6 };
	f.napps = 2;
	f.app[0] = (struct node_score_app){ "web", { 9950, 0, 9950, 0 } };
	f.app[1] = (struct node_score_app){ "pay", { 50, 0, 50, 20e6 } };
	s = score_of(&f, SCORE_LATENCY);
	CHECK_CAUSE(s, "excess", 80, 400);
	CHECK_STR(s.worst.what, "pay");
	f.app[1].of.judged = 19; /* too few to be scored alone */
	s = score_of(&f, SCORE_LATENCY);
	CHECK_CAUSE(s, "excess", 2, 2);
	CHECK_STR(s.worst.what, "");
}

TEST(the_error_class_counts_failed_requests_and_events)
{
	struct node_score_facts f = quiet_facts();
	struct node_score s;

	f.requests = (struct node_score_requests){ 1000, 50, 1000, 0 };
	s = score_of(&f, SCORE_ERROR);
	CHECK_CAUSE(s, "failed", 50, 5);
	f.nevents = 2;
	f.event[0] = (struct node_score_event){ "io.stall", false, 3 };
	s = score_of(&f, SCORE_ERROR);
	CHECK_STR(s.worst.code, "failed");
	f.event[1] = (struct node_score_event){ "mem.oom", true, 1 };
	s = score_of(&f, SCORE_ERROR);
	CHECK_CAUSE(s, "event", 80, 1);
	CHECK_STR(s.worst.what, "mem.oom");
}

static void add_red(struct score_node *n, const char *app, uint64_t count, uint8_t class,
		    uint64_t at_s)
{
	struct red_item q = { .app = app,
			      .route = "/",
			      .peer = ":80",
			      .status_class = class,
			      .count = count,
			      .judged = count,
			      .excess_us = 1000 * count };

	score_node_red(n, &q, at_s * SEC);
	q.role = RED_OWN; /* reports the same requests again */
	score_node_red(n, &q, at_s * SEC);
}

TEST(requests_are_counted_once_and_forgotten_after_six_minutes)
{
	static struct score_node n;
	struct node_score_facts f;

	memset(&n, 0, sizeof(n));
	add_red(&n, "a", 10, 2, 600);
	add_red(&n, "a", 5, 5, 660);
	add_red(&n, "b", 7, 2, 660);
	score_node_facts(&n, 700 * SEC, &f);
	CHECK_EQ(f.requests.n, 22);
	CHECK_EQ(f.requests.errors, 5);
	CHECK_EQ(f.requests.excess_us, 22000);
	CHECK_EQ(f.napps, 2);
	CHECK_STR(f.app[0].name, "a");
	CHECK_EQ(f.app[0].of.n, 15);
	score_node_facts(&n, 960 * SEC, &f);
	CHECK_EQ(f.requests.n, 12);
	score_node_facts(&n, 1100 * SEC, &f);
	CHECK_EQ(f.requests.n, 0);
	CHECK_EQ(f.napps, 0);
}

TEST(requests_of_apps_beyond_the_limit_count_for_the_node)
{
	static struct score_node n;
	struct node_score_facts f;
	char name[8];

	memset(&n, 0, sizeof(n));
	for (int i = 0; i < 3 * SCORE_APPS; i++) {
		snprintf(name, sizeof(name), "app%d", i);
		add_red(&n, name, 1, 2, 600);
	}
	score_node_facts(&n, 600 * SEC, &f);
	CHECK_EQ(f.requests.n, 3 * SCORE_APPS);
	CHECK_EQ(f.napps, SCORE_APPS);
	add_red(&n, "later", 1, 2, 2000); /* the slots are free again */
	score_node_facts(&n, 2000 * SEC, &f);
	CHECK_EQ(f.napps, 1);
	CHECK_STR(f.app[0].name, "later");
}

TEST(samples_cover_the_last_minute_and_a_missing_value_is_unknown)
{
	static struct score_node n;
	struct score_wanted w = { .known = true, .any = true };
	double v[] = { 2, 4, NAN };
	const struct sample_item s = { .entity = "", .n = 3, .v = v };
	struct node_score_facts f;

	memset(&n, 0, sizeof(n));
	memset(w.place, 0xff, sizeof(w.place));
	w.place[SCORED_USER] = 0;
	w.place[SCORED_CPUS] = 1;
	w.place[SCORED_PSI_IO] = 2;
	for (uint64_t at = 100; at < 160; at++)
		score_node_sample(&n, &w, &s, at * SEC);
	score_node_facts(&n, 159 * SEC, &f);
	CHECK_EQ(f.v[SCORED_USER], 120);
	CHECK_EQ(f.v[SCORED_CPUS], 4);
	CHECK(isnan(f.v[SCORED_PSI_IO]));
	CHECK(isnan(f.v[SCORED_IDLE]));
	score_node_facts(&n, 185 * SEC, &f);
	CHECK_EQ(f.v[SCORED_USER], 60);
	score_node_facts(&n, 300 * SEC, &f);
	CHECK(isnan(f.v[SCORED_USER]));
}

TEST(an_ongoing_event_counts_once_and_an_info_event_not)
{
	static struct score_node n;
	struct event_item e = { .kind = "io.stall", .severity = EVENT_WARNING, .update = 1 };
	struct node_score_facts f;

	memset(&n, 0, sizeof(n));
	score_node_event(&n, &e, 600 * SEC);
	e.update = 2;
	e.severity = EVENT_CRITICAL;
	score_node_event(&n, &e, 660 * SEC);
	e.kind = "note";
	e.severity = EVENT_INFO;
	score_node_event(&n, &e, 660 * SEC);
	score_node_facts(&n, 700 * SEC, &f);
	CHECK_EQ(f.nevents, 1);
	CHECK_EQ(f.event[0].n, 1);
	CHECK(f.event[0].critical);
	score_node_facts(&n, 1200 * SEC, &f);
	CHECK_EQ(f.nevents, 0);
}
