// SPDX-License-Identifier: Apache-2.0
#include "tests/lib/test.h"

#include "collector/incident/model/incident_set.h"
#include "lib/wire/reason.h"

/* A fault at T: a request each second, 100 ms too slow. Times are seconds. */
enum { T = 1000000, REGION = 7, WEB = 1, APP = 2, FAR = 3, NO = 0 };

static const struct incident_limits limits = {
	.least_events = 5,
	.least_percent = 2,
	.least_excess_ms = 20,
	.window_s = 300,
	.join_s = 300,
	.quiet_s = 600,
	.reopen_s = 1800,
};

struct scene {
	struct incident_set *set;
	struct incident_steps steps;
	char steps_log[512];
	uint64_t id;
};

static void log_step(void *arg, struct incident *i, int64_t at_us, const char *kind,
		     const struct signal *g, const struct incident *other)
{
	struct scene *s = arg;
	size_t n = strlen(s->steps_log);

	(void)i, (void)g, (void)other;
	snprintf(s->steps_log + n, sizeof(s->steps_log) - n, "%s%s@%d", n ? " " : "", kind,
		 (int)(at_us / INCIDENT_SEC - T));
}

static struct scene *scene_new(void)
{
	static struct scene s;

	s = (struct scene){ .steps = { log_step, &s } };
	s.set = incident_set_new(&limits, &s.steps);
	return &s;
}

static void add_row(struct scene *s, uint64_t node, int at_s, int total_ms, int normal_ms,
		    int reason, int status)
{
	const struct incident_row r = { .begin_us = (T + at_s) * INCIDENT_SEC,
					.total_us = total_ms * 1000,
					.normal_us = normal_ms * 1000,
					.node = node,
					.id = ++s->id,
					.app = "shop",
					.route = "/buy",
					.reason = (uint16_t)reason,
					.status = (uint16_t)status };
	bool full;

	incident_set_count(s->set, &r, &full);
}

static void add_slow_rows(struct scene *s, uint64_t node, int from_s, int until_s)
{
	for (int t = from_s; t < until_s; t++)
		add_row(s, node, t, 110, 10, R_IO_BLOCK, 200);
}

static uint64_t stored; /* the id of an incident that only the database has; 0: none */

static bool is_taken(void *arg, uint64_t id)
{
	(void)arg;
	return id == stored;
}

/* One pass of the thread at at_s, with `asked` requests of the route. neighbors: another node
 * within reach. */
static struct incident *run_pass(struct scene *s, int at_s, double asked, uint64_t neighbors)
{
	struct signal *due[8];
	int64_t now = (T + at_s) * INCIDENT_SEC;
	size_t n = incident_set_due(s->set, now, due, 8);
	struct incident *i = NULL;

	for (size_t k = 0; k < n; k++) {
		uint64_t at[2] = { due[k]->node, neighbors };
		struct incident_place p = { .region = REGION,
					    .region_name = "home",
					    .neighbors = at,
					    .nneighbors = 1 + (neighbors != NO),
					    .now_us = now,
					    .is_taken = is_taken };

		if (neighbors && neighbors < due[k]->node) {
			at[0] = neighbors;
			at[1] = due[k]->node;
		}
		bool enough;

		enough = signal_judge(due[k], &limits,
				      (struct signal_requests){ asked, now - due[k]->clock_us, 0 },
				      now); /* counts are by the clock of their node */
		if (due[k]->active && !enough)
			signal_end(due[k]);
		else if (!due[k]->active && enough)
			i = incident_set_open(s->set, due[k], &p);
	}
	incident_set_pass(s->set, REGION, now);
	return i;
}

static size_t open_ones(const struct scene *s)
{
	size_t n = 0;

	for (size_t k = 0; k < incident_set_count_of(s->set); k++)
		n += !incident_set_at(s->set, k)->closed_us;
	return n;
}

TEST(a_fault_is_one_incident_from_its_first_request_on)
{
	struct scene *s = scene_new();
	struct incident *i;

	add_slow_rows(s, WEB, 0, 20);
	i = run_pass(s, 20, 100, NO);
	CHECK(i);
	CHECK_EQ(i->onset_us, T * INCIDENT_SEC);
	CHECK_EQ(i->signal[0]->n, 20);
	CHECK_EQ(i->signal[0]->excess_us, 20 * 100 * 1000);
	add_slow_rows(s, WEB, 20, 30);
	CHECK(!run_pass(s, 30, 100, NO));
	CHECK_EQ(i->signal[0]->n, 30);
	CHECK_STR(s->steps_log, "opened@20");
	incident_set_free(s->set);
}

TEST(occasional_slow_requests_keep_no_incident_open)
{
	struct scene *s = scene_new();
	struct incident *i;

	add_slow_rows(s, WEB, 0, 20);
	i = run_pass(s, 20, 100, NO);
	CHECK(i);
	for (int t = 100; t <= 2000; t += 100) {
		add_row(s, WEB, t, 110, 10, R_IO_BLOCK, 200);
		run_pass(s, t, 1000, NO);
	}
	CHECK(i->closed_us && i->closed_us < (T + 1200) * INCIDENT_SEC);
	CHECK_STR(s->steps_log, "opened@20 closed@700");
	CHECK_EQ(i->signal[0]->n, 21); /* they count until the signal is judged to have ended */
	incident_set_free(s->set);
}

TEST(few_requests_a_small_share_or_a_small_excess_open_no_incident)
{
	struct scene *s = scene_new();

	add_slow_rows(s, WEB, 0, 4);
	CHECK(!run_pass(s, 60, 10, NO));
	add_slow_rows(s, APP, 0, 20);
	CHECK(!run_pass(s, 60, 1001, NO));
	for (int t = 0; t < 20; t++)
		add_row(s, FAR, t, 29, 10, R_IO_BLOCK, 200);
	CHECK(!run_pass(s, 60, 20, NO));
	CHECK_EQ(incident_set_count_of(s->set), 0);
	incident_set_free(s->set);
}

TEST(requests_without_a_normal_time_or_with_a_slow_client_open_none)
{
	struct scene *s = scene_new();

	for (int t = 0; t < 20; t++) {
		add_row(s, WEB, t, 900, 0, R_UNKNOWN, 200);
		add_row(s, APP, t, 900, 10, R_CLIENT_SLOW, 200);
	}
	CHECK(!run_pass(s, 60, 20, NO));
	incident_set_free(s->set);
}

TEST(rows_are_not_judged_before_their_requests_are_counted)
{
	struct scene *s = scene_new();
	struct signal *due[2];
	int64_t now = (T + 12) * INCIDENT_SEC;

	add_slow_rows(s, WEB, 0, 12);
	CHECK_EQ(incident_set_due(s->set, now, due, 2), 1);
	CHECK(!signal_judge(due[0], &limits,
			    (struct signal_requests){ 5, (T + 5) * INCIDENT_SEC, 0 }, now));
	CHECK(!signal_judge(due[0], &limits, (struct signal_requests){ 0, 0, 0 }, now));
	CHECK(signal_judge(due[0], &limits,
			   (struct signal_requests){ 10, (T + 10) * INCIDENT_SEC, 0 }, now));
	CHECK(signal_judge(due[0], &limits, (struct signal_requests){ 0, 0, 0 },
			   now + 60 * INCIDENT_SEC));
	incident_set_free(s->set);
}

TEST(a_limit_learnt_from_few_requests_is_exceeded_by_chance)
{
	struct scene *s = scene_new();
	const struct signal *g;

	add_slow_rows(s, WEB, 0, 20);
	g = incident_set_signal_of(s->set, WEB, "shop", "/buy", "io");
	CHECK(signal_is_chance(g, &limits, 360, 120));
	CHECK(signal_is_chance(g, &limits, 360, 0)); /* its probe has seen a hundred */
	CHECK(!signal_is_chance(g, &limits, 360, 1000));
	CHECK(!signal_is_chance(g, &limits, 40, 0)); /* half of all requests is no chance */
	incident_set_free(s->set);
}

TEST(errors_need_not_be_slow)
{
	struct scene *s = scene_new();
	struct incident *i;

	for (int t = 0; t < 10; t++)
		add_row(s, WEB, t, 1, 10, R_APP_ERROR, 500);
	i = run_pass(s, 20, 100, NO);
	CHECK(i);
	CHECK_STR(i->signal[0]->class, "error");
	CHECK_EQ(i->signal[0]->excess_us, 0);
	for (int t = 20; t < 30; t++)
		add_row(s, APP, t, 1, 10, R_UP_ERROR, 502);
	CHECK(run_pass(s, 40, 100, WEB) == i);
	CHECK_STR(i->signal[1]->class, "error.up");
	incident_set_free(s->set);
}

TEST(a_neighbor_joins_and_a_distant_node_does_not)
{
	struct scene *s = scene_new();
	struct incident *i;

	add_slow_rows(s, WEB, 0, 20);
	i = run_pass(s, 20, 100, NO);
	i->ranked_us = 300 * INCIDENT_SEC;
	add_slow_rows(s, APP, 10, 30);
	CHECK(run_pass(s, 30, 100, WEB) == i);
	CHECK_EQ(i->ranked_us, 0); /* with whoever joins it is ranked again */
	add_slow_rows(s, FAR, 10, 30);
	CHECK(run_pass(s, 40, 100, NO) != i);
	CHECK_EQ(open_ones(s), 2);
	CHECK_STR(s->steps_log, "opened@20 joined@30 opened@40");
	incident_set_free(s->set);
}

/* As the engine learns it from the counts. */
static void set_clock_ahead(struct scene *s, uint64_t node, int seconds)
{
	incident_set_signal_of(s->set, node, "shop", "/buy", "io")->clock_us =
		-seconds * INCIDENT_SEC;
}

TEST(hosts_are_compared_by_one_clock_even_if_one_is_far_ahead)
{
	struct scene *s = scene_new();
	struct incident *i;

	add_slow_rows(s, WEB, 0, 20);
	i = run_pass(s, 20, 100, NO);
	add_slow_rows(s, APP, 1010, 1030);
	set_clock_ahead(s, APP, 1000);
	CHECK(run_pass(s, 30, 100, WEB) == i);
	CHECK_EQ(i->last_us / 1000, (int64_t)(T + 29) * 1000 + 110);
	add_slow_rows(s, APP, 1030, 1040);
	CHECK_EQ(i->last_us / 1000, (int64_t)(T + 39) * 1000 + 110);
	CHECK_EQ(i->signal[1]->first_us,
		 (T + 1010) * INCIDENT_SEC); /* its rows are found by its own clock */
	incident_set_free(s->set);
}

TEST(an_incident_begins_by_the_collector_s_clock)
{
	struct scene *s = scene_new();
	struct incident *i;

	add_slow_rows(s, APP, 1000, 1020);
	set_clock_ahead(s, APP, 1000);
	i = run_pass(s, 20, 100, NO);
	CHECK_EQ(i->onset_us, T * INCIDENT_SEC);
	CHECK_EQ(i->last_us / 1000, (int64_t)(T + 19) * 1000 + 110);
	incident_set_free(s->set);
}

TEST(with_a_slow_clock_rows_are_not_judged_before_they_are_counted)
{
	struct scene *s = scene_new();
	struct signal *due[2];
	int64_t now = (T + 12) * INCIDENT_SEC;

	add_slow_rows(s, WEB, -1000, -988);
	set_clock_ahead(s, WEB, -1000);
	CHECK_EQ(incident_set_due(s->set, now, due, 2), 1);
	CHECK(!signal_judge(due[0], &limits, (struct signal_requests){ 0, 0, 0 }, now));
	incident_set_free(s->set);
}

TEST(after_the_gap_no_signal_joins)
{
	struct scene *s = scene_new();

	add_slow_rows(s, WEB, 0, 20);
	run_pass(s, 20, 100, NO);
	add_slow_rows(s, APP, 321, 340);
	run_pass(s, 345, 100, WEB);
	CHECK_EQ(open_ones(s), 2);
	incident_set_free(s->set);
}

TEST(quiet_closes_and_the_same_node_reopens)
{
	struct scene *s = scene_new();
	struct incident *i;

	add_slow_rows(s, WEB, 0, 20);
	i = run_pass(s, 20, 100, NO);
	run_pass(s, 619, 100, NO);
	CHECK_EQ(open_ones(s), 1);
	run_pass(s, 620, 100, NO);
	CHECK_EQ(open_ones(s), 0);
	CHECK_EQ(i->closed_us / 1000, (int64_t)(T + 619) * 1000 + 110);
	add_slow_rows(s, WEB, 2000, 2020);
	CHECK(run_pass(s, 2020, 100, NO) == i);
	CHECK_EQ(i->signal[0]->n, 40);
	CHECK_EQ(i->onset_us, T * INCIDENT_SEC);
	CHECK_STR(s->steps_log, "opened@20 closed@619 reopened@2020");
	incident_set_free(s->set);
}

TEST(after_the_reopen_time_it_is_another_incident)
{
	struct scene *s = scene_new();
	struct incident *i, *next;
	uint64_t id;

	add_slow_rows(s, WEB, 0, 20);
	i = run_pass(s, 20, 100, NO);
	id = i->id;
	run_pass(s, 620, 100, NO);
	i->dirty = false;
	add_slow_rows(s, WEB, 2500, 2520);
	next = run_pass(s, 2520, 100, NO);
	CHECK(next && next->id != id);
	CHECK_EQ(next->signal[0]->n, 20);
	CHECK_EQ(incident_set_count_of(s->set), 1);
	incident_set_free(s->set);
}

TEST(a_neighbor_of_two_incidents_merges_them_into_the_older)
{
	struct scene *s = scene_new();
	struct incident *old, *young;

	add_slow_rows(s, WEB, 0, 20);
	old = run_pass(s, 20, 100, NO);
	add_slow_rows(s, FAR, 10, 30);
	young = run_pass(s, 30, 100, NO);
	CHECK(old != young);
	old->ranked_us = 300 * INCIDENT_SEC;
	for (int t = 30; t < 50; t++)
		add_row(s, WEB, t, 300, 10, R_CPU_WAIT, 200);
	CHECK(run_pass(s, 50, 100, FAR) == old);
	CHECK_EQ(young->into, old->id);
	CHECK_EQ(old->ranked_us, 0);
	CHECK_EQ(open_ones(s), 1);
	CHECK_STR(s->steps_log, "opened@20 opened@30 merged@50 merged@50 joined@50");
	incident_set_free(s->set);
}

TEST(an_id_depends_on_region_signal_and_begin)
{
	struct scene *s = scene_new();
	struct incident *i;
	uint64_t id;

	add_slow_rows(s, WEB, 0, 20);
	id = run_pass(s, 20, 100, NO)->id;
	incident_set_free(s->set);
	s = scene_new();
	add_slow_rows(s, WEB, 0, 25);
	i = run_pass(s, 60, 100, NO);
	CHECK_EQ(i->id, id);
	incident_set_free(s->set);
}

TEST(an_id_that_is_stored_is_not_used_again)
{
	uint64_t id[2];

	stored = 0;
	for (int k = 0; k < 2; k++) {
		struct scene *s = scene_new();
		struct incident *i;

		add_slow_rows(s, WEB, 0, 30);
		i = run_pass(s, 40, 100, NO);
		CHECK(i);
		id[k] = i->id;
		stored = i->id;
		incident_set_free(s->set);
	}
	stored = 0;
	CHECK(id[0] != id[1]);
}

TEST(the_worst_requests_are_the_samples)
{
	struct scene *s = scene_new();
	struct incident *i;

	for (int t = 0; t < 20; t++)
		add_row(s, WEB, t, 100 + (t == 7) * 500, 10, t == 7 ? R_IO_BLOCK : R_IO_DIRTY, 200);
	i = run_pass(s, 20, 100, NO);
	CHECK_EQ(i->signal[0]->worst[0].begin_us / INCIDENT_SEC, T + 7);
	CHECK_EQ(i->signal[0]->reason, R_IO_BLOCK);
	CHECK(i->signal[0]->worst[2].id);
	incident_set_free(s->set);
}
